/*
 * Finding a container's processes where no cgroup holds them: those in its own pid namespace, or,
 * without one, those in its own mount namespace. The other namespaces don't tell: another container
 * may have joined them.
 *
 * A process that leaves for a new mount namespace needs a user namespace of its own for that, or
 * CAP_SYS_ADMIN. The kernel says of a user namespace in which one it was made, and of a mount
 * namespace which user namespace owns it. So a process counts, too, whose mount namespace is owned
 * by a user namespace below the container's own. It does not count if another container has joined
 * the container's user namespace, or if a process is in that namespace or below with a mount
 * namespace that was not made below: what is below may then be the other container's. A process
 * that left by CAP_SYS_ADMIN, or from a container without a user namespace of its own, is not
 * found.
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
	int user_fd; /* beside a mount namespace: the container's own user namespace, or -1 and … */
	uint64_t user_id; /* … its unique id; 0: there is none, or it isn't known */
	bool user_shared; /* another container is in it: what is below may be that one's */
};

#define MEMBERS_NONE ((struct members){.ns_fd = -1, .user_fd = -1})

/* By init, which must be alive: the caller holds its pidfd and asks it afterwards. */
int members_of_init(pid_t pid, bool pid_ns, bool user_ns, struct members *ret, struct error *e);

void members_close(struct members *m);

/* The unique ids of the mount and the user namespace that process pid is in; 0 where the kernel
 * (before 6.11 and 6.18) has none. */
void members_ids(pid_t pid, uint64_t *ret_mnt, uint64_t *ret_user);

/* The unique id of an open user namespace, and of the container's own user namespace; 0: not
 * known. */
uint64_t members_id_of_user(int user_fd);
uint64_t members_user_id(const struct members *m);

enum members_in { MEMBERS_OUT, MEMBERS_IN, MEMBERS_UNKNOWN };

/* Whether process pid is in the container's own user namespace or below. UNKNOWN: it may not be
 * looked at. */
enum members_in members_in_user(const struct members *m, pid_t pid);
/* Whether a process is in the namespace, or in a pid namespace below it. */
bool members_have(const struct members *m, pid_t pid);

int members_list(const struct members *m, struct arena *a, pid_t **ret_pids, size_t *ret_n,
		 struct error *e);

bool members_exist(const struct members *m);

/* SIGKILL until there are none; any other signal once. */
int members_signal(const struct members *m, int sig, struct error *e);
