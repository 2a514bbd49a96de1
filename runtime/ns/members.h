/*
 * A container's processes where no cgroup holds them: those in its own pid namespace, or, without one,
 * those in its own mount namespace. Another container may have joined any of the other namespaces. A
 * process that has left for a mount namespace of its own making is not found.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

/* Which namespace to look for. */
struct members {
	int ns_fd;	  /* held open, so that its number is nobody else's; or -1 and … */
	uint64_t mnt_id;  /* … the kernel's unique id of a mount namespace; 0: nothing is found */
	bool pid_ns;	  /* ns_fd is a pid namespace; those below it count, too */
};

#define MEMBERS_NONE ((struct members){.ns_fd = -1})

/* By init, which must be alive: the caller holds its pidfd and asks it afterwards. */
int members_of_init(pid_t pid, bool pid_ns, struct members *ret, struct error *e);

void members_close(struct members *m);

/* The unique id of the mount namespace that process pid is in; 0 where the kernel (before 6.11) has none. */
uint64_t members_mnt_id(pid_t pid);

int members_list(const struct members *m, struct arena *a, pid_t **ret_pids, size_t *ret_n,
		 struct error *e);

/* SIGKILL until there are none; any other signal once. */
int members_signal(const struct members *m, int sig, struct error *e);
