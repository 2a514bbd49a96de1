/*
 * Instead of pivot_root, which the kernel refuses where the host's root is the initial ramfs: the
 * container's root is put over it. The host's tree stays below for as long as the namespace lives,
 * so what is mounted in it is taken away, as far as it may be, or covered: a procfs or sysfs that
 * is in sight of the kernel entitles a user namespace, made inside, to another one without masks.
 */
#pragma once

#include "base/err.h"
#include "plan/plan.h"
#include "rootfs/rootfs.h"

/* The working directory is the container's root. */
int move_root(const struct plan *p, const struct rootfs *r, struct error *e);
