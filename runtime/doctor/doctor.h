/*
 * `sbxrun doctor`: can this host run sbxrun, for whoever asks? Each check is a row (check.h) and
 * runs in a child of its own with a deadline, so that what it tries, a namespace or a filter, ends
 * with the child. Structs come back, and nothing is printed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

enum doctor_status {
	DOCTOR_OK,
	DOCTOR_WARN, /* less than there could be, but nothing that the caller needs */
	DOCTOR_NO,   /* missing, and the caller needs it */
};

struct doctor_finding {
	const char *id;
	const char *title;
	enum doctor_status status;
	const char *found;
	const char *remedy; /* a command; NULL: there is none, or none is needed */
};

struct doctor_options {
	const char *root; /* of the state; NULL: the caller has none */
	bool try_engines; /* run a container through each engine that knows sbxrun */
	/* A check begins that may take this many seconds; only for those with a long deadline. */
	void (*begins)(void *context, const char *title, int seconds);
	void (*found)(void *context, const struct doctor_finding *f);
	void *context;
};

/* The word for whom the answers are. */
const char *doctor_caller(void);

/* The word for a status, as text and JSON have it. */
const char *doctor_status_word(enum doctor_status s);

/* Calls found() for each finding, in the table's order. *ret_missing: how many are DOCTOR_NO. */
int doctor_run(const struct doctor_options *o, struct arena *a, size_t *ret_missing,
	       struct error *e);
