/*
 * cgroups, the mechanism: finds the host's hierarchies, makes the container's directories and
 * limits, and takes them away again. Works on cgroupfs v1, v2 and both at once ("hybrid").
 *
 * Nothing here writes to cgroup.procs: that waits for an RCU grace period (6-12 ms). The new,
 * single-threaded process writes "0" to v1 `tasks` files which the parent opened (cgroup_join), and
 * enters the unified tree by clone3(CLONE_INTO_CGROUP) with .unified_dfd.
 *
 * The order of a create: cgroup_host_probe, cgroup_plan_make, cgroup_dirs_settle, *state record
 * written*, cgroup_make, clone3, cgroup_join in the child. When cgroup_make fails, the cgroups are
 * not ours and must not be destroyed; whatever fails after it: cgroup_destroy with the record's
 * dirs.
 *
 * The calls below act on directories that are the container's by its claim (cgroup/claim.c). At the
 * same path there may be another's, or nobody's: these are taken for missing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/cgroup.h"

/* Facts about this host, from /proc/self/mountinfo and /proc/self/cgroup. Superblocks verified.
 * rootless: not the machine's root, who may write on v1 what he likes. */
int cgroup_host_probe(bool rootless, struct arena *a, struct cgroup_host *ret_host,
		      struct error *e);

/* Where systemd's units are, for its driver. manager: the cgroup of the caller's own manager; NULL:
 * the machine's is meant. */
int cgroup_host_find_units(struct cgroup_host *host, const char *manager, struct arena *a,
			   struct error *e);

/* plan->dirs with .made extended to parents that do not exist yet, and a new claim: what the
 * record, whose absolute path is given, keeps. */
struct cgroup_dirs cgroup_dirs_settle(const struct cgroup_plan *p, const char *record,
				      struct arena *a);

struct cgroup_handle {
	int unified_dfd; /* for CLONE_INTO_CGROUP, or -1 */
	pid_t holder;	 /* a child that keeps systemd's scope until init is in it; 0: none */
	size_t n;
	int tasks_fd[CGROUP_MAX + 2]; /* the last two for resctrl (cgroup/rdt.h) */
	char warning[512]; /* for the log; empty: none */
};
#define CGROUP_HANDLE_NONE ((struct cgroup_handle){.unified_dfd = -1})

/* Makes the directories, writes the limits, opens what joining needs. A target that is another
 * container's or in one, holds processes or is frozen, is refused. On failure, what this call made
 * is gone again. dirs: those that cgroup_dirs_settle() gave; they get their inodes. */
int cgroup_make(const struct cgroup_plan *p, struct cgroup_dirs *dirs,
		struct cgroup_handle *ret_handle, struct error *e);

/* Ends the child that holds a scope: init is in it, or won't be. */
void cgroup_holder_end(struct cgroup_handle *h);

/* Opens what joining needs of cgroups that exist (exec). subs: of cgroup_plan_sub(), a path below
 * each. Where the container has moved its processes further down and v2 takes none at the top any
 * more, it is the one that init is in. A frozen one, in which the joining process hangs until it is
 * thawed, is refused unless frozen_ok. */
int cgroup_open(const struct cgroup_dirs *d, const char *const *subs, pid_t init, bool frozen_ok,
		struct cgroup_handle *ret_handle, struct error *e);

/* In the new process, while it has one thread: enters the v1 hierarchies. Async-signal-safe. */
int cgroup_join(const struct cgroup_handle *h, struct error *e);

void cgroup_handle_close(struct cgroup_handle *h);

/* For a container whose init has ended: 1 if what is in its cgroups is its own. With systemd's
 * driver they may be the next unit's of that name (cgroup/scope.c), and the answer is 0. -1:
 * systemd doesn't say. */
int cgroup_unit_holds(const struct cgroup_unit *u, const struct cgroup_dirs *d, struct error *e);

/* SIGKILL to everything inside, sub-cgroups included; returns when all are empty (bounded). Frozen
 * ones die too. Missing directories are fine. The caller itself is spared. */
int cgroup_kill(const struct cgroup_dirs *d, struct error *e);

/* As cgroup_kill(), but only until init has ended: for a container that has a unit. */
int cgroup_kill_with_init(const struct cgroup_dirs *d, int init_pidfd, struct error *e);

/* Sends sig to everything inside, once. */
int cgroup_signal(const struct cgroup_dirs *d, int sig, struct error *e);

/* All processes inside, sub-cgroups included; sorted, each once. */
int cgroup_pids(const struct cgroup_dirs *d, struct arena *a, pid_t **ret_pids, size_t *ret_n,
		struct error *e);

/* There is certainly no process inside. */
bool cgroup_is_empty(const struct cgroup_dirs *d);

/* Freezes or thaws, and returns when the kernel says that it is done (bounded). */
int cgroup_freeze(const struct cgroup_dirs *d, bool freeze, struct error *e);

/* Frozen or freezing. A missing cgroup is not frozen. */
bool cgroup_is_frozen(const struct cgroup_dirs *d);

/* Removes the whole subtree and the empty parents that are ours. Missing is fine; EBUSY (an exit
 * that is not over) is retried, bounded. Tries everything, reports the first failure. */
int cgroup_remove(const struct cgroup_dirs *d, struct error *e);

/* Kill and remove in one, for delete, when init has ended: what is empty already costs no more than
 * its rmdirs. With a unit, systemd is told first that it is over. all_ended: no process of the
 * container can have outlived its init. */
int cgroup_destroy(const struct cgroup_unit *u, const struct cgroup_dirs *d, bool all_ended,
		   const struct noter *noter, struct error *e);

/* The first word of a file of the first cgroup that has it: a number, or -1 for "max". false: there
 * is no such file, or it says something else. */
bool cgroup_current(const struct cgroup_dirs *d, const char *file, int64_t *ret);

/* The period of the quota of processor time, in microseconds, which v2 has in the file of the
 * quota. */
bool cgroup_current_period(const struct cgroup_dirs *d, int64_t *ret);

/* Writes the limits of a cgroup_plan_update() plan. When one is refused, those before it are set
 * back. warning: size bytes, for the caller; after a failure what could not be set back. */
int cgroup_update(const struct cgroup_plan *p, char *warning, size_t size, struct error *e);
