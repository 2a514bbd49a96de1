/*
 * A root that stays as it is: others run in it, too, at the same time and afterwards. It is
 * read-only before anything is done in it. What the plan mounts on and the root lacks is made in
 * memory that is the container's own: a tmpfs covers the directory that lacks it, and shows what
 * was there by binds.
 *
 * Not an overlay, which an ordinary user of an older kernel may not make, which can't lie on two
 * others, which loses what is mounted below the root, and through which every file would be opened.
 */
#pragma once

#include "base/err.h"
#include "plan/plan.h"
#include "rootfs/rootfs.h"
#include "rootfs/sources.h"

/* Before the first mount of the plan. The root may be another one then: the memory that covers
 * it. */
int cover_missing(const struct plan *p, const struct sources *s, struct rootfs *r, struct error *e);
