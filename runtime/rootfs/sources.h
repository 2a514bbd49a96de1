/*
 * Sources in the host's tree: the root filesystem, those of bind mounts, the container's own
 * cgroups. All are opened before the first mount is attached, so that nothing a container controls
 * can stand in their way (rule R2).
 *
 * Init opens them itself, in its own mount namespace: there a new user namespace has locked the
 * host's read-only, nosuid and nodev flags, which a clone made by the parent would lose. It does so
 * before it takes on the container's ids, so it reaches what the caller reaches. Mounts that map
 * ids come from the parent, which alone may ask for that, and go through a stage (rootfs/stage.h).
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "plan/plan.h"

struct guard_look;

/* Clones that have served their purpose. The kernel makes whoever closes the last descriptor of
 * one wait (RCU), so that is left to a moment when the closer waits for others anyway. */
struct spent_trees {
	int v[8];
	size_t n;
};

struct sources {
	int root_fd;	/* the clone */
	int root_at_fd; /* the directory itself, where the clone will be attached */
	int root_mapped_fd; /* the parent's clone, where ids are mapped (rootfs/stage.h); or -1 */
	struct spent_trees spent; /* the parent's, who closes them while init is at work */
	int upper_fd; /* a filesystem for a writable root's layer; -1: none was given */
	int nodes_fd;	/* what the parent has made for it (rootfs/nodes.h); -1: nothing */
	int *mounts;	/* one a mount of the plan; -1: not a bind, nor given */
	bool *cloned;	/* it is a clone already, and not the source itself */
	uint64_t *mount_ids; /* what they are once they are mounted (rootfs/mounted.h) */
	int pid_ns_fd;	/* what procfs is to show; -1: the pid namespace of this process */
	bool pid_ns_entered; /* by its children already, and it can't be entered again */
	const char *cwd; /* to go back to, when binds were staged (rootfs/stage.h); else NULL */
	bool peers;	/* mounts may be the host's peers (rootfs/attach.h) */
	int *cgroups;	/* one a cgroup directory of the plan, when a mount shows them */
	struct guard_look *looks; /* at paths that no source may be (rootfs/guard.h) */
};

/* An empty set. */
struct sources sources_none(const struct plan *p, struct arena *a);

/* A bind of something of the host's. What lies in the root filesystem is looked up there, later. */
bool sources_is_outside(const struct mount_plan *m);

/* Sources that lead into the root filesystem under another name, by links of the host, are the
 * image's to lead on from there: they are looked up inside it, too. For the parent, once the plan
 * is made. */
int sources_find_inside(struct plan *p, struct arena *a, struct error *e);

/* The root filesystem is a directory, not the host's own, and allowed by the plan's conditions. */
int sources_check_root(const struct plan *p, int fd, struct error *e);

/* How many cgroup directories the config's mounts show: those of the plan, or one that stands for
 * the whole tree of a host where we have no cgroups of our own; 0 without such a mount. */
size_t sources_n_cgroups(const struct plan *p);

/* A clone of one of them, or -1. */
int sources_open_cgroup(const struct plan *p, size_t i, struct error *e);

/* For init, before it changes its ids; mounts that the parent opened are left alone. */
int sources_open(const struct plan *p, struct sources *s, struct error *e);

/* Closes what is there; keeps one for that moment, or closes it, too, if there is no room. */
void sources_close_spent(struct spent_trees *spent);
void sources_keep_spent(struct spent_trees *spent, int *tree_fd);

void sources_close(const struct plan *p, struct sources *s);
