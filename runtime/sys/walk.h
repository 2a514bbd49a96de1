/*
 * A walk along a path, one name at a time, for who has to judge what is on the way: links are shown
 * instead of followed, and followed when the walk goes on.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

enum { WALK_PATH_SIZE = 4096, WALK_LINKS_MAX = 40 };

struct walk {
	int dfd; /* where it has come to */
	unsigned int links;
	char left[WALK_PATH_SIZE]; /* what is still to be walked */
};

/* Relative paths begin in the working directory. -1 with errno. */
int walk_begin(struct walk *w, const char *path);

/* The name that comes next, and whether it is the last. false: there is none. */
bool walk_peek(const struct walk *w, char name[WALK_PATH_SIZE], bool *ret_last);

enum { WALK_DONE, WALK_MOVED, WALK_LINK };
/* Goes on by one name and tells what is there (WALK_MOVED), or puts what a link says in its place
 * (WALK_LINK, and *ret is of the link). -1 with errno. */
int walk_step(struct walk *w, struct stat *ret);

void walk_end(struct walk *w);
