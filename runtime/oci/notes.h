/*
 * Notes: sentences about what a config asks for and can't have, or has in another way. They are for
 * the log, or, where the caller wants nothing left out (--strict), for the error.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct notes {
	size_t n;
	size_t cap;
	char **v;
};

/* s lives as long as the arena. */
void notes_add(struct notes *l, char *s, struct arena *a);

/* Names that are left out, for one note: the first few, each once. */
enum { NOTED_NAMES_MAX = 8 };
struct noted_names {
	size_t n;
	bool more; /* there were others */
	const char *v[NOTED_NAMES_MAX];
};
void notes_take_name(struct noted_names *names, const char *name);

/* Adds the note, if there are names. `what` ends in a colon. */
void notes_add_names(struct notes *l, const char *what, const struct noted_names *names,
		     struct arena *a);
