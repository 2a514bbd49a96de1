/*
 * From the plan's namespaces to a process that is in all of them.
 *
 *	nothing joined, no time namespace      otherwise, or with something to do before
 *
 *	parent ──clone3(all)──► init           parent ──► launcher: setns, unshare(user, time)
 *	       ◄── maps ──►                                  │ ◄── maps ──► parent, or setns(user)
 *	                                                     └─clone3(CLONE_PARENT, the rest)─► init
 *
 * Into a pid namespace that others live in, nothing is born before it has the payload's rights and
 * no others, for whoever may trace there could take it over. So the launcher goes on as init,
 * outside of it, and has the process that becomes the program last (init_be_born in init/init.c).
 *
 * Either way init is the parent's child. A cgroup namespace of v1 hierarchies is made by init after
 * it has joined its cgroups, or it would be rooted at the old ones.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "plan/plan.h"

/* A joined pid namespace, which only children of init are in. Whoever it belongs to, somebody may
 * be there who has the rights over our processes that the runtime's root has. */
struct pid_ns {
	int fd;	      /* -1: none is joined, or it is closed by now */
	bool joined;
	bool entered; /* children are born there already: it is of a user namespace that was left */
};

#define PID_NS_NONE ((struct pid_ns){.fd = -1})

struct joins;

struct spawn {
	const struct plan *plan;
	struct joins *joins; /* of the plan; the launcher closes its copies */
	int unified_dfd; /* cgroup for clone3, or -1 */
	int userns_fd; /* the plan's own user namespace, for a launcher, if it is made; or -1 */
	__attribute__((noreturn)) void (*main)(void *context); /* init's own program */
	void *context;
	/* The launcher calls it before it enters a user namespace; NULL: it has nothing to do
	 * there. */
	int (*before)(void *context, struct error *e);
	uint64_t *ret_mnt_id; /* of init's new mount namespace, if known; NULL: not wanted */
	uint64_t *ret_user_id; /* the same of its new user namespace */
	pid_t *ret_launcher; /* the caller's to collect; it is left as it is where there is none */
	struct pid_ns *pid_ns; /* for main(): set in the process that it runs in */
};

/* Starts init. Its pid as seen here, or -1; *ret_pidfd refers to it. */
pid_t spawn_init(const struct spawn *s, int *ret_pidfd, struct error *e);

/* Whether init must make its cgroup namespace itself, after joining. */
bool spawn_leaves_cgroup_ns(const struct spawn *s);
