/* A mount of type "cgroup": the container's own cgroups, as this host lays them out. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "plan/plan.h"
#include "rootfs/resolve.h"
#include "rootfs/sources.h"

/* Whether each of these mounts is read-only. */
bool cgroup_view_is_readonly(const struct plan *p);

/* v2: the container's cgroup itself. v1 and hybrid: a tmpfs with a directory a hierarchy. */
int cgroup_view_mount(const struct plan *p, const struct mount_plan *m, struct sources *s,
		      struct in_root target, struct error *e);
