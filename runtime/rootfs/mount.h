/*
 * Mounts, from descriptor to descriptor (rule R2). A mount is first made where nobody can see it, as
 * a detached tree with all its attributes, and then attached to an open place inside the root.
 *
 * Trees of the host (binds) are opened before clone by the parent, which has the rights to do so and
 * can map their ids; or by init when its own user namespace must lock the host's flags on them.
 * Filesystem instances are made by init, in the namespaces they show.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "plan/plan.h"
#include "rootfs/resolve.h"

/* The clone of a bind mount's source, with attributes and propagation, or -1. userns_fd: for mounts
 * that map ids, else -1. */
int mount_open_bind(const struct plan *p, const struct mount_plan *m, int userns_fd,
		    struct error *e);

/* A new instance of a filesystem, with attributes; target is where it will stand. */
int mount_make_fs(const struct mount_plan *m, struct in_root target, struct error *e);

/* Attributes, propagation and identity of what is mounted at target already. */
int mount_change(const struct mount_plan *m, struct in_root target, struct error *e);

/* Puts a detached tree there. */
int mount_attach(int tree_fd, struct in_root target, const char *field, struct error *e);

/* The exception of rule R2: a parameter is too long for fsconfig(). Mounts by mount(2) on the open
 * target. */
bool mount_needs_old_call(const struct mount_plan *m);
int mount_by_old_call(const struct mount_plan *m, struct in_root target, struct error *e);
