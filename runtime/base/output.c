#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

enum { PATH_SIZE = 4096, TRIES_MAX = 8 };

/* The directory that the last name of path is in. */
static int output_stat_directory(const char *path, struct stat *ret)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_SIZE];

	if (slash && slash - path >= (ptrdiff_t)sizeof(dir) - 1) {
		errno = ENAMETOOLONG;
		return -1;
	}
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	return stat(dir, ret);
}

/* A trap by the kernel's own measure, which holds for links, files and pipes where
 * fs.protected_symlinks, _regular and _fifos are on. */
static bool output_is_a_trap(const struct stat *st, const struct stat *dir)
{
	return (dir->st_mode & S_ISVTX) && (dir->st_mode & S_IWOTH) && st->st_uid != geteuid() &&
	       st->st_uid != dir->st_uid && st->st_uid != 0 && !S_ISCHR(st->st_mode);
}

static int output_check(const char *option, const char *path, const struct stat *st,
			struct error *e)
{
	struct stat dir;

	if (S_ISBLK(st->st_mode) || S_ISDIR(st->st_mode))
		return err_set(e, ERR_USAGE, "%s: %s is a %s", option, path,
			       S_ISDIR(st->st_mode) ? "directory" : "block device");
	if (output_stat_directory(path, &dir) < 0)
		return err_sys(e, "%s: open %s", option, path);
	if (output_is_a_trap(st, &dir))
		return err_set(e, ERR_HOST, "%s: somebody else has put %s there", option, path);
	return 0;
}

/* Looks at what is behind the name now: 1 and what it is, the link itself if it is one; 0 if there
 * is nothing. */
static int output_look(const char *option, const char *path, struct stat *ret, struct error *e)
{
	struct stat there;

	if (lstat(path, ret) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "%s: open %s", option, path);
	if (output_check(option, path, ret, e) < 0)
		return -1;
	/* Of a link of our own, what it leads to: a disk is one there, too. */
	if (S_ISLNK(ret->st_mode) && stat(path, &there) == 0 &&
	    (S_ISBLK(there.st_mode) || S_ISDIR(there.st_mode)))
		return output_check(option, path, &there, e) < 0 ? -1 : 1;
	return 1;
}

int output_open(const char *option, const char *path, int flags, struct error *e)
{
	const int how = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (flags & ~O_TRUNC);
	struct stat seen, now;
	int tries;

	for (tries = 0; tries < TRIES_MAX; tries++) {
		int there = output_look(option, path, &seen, e);
		bool link = there > 0 && S_ISLNK(seen.st_mode);
		autoclose int fd = -1;

		if (there < 0)
			return -1;
		/* A link of our own may lead to what is yet to be made. */
		fd = open(path,
			  how | (there ? 0 : O_CREAT | O_EXCL) | (link ? O_CREAT : O_NOFOLLOW),
			  0644);
		if (fd < 0 &&
		    (errno == EEXIST || (there && errno == ENOENT) || (!link && errno == ELOOP)))
			continue; /* exchanged meanwhile */
		if (fd < 0 || fstat(fd, &now) < 0)
			return err_sys(e, "%s: open %s", option, path);
		if (there && !link && (now.st_ino != seen.st_ino || now.st_dev != seen.st_dev))
			continue;
		if ((flags & O_TRUNC) && S_ISREG(now.st_mode) && ftruncate(fd, 0) < 0)
			return err_sys(e, "%s: empty %s", option, path);
		return fd_steal(&fd);
	}
	return err_set(e, ERR_HOST, "%s: somebody exchanges %s all the time", option, path);
}
