/* The processes of a container as `sbxrun ps` prints them. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "cli/cli.h"

/* json: an array of pids; otherwise the table of the host's ps, run with the arguments after the
 * id. */
int ps_print(const struct cli *c, bool json, struct buf *b, struct error *e);

/* Keeps the title and the lines of these pids (sorted) of what ps has printed. text is cut up.
 * Trust: what processes call themselves is in it. */
int ps_filter(char *text, const pid_t *pids, size_t n, struct buf *b, struct error *e);
