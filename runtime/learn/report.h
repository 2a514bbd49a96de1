/*
 * Reports what was learned: for people, as JSON, and as an OCI seccomp object (linux.seccomp of a
 * config, or the file of docker's --security-opt seccomp=). Pure.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "learn/watch.h"

enum learn_format { LEARN_TEXT, LEARN_JSON, LEARN_OCI };

/* By its word; -1: there is none. */
int learn_format_find(const char *word);

struct learn_view {
	const struct learning *learning;
	const char *profile; /* of `do`: whose list the filter is; NULL: the config has its own */
	bool with_refused;   /* the profile has what was refused, too */
};

void learn_write(const struct learn_view *v, enum learn_format format, struct arena *a,
		 struct buf *b);
