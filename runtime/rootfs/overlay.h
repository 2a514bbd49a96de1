/*
 * An overlay whose files show other ids. The kernel maps ids of an overlay's layers and not those
 * of the overlay itself, so the engine's is made a second time, of the same layers.
 *
 * Caveat: the kernel leaves open what is seen in one of two overlays on the same files when the
 * other one is written to, short of a crash. Engines look at theirs again to copy files in or out,
 * and see what was written before they look for the first time. The second has a work directory of
 * its own, or the first could copy no file up any more.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "json/types.h"

/* The name of the work directory, beside the engine's. */
#define OVERLAY_WORK "work.sbxrun"

/* Layers of an overlay, from the topmost on. */
struct overlay_layers {
	struct strings lower;
	char *upper; /* NULL: it can't be written to */
	char *work;
	struct strings options; /* others that change what is seen */
};

/* Reads the options of a line of mountinfo; pure. */
int overlay_parse(const char *options, struct arena *a, struct overlay_layers *ret,
		  struct error *e);

bool overlay_is_one(int fd);

/* The overlay that root_fd is the top of, again, with ids mapped as in the user namespace. first:
 * what root is mapped to. *ret_work: a directory that is to be removed once it is not mounted any
 * more, or NULL; also after a failure. */
int overlay_clone(int root_fd, int userns_fd, uint32_t first, const char *field, const char *path,
		  struct arena *a, char **ret_work, struct error *e);
