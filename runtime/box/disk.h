/*
 * A workspace that is larger than memory may hold: a filesystem in a file without a name, on a
 * block device that goes away with its mount, on a mount that is attached nowhere but in the box.
 * A process that is killed leaves nothing of it. The kernel mounts only what mke2fs has written a
 * moment before, to a file that nobody else can reach.
 *
 * Where that can't be had, and for ordinary users, it is a directory, whose size nobody limits.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "box/box.h"

struct disk {
	int tree_fd;	  /* the filesystem; -1: none */
	const char *path; /* of the directory; NULL: none */
	int parent_dfd;	  /* where that is … */
	int lock_fd;	  /* … and what says that it is used */
	const char *note; /* why a limit can't hold; NULL: it does */
};
#define DISK_NONE ((struct disk){.tree_fd = -1, .parent_dfd = -1, .lock_fd = -1})

/* Whether the workspace of a box lies on one. */
bool disk_is_wanted(const struct box_request *q);

/* Names what would hold its size; NULL: nothing would. */
const char *disk_holder(const struct box_request *q);

/* name: one that no other box has. */
int disk_make(const struct box_request *q, const char *name, struct arena *a, struct disk *ret,
	      struct error *e);

/* A filesystem of that size, or a failure that names the option; it ends with its last mount.
 * *ret_note: NULL, or what the caller should know. */
int disk_make_tree(const char *option, int64_t size, struct arena *a, int *ret_tree_fd,
		   const char **ret_note, struct error *e);

/* When the box has ended, and nobody looks at the workspace any more. stop: whether the caller has
 * no more patience; what is left of a directory then is removed by a later run (disk_sweep()). */
void disk_remove(struct disk *d, bool (*stop)(void *context), void *context);

/* Removes directories of runs that were killed. */
void disk_sweep(void);
