/*
 * The plan: what will be done, as data, from (config, host facts). Pure: it can be printed,
 * compared and tested without root. The mechanisms take it const and carry it out.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "filter/seccomp.h"
#include "oci/config.h"
#include "oci/notes.h"
#include "plan/cgroup.h"
#include "plan/ids.h"
#include "plan/guard.h"
#include "plan/landlock.h"
#include "plan/mounts.h"
#include "plan/proc_files.h"
#include "plan/program.h"
#include "plan/rdt.h"
#include "plan/security.h"

/* Facts about the host, probed once. */
struct host_facts {
	struct cgroup_host cgroup;
	uint32_t uid, gid;
	bool privileged;     /* CAP_SYS_ADMIN over the user namespace we run in */
	bool machine_root;   /* root, and not only of a user namespace */
	bool has_time_ns;
	bool can_mount_detached; /* asked for only when the config has no new mount namespace */
	struct cap_host caps;	     /* for a payload in our own user namespace … */
	struct cap_host caps_userns; /* … and in one of its own */
	struct lsm_host lsm;
	unsigned int
		own_ns; /* kinds that the config joins by a path to our own: 1 << enum oci_ns */
	unsigned int host_ns; /* the same, also by one to the first process's */
	/* Ids that are the container's to have, where a policy gives it a user namespace. */
	struct id_range id_range;
	const char *no_id_range; /* why there are none */
	int landlock_abi;    /* 0: the kernel has none */
	struct machine_facts machine; /* asked for only where files of /proc are made up */
	const char *resctrl; /* where it is mounted, asked for only when the config has intelRdt */
	bool rdt_class_exists; /* the directory of its class */
	/* The flag by which a call that is asked about is not begun anew by each signal; 0: the
	 * kernel has none. Asked for only where denials are observed. */
	unsigned int seccomp_waits;
	/* For the record, where plans have no use for them. */
	char boot_id[37];
	uint64_t joined_user_id; /* of the user namespace that is joined; 0: none, or not known */
};

struct ns_join {
	enum oci_ns type;
	const char *path;
};

struct ns_plan {
	uint64_t new_flags; /* CLONE_NEW* of the namespaces to make */
	size_t n_joins;
	struct ns_join joins[OCI_NS_COUNT];
};

struct device_plan {
	const char *field; /* for errors */
	const char *path;  /* clean, absolute inside the root */
	mode_t type;	   /* S_IFCHR, S_IFBLK, S_IFIFO */
	unsigned int major, minor;
	mode_t mode;
	uint32_t uid, gid;
};

/* An interface of the host that the container gets. */
struct netdev_plan {
	const char *field; /* for errors */
	const char *host_name;
	const char *name; /* inside; the kernel chooses the number for a %d */
};

struct plan {
	const char *id;
	const char *bundle;   /* absolute */
	const char *rootfs;   /* absolute; not resolved */
	bool rootless;	      /* an ordinary user's container */
	bool by_machine_root; /* root, and not only of a user namespace, asks for it */
	struct ns_plan ns;
	bool new_root;	      /* a mount namespace of its own: pivot_root, else chroot */
	bool root_detached;   /* chroot into a tree that is attached nowhere */
	bool attach_on_host;  /* chroot, and the root is mounted in the runtime's own namespace */
	bool no_pivot;	      /* the caller's --no-pivot: the root may be moved instead */
	bool owns_userns;     /* a new user namespace */
	struct id_range id_range; /* that it was given; mounts of the host map ids then */
	bool root_readonly;
	int64_t root_upper; /* bytes of a layer of its own over it (rootfs/upper.h); 0: none */
	bool root_nodev;      /* nodes that the image brings along are none */
	bool root_nosuid;
	bool root_kept;	      /* others have it: what it lacks is made in memory (rootfs/cover.h) */
	bool keeps_keyring;   /* the caller's session keyring, and no new one */
	bool no_write_execute; /* no memory is both */
	struct plan_guard guard; /* conditions of a policy */
	uint64_t root_propagation;	 /* of the root mount, 0: not asked for */
	bool root_propagation_all;
	bool keep_host_propagation;	 /* mounts of the host and ours may see each other */
	size_t n_mounts;
	struct mount_plan *mounts;
	struct proc_files proc_files; /* for mounts that want them */
	struct strings masked_paths;   /* plain, see plan_paths() */
	struct strings readonly_paths;
	size_t n_devices;
	struct device_plan *devices;
	size_t n_netdevs;
	struct netdev_plan *netdevs;
	struct cgroup_plan cgroup;
	struct rdt_plan rdt;
	struct cap_sets caps;
	struct rlimit_plans rlimits;
	struct scheduler_plan scheduler;
	struct io_priority_plan io_priority;
	struct memory_policy_plan memory_policy;
	struct personality_plan personality;
	struct lsm_plan lsm;
	const char *hostname, *domainname; /* NULL: not set */
	struct oci_id_maps uid_maps, gid_maps; /* of a new user namespace */
	const char *time_offsets;	       /* see plan_time_offsets() */
	struct sysctl_plans sysctls;
	struct program_plan program;
	struct landlock_plan landlock;
	struct seccomp_program filter;
	struct seccomp_program judge; /* what decides, where its denials are observed, or watched */
	struct oci_hooks hooks;
	struct notes warnings; /* for the log */
};

static inline bool plan_has_new(const struct plan *p, int flag)
{
	return (p->ns.new_flags & (uint64_t)flag) != 0;
}

/* The joined namespace of that type, or NULL. One that is our own anyway is not joined. */
const struct ns_join *plan_join(const struct plan *p, enum oci_ns type);

/* Are all devices that the container is given on other mounts than its root? */
bool plan_has_dev_mount(const struct plan *p);

/* bundle is absolute; the config is validated. */
int plan_make(const struct oci_config *c, const char *id, const char *bundle,
	      const struct host_facts *facts, struct arena *a, struct plan *ret, struct error *e);

/* The part of a plan that concerns a further process of a container: who it is and
 * what it may do. */
int plan_make_exec(const struct oci_config *c, const char *id, const struct host_facts *facts,
		   struct arena *a, struct plan *ret, struct error *e);

/* The plan in words, for people, for programs and for comparison. A log gets no arguments of the
 * program. */
enum plan_form { PLAN_TEXT, PLAN_JSON, PLAN_LOG };
void plan_print(const struct plan *p, enum plan_form form, struct buf *b);
