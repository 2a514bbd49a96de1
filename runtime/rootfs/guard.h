/* Judges sources of mounts by the conditions of the plan, on what was opened. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/plan.h"

/*
 * The file at one of the plan's paths. One create looks there once, however many sources it has:
 * whoever could put another file there meanwhile could do so a moment later.
 */
struct guard_inode {
	dev_t dev;
	ino_t ino;
};

enum { GUARD_ABOVE_MAX = 8 };

struct guard_look {
	bool done;
	bool plain; /* no link is on the way; only once `links` was asked for */
	bool links;
	int err; /* 0: it is there */
	struct guard_inode at;
	bool walked;
	bool deep;     /* there is no room for all directories above it … */
	bool has_dir;  /* the one that it is in, or would be in, is there */
	size_t n_above;
	struct guard_inode above[GUARD_ABOVE_MAX]; /* … of which these are there */
};

/* Room for the looks of one create. */
struct guard_look *guard_new_looks(const struct plan_guard *g, struct arena *a);

/* fd: the mount's source, opened; name: what the kernel calls it, NULL: to be asked for. */
int guard_check_source(const struct plan *plan, struct guard_look *looks,
		       const struct mount_plan *m, int fd, const char *name, struct error *e);

/* The root filesystem must not be, or hold, what is the runtime's own. */
int guard_check_root(const struct plan_guard *g, int root_fd, struct error *e);
