/*
 * Init: the process that becomes the payload. It runs in the container's namespaces, carries out the
 * plan step by step (the tables in init.c are what the sandbox is), reports to the parent, waits for
 * `start`, and executes the program.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "cgroup/cgroup.h"
#include "plan/plan.h"
#include "rootfs/resolve.h"
#include "rootfs/rootfs.h"
#include "rootfs/sources.h"
#include "security/seccomp.h"
#include "state/record.h"
#include "state/store.h"

struct init {
	const struct plan *plan;
	const struct record *record; /* for the state that hooks are told */
	struct arena *arena;
	struct sources sources;
	struct cgroup_handle cgroup;
	struct seccomp_program seccomp;
	struct store *store;	/* the parent's; closed at once */
	bool make_cgroup_ns;	/* after joining */
	bool runtime_hooks;	/* the parent has hooks to run once the mounts are there */
	bool no_new_keyring;
	unsigned int preserve_fds;
	int stage_fd;		/* to the parent */
	int listen_fd;		/* for `start` */
	/* Init's own. */
	struct rootfs root;
	int proc_dfd;
	bool cwd_is_set;
};

/* Context is a struct init. Never returns. */
__attribute__((noreturn)) void init_main(void *context);
