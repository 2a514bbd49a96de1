/*
 * The directory that all records are in. Records say what to kill, remove and run: whoever can
 * write them, or can lead us to others, is us. So the directory is the caller's or root's and
 * nobody else may write to it, and so are links on the way to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "state/store.h"
#include "sys/sys.h"
#include "sys/walk.h"

char *store_default_root(struct arena *a, struct error *e)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");

	/* Root of a user namespace is an ordinary user outside: /run is not his. */
	if (dir && dir[0] == '/' && !sys_is_machine_root())
		return arena_printf(a, "%s/sbxrun", dir);
	if (geteuid() == 0)
		return arena_strdup(a, "/run/sbxrun");
	err_set(e, ERR_USAGE,
		"no place for the state of containers: set XDG_RUNTIME_DIR to a directory of your own "
		"(/run/user/%u where there is a login session), or use --root DIR",
		geteuid());
	return NULL;
}

/* sudo, cron and the like leave a user without the variable. */
char *store_passing_root(struct arena *a)
{
	char *login = arena_printf(a, "/run/user/%u", geteuid());
	struct stat st;

	if (stat(login, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid())
		return arena_printf(a, "%s/sbxrun", login);
	return arena_printf(a, "/tmp/sbxrun-%u", geteuid());
}

static bool root_is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

/* One name further. */
static int root_step(struct walk *w, bool make, struct error *e)
{
	char name[WALK_PATH_SIZE];
	struct stat st;
	bool last;
	int kind;

	if (walk_peek(w, name, &last) && make && mkdirat(w->dfd, name, last ? 0700 : 0755) < 0 &&
	    errno != EEXIST && (last || errno == EROFS))
		return err_sys(e, "make %s", name);
	kind = walk_step(w, &st);
	if (kind < 0)
		return err_sys(e, "open %s", name);
	if (kind == WALK_LINK && !root_is_ours(&st))
		return err_set(e, ERR_HOST,
			       "on the way to it is a link, %s, that somebody else made", name);
	return kind;
}

static int root_walk(const char *path, bool make, struct error *e)
{
	struct walk w;
	int dfd = -1, kind = WALK_MOVED;

	if (walk_begin(&w, path) < 0)
		return err_sys(e, "open where it begins");
	while (kind > 0)
		kind = root_step(&w, make, e);
	if (kind == WALK_DONE && (dfd = openat(w.dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		err_sys(e, "open");
	walk_end(&w);
	return dfd;
}

int store_open_root(const char *root, bool make, struct error *e)
{
	autoclose int dfd = -1;
	struct stat st;

	if (strlen(root) >= WALK_PATH_SIZE)
		return err_set(e, ERR_USAGE, "--root: too long");
	/* Nearly always it is there, and no link is on the way. */
	dfd = sys_openat2(AT_FDCWD, root, O_RDONLY | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
	if (dfd < 0 && errno == ENOENT && !make)
		return err_sys(e, "--root: open %s", root);
	if (dfd < 0 && (dfd = root_walk(root, make, e)) < 0)
		return err_wrap(e, "--root: %s", root);
	if (fstat(dfd, &st) < 0)
		return err_sys(e, "--root: look at %s", root);
	if (!root_is_ours(&st) || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return err_set(e, ERR_HOST,
			       "--root: %s belongs to somebody else, or others may write to it",
			       root);
	return fd_steal(&dfd);
}
