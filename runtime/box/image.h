/*
 * An EROFS image of a root filesystem, mounted once for all boxes, so that they share its pages:
 *
 *	ROOT/image:KEY		locked (flock) by each box that uses it, for as long as it runs
 *	ROOT/image:KEY:root	where it is mounted
 *
 * ROOT is the state root, KEY the identity of the file. Boxes get clones of the mount. Who mounts
 * or unmounts has ROOT itself locked. A box that was killed leaves its mount; so does one that
 * ends, for the next is quicker then. image_sweep() unmounts what nobody has used for a while.
 *
 * The kernel is given no image that somebody else than root could have written: what is in it is
 * trusted like a driver.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "box/manifest.h"

struct image {
	int lock_fd;
	const char *path; /* where it is mounted */
};
#define IMAGE_NONE ((struct image){.lock_fd = -1})

/* The image that a manifest of the open directory names. -1: it can't be had, here or at all;
 * ERR_HOST if that is the machine's fault, and not the image's. */
int image_open(const char *state_root, int dfd, const struct manifest *m, struct arena *a,
	       struct image *ret, struct error *e);

/* It is not used any more. */
void image_close(struct image *i);

void image_sweep(const char *state_root);
