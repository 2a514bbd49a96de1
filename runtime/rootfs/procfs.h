/*
 * A procfs shows the pid namespace of the process that asks the kernel for it. Init may not be in
 * the one that the container joins (ns/spawn.h), so it has to ask for another's.
 */
#pragma once

#include <stdbool.h>

/*
 * fsopen() of a procfs that shows this pid namespace; errno on failure. Since Linux 6.17 that is a
 * parameter. Before, a messenger asks from inside: others there can see it and may be able to take
 * it over, so it has nothing: an empty root, no right outside a user namespace of its own, and one
 * socket. may_enter: this process has the right to send one there.
 */
int procfs_open(int pid_ns_fd, bool may_enter);
