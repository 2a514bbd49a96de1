/*
 * Mounts, from descriptor to descriptor (rule R2). A mount is first made where nobody can see it,
 * as a detached tree with all its attributes, and then attached to an open place inside the root.
 *
 * Sources of binds are opened before the first mount is attached and cloned when their turn comes,
 * so that the kernel lists mounts in the config's order. Filesystem instances are made by init, in
 * the namespaces they show.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "plan/plan.h"
#include "rootfs/resolve.h"
#include "rootfs/sources.h"

/* A bind mount's source, without a clone. looks: of its sources (rootfs/guard.h). */
int mount_open_source(const struct plan *p, const struct mount_plan *m, struct guard_look *looks,
		      struct error *e);

/* Whether it is mounted on a directory, and not on a file. source_fd: of a bind. */
bool mount_wants_directory(const struct mount_plan *m, int source_fd);

/* The clone of it, with attributes and propagation, or -1. userns_fd: for mounts that map ids, else
 * -1. */
int mount_clone_bind(const struct plan *p, const struct mount_plan *m, int source_fd, int userns_fd,
		     struct error *e);

/* A new instance of a filesystem, detached; target is where it will stand. */
int mount_make_fs(const struct mount_plan *m, const struct sources *s, struct in_root target,
		  struct error *e);

/*
 * A substitute for a read-only sysfs. In a user namespace the kernel makes no new sysfs if parts of
 * the outer one are covered; then the container gets the outer one, with its covers and all mounts
 * in it, read-only. Before pivot_root.
 */
int mount_bind_outer_sys(const struct plan *p, const struct mount_plan *m, struct error *e);

/* Attributes, propagation and identity of what is mounted at target already. */
int mount_change(const struct mount_plan *m, struct in_root target, struct error *e);
