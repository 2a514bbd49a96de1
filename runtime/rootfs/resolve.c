#include "rootfs/resolve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "sys/sys.h"

enum {
	PATH_SIZE = 4096,
	ROUNDS_MAX = 40, /* as many links as the kernel follows */
};

void in_root_close(struct in_root *p)
{
	fd_close(&p->fd);
}

int resolve_open_how(int root_dfd, const char *path, int flags, uint64_t how)
{
	return sys_openat2(root_dfd, path, (uint64_t)flags, 0,
			   RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | how);
}

int resolve_open(int root_dfd, const char *path, int flags)
{
	return resolve_open_how(root_dfd, path, flags, 0);
}

int resolve_in_root(int root_dfd, const char *path, struct in_root *ret)
{
	int fd = resolve_open(root_dfd, path, O_PATH);

	if (fd < 0)
		return -1;
	ret->fd = fd;
	return 0;
}

/* Makes one component and opens what was made, not what stands there a moment later. */
static int resolve_make_one(int dfd, const char *name, bool directory)
{
	if (directory) {
		if (mkdirat(dfd, name, 0755) < 0 && errno != EEXIST)
			return -1;
		return sys_openat2(dfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0,
				   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
	}
	return sys_openat2(dfd, name, O_CREAT | O_EXCL | O_RDONLY | O_NOFOLLOW, 0644,
			   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Opens the longest part of path that exists; *ret_len is its length. Not recursive: a path may
 * have two thousand components. */
static int resolve_existing(int root_dfd, char *path, uint64_t how, size_t *ret_len)
{
	size_t len = strlen(path);
	char cut;
	int fd;

	for (;;) {
		cut = path[len];
		path[len] = '\0';
		fd = resolve_open_how(root_dfd, len ? path : ".", O_PATH, how);
		path[len] = cut;
		if (fd >= 0 || errno != ENOENT || len == 0)
			break;
		while (len && path[--len] != '/')
			;
	}
	*ret_len = len;
	return fd;
}

static bool resolve_is_up(const char *name, const char *end)
{
	return end - name == 2 && name[0] == '.' && name[1] == '.';
}

/*
 * Makes what follows the first *have bytes of path in the directory dfd, which is taken, and opens
 * the last of it. Or -1 and errno 0 before a "..": that is the kernel's to follow, from the root.
 */
static int resolve_make_rest(int dfd, char *path, size_t *have, bool directory)
{
	autoclose int at_dfd = dfd;
	char *name = path + *have, *end, cut;
	int fd;

	while (*(name += strspn(name, "/"))) {
		end = strchrnul(name, '/');
		errno = 0;
		if (resolve_is_up(name, end))
			return -1;
		cut = *end;
		*end = '\0';
		if (*name != '.' || name[1]) {
			fd = resolve_make_one(at_dfd, name, directory || cut);
			if (fd < 0)
				return -1;
			fd_close(&at_dfd);
			at_dfd = fd;
		}
		*end = cut;
		name = end;
		*have = (size_t)(end - path);
	}
	return fd_steal(&at_dfd);
}

/* The place that a name has by convention, in every distribution: who writes one means the other,
 * too. */
static bool resolve_usual_place(const char *name, char ret[PATH_SIZE])
{
	static const struct {
		const char *name;
		const char *place;
	} rows[] = {
		{"/var/run", "/run"},
		{"/var/lock", "/run/lock"},
		{"/bin", "/usr/bin"},
		{"/sbin", "/usr/sbin"},
		{"/lib", "/usr/lib"},
		{"/lib64", "/usr/lib64"},
		{"/etc/resolv.conf", "/run/systemd/resolve/stub-resolv.conf"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (path_is_below(name, rows[i].name))
			return snprintf(ret, PATH_SIZE, "%s%s", rows[i].place,
					name + strlen(rows[i].name)) < PATH_SIZE;
	return snprintf(ret, PATH_SIZE, "%s", name) < PATH_SIZE;
}

/* Whether dfd is where a name leads without any link, as far as it exists, and rest is the rest of
 * it. */
static bool resolve_is_literal(int root_dfd, char *name, int dfd, const char *rest)
{
	size_t have;
	autoclose int fd = resolve_existing(root_dfd, name, RESOLVE_NO_SYMLINKS, &have);
	struct stat a, b;

	return fd >= 0 && str_eq(name + have, rest) && fstat(fd, &a) == 0 && fstat(dfd, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino &&
	       sys_mount_id_of(fd) == sys_mount_id_of(dfd);
}

/*
 * Judges a place to make something in the directory dfd: name is what the config calls it, rest
 * what is missing of the path to it. In a volume it must be called so: by a name below that of the
 * volume, or, of a mount that has no name in the config, by one that leads there without links.
 * Else the image has files of root's made wherever it likes.
 */
static int resolve_check_make(const struct mounted *in, int dfd, const char *rest, const char *name,
			      struct error *e)
{
	const struct mount_plan *volume = mounted_find(in, dfd);
	char usual[PATH_SIZE], usual_volume[PATH_SIZE];

	if (mounted_is_own(in, dfd) || (volume && path_is_below(name, volume->destination)))
		return 0;
	if (resolve_usual_place(name, usual) &&
	    resolve_is_literal(in->root_dfd, usual, dfd, rest) &&
	    (!volume || (resolve_usual_place(volume->destination, usual_volume) &&
			 path_is_below(usual, usual_volume))))
		return 0;
	return err_set(
		e, ERR_CONFIG,
		"%s would be made in %s%s, where a link in the image leads: make it there before, or let the "
		"config name the place itself",
		name, volume ? "the volume on " : "a mount of the host's",
		volume ? volume->destination : "");
}

/* Puts what a link says in the place of its name, which begins at `at` in path (of PATH_SIZE
 * bytes). 1: it is no link. */
static int resolve_follow(int dfd, char *path, char *at)
{
	char target[PATH_SIZE], whole[PATH_SIZE], *end = strchrnul(at, '/'), cut = *end;
	ssize_t n;
	int len;

	*end = '\0';
	n = readlinkat(dfd, at, target, sizeof(target) - 1);
	*end = cut;
	if (n < 0)
		return errno == EINVAL || errno == ENOENT ? 1 : -1;
	target[n] = '\0';
	len = snprintf(whole, sizeof(whole), "%s%s", target, end);
	if (target[0] == '/')
		at = path;
	if (len >= path + PATH_SIZE - at)
		return errno = ENAMETOOLONG, -1;
	memcpy(at, whole, (size_t)len + 1);
	return 0;
}

/*
 * Opens as much of a path (of PATH_SIZE bytes) as there is; *ret_have is its length. A link that
 * leads nowhere (as /etc/resolv.conf does in images that are made for systemd) has what it names
 * made: its text takes its place in the path, and all of it is looked up again from the root, which
 * it can't climb out of.
 */
static int resolve_as_far(const struct mounted *in, char *path, size_t *ret_have, struct error *e)
{
	int rounds, followed;

	for (rounds = 0; rounds < ROUNDS_MAX; rounds++) {
		autoclose int dfd = resolve_existing(in->root_dfd, path, 0, ret_have);

		if (dfd < 0)
			return err_sys(e, "resolve %s in the root filesystem", path);
		if (!path[*ret_have])
			return fd_steal(&dfd);
		followed = resolve_follow(dfd, path, path + *ret_have + 1);
		if (followed < 0)
			return err_sys(e, "follow %s in the root filesystem", path);
		if (followed > 0)
			return fd_steal(&dfd);
	}
	return errno = ELOOP, err_sys(e, "resolve %s in the root filesystem", path);
}

static int resolve_copy(const char *path, char ret[PATH_SIZE], struct error *e)
{
	const size_t len = strlen(path);

	if (len >= PATH_SIZE)
		return errno = ENAMETOOLONG, err_sys(e, "resolve %.64s…", path);
	memcpy(ret, path, len + 1);
	return 0;
}

int resolve_lacks(const struct mounted *in, const char *path, int *ret_dfd, struct error *e)
{
	autoclose int fd = -1;
	char text[PATH_SIZE];
	size_t have;

	*ret_dfd = -1;
	if (resolve_copy(path, text, e) < 0 || (fd = resolve_as_far(in, text, &have, e)) < 0)
		return -1;
	if (text[have])
		*ret_dfd = fd_steal(&fd);
	return 0;
}

/* Opens a clean path, making what is missing. */
static int resolve_make_all(const struct mounted *in, const char *name, bool directory,
			    bool *ret_made, struct error *e)
{
	char text[PATH_SIZE];
	int rounds, fd;
	size_t have;

	if (resolve_copy(name, text, e) < 0)
		return -1;
	for (rounds = 0; rounds < ROUNDS_MAX; rounds++) {
		autoclose int dfd = resolve_as_far(in, text, &have, e);

		if (dfd < 0)
			return -1;
		*ret_made = text[have] != '\0';
		if (!*ret_made)
			return fd_steal(&dfd);
		if (resolve_check_make(in, dfd, text + have, name, e) < 0)
			return -1;
		fd = resolve_make_rest(fd_steal(&dfd), text, &have, directory);
		if (fd >= 0)
			return fd;
		/* ELOOP, ENOTDIR, EEXIST: somebody was faster. */
		if (errno)
			return err_sys(e, "make %s in the root filesystem", text);
	}
	return errno = ELOOP, err_sys(e, "resolve %s in the root filesystem", name);
}

int resolve_make(const struct mounted *in, const char *path, bool directory, struct in_root *ret,
		 struct error *e)
{
	struct stat st;
	int fd;

	ret->fd = -1;
	fd = resolve_make_all(in, path, directory, &ret->made, e);
	if (fd < 0)
		return -1;
	ret->fd = fd;
	if (fstat(fd, &st) == 0 && (S_ISDIR(st.st_mode) != 0) == directory)
		return 0;
	in_root_close(ret);
	errno = directory ? ENOTDIR : EISDIR;
	return err_sys(e, "mount on %s", path);
}

int resolve_parent(const struct mounted *in, const char *path, struct in_root *ret,
		   const char **ret_name, struct error *e)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_SIZE];
	autoclose int fd = -1;

	if ((size_t)(slash - path) >= sizeof(dir))
		return errno = ENAMETOOLONG, err_sys(e, "resolve %.64s…", path);
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	fd = resolve_make_all(in, dir, true, &ret->made, e);
	if (fd < 0 || resolve_check_make(in, fd, "", dir, e) < 0)
		return -1;
	ret->fd = fd_steal(&fd);
	*ret_name = slash + 1;
	return 0;
}

int resolve_check_plain(int root_dfd, const char *path, struct error *e)
{
	struct stat st;

	if (fstatat(root_dfd, path + 1, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "%s", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_CONFIG, "%s must be an ordinary directory in the image",
			       path);
	return 0;
}
