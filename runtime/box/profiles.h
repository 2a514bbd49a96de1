/*
 * Seccomp profiles of languages: the system calls that programs of theirs were seen to make
 * (spec/seccomp/LANGUAGE.def, written by spec/seccomp/record), those of a shell and its tools, for
 * every language starts them, and calls that stand for one another (spec/seccomp/siblings.def).
 * The policy stays the bound: a profile only takes away from what it gives. Pure but for a file of
 * further names.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "json/types.h"

/* Leaves the policy's list as it is. */
#define BOX_PROFILE_NONE "none"

/* Names of profiles, up to NULL. */
extern const char *const box_profiles[];

/* Whether there is one of that name; BOX_PROFILE_NONE is one, too. */
bool box_profile_exists(const char *name);

/* The calls of a profile, sorted. Those that the policy "code" does not give are left out. */
void box_profile_calls(const char *name, struct arena *a, struct strings *ret);

struct box_request;
struct box_root;

/*
 * Which one holds, and its calls: q->profile and q->calls. Who names none has that of his language,
 * in the rootfs of that language, and elsewhere, where programs of other languages may be at hand,
 * the union. A command of which nobody knows what it is, and a policy that was named, have none:
 * the policy's list is all there is. q->profile is NULL then.
 */
/* Whether the root is the one that was built for its language, and holds no other. */
bool box_is_own_root(const struct box_request *q, const struct box_root *root);

void box_choose_profile(struct box_request *q, const struct box_root *root, struct arena *a);

/* Adds the names of a file: one a line, blanks and what follows a # aside. A name that nobody
 * knows, or that the policy "code" does not give, is an error: it would have no effect. */
int box_profile_read(const char *path, struct arena *a, struct strings *calls, struct error *e);

/* Whether the profile, and not the policy, is why a call is refused. */
bool box_profile_refuses(const struct strings *calls, const char *name);
