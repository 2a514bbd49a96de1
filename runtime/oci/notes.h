/*
 * Notes: sentences for the caller about what went otherwise than asked for, without being a
 * failure: what a config can't have, or has in another way, a hook of poststop that failed, what a
 * clean-up could not remove. Those of a plan are a list, which, where the caller wants nothing left
 * out (--strict), becomes the error. A call of the library hands its notes to a noter as they come,
 * so that whoever gave it has them whatever becomes of the call.
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

/* The one who is told. */
struct noter {
	void (*take)(void *context, const char *text); /* the text is gone when it returns */
	void *context;
};

/* noter NULL: nobody wants to know. */
void note(const struct noter *noter, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* All of a plan's, in order. */
void note_all(const struct noter *noter, const struct notes *notes);

/* For a noter that keeps them: its take(), with one of these as context. */
struct noted {
	struct notes notes;
	struct arena *arena;
};
void noted_take(void *noted, const char *text);

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
