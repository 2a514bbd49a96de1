/* Paths that the container must not see or must not write. */
#pragma once

#include "base/err.h"
#include "oci/config.h"

/* Covers files with the host's own /dev/null (null_fd, checked) and directories with one empty
 * read-only tmpfs. A path that is not there is passed over; any other failure is an error. */
int mask_paths(int root_dfd, const struct strings *paths, int null_fd, struct error *e);

/* Binds each path onto itself, read-only with all below it. */
int mask_readonly_paths(int root_dfd, const struct strings *paths, struct error *e);
