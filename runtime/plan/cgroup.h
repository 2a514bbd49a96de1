/*
 * The cgroup part of a plan: where the container's cgroups are and what is written into them, as
 * data. Pure: the host's layout comes in as facts (struct cgroup_host, probed by cgroup/), so a
 * plan can be printed and tested without root. cgroup/ carries it out.
 *
 * One rule covers every layout: a resource belongs to the hierarchy that has its controller, a v1
 * one before the unified one. "v1", "hybrid" and "v2" differ only in which hierarchies exist.
 *
 * Paths: `linux.cgroupsPath` absolute is taken below each mount point; relative is below /sbxrun;
 * absent is /sbxrun-ID. Where systemd owns the tree, it is `slice:prefix:name`
 * (plan/cgroup_unit.c): the container's cgroup is then that of a scope, and systemd is told of
 * every limit that it knows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "oci/config.h"
#include "oci/notes.h"
#include "plan/unit.h"

#define CGROUP_MAX 32		/* hierarchies */
#define CGROUP_PARENT "/sbxrun" /* of paths that are ours to choose */
#define CGROUP_INNER "/container" /* in the container's cgroup (cgroup/inner.c) */

enum cgroup_mode { CGROUP_NONE, CGROUP_V1, CGROUP_HYBRID, CGROUP_V2, CGROUP_DISABLED };

/* Makers of the container's cgroup, who own what is around it. */
enum cgroup_driver { CGROUP_BY_CGROUPFS, CGROUP_BY_SYSTEMD };

#define UNIT_TIMEOUT_S 25 /* for all that systemd is asked in one verb, unless told otherwise */

/* A mounted hierarchy. Paths in it are as seen from its mount point, which may show a subtree. */
struct cgroup_hierarchy {
	char *controllers; /* "cpu,cpuacct", "name=systemd"; "" for the unified tree */
	char *mount;	   /* mount point */
	char *root;	   /* what the mount shows of the hierarchy: "/" normally */
	char *own;	   /* our own cgroup there, from /proc/self/cgroup */
	char *base;	   /* where we may make cgroups: "" (anywhere), a delegated path, or NULL */
	char *units;	   /* where systemd's units are: "" or a path; NULL: not asked for */
	bool unified;
	char *v2_controllers; /* unified: cgroup.controllers at the mount point; else NULL */
};

struct cgroup_host {
	enum cgroup_mode mode;
	size_t n;
	struct cgroup_hierarchy *v;
	enum cgroup_driver driver;
	uint32_t unit_timeout_s;
	bool limits_if_possible; /* a host without cgroups is no reason to refuse limits */
	const char *name; /* of the container's cgroup, where the config names none; NULL: its id */
};

/* The state record has it: enough to kill, freeze and remove without the config. */
struct cgroup_dir {
	char *mount; /* "/sys/fs/cgroup/cpu" */
	char *path;  /* "/sbxrun-ID", below mount */
	char *made;  /* topmost directory that may be ours: path itself or a parent of it */
	bool unified;
	bool freezer; /* has the v1 freezer */
	bool by_systemd; /* a scope's: systemd makes it, and may remove it once it is empty */
	bool inner;   /* the container is in and sees path + CGROUP_INNER; its limits are at path */
	char *claim; /* the word that says whose it is (cgroup/claim.c); NULL: made by a sbxrun that
			had none */
	uint64_t inode; /* 0: not made yet, as far as the record knows */
};
struct cgroup_dirs {
	size_t n;
	struct cgroup_dir *v;
};

/* A scope of systemd's that is the container's. In the record, before systemd hears of it. */
struct cgroup_unit {
	char *name;  /* "docker-ID.scope"; NULL: the driver is cgroupfs */
	char *slice; /* "system.slice" */
	bool of_user; /* the caller's own manager starts it, not the machine's */
	uint32_t timeout_s;
};

enum cgroup_write_flag {
	CGROUP_OPTIONAL = 1, /* a kernel without this file is fine */
	CGROUP_TOLERATE =
		2,	    /* any failure is a warning: newer kernels have given up on the value */
	CGROUP_RETRY = 4,   /* when it fails, others may have to come first */
	CGROUP_PARENTS = 8, /* new parents get it too, before the leaf */
};

/* One file that gets one value, in one write(2). */
struct cgroup_write {
	size_t hierarchy; /* index in plan.dirs */
	const char *file;
	const char *value;
	const char *alt_file; /* taken when `file` does not exist; may be NULL */
	const char *alt_value;
	const char *field; /* "linux.resources.memory.limit", for errors */
	unsigned int flags;
};

