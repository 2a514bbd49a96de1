/* Verbs of box that have a file of their own. */
#pragma once

#include "base/err.h"
#include "cli/cli.h"

int box_write_file(struct cli *c, const char *id, struct error *e);
int box_read_file(struct cli *c, const char *id, struct error *e);
int box_list_files(struct cli *c, const char *id, struct error *e);
int box_stat_file(struct cli *c, const char *id, struct error *e);
int box_remove_file(struct cli *c, const char *id, struct error *e);
