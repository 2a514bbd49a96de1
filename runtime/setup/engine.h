/* An engine, for those who know one (this room's own). */
#pragma once

#include <stdbool.h>

#include "setup/setup.h"
#include "setup/tree.h"

enum { SETUP_CHANGES = 4 };

/* The first line of every file that is ours alone. */
#define SETUP_MARK "# Made by `sbxrun install`; `sbxrun uninstall` removes it."

struct setup_change {
	struct tree_file file;
	const char *text; /* NULL: the file is to be removed */
	size_t len;
	bool backup;		 /* somebody else's words are in it, too */
	struct tree_file *stale; /* a backup that says nothing any more, to be removed afterwards */
	const char *what;	 /* that was done, in words */
};

struct setup_work {
	const struct setup_options *options;
	struct tree *tree;
	struct arena *arena;
	const char *program;	 /* NULL: none can be registered */
	const struct error *no_program; /* why */
	const char *config_home; /* an ordinary user's; NULL: root's work */
	bool named;		 /* somebody has asked for this very engine */
	size_t n;
	struct setup_change changes[SETUP_CHANGES];
	struct setup_report *report;
};

struct setup_engine {
	const char *name;
	const char *binary;
	const char *directory;
	bool for_users; /* ordinary users have one of their own */
	int (*add)(struct setup_work *w, struct error *e);
	int (*remove)(struct setup_work *w, struct error *e);
	const char *reload;
	const char *forget; /* how it drops what was taken out; NULL: by reload */
	const char *try_it;
};

extern const struct setup_engine setup_docker, setup_containerd, setup_podman, setup_crio;

/* Where the program is, as a path from the tree's root; NULL: nowhere. On this machine an ordinary
 * user's PATH counts, too; root's may name directories of others. */
const char *setup_find_binary(const struct tree *t, const char *name);

void setup_say(struct setup_work *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Notes that a file is to be changed. */
struct setup_change *setup_change(struct setup_work *w, const struct tree_file *f, const char *text,
				  size_t len, const char *what);

/* A file that is ours alone: to be written unless it says the same, or to be removed. One without
 * the mark is an error, unless forced. */
int setup_put_own(struct setup_work *w, const char *path, const char *text, struct error *e);
int setup_remove_own(struct setup_work *w, const char *path, struct error *e);