/* A device rule in normal form: one type, wildcards as -1. */
struct cgroup_device_rule {
	bool allow;
	char type;     /* 'c' or 'b' */
	int64_t major; /* -1: any */
	int64_t minor;
	unsigned int access; /* CGROUP_DEV_* */
};
enum { CGROUP_DEV_MKNOD = 1, CGROUP_DEV_READ = 2, CGROUP_DEV_WRITE = 4, CGROUP_DEV_ALL = 7 };

/* The device rules: a default, then rules of which the last that matches decides, bit by bit. */
struct cgroup_devices {
	bool allow_all_default;
	size_t n;
	struct cgroup_device_rule *v;
};

struct cgroup_plan {
	const char *skipped_reason; /* not NULL: no cgroups at all, and why; all else is empty */
	const char *path;	    /* "/sbxrun-ID" */
	struct cgroup_unit unit;
	struct unit_properties properties; /* of the unit: what the writes below mean to systemd */
	struct cgroup_dirs dirs;    /* one leaf a hierarchy, unified last */
	const char *v2_need;	    /* "+hugetlb": controllers that the writes need; "" for none */
	const char *v2_want;	    /* those that are there besides, for statistics */
	size_t n_writes;
	struct cgroup_write *writes; /* in order */
	const char *cpus;	     /* cpuset.cpus of the leaf; NULL: the parent's */
	const char *mems;
	size_t cpuset_dir;	       /* v1 cpuset, or SIZE_MAX */
	struct cgroup_devices devices; /* for eBPF; v1 rules are among the writes */
	size_t devices_dir;	       /* unified dir that gets the eBPF program, or SIZE_MAX */
	bool devices_asked;	       /* the config has rules: no program, no container */
	bool devices_unenforced; /* it has, but nothing will enforce them, and a warning says so */
	bool chown;		 /* the container owns its cgroup (v2, own namespace, rw mount) */
	uint32_t owner_uid;	 /* host ids, when chown */
	const char *apart_for;	 /* the policy that wants it in nobody else's cgroup; NULL: none */
	struct notes warnings; /* for the log */
};

/*
 * The plan for a new container. rootless: anybody but the machine's root. He gets cgroups only
 * where they are delegated to him, and otherwise a plan with skipped_reason and a warning that
 * names the limits which the config asks for. Root gets an error for them. Device rules that can't
 * be kept are a warning for everybody, and an error where the program could make the devices that
 * they deny.
 */
int cgroup_plan_make(const struct oci_config *c, const char *id, const struct cgroup_host *host,
		     bool rootless, struct arena *a, struct cgroup_plan *ret, struct error *e);

/* Why this caller gets no cgroups, or NULL. */
const char *cgroup_plan_skips(const struct cgroup_host *host, bool rootless);

/* Whether cgroups of ours can have this controller (v1's name). */
/* Leaves out v1 hierarchies that limit nothing of what a box has, stop nothing and count nothing of
 * it; with_named: but for those without a controller, which a systemd finds its processes by. */
void cgroup_host_narrow(struct cgroup_host *host, bool with_named);

bool cgroup_host_gives(const struct cgroup_host *host, const char *controller);
/* … by a hierarchy of v1. */
bool cgroup_host_gives_v1(const struct cgroup_host *host, const char *controller);

/* linux.cgroupsPath and the id → the path below each mount point. */
int cgroup_plan_path(const char *cgroups_path, const char *id, struct arena *a, char **ret_path,
		     struct error *e);

/* The plan for new limits of a container that exists, whose dirs are d and whose unit is u. */
int cgroup_plan_update(const struct oci_resources *r, const struct cgroup_dirs *d,
		       const struct cgroup_unit *u, const struct cgroup_host *host,
		       struct arena *a, struct cgroup_plan *ret, struct error *e);

/*
 * Plans exec's --cgroup words: ret_subs has a path below each of d, or NULL for the container's own
 * cgroup. host is consulted only if a word names a controller.
 */
bool cgroup_sub_has_controller(const struct strings *words);
int cgroup_plan_sub(const struct strings *words, const struct cgroup_dirs *d,
		    const struct cgroup_host *host, struct arena *a, const char *const **ret_subs,
		    struct error *e);

/* cpu.shares (2…262144, default 1024) → cpu.weight (1…10000, default 100). */
uint64_t cgroup_shares_to_weight(uint64_t shares);
