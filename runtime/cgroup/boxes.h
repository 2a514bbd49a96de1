/*
 * Where boxes of the machine's root are, on a machine of systemd's: in one scope that systemd has
 * given away (Delegate=yes). It is started once, by a call over D-Bus, and used by all boxes after
 * that by files alone.
 *
 * systemd keeps a scope as long as there is a process in it, so there is one: the holder, which
 * has nothing open and sleeps. When there have been no boxes for a while it ends, and the scope
 * with it. Who makes a box has a shared lock on the scope's directory until its cgroup is there;
 * the holder ends under an exclusive one.
 */
#pragma once

#include <stdbool.h>

#include "cgroup/cgroup.h"

#define CGROUP_BOXES "sbxrun-boxes.scope"

struct cgroup_boxes {
	const char *path; /* "/system.slice/sbxrun-boxes.scope", for linux.cgroupsPath; NULL: there
			     is no such thing here */
	int lock_dfd; /* until a box is in it; -1: none */
};
#define CGROUP_BOXES_NONE ((struct cgroup_boxes){.lock_dfd = -1})

/* The scope, which is started if it isn't there and `start` is set. Whatever goes wrong, boxes have
 * another place: then *ret says none, and the log why. host: by cgroup_host_find_units(). */
void cgroup_boxes_open(const struct cgroup_host *host, bool start, struct arena *a,
		       struct cgroup_boxes *ret);

/* For an ordinary user, who may have no cgroups where he is: moves this very process into a scope
 * of his own manager, which is his to divide. The scope ends with the process. */
int cgroup_boxes_enter(struct error *e);
void cgroup_boxes_close(struct cgroup_boxes *b);
