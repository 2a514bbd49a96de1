/*
 * The directory that all records are in. Records say what to kill, remove and run: whoever can write them, or
 * can lead us to others, is us. So the directory is the caller's or root's and nobody else may write to it, and
 * so are links on the way to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "state/store.h"
#include "sys/sys.h"

enum { PATH_SIZE = 4096, LINKS_MAX = 40 };

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

static bool root_is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

/* A walk to the root, one name at a time. */
struct walk {
	int dfd;
	unsigned int links;
	char left[PATH_SIZE]; /* what is still to be walked */
};

/* Puts where the link leads in the place of its name; `rest` is what follows it. */
static int walk_follow(struct walk *w, int link_fd, const char *rest, struct error *e)
{
	char target[PATH_SIZE], joined[2 * PATH_SIZE];
	ssize_t n = readlinkat(link_fd, "", target, sizeof(target) - 1);

	if (n < 0)
		return err_sys(e, "read a link");
	target[n] = '\0';
	if (++w->links > LINKS_MAX ||
	    snprintf(joined, sizeof(joined), "%s/%s", target, rest) >= (int)sizeof(w->left)) {
		errno = ELOOP;
		return err_sys(e, "follow a link");
	}
	memcpy(w->left, joined, strlen(joined) + 1);
	if (target[0] != '/')
		return 0;
	fd_close(&w->dfd);
	w->dfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->dfd < 0 ? err_sys(e, "open /") : 0;
}

/* One name further. */
static int walk_step(struct walk *w, bool make, struct error *e)
{
	char name[PATH_SIZE], rest[PATH_SIZE];
	size_t skip = strspn(w->left, "/"), len = strcspn(w->left + skip, "/");
	autoclose int fd = -1;
	struct stat st;
	bool last;

	snprintf(name, sizeof(name), "%.*s", (int)len, w->left + skip);
	snprintf(rest, sizeof(rest), "%s", w->left + skip + len);
	last = strspn(rest, "/") == strlen(rest);
	if (!len) {
		w->left[0] = '\0';
		return 0;
	}
	if (make && mkdirat(w->dfd, name, last ? 0700 : 0755) < 0 && errno != EEXIST &&
	    (last || errno == EROFS))
		return err_sys(e, "make %s", name);
	fd = openat(w->dfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open %s", name);
	if (S_ISLNK(st.st_mode)) {
		if (!root_is_ours(&st))
			return err_set(e, ERR_HOST, "on the way to it is a link, %s, that somebody else made",
				       name);
		return walk_follow(w, fd, rest, e);
	}
	fd_close(&w->dfd);
	w->dfd = fd_steal(&fd);
	memcpy(w->left, rest, strlen(rest) + 1);
	return 0;
}

static int root_walk(const char *path, bool make, struct error *e)
{
	struct walk w = {.dfd = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
	int dfd = -1;

	if (w.dfd < 0)
		return err_sys(e, "open where it begins");
	snprintf(w.left, sizeof(w.left), "%s", path);
	while (w.left[0])
		if (walk_step(&w, make, e) < 0)
			break;
	if (!w.left[0] && (dfd = openat(w.dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		err_sys(e, "open");
	fd_close(&w.dfd);
	return dfd;
}

int store_open_root(const char *root, bool make, struct error *e)
{
	autoclose int dfd = -1;
	struct stat st;

	if (strlen(root) >= PATH_SIZE)
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
			       "--root: %s belongs to somebody else, or others may write to it", root);
	return fd_steal(&dfd);
}
