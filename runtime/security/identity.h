/*
 * The payload's identity, and what it must not inherit from whoever called the runtime. Small steps
 * of init, each one or two system calls, in the order in which init's table lists them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "oci/config.h"
#include "plan/security.h"

/* A new session keyring, without a name: one with a name could be another's, who took it before and
 * then shared our keys. *ret_skipped is the errno (else 0) when this kernel has no keyrings or an
 * outer sandbox forbids them: then the old one stays, and that is to be logged. */
int identity_new_keyring(int *ret_skipped, struct error *e);

/* Supplementary groups, exactly these. Where the user namespace forbids setgroups (allowed false),
 * asking for any is an error and the caller's remain. */
int identity_set_groups(const struct ids *groups, bool allowed, struct error *e);

/* gid, then uid: real, effective, saved. Permitted capabilities survive it, effective ones don't
 * when uid isn't 0: caps_set_for_setup() or caps_apply_final() must follow. */
int identity_set_ids(uint32_t uid, uint32_t gid, struct error *e);

/* The umask given, or 022. */
void identity_set_umask(const struct opt_u32 *umask);

int identity_set_no_new_privs(struct error *e);

/* Raises hard limits that the config has above the caller's: needs CAP_SYS_RESOURCE, so it comes
 * while that is still held. What can't be raised is an error that names it, but for RLIMIT_MEMLOCK,
 * which is best effort: engines ask for no limit, and hosts give 8 MB. */
int identity_raise_rlimits(const struct rlimit_plans *limits, struct error *e);

/* The limits themselves, as the last thing before execve: our own work must not run into them. */
int identity_set_rlimits(const struct rlimit_plans *limits, struct error *e);

/* The config's, or the plain one: never the caller's. */
int identity_set_personality(const struct personality_plan *p, struct error *e);

/* Of this process (0) or a child. proc_dfd: a procfs that shows it. */
int identity_set_oom_score_adj(int proc_dfd, pid_t pid, int32_t value, struct error *e);

/* Huge pages, timer slack, the memory policy, what a core has in it and the like, as a fresh
 * process has them. In the runtime itself, before it has children: hooks must not have the
 * caller's, either. */
int identity_reset_settings(struct error *e);

/* The kernel would rather kill others when memory is short: the caller's score is below 0. */
bool identity_is_protected_from_oom(void);

/* Every disposition to default and nothing blocked. Handlers must not be needed any more. */
int identity_reset_signals(struct error *e);

/* Policy, nice, I/O priority and affinity as a fresh process has them: after the cgroup was joined,
 * so that its cpuset alone says where the payload runs. An ordinary user can't raise a lowered
 * priority: that one stays. */
int identity_reset_scheduler(struct error *e);

/* Policy and nice of a process that may not reset them itself: root's own, in a user namespace.
 * Where we may not either, they stay. */
int identity_lift_scheduler(pid_t pid, struct error *e);

/* The config's own. Before credentials are dropped: most policies need CAP_SYS_NICE. */
int identity_set_scheduler(pid_t pid, const struct scheduler_plan *s, struct error *e);
int identity_set_io_priority(const struct io_priority_plan *p, struct error *e);
int identity_set_memory_policy(const struct memory_policy_plan *p, struct error *e);

/* No memory of the process, and of what it starts, is ever both writable and executable. */
int identity_deny_write_execute(struct error *e);
