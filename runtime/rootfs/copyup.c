/*
 * Files, directories and links, with owner, mode and times; devices, sockets and fifos are passed
 * over. Works on descriptors alone: a link in the image is copied, never followed.
 *
 * Trust: the tree comes from the image.
 */
#include "rootfs/copyup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

enum { DEPTH_MAX = 64 };

static int copyup_data(int from_fd, int to_fd)
{
	ssize_t n;

	do
		n = sendfile(to_fd, from_fd, NULL, 1 << 20);
	while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? -1 : 0;
}

static int copyup_meta(int to_fd, const struct stat *st)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};

	if (fchown(to_fd, st->st_uid, st->st_gid) < 0 || fchmod(to_fd, st->st_mode & 07777) < 0)
		return -1;
	return futimens(to_fd, times);
}

static int copyup_file(int from_dfd, int to_dfd, const char *name)
{
	autoclose int from_fd =
		openat(from_dfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	autoclose int to_fd = -1;
	struct stat st;

	if (from_fd < 0 || fstat(from_fd, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode))
		return 0;
	to_fd = openat(to_dfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to_fd < 0 || copyup_data(from_fd, to_fd) < 0)
		return -1;
	return copyup_meta(to_fd, &st);
}

static int copyup_link(int from_dfd, int to_dfd, const char *name, const struct stat *st)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from_dfd, name, target, sizeof(target) - 1);

	if (n < 0)
		return -1;
	target[n] = '\0';
	if (symlinkat(target, to_dfd, name) < 0)
		return -1;
	return fchownat(to_dfd, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW);
}

static int copyup_directory(int from_fd, int to_dfd, dev_t dev, int depth);

static int copyup_entry(int from_dfd, int to_dfd, const char *name, dev_t dev, int depth)
{
	struct stat st;
	int from_fd, to_fd, result;

	if (fstatat(from_dfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (st.st_dev != dev)
		return 0;
	if (S_ISREG(st.st_mode))
		return copyup_file(from_dfd, to_dfd, name);
	if (S_ISLNK(st.st_mode))
		return copyup_link(from_dfd, to_dfd, name, &st);
	if (!S_ISDIR(st.st_mode))
		return 0;
	from_fd = openat(from_dfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (from_fd < 0)
		return -1;
	if (mkdirat(to_dfd, name, 0700) < 0 ||
	    (to_fd = openat(to_dfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0) {
		fd_close(&from_fd);
		return -1;
	}
	result = copyup_directory(from_fd, to_fd, dev, depth + 1);
	if (result == 0)
		result = copyup_meta(to_fd, &st);
	fd_close(&to_fd);
	return result;
}

/* Takes from_fd. */
static int copyup_directory(int from_fd, int to_dfd, dev_t dev, int depth)
{
	DIR *dir = fdopendir(from_fd);
	struct dirent *entry;
	int result = 0;

	if (!dir) {
		fd_close(&from_fd);
		return -1;
	}
	if (depth > DEPTH_MAX) {
		errno = ELOOP;
		result = -1;
	}
	while (result == 0 && (errno = 0, entry = readdir(dir))) {
		if (str_eq(entry->d_name, ".") || str_eq(entry->d_name, ".."))
			continue;
		result = copyup_entry(dirfd(dir), to_dfd, entry->d_name, dev, depth);
	}
	if (result == 0 && errno)
		result = -1;
	closedir(dir);
	return result;
}

int copyup_tree(int from_dfd, int to_dfd, struct error *e)
{
	int from_fd = openat(from_dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int to_fd = openat(to_dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int result;

	if (from_fd < 0 || to_fd < 0 || fstat(from_fd, &st) < 0) {
		fd_close(&from_fd);
		fd_close(&to_fd);
		return err_sys(e, "tmpcopyup: open");
	}
	result = copyup_directory(from_fd, to_fd, st.st_dev, 0);
	if (result == 0)
		result = copyup_meta(to_fd, &st);
	fd_close(&to_fd);
	return result < 0 ? err_sys(e, "tmpcopyup: copy") : 0;
}
