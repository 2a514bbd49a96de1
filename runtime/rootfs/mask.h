/* Paths that the container must not see or must not write. */
#pragma once

#include "base/err.h"
#include "oci/config.h"
#include "rootfs/rootfs.h"

/*
 * Makes what masks files and directories: a null and an empty directory of the container's own. Where
 * no node can be made (user namespace) the null is the host's. place_fd: a directory to mount on for
 * kernels before 6.15, which clone nothing that is attached nowhere; it stays mounted there.
 */
int mask_prepare(struct rootfs *r, int place_fd, struct error *e);

/* Paths below /proc and /sys are looked up on what was mounted there, not by the name of the place.
 *
 * Covers files with the null of mask_prepare() and directories with its empty directory. A path that is not
 * there is passed over; any other failure is an error. */
int mask_paths(const struct rootfs *r, const struct strings *paths, struct error *e);

/* Binds each path onto itself, read-only with all below it. */
int mask_readonly_paths(const struct rootfs *r, const struct strings *paths, struct error *e);
