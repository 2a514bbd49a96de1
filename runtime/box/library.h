/* Where things lie that outlast a box. */
#pragma once

#include <sys/types.h>

#include "base/arena.h"

/* The directory that the variable names, or that of this name among sbxrun's own: root's in
 * /var/lib, a user's among his data. NULL: he has no home. */
const char *library_path(const char *variable, const char *name, struct arena *a);

/* Makes a directory and those above it, the last with this mode. -1 with errno. */
int library_make(const char *path, mode_t mode, struct arena *a);
