/*
 * The payload's rights, as numbers: capabilities, resource limits, scheduling, personality, LSM
 * labels. Pure: names from config.json meet facts about the host that the caller probed
 * (security/caps.h, security/lsm.h), and nothing is asked of the kernel here.
 *
 * Values that the specification wants ignored (a capability that this kernel doesn't have, a label
 * where there is no LSM) come back as sentences for the log; what can't be honoured is an error
 * that names the field.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "oci/config.h"
#include "oci/notes.h"

/* The five sets of a process; bit n is capability number n. */
struct cap_sets {
	uint64_t bounding;
	uint64_t effective;
	uint64_t permitted;
	uint64_t inheritable;
	uint64_t ambient;
};

/* Capabilities that this kernel knows, and that the payload's process will hold at first. */
struct cap_host {
	uint64_t known;
	uint64_t available;
};

/*
 * The config's sets, as written. An absent `capabilities` means none at all.
 *  - A name that is unknown here or to this kernel is left out and noted.
 *  - A capability that the kernel has but we don't can't be given away: left out and noted too.
 *  - effective beyond permitted, or inheritable beyond bounding, is an error: the kernel refuses
 * it.
 *  - ambient beyond permitted or inheritable is left out and noted: it has no meaning.
 * For a payload of uid 0 the kernel recomputes permitted and effective at execve from bounding and
 * inheritable (within permitted under no_new_privs), whatever those sets said before.
 */
int plan_caps(const struct oci_capabilities *c, const struct cap_host *host, struct arena *a,
	      struct cap_sets *ret_sets, struct notes *ret_notes, struct error *e);

struct rlimit_plan {
	int resource;
	uint64_t soft;
	uint64_t hard;
	const char *name; /* "RLIMIT_NOFILE" */
};
struct rlimit_plans { size_t n; struct rlimit_plan *v; };

/* process.rlimits; unknown and repeated types and soft above hard are errors. Limits that are not
 * named stay as the caller of the runtime had them, as engines expect. */
int plan_rlimits(const struct oci_process *p, struct arena *a, struct rlimit_plans *ret_limits,
		 struct error *e);

struct scheduler_plan {
	bool set;
	bool ends_with_fork; /* or forbids it */
	uint32_t policy; /* SCHED_* */
	uint64_t flags;	 /* SCHED_FLAG_* */
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};
int plan_scheduler(const struct oci_scheduler *s, struct scheduler_plan *ret_plan, struct error *e);

/* ioprio_set's value for process.ioPriority. */
struct io_priority_plan {
	bool set;
	int value;
};
int plan_io_priority(const struct oci_io_priority *p, struct io_priority_plan *ret_plan,
		     struct error *e);

struct personality_plan {
	bool set;
	unsigned long persona;
};
int plan_personality(const struct oci_personality *p, struct personality_plan *ret_plan,
		     struct error *e);

/* set_mempolicy's arguments; nodes is a bit mask of NUMA nodes. */
enum { PLAN_NODES_MAX = 1024 };
struct memory_policy_plan {
	bool set;
	int mode;		 /* MPOL_* with MPOL_F_* */
	unsigned long node_count; /* bits in use, 0: none */
	unsigned long nodes[PLAN_NODES_MAX / (8 * sizeof(unsigned long))];
};
int plan_memory_policy(const struct oci_memory_policy *p, struct memory_policy_plan *ret_plan,
		       struct error *e);

/* Which LSMs this host runs. */
struct lsm_host {
	bool apparmor;
	bool selinux;
};

/* Labels to apply; NULL: none. */
struct lsm_plan {
	const char *apparmor_profile;
	const char *selinux_label;
	const char *mount_label;
};

/* A label whose LSM isn't there is left out and noted, as engines expect. */
void plan_lsm(const struct oci_config *c, const struct lsm_host *host, struct arena *a,
	      struct lsm_plan *ret_plan, struct notes *ret_notes);
