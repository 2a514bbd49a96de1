#include "rootfs/resolve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "sys/sys.h"

enum {
	EAGAIN_TRIES = 128,
	PATH_SIZE = 4096,
	ROUNDS_MAX = 40, /* as many links as the kernel follows */
};

void in_root_close(struct in_root *p)
{
	fd_close(&p->fd);
}

int resolve_open_how(int root_dfd, const char *path, int flags, uint64_t how)
{
	int tries, fd;

	/* EAGAIN: a rename somewhere raced with "..". Someone may be doing that on purpose. */
	for (tries = 0; tries < EAGAIN_TRIES; tries++) {
		fd = sys_openat2(root_dfd, path, (uint64_t)flags, 0,
				 RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | how);
		if (fd >= 0 || errno != EAGAIN)
			return fd;
	}
	return -1;
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
				   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	}
	return sys_openat2(dfd, name, O_CREAT | O_EXCL | O_RDONLY | O_NOFOLLOW, 0644,
			   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Opens the longest part of path that exists; *ret_len is its length. Not recursive: a path may have
 * two thousand components. */
static int resolve_existing(int root_dfd, char *path, size_t *ret_len)
{
	size_t len = strlen(path);
	char cut;
	int fd;

	for (;;) {
		cut = path[len];
		path[len] = '\0';
		fd = resolve_open(root_dfd, len ? path : ".", O_PATH);
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
 * Makes what follows the first *have bytes of path in the directory dfd, which is taken, and opens the
 * last of it. Or -1 and errno 0 before a "..": that is the kernel's to follow, from the root.
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

/* Puts what a link says in the place of its name, which begins at `at` in path (of PATH_SIZE bytes).
 * 1: it is no link. */
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
 * Opens the first len bytes of a clean path, making what is missing. A link that leads nowhere (as
 * /etc/resolv.conf does in images that are made for systemd) has what it names made: its text takes its
 * place in the path, and all of it is looked up again from the root, which it can't climb out of.
 */
static int resolve_make_prefix(int root_dfd, const char *path, size_t len, bool directory,
			       bool *ret_made, struct error *e)
{
	char text[PATH_SIZE];
	int rounds, fd, followed;
	size_t have;

	if (len >= sizeof(text))
		return errno = ENAMETOOLONG, err_sys(e, "resolve %.64s…", path);
	memcpy(text, path, len);
	text[len] = '\0';
	for (rounds = 0; rounds < ROUNDS_MAX; rounds++) {
		autoclose int dfd = resolve_existing(root_dfd, text, &have);

		if (dfd < 0)
			return err_sys(e, "resolve %s in the root filesystem", text);
		*ret_made = text[have] != '\0';
		if (!*ret_made)
			return fd_steal(&dfd);
		followed = resolve_follow(dfd, text, text + have + 1);
		if (followed < 0)
			return err_sys(e, "follow %s in the root filesystem", text);
		if (followed == 0)
			continue;
		fd = resolve_make_rest(fd_steal(&dfd), text, &have, directory);
		if (fd >= 0)
			return fd;
		/* ELOOP, ENOTDIR, EEXIST: somebody was faster. */
		if (errno)
			return err_sys(e, "make %s in the root filesystem", text);
	}
	return errno = ELOOP, err_sys(e, "resolve %s in the root filesystem", path);
}

int resolve_make(int root_dfd, const char *path, bool directory, struct in_root *ret,
		 struct error *e)
{
	struct stat st;
	int fd;

	ret->fd = -1;
	fd = resolve_make_prefix(root_dfd, path, strlen(path), directory, &ret->made, e);
	if (fd < 0)
		return -1;
	ret->fd = fd;
	if (fstat(fd, &st) == 0 && (S_ISDIR(st.st_mode) != 0) == directory)
		return 0;
	in_root_close(ret);
	errno = directory ? ENOTDIR : EISDIR;
	return err_sys(e, "mount on %s", path);
}

int resolve_parent(int root_dfd, const char *path, struct in_root *ret, const char **ret_name,
		   struct error *e)
{
	const char *slash = strrchr(path, '/');
	int fd = resolve_make_prefix(root_dfd, path, (size_t)(slash - path), true, &ret->made, e);

	if (fd < 0)
		return -1;
	ret->fd = fd;
	*ret_name = slash + 1;
	return 0;
}
