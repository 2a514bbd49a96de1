/*
 * The container's tree, in the order in which it comes to be: build (before the hooks that may
 * still see the host), enter (pivot_root), finish (what must be covered last). Runs in init.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "plan/plan.h"
#include "rootfs/mounted.h"
#include "rootfs/sources.h"

struct rootfs {
	int dfd;    /* the root, attached; O_PATH */
	struct mounted mounted;
	bool peers; /* mounts in it may be the host's peers (rootfs/attach.h) */
	/* The covers of files and directories, detached and read-only (rootfs/mask.h); -1: none
	 * needed. */
	int nodes_fd; /* rootfs/nodes.h; -1: none is needed */
	int null_fd;
	int empty_dfd;
	/* The mounts on /proc, /sys and /dev/pts, and on a /dev that is to be read-only, or
	 * -1. Somebody who shares the image can rename the directory below a mount of ours; the
	 * mount itself he can't exchange. */
	int proc_dfd;
	int sys_dfd;
	int pts_dfd;
	int dev_dfd;
};

#define ROOTFS_NONE                                                                                \
	((struct rootfs){.dfd = -1,                                                                \
			 .mounted = {.root_dfd = -1},                                              \
			 .nodes_fd = -1,                                                           \
			 .null_fd = -1,                                                            \
			 .empty_dfd = -1,                                                          \
			 .proc_dfd = -1,                                                           \
			 .sys_dfd = -1,                                                            \
			 .pts_dfd = -1,                                                            \
			 .dev_dfd = -1})

/* Attaches the root where it lies and everything in it, in the config's order. */
int rootfs_build(const struct plan *p, struct sources *s, struct rootfs *ret, struct error *e);

/* Makes it this process's root. Afterwards the host's tree is out of reach. */
int rootfs_enter(const struct plan *p, struct rootfs *r, struct error *e);

/* Masks, read-only paths, a read-only root. After the last write of ours below it. */
int rootfs_finish(const struct plan *p, struct rootfs *r, struct error *e);

void rootfs_close(struct rootfs *r);
