/*
 * Paths inside a root filesystem that is not trusted (rule R1). Every lookup starts at the root's
 * descriptor and stays below it, whatever links the image or another container planted; nothing
 * here or above joins a path of the image to a path of the host.
 *
 * Trust: all paths and all of the tree come from the container.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "rootfs/mounted.h"

/* An open place inside the root: the only thing that mounts attach to. O_PATH, close-on-exec. */
struct in_root {
	int fd;
	bool made; /* it was not there before */
};

#define IN_ROOT_NONE ((struct in_root){.fd = -1})
void in_root_close(struct in_root *p);
#define auto_in_root __attribute__((cleanup(in_root_close)))

/* An existing place; links are followed inside the root. -1 with errno. */
int resolve_in_root(int root_dfd, const char *path, struct in_root *ret);

/* Opens an existing file or directory for reading, with open(2)'s flags; links are followed inside
 * the root. A descriptor, or -1 with errno. */
int resolve_open(int root_dfd, const char *path, int flags);

/* how: further restrictions of openat2(2), RESOLVE_NO_XDEV or RESOLVE_NO_SYMLINKS. */
int resolve_open_how(int root_dfd, const char *path, int flags, uint64_t how);

/* An existing place, or one made anew: missing directories are made with mode 0755, and the last
 * component as a directory or an empty file. Where a link leads nowhere, what it names is made; but
 * nothing is made in a volume that the config's own name for it doesn't lead to. */
int resolve_make(const struct mounted *in, const char *path, bool directory, struct in_root *ret,
		 struct error *e);

/* Finds where resolve_make() would make something: *ret_dfd; -1: nothing, the place is there. */
int resolve_lacks(const struct mounted *in, const char *path, int *ret_dfd, struct error *e);

/* The directory that holds the last component of path, made when missing, to make that component
 * in: *ret_name points to it inside path. */
int resolve_parent(const struct mounted *in, const char *path, struct in_root *ret,
		   const char **ret_name, struct error *e);

/* Path, of one component, is a directory and no link to one, if it is there at all. */
int resolve_check_plain(int root_dfd, const char *path, struct error *e);
