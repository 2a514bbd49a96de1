/*
 * `sbxrun install` and `sbxrun uninstall`: engines are told of this program, by their own config
 * files, or are made to forget it. Structs come back, nothing is printed, and no engine is started,
 * stopped or reloaded.
 *
 * An engine is a row (engines.c): where to look for it, and two functions that work out which files
 * have to change. Only setup.c writes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "json/types.h"

struct setup_options {
	const char *sysroot; /* another machine's tree; NULL: this machine */
	const char *program; /* to be registered; NULL: the program that runs */
	bool remove;	     /* uninstall */
	bool force;
	bool dry_run;
	/* With dry_run: who is named need not be there, and that none is there, or no program that
	 * could be registered, fails nothing; the latter is an error of each engine that is. */
	bool only_looks;
	char *const *names; /* of engines; none: those that are there, to remove from: all */
	size_t n;
};

enum setup_outcome {
	SETUP_ABSENT,  /* the engine is not there, and nobody has named it; said[0] says why */
	SETUP_NOTHING, /* there is nothing to do */
	SETUP_DONE,
	SETUP_FAILED, /* error; said has what was done before */
};

struct setup_report {
	const char *engine;
	enum setup_outcome outcome;
	struct strings said; /* a line for each file, and notes */
	const char *diff;    /* of a dry run */
	const char
		*reload; /* what makes the engine read its files again; NULL: it does by itself */
	const char *try_it; /* a command that uses the runtime */
	struct error error;
};

struct setup_result {
	size_t n;
	struct setup_report *v;
	struct strings warnings;
};

/* -1: nothing was looked at. Failures of single engines are in their reports. */
int setup_run(const struct setup_options *o, struct arena *a, struct setup_result *ret,
	      struct error *e);
