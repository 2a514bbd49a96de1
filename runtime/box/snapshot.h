/*
 * Files of a box under a name, for new boxes: what its workspace has, and what is different in its
 * root. One file each, ROOT/boxes:snapshots/NAME, of whoever made it and open to nobody else
 * (archive.h). Its facts say what the box was like, so that one like it can be made when the box is
 * long gone.
 *
 * A writer holds a lock on the directory, and writes to :NAME, which becomes NAME when it
 * is whole. What has a colon in front is left by somebody who was killed; the next one removes it,
 * or a sweep does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "box/archive.h"
#include "box/changes.h"
#include "box/sandbox.h"

#define SNAPSHOT_DIR "boxes:snapshots" /* no id has a colon */

enum { SNAPSHOT_BYTES = 256 << 20, SNAPSHOT_MOST = 32 };

struct snapshot {
	uint32_t version;
	char *name;
	char *box; /* that it is of */
	uint32_t uid; /* who made it */
	char *created;
	struct sandbox_facts facts;
	uint64_t entries, bytes;
};

/* Of a box that nobody runs in: locked by the caller. most, bytes: how many there may be, and how
 * large. ERR_EXISTS: the name is taken. What could not be kept is noted. */
int snapshot_save(struct sandbox *s, const char *name, uint32_t most, uint64_t bytes,
		  struct arena *a, struct snapshot *ret, struct noted *notes, struct error *e);

/* Saves into memory of ours, for one use. */
int snapshot_hold(struct sandbox *s, uint64_t bytes, struct arena *a, int *ret_fd,
		  struct noted *notes, struct error *e);

/* ERR_NOT_FOUND: there is none. */
int snapshot_open(const char *root, const char *name, int *ret_fd, struct error *e);

/* Reads the begin; in stands at the first entry then. */
int snapshot_read(int fd, struct archive_in *in, struct arena *a, struct snapshot *ret,
		  struct error *e);

int snapshot_remove(const char *root, const char *name, struct error *e);

/* Removes what is half made, unless somebody is at it. */
void snapshot_sweep(const char *root);

/* Sorted by name. Damaged ones have no box. */
int snapshot_list(const char *root, struct arena *a, struct snapshot **ret, size_t *ret_n,
		  struct error *e);

/* Puts the entries into a box that was made a moment ago and has not been called yet, with the ids
 * of its user, and keeps what it begins with. */
int snapshot_restore(struct archive_in *in, const struct sandbox *s, struct arena *a,
		     struct error *e);
