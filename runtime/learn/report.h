/*
 * Reports what was learned: for people, as JSON, and as an OCI seccomp object (linux.seccomp of a
 * config, or the file of docker's --security-opt seccomp=). Pure.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "learn/watch.h"
#include "policy/policy.h"

enum learn_format { LEARN_TEXT, LEARN_JSON, LEARN_OCI };

/* By its word; -1: there is none. */
int learn_format_find(const char *word);

struct learn_view {
	const struct learning *learning;
	const char *profile; /* of `do`: whose list the filter is; NULL: the config has its own */
	bool with_refused;   /* the profile has what was refused, too */
};

/* A container that a policy refused: nothing ran. */
struct learn_refusal {
	const struct policy *policy;
	const struct policy_clamps *refusals;
	const struct policy_text *needed; /* what would have to be given */
};

/* As text or JSON; there is no profile of what did not run. */
void learn_write_refusal(const struct learn_refusal *r, enum learn_format format, struct arena *a,
			 struct buf *b);

void learn_write(const struct learn_view *v, enum learn_format format, struct arena *a,
		 struct buf *b);
