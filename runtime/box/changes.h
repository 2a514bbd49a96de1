/*
 * Changes in the files of a box since it was made: in its workspace, which was empty, and in its
 * root, which was the root filesystem, if it can be written to. A box from a snapshot has a list of
 * what was put into it beside its record.
 *
 * Trust: programs of the box have named and made everything, and may do so at this very moment. As
 * with files.h each name is looked up below a descriptor, without links, on the same mount, with
 * the ids of the box's user; and nothing is opened but directories and regular files. The format of
 * the overlay is not read: what the box sees is compared with what its root filesystem has. That a
 * file is the same is told by the time of its last change, which nobody in the box can set.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "box/archive.h"
#include "box/files.h"
#include "box/sandbox.h"

struct places {
	struct files files; /* our ids, and the workspace */
	int workspace_dfd;  /* -1: it is a directory of the caller's, which is not looked at */
	int root_dfd;	    /* -1: it can't be written to */
	int below_dfd;	    /* the root filesystem itself */
};

int places_open(struct places *p, const struct sandbox *s, struct error *e);
void places_close(struct places *p);
#define auto_places __attribute__((cleanup(places_close)))

int places_dfd(const struct places *p, enum archive_place place);

/* They tell what is not in the list of a call. */
struct changes {
	size_t n;
	struct archive_entry *v; /* parents before what is in them */
	bool more;		 /* than ARCHIVE_ENTRIES_MAX, or than we remember */
	size_t n_closed;	 /* directories and files that the box's user may not read … */
	const char *closed;	 /* … and the first */
};

/* As the box is now, against the empty workspace and the root filesystem. */
int changes_find(const struct places *p, struct arena *a, struct changes *ret, struct error *e);

/* Leaves of *c what is not as it was when the box was made. */
int changes_since(const struct sandbox *s, struct changes *c, struct arena *a, struct error *e);

/* Keeps *c as what the box was made with. */
int changes_keep(const struct sandbox *s, const struct changes *c, struct error *e);

/* Where programs of the box have it. */
const char *change_path(const struct archive_entry *c, struct arena *a);

/* The bytes of a regular file, opened for reading as what the entry says; -1 with errno. */
int changes_open(const struct places *p, const struct archive_entry *c);
