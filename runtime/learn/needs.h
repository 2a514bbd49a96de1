/* From a tally to what a program needs: names, sorted; what would have to be allowed, and by whom;
 * what it has and never used. Pure. */
#pragma once

#include "base/arena.h"
#include "json/types.h"
#include "learn/watch.h"

/* The one who would have to give a call that was refused. */
enum needs_giver {
	GIVER_CONFIG,  /* the config's own profile, or the language's */
	GIVER_CALLS,   /* row system-calls */
	GIVER_SOCKETS, /* row sockets */
	GIVER_ABI,     /* row foreign-abi */
	GIVER_NOBODY,  /* ENOSYS, as of an older kernel: C libraries have another way */
};

struct needs {
	size_t n;
	const struct tally_call **v; /* of this machine's architecture, sorted by name */
	size_t n_other;
	const struct tally_call **other; /* of other ones, and numbers that nobody knows */
	struct strings unused; /* given, and neither made nor assumed */
	bool exec_gain;	       /* memory that is writable and executable was refused */
};

/* Calls that every program needs, though none was seen, and why. Up to a NULL name. */
struct needs_assumed {
	const char *name, *why;
};
extern const struct needs_assumed needs_assumed[];

void needs_find(const struct learning *l, struct arena *a, struct needs *ret);

/* Whether the program, or ours in front of it, made the call and was let. */
bool needs_made(const struct tally_call *c);

enum needs_giver needs_giver_of(const struct learning *l, const struct tally_call *c);

/* The rows that would give what was refused, as members of a policy in a file: `"row": …, …`. Empty
 * if no row would. */
const char *needs_rows(const struct learning *l, const struct needs *n, struct arena *a);
