/* Files that the caller names and that we write to: a log, timings. */
#pragma once

#include "base/err.h"

/*
 * Opens path to be written to, and makes it if it is missing. Flags are O_APPEND or O_TRUNC. A pipe
 * without a reader is an error rather than a wait; so is a disk, and what another user has put in
 * the way where everybody may put something (a directory like /tmp), whatever the kernel's
 * fs.protected_* say.
 */
int output_open(const char *option, const char *path, int flags, struct error *e);
