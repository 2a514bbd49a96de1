/*
 * The list of what init has mounted in the root so far, with the config's name for each. Links of
 * the image decide where a name leads; they must not decide which mount is changed, nor in which
 * volume something is made.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "plan/plan.h"

enum { MOUNTED_COVERS_MAX = 32 };

struct mounted {
	int root_dfd; /* the container's root; whoever made this closes it */
	uint64_t root_id;
	size_t n;
	const struct mount_plan *plans;
	uint64_t *ids; /* one a plan; 0: it is not mounted yet, or is several mounts (cgroups) */
	size_t n_covers;
	uint64_t covers[MOUNTED_COVERS_MAX]; /* of directories of the root (rootfs/cover.h) */
};

/* ids: as many as the plan has mounts, all 0. */
struct mounted mounted_begin(const struct plan *p, int root_dfd, uint64_t *ids);

/* m is one of the plan's; fd is its tree, attached or not. */
void mounted_add(struct mounted *mounted, const struct mount_plan *m, int fd);

/* The mount that an open place is on; NULL: the root, or something that came along with the root, a
 * bind or the cgroups. */
const struct mount_plan *mounted_find(const struct mounted *mounted, int fd);

/* Whether it is on memory that covers a directory of the root. */
bool mounted_is_cover(const struct mounted *mounted, int fd);

/* Whether a file made there is the container's alone: the place is on the root, or in memory that
 * is the container's own. */
bool mounted_is_own(const struct mounted *mounted, int fd);
