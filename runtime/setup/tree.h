/*
 * Files of a machine's tree: this machine's own, or another one's that lies in a directory, in
 * which no path and no link leads out. A file is read whole and replaced whole, by a rename: at
 * every moment the name stands for the old text or the new one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/err.h"

struct tree {
	int root_dfd;
	const char *prefix; /* of names in messages; "" for this machine's own */
	struct arena *arena;
	int *dfds; /* directories of files that were read or looked for */
	size_t n_dfds, dfds_cap;
};

#define TREE_NONE ((struct tree){.root_dfd = -1})

/* sysroot NULL: this machine. */
int tree_open(const char *sysroot, struct arena *a, struct tree *ret, struct error *e);
void tree_close(struct tree *t);
#define auto_tree __attribute__((cleanup(tree_close)))

struct tree_file {
	const char *path; /* from the tree's root */
	const char *name; /* for messages: the same with the prefix */
	bool there;
	const char *text;
	size_t len;
	struct stat st;	  /* as it was when it was read */
	int dfd;	  /* of the directory that it really lies in; the tree's; -1: not there */
	const char *real; /* its name there, with a directory before it for messages alone */
};

enum { TREE_FILE_MAX = 1 << 20 };

/* Reads a file; that it isn't there is no error. A link to nowhere, a directory, a pipe are. What
 * is done to the file later is done in the directory that it was read from, which stays open for
 * that, whatever its path leads to by then. */
int tree_read(struct tree *t, const char *path, struct tree_file *ret, struct error *e);

/* Replaces the text. Mode, owner and attributes stay, but for setuid and capabilities; a new file
 * is everybody's to read (0644), and directories that are missing are made (0755). Whoever has
 * changed the file since it was read makes this fail, and so does somebody else who is at it. */
int tree_write(const struct tree *t, const struct tree_file *f, const char *text, size_t len,
	       struct error *e);

int tree_remove(const struct tree *t, const struct tree_file *f, struct error *e);

/* Keeps a copy as FILE.sbxrun-backup; where there is an older one, as FILE.sbxrun-backup.1 and so
 * on, unless the newest has the same text. *ret_name is its name. */
int tree_backup(const struct tree *t, const struct tree_file *f, const char **ret_name,
		struct error *e);

/* The newest copy. false: there is none that can be read. */
bool tree_newest_backup(const struct tree *t, const struct tree_file *f, struct tree_file *ret);

/* Removes what a crash of an earlier call has left beside files that were read or looked for. */
void tree_sweep(const struct tree *t);

/* There is such a thing, whatever it is; links are followed. */
bool tree_has(const struct tree *t, const char *path);

/* The files in a directory whose names end so, sorted, as paths. None if there is no directory. */
struct strings;
void tree_list(const struct tree *t, const char *dir, const char *suffix, struct strings *ret);
