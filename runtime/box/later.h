/*
 * Files that programs outside of boxes run later, without being told to: hooks of git, start files
 * of shells, configuration of editors and assistants. A program in a box can leave some where it
 * may write to a directory of the host's (-v), or have them copied out. Nothing stops it, for
 * people work so; the result says what there is now and was not before.
 *
 * A picture is taken before the program runs, and another one when it has ended: a file is the same
 * if it is the same inode, last changed at the same moment, which no program can set. Only the top
 * of a volume is looked at: a repository further down has to be a volume of its own to be seen.
 *
 * Trust: names and links in volumes are programs'. What is looked at is looked up below the volume,
 * without links, and nothing is opened but directories.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "base/arena.h"
#include "box/box.h"

struct later_file {
	const char *path; /* in the box */
	dev_t dev;
	ino_t ino;
	struct timespec changed;
};

struct later {
	size_t n;
	struct later_file *v;
};

/* Nothing that goes wrong is an error: what can't be looked at is not told. */
void later_look(const struct box_request *q, struct arena *a, struct later *ret);

/* A note on what was not in the picture. */
void later_tell(const struct box_request *q, const struct later *before, struct arena *a,
		struct notes *notes);

/* Whether a path, relative to anything, is such a file's. */
bool later_is(const char *path);

/* The note on files that were copied out. */
char *later_note_copied(const char *first, size_t n, struct arena *a);
