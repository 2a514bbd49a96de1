#include "rootfs/resolve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "sys/sys.h"

enum { EAGAIN_TRIES = 128, PATH_SIZE = 4096 };

void in_root_close(struct in_root *p)
{
	fd_close(&p->fd);
}

int resolve_open(int root_dfd, const char *path, int flags)
{
	int tries, fd;

	/* EAGAIN: a rename somewhere raced with "..". Someone may be doing that on purpose. */
	for (tries = 0; tries < EAGAIN_TRIES; tries++) {
		fd = sys_openat2(root_dfd, path, (uint64_t)flags, 0,
				 RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
		if (fd >= 0 || errno != EAGAIN)
			return fd;
	}
	return -1;
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
	size_t len = *ret_len;
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

/* Opens the first len bytes of a clean path, making what is missing. */
static int resolve_make_prefix(int root_dfd, const char *path, size_t len, bool directory,
			       struct error *e)
{
	char text[PATH_SIZE], *name, *end;
	size_t have = len;
	autoclose int dfd = -1;

	if (len >= sizeof(text))
		return errno = ENAMETOOLONG, err_sys(e, "resolve %.64s…", path);
	memcpy(text, path, len);
	text[len] = '\0';
	dfd = resolve_existing(root_dfd, text, &have);
	if (dfd < 0)
		return err_sys(e, "resolve %s in the root filesystem", text);
	while (have < len) {
		int fd;

		name = text + have + 1;
		end = strchrnul(name, '/');
		have = (size_t)(end - text);
		*end = '\0';
		fd = resolve_make_one(dfd, name, directory || have < len);
		/* ELOOP, ENOTDIR, EEXIST: a link that leads nowhere stands in the way. */
		if (fd < 0)
			return err_sys(e, "make %s in the root filesystem", text);
		if (have < len)
			*end = '/';
		fd_close(&dfd);
		dfd = fd;
	}
	return fd_steal(&dfd);
}

int resolve_make(int root_dfd, const char *path, bool directory, struct in_root *ret,
		 struct error *e)
{
	struct stat st;
	int fd;

	ret->fd = -1;
	fd = resolve_make_prefix(root_dfd, path, strlen(path), directory, e);
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
	int fd = resolve_make_prefix(root_dfd, path, (size_t)(slash - path), true, e);

	if (fd < 0)
		return -1;
	ret->fd = fd;
	*ret_name = slash + 1;
	return 0;
}
