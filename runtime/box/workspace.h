/*
 * The workspace of a box, as seen from outside: held open before the program runs, looked at when
 * all of its processes are gone. Trust: everything in it was named and made by the program.
 */
#pragma once

#include <sys/types.h>

#include "box/box.h"

struct workspace {
	int dfd; /* -1: it is not looked at */
	int tmp_dfd;
	int to_dfd; /* where its files are copied; -1: nowhere */
};
#define WORKSPACE_NONE ((struct workspace){.dfd = -1, .tmp_dfd = -1, .to_dfd = -1})

/* Of the box whose first process this is; it waits for its orders. */
int workspace_open(struct workspace *w, pid_t pid, int pidfd, struct error *e);

/* Before anything runs: the directory where a copy is wanted. */
int workspace_open_target(struct workspace *w, const struct box_request *q, struct error *e);

/* Says what it holds; nothing is known of a directory of the host's. */
void workspace_measure(const struct workspace *w, const struct box_request *q,
		       struct box_result *r);

/* Lists its files, and copies them where a copy is asked for. */
void workspace_finish(struct workspace *w, const struct box_request *q, struct arena *a,
		      struct box_result *r);

/* Which of the places that it could write to are full now: of one that was full and is not any
 * more, nobody knows. */
struct denials;
void workspace_tell_full(const struct workspace *w, const struct box_request *q,
			 struct denials *d);

/* The bytes of a file in it; NULL: there is none that could be read. */
const char *workspace_take(const struct workspace *w, const char *name, size_t max, struct arena *a,
			   size_t *ret_len);

void workspace_close(struct workspace *w);
