/* Files that are locked, and removed by who has the lock. */
#pragma once

/* Opened and locked; flags: O_CREAT, or 0; how: LOCK_EX or LOCK_SH of flock(2). -1 with EWOULDBLOCK
 * if somebody else has it locked. */
int lockfile_open(int dfd, const char *name, int flags, int how);
