/*
 * linux.netDevices: interfaces of the runtime's network namespace that go into the container's,
 * with their addresses. In the parent, which has rights over both. If the create fails later they
 * are brought back; after that they are the container's, and the kernel's when it ends.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/plan.h"

struct netdev; /* one of them, and all that it takes to bring it back */

struct netdevs {
	int home_fd; /* the runtime's namespace … */
	int away_fd; /* … and the container's, which lives as long as this is open */
	int home_sock;
	int away_sock;
	int home_watch; /* where the kernel tells which interfaces leave, and for where */
	int away_watch;
	bool missed; /* something left the container's, and the kernel could not tell what */
	size_t n;    /* moved so far */
	struct netdev *v;
	const struct noter *noter;
};
#define NETDEVS_NONE ((struct netdevs){-1, -1, -1, -1, -1, -1, false, 0, NULL, NULL})

/* Moves those of the plan into the network namespace of a process. On failure all are back. */
int netdevs_move(const struct plan *p, pid_t pid, const struct noter *noter, struct arena *a,
		 struct netdevs *ret, struct error *e);

/*
 * Brings them back with name, state, addresses and routes; what the kernel refuses is noted. One
 * that has left the container's namespace meanwhile is not looked for: what has its number there
 * now is somebody else's, and the host's traffic would go to him.
 */
void netdevs_bring_back(struct netdevs *d);

void netdevs_close(struct netdevs *d);
