#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "setup/program.h"
#include "sys/sys.h"

enum { LINKS_MAX = 40 };

static int program_own(const struct tree *t, const char **ret, struct error *e)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path));

	if (len <= 0 || (size_t)len == sizeof(path))
		return err_sys(e, "read /proc/self/exe");
	*ret = arena_strndup(t->arena, path, (size_t)len);
	if (str_ends(*ret, " (deleted)"))
		return err_set(
			e, ERR_HOST,
			"this program's file has been removed or replaced (%s): call the one that "
			"is there now, or name it with --path",
			*ret);
	return 0;
}

/* Config files can hold it as it is. */
static int program_check_words(const char *path, struct error *e)
{
	const char *p;

	for (p = path; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f || *p == '"' || *p == '\\')
			break;
	if (*path != '/' || *p || !str_is_utf8(path))
		return err_set(
			e, ERR_USAGE,
			"--path: the path of the program must be absolute, UTF-8, and without "
			"quotes, backslashes and control characters");
	return 0;
}

/* An access list shows in the mode as what the group may do, whatever the group. */
static bool has_access_list(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return getxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

static bool others_can_write(int fd, const struct stat *st)
{
	if (st->st_uid != 0)
		return true;
	if (S_ISLNK(st->st_mode))
		return false;
	return (st->st_mode & S_IWOTH) ||
	       ((st->st_mode & S_IWGRP) && (st->st_gid != 0 || has_access_list(fd)));
}

struct way {
	const struct tree *tree;
	const char *at;	  /* so far, without links */
	const char *rest; /* still to go */
	int links;
};

static int way_fail(const struct way *w, const char *path, struct error *e)
{
	return err_sys(e, "look at %s%s", w->tree->prefix, path);
}

/* The way goes on where the link leads. */
static int way_follow(struct way *w, const char *link, int fd, struct error *e)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(fd, "", target, sizeof(target) - 1);

	if (len > 0 && ++w->links > LINKS_MAX) {
		errno = ELOOP;
		len = -1;
	}
	if (len <= 0)
		return way_fail(w, link, e);
	target[len] = '\0';
	w->rest = arena_printf(w->tree->arena, "%s/%s", target, w->rest);
	if (*target == '/')
		w->at = "";
	return 0;
}

/* One directory, link or file further; *ret_open is its path if others can change it. */
static int way_step(struct way *w, const char *name, const char **ret_open, struct error *e)
{
	const char *path =
		path_clean(w->tree->arena, arena_printf(w->tree->arena, "%s/%s", w->at, name));
	autoclose int fd =
		sys_openat2(w->tree->root_dfd, path, O_PATH | O_NOFOLLOW, 0, RESOLVE_IN_ROOT);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return way_fail(w, path, e);
	if (others_can_write(fd, &st)) {
		*ret_open = path;
		return 0;
	}
	if (S_ISLNK(st.st_mode))
		return way_follow(w, path, fd, e);
	w->at = path;
	return 0;
}

int program_check_way(const struct tree *t, const char *path, const char **ret_open,
		      struct error *e)
{
	struct way w = {.tree = t, .at = "", .rest = path};
	const char *name = "";
	size_t len;

	*ret_open = NULL;
	do {
		if (way_step(&w, name, ret_open, e) < 0)
			return -1;
		w.rest += strspn(w.rest, "/");
		len = strcspn(w.rest, "/");
		name = arena_strndup(t->arena, w.rest, len);
		w.rest += len;
	} while (*name && !*ret_open);
	return 0;
}

int program_choose(const struct tree *t, const char *wanted, bool other_tree, const char **ret,
		   struct error *e)
{
	const char *path = wanted, *open_to_others = NULL;
	autoclose int fd = -1;
	struct stat st;

	if (!path && program_own(t, &path, e) < 0)
		return -1;
	if (program_check_words(path, e) < 0)
		return -1;
	path = path_clean(t->arena, path);
	fd = sys_openat2(t->root_dfd, path, O_PATH, 0, RESOLVE_IN_ROOT);
	if (fd < 0 && errno == ENOENT && other_tree)
		return err_set(
			e, ERR_HOST,
			"%s%s: there is no such program in that tree: put it there (make install "
			"DESTDIR=%s), or name another with --path",
			t->prefix, path, t->prefix);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "--path: %s%s", t->prefix, path);
	if (!S_ISREG(st.st_mode) || !(st.st_mode & S_IXUSR))
		return err_set(e, ERR_HOST, "%s%s: not a program", t->prefix, path);
	if (geteuid() == 0 && program_check_way(t, path, &open_to_others, e) < 0)
		return -1;
	if (open_to_others)
		return err_set(e, ERR_HOST,
			       "%s%s: others than root can change it, and engines would execute "
			       "the program as root: put the program elsewhere (make install), or "
			       "name another with --path",
			       t->prefix, open_to_others);
	*ret = path;
	return 0;
}
