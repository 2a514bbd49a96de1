/*
 * What has been mounted in the root so far, and under which of the config's names. Where a name
 * leads is up to links of the image; which mount is changed, and which volume has something made in
 * it, must not be.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "plan/plan.h"

struct mounted {
	int root_dfd; /* the container's root; whoever made this closes it */
	uint64_t root_id;
	size_t n;
	const struct mount_plan *plans;
	uint64_t *ids; /* one a plan; 0: it is not mounted yet, or is several mounts (cgroups) */
};

/* ids: as many as the plan has mounts, all 0. */
struct mounted mounted_begin(const struct plan *p, int root_dfd, uint64_t *ids);

/* m is one of the plan's; fd is its tree, attached or not. */
void mounted_add(struct mounted *mounted, const struct mount_plan *m, int fd);

/* What an open place is on; NULL: the root, or something that came along with it, a bind or the
 * cgroups. */
const struct mount_plan *mounted_find(const struct mounted *mounted, int fd);

/* Nobody but the container has what is made there: it is the root's, or in memory that is the
 * container's own. */
bool mounted_is_own(const struct mounted *mounted, int fd);
