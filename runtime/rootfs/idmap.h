/* Mounts that map ids, and filesystems that can't. For the parent, which alone may ask for that. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* Files of the kernel's own, which have no owners that would mean anything, and that can't be
 * mapped either: those of proc, sysfs, cgroups, devices and the like. */
bool idmap_is_needless(int fd);

/* Maps the ids of a detached clone of what is open at source_fd as the user namespace does;
 * recursive: of its whole tree. field and source are for the error, which names the filesystem and
 * the remedy. */
int idmap_set(int tree_fd, bool recursive, int userns_fd, int source_fd, const char *field,
	      const char *source, struct error *e);

/* A clone of what is open at source_fd, recursive: with all mounts in it, ids mapped, or -1. */
int idmap_clone(int source_fd, bool recursive, int userns_fd, const char *field, const char *source,
		struct error *e);
