/* From the command line to a request, and from a result to output: for do and for box. */
#pragma once

#include "box/box.h"
#include "cli/cli.h"

enum { DO_FAILURE = 125, DURATION_MAX_S = 366 * 86400 };

/* Sets defaults, and what the options of all commands say. */
int do_begin(const struct cli *c, struct box_request *q, struct error *e);

/* Each takes options out of c, and leaves what is not given as it is. */
int do_limits(const struct cli *c, struct box_request *q, struct error *e);
int do_duration(const char *option, const char *text, int64_t *ret, struct arena *a,
		struct error *e);
int do_volumes(const struct cli *c, struct box_request *q, struct error *e);
int do_ulimits(const struct cli *c, struct box_request *q, struct error *e);
int do_env(struct cli *c, struct box_request *q, struct error *e);
int do_user(const struct cli *c, struct box_request *q, struct error *e);
int do_profile(struct cli *c, struct box_request *q, struct error *e);
int do_denials(const struct cli *c, struct box_request *q, struct error *e);

/* Language, code and arguments, or a command, from c->args. */
int do_program(const struct cli *c, struct box_request *q, struct error *e);

/* *ret_fd: what was opened for it, to be closed. */
int do_stdin(const struct cli *c, struct box_request *q, int *ret_fd, struct error *e);

/* Where it is to be recorded; whether that is likely to work; and the record. What can't be
 * recorded is not run. */
int do_audit_files(const struct cli *c, const struct box_request *q, struct strings *ret,
		   struct error *e);
int do_audit_try(const struct cli *c, const struct strings *files, struct error *e);
const char *do_whose_audit(const struct cli *c, const char *file);
int do_audit(const struct cli *c, const char *verb, const struct strings *files,
	     const struct box_request *q, const struct box_result *r, struct error *e);

/* Whether the command line has that word among its options, also where it was not understood. */
bool do_says(const struct cli *c, const char *option);

/* Prints it in the way that was asked for. */
int do_show(const struct cli *c, const struct box_result *r, struct error *e);
