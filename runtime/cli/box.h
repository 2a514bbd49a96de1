/* Verbs of box that have a file of their own. */
#pragma once

#include "base/err.h"
#include "cli/cli.h"

struct sandbox;
struct sandbox_event;

/* Notes what was done in a box. */
void box_log(const struct cli *c, const struct sandbox *s, const struct sandbox_event *ev);

int box_write_file(struct cli *c, const char *id, struct error *e);
int box_read_file(struct cli *c, const char *id, struct error *e);
int box_list_files(struct cli *c, const char *id, struct error *e);
int box_stat_file(struct cli *c, const char *id, struct error *e);
int box_remove_file(struct cli *c, const char *id, struct error *e);
