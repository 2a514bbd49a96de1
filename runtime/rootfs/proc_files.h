/*
 * Files made up for a procfs that shows processes alone (plan/proc_files.h).
 *
 * Such a procfs has no place for them: the kernel finds no name in it but processes. It does find
 * what it has found before. So the procfs is made whole, where nobody is yet to see it; the files
 * are put on the names that they have there; and then it is told to show processes alone. A name
 * that something is mounted on stays known, and no other one was ever looked up.
 */
#pragma once

#include "plan/plan.h"

/* Writes them to a tmpfs of nodes (rootfs/nodes.h). -1 with errno. */
int proc_files_write(const struct proc_files *files, int nodes_fd);

/* proc_dfd: a procfs that was made whole and is attached. */
int proc_files_cover(const struct plan *p, const struct mount_plan *m, bool peers, int nodes_fd,
		     int proc_dfd, struct error *e);
