/*
 * A process that enters namespaces before it has its child: a launcher. What it prepares (joined
 * namespaces, a user namespace, a time namespace) its child is born into; with CLONE_PARENT that
 * child is ours, not the launcher's, and the launcher is gone before this returns. Or the launcher
 * goes on in place and has that child later, by itself.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct launch {
	void *context;
	/* In the launcher: enter. sock is for launch_ask_for_maps(). */
	int (*enter)(void *context, int sock, struct error *e);
	/* In the parent: write the maps of the launcher's user namespace. NULL: never asked for. */
	int (*write_maps)(void *context, pid_t pid, struct error *e);
	/* In the child that is started, or in the launcher itself. */
	__attribute__((noreturn)) void (*main)(void *context);
	uint64_t clone_flags; /* CLONE_NEW* of the child */
	bool launcher_runs_main; /* it unshares then what it would have cloned */
	int unified_dfd;      /* the cgroup that both are born into, or -1 */
	pid_t *ret_ended; /* a launcher that has done its work, for the caller to collect when he
			     waits anyway: its end takes its mounts down; NULL: nobody would */
};

/* The pid of the process that main() runs in as seen here, or -1; *ret_pidfd refers to it. */
pid_t launch(const struct launch *l, int *ret_pidfd, struct error *e);

/* For enter(), or for a child cloned with CLONE_NEWUSER: have the parent write our maps. */
int launch_ask_for_maps(int sock, struct error *e);

/* The parent's side of launch_ask_for_maps(), where there is no launcher. */
int launch_answer_maps(const struct launch *l, pid_t pid, int sock, struct error *e);
