/*
 * A root that programs may write to, and that stays as it is for all others: an overlay, whose
 * upper layer is the container's own. That layer lies in memory of a fixed size, which init makes
 * in its user namespace, or on a filesystem that the caller has made for it (create_options.given).
 * Mounts below the root are not seen then.
 *
 * The kernel keeps in attributes of the layer what the overlay needs to know, by names that
 * ordinary users may set too (userxattr); through the overlay nobody sets or sees them.
 */
#pragma once

#include "base/err.h"
#include "plan/plan.h"
#include "rootfs/rootfs.h"
#include "rootfs/sources.h"

/* Puts it over the root of *r, which must be attached, and makes it the root. For init, before the
 * first mount of the plan. */
int upper_add(const struct plan *p, struct sources *s, struct rootfs *r, struct error *e);
