#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "setup/program.h"
#include "sys/sys.h"

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

/* What every config file can hold as it is. */
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

static int program_check_owner(const struct tree *t, const char *path, struct error *e)
{
	autoclose int fd = sys_openat2(t->root_dfd, path, O_PATH | O_NOFOLLOW, 0, RESOLVE_IN_ROOT);
	struct stat st;
	bool others;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "look at %s%s", t->prefix, path);
	others = !S_ISLNK(st.st_mode) &&
		 ((st.st_mode & S_IWOTH) || ((st.st_mode & S_IWGRP) && st.st_gid != 0));
	if (st.st_uid == 0 && !others)
		return 0;
	return err_set(
		e, ERR_HOST,
		"%s%s: others than root can change it, and engines would execute the program as "
		"root: put the program elsewhere (make install), or name another with --path",
		t->prefix, path);
}

/* Every directory on the way, and the program. */
static int program_check_way(const struct tree *t, const char *path, struct error *e)
{
	const char *p = path;

	if (program_check_owner(t, "/", e) < 0)
		return -1;
	do {
		p += strspn(p, "/");
		p += strcspn(p, "/");
		if (program_check_owner(t, arena_strndup(t->arena, path, (size_t)(p - path)), e) <
		    0)
			return -1;
	} while (*p);
	return 0;
}

/* Where it lies when all links are followed, from the tree's root. */
static int program_resolve(const struct tree *t, int fd, const char **ret, struct error *e)
{
	char link[32], root[PATH_MAX], path[PATH_MAX];
	ssize_t len, root_len;
	const char *below;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", t->root_dfd);
	root_len = readlink(link, root, sizeof(root) - 1);
	if (len <= 0 || root_len <= 0)
		return err_sys(e, "read %s", link);
	path[len] = root[root_len] = '\0';
	below = str_eq(root, "/") ? path : str_after(path, root);
	*ret = arena_strdup(t->arena, below && *below == '/' ? below : path);
	return 0;
}

int program_choose(const struct tree *t, const char *wanted, bool other_tree, const char **ret,
		   struct error *e)
{
	const char *path = wanted, *real;
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
	if (program_resolve(t, fd, &real, e) < 0)
		return -1;
	if (geteuid() == 0 && (program_check_way(t, path, e) < 0 ||
			       (!str_eq(real, path) && program_check_way(t, real, e) < 0)))
		return -1;
	*ret = path;
	return 0;
}
