/*
 * Facts about what holds a container: the policy, what it changed or refused, what this host can't
 * give, and what the program reaches of the kernel and the host, beside what it would reach with
 * the config as written, which is what other runtimes carry out.
 */
#pragma once

#include "life/life.h"
#include "policy/policy.h"

/* The reach, counted. */
struct surface {
	unsigned int calls, calls_some; /* system calls: at all; only with some arguments */
	bool filter;
	bool other_abis; /* calls of other architectures */
	uint64_t caps;
	bool no_new_privs;
	struct strings own_ns, host_ns, joined_ns;
	struct strings mounts, writable; /* where; the latter are among the former */
	struct strings devices;		 /* beside terminals */
	size_t without_nosuid, without_nodev;
	size_t covered, read_only;
	bool user_ns;
	int landlock_abi; /* 0: files are not judged by it */
};

struct explanation {
	const char *id; /* NULL: a bundle */
	struct policy policy;
	struct policy_clamps clamps;
	struct policy_clamps refusals;
	struct policy_text needed; /* what the policy would have to give instead */
	struct notes notes;	/* what this host can't give */
	struct surface here, as_asked;
	const struct plan *plan; /* under the policy */
};

/* A bundle, or a config in memory. */
int life_explain(const struct create_options *o, struct arena *a, struct explanation *ret,
		 struct error *e);

/* A container that is there. */
int life_explain_container(const char *root, const char *id, struct arena *a,
			   struct explanation *ret, struct error *e);

/* The last `most` containers that a policy changed or refused, newest first: one JSON object each,
 * as text. */
int life_explain_last(const char *root, size_t most, struct arena *a, struct strings *ret,
		      struct error *e);
