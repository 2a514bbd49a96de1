/*
 * A container's processes where no cgroup holds them: those in its own pid namespace, or, without one,
 * those in its own mount namespace. Another container may have joined any of the other namespaces.
 *
 * Who leaves for a mount namespace of his own making needs a user namespace for it, or CAP_SYS_ADMIN. User
 * namespaces know what they were made in: what is below the container's own counts, too, unless there is
 * somebody in that with another mount namespace, who may be another container's that joined it, and so may
 * what is below. A process that has left by CAP_SYS_ADMIN, or from a container without a user namespace of
 * its own, is not found.
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
	int user_fd;	  /* beside a mount namespace: the container's own user namespace, or -1 and … */
	uint64_t user_id; /* … its unique id; 0: there is none, or it isn't known */
};

#define MEMBERS_NONE ((struct members){.ns_fd = -1, .user_fd = -1})

/* By init, which must be alive: the caller holds its pidfd and asks it afterwards. */
int members_of_init(pid_t pid, bool pid_ns, bool user_ns, struct members *ret, struct error *e);

void members_close(struct members *m);

/* The unique ids of the mount and the user namespace that process pid is in; 0 where the kernel (before 6.11
 * and 6.18) has none. */
void members_ids(pid_t pid, uint64_t *ret_mnt, uint64_t *ret_user);

int members_list(const struct members *m, struct arena *a, pid_t **ret_pids, size_t *ret_n,
		 struct error *e);

bool members_exist(const struct members *m);

/* SIGKILL until there are none; any other signal once. */
int members_signal(const struct members *m, int sig, struct error *e);
