/* Paths that the container must not see or must not write. */
#pragma once

#include "base/err.h"
#include "oci/config.h"
#include "rootfs/rootfs.h"

/* Takes what masks files and directories out of the container's nodes. Where no null could be made
 * (an ordinary user's container, a host that is one itself) it is the host's. */
int mask_prepare(const struct plan *p, struct rootfs *r, struct error *e);

/* Paths below /proc and /sys are looked up on what was mounted there, not by the name of the place.
 *
 * Covers files with the null of mask_prepare() and directories with its empty directory. A path
 * that is not there is passed over; any other failure is an error. */
int mask_paths(const struct rootfs *r, const struct strings *paths, struct error *e);

/* Binds each path onto itself, read-only with all below it. */
int mask_readonly_paths(const struct rootfs *r, const struct strings *paths, struct error *e);
