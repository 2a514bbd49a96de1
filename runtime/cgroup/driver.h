/*
 * Owners of the tree that a container's cgroup is in. With cgroupfs it is ours, and there is nobody
 * to ask. With systemd the container's cgroup is a scope's: systemd is told before the directories
 * are settled, when limits change, and when it is over. Everything between goes by files, as with
 * cgroupfs: exec, pause, kill and statistics ask nobody.
 *
 * The unit, which a plan and a record have, says which driver it is.
 */
#pragma once

#include "cgroup/cgroup.h"

/* A driver's calls. NULL: nothing. */
struct cgroup_driver_calls {
	int (*begin)(const struct cgroup_plan *p, const struct cgroup_dirs *d,
		     struct cgroup_handle *h, struct error *e);
	void (*give_up)(const struct cgroup_unit *u, const struct cgroup_dirs *d,
			struct cgroup_handle *h);
	int (*update)(const struct cgroup_plan *p, struct error *e);
	int (*holds)(const struct cgroup_unit *u, const struct cgroup_dirs *d, struct error *e);
	bool (*end)(const struct cgroup_unit *u, const struct cgroup_dirs *d,
		    const struct noter *noter);
};

extern const struct cgroup_driver_calls cgroup_by_systemd; /* cgroup/scope.c */

/* Before a directory is made or claimed. May set h->holder. */
int cgroup_driver_begin(const struct cgroup_plan *p, const struct cgroup_dirs *d,
			struct cgroup_handle *h, struct error *e);

/* The making has failed. */
void cgroup_driver_give_up(const struct cgroup_unit *u, const struct cgroup_dirs *d,
			   struct cgroup_handle *h);

/* The limits of the plan are in the files already. */
int cgroup_driver_update(const struct cgroup_plan *p, struct error *e);

/* No process is left in the directories, which are still there. false: systemd was not told, and
 * has to find out by itself. */
bool cgroup_driver_end(const struct cgroup_unit *u, const struct cgroup_dirs *d,
		       const struct noter *noter);
