/* User namespaces: id maps, and namespaces made only to map the ids of a mount. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "oci/config.h"

/* Writes the maps of pid's new user namespace. rootless: by newuidmap and newgidmap when the caller
 * may not write them himself. */
int userns_write_maps(pid_t pid, const struct oci_id_maps *uids, const struct oci_id_maps *gids,
		      bool rootless, struct error *e);

/* A user namespace with these maps and nobody in it, as a descriptor. */
int userns_open_map(const struct oci_id_maps *uids, const struct oci_id_maps *gids, bool rootless,
		    struct error *e);
