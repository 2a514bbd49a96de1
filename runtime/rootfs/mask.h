/* Paths that the container must not see or must not write. */
#pragma once

#include "base/err.h"
#include "oci/config.h"
#include "rootfs/rootfs.h"

/* Paths below /proc and /sys are looked up on what was mounted there, not by the name of the place.
 *
 * Covers files with the host's own /dev/null (r->null_fd, checked) and directories with one empty
 * read-only tmpfs. A path that is not there is passed over; any other failure is an error. */
int mask_paths(const struct rootfs *r, const struct strings *paths, struct error *e);

/* Binds each path onto itself, read-only with all below it. */
int mask_readonly_paths(const struct rootfs *r, const struct strings *paths, struct error *e);
