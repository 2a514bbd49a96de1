/*
 * Runs in init and in exec's launcher, inside the container's root and before the program's ids are
 * taken on. What else the caller passes is his to pass (spec/threat-model.md says what root inside
 * can do to it).
 */
#include "init/streams.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "rootfs/devices.h"
#include "sys/sys.h"

#ifndef PID_FS_MAGIC
#define PID_FS_MAGIC 0x50494446
#endif

/* Only a stream that belongs to this container alone, or to nobody, is given away. A file, a named
 * pipe or a terminal of the caller's would still have its new owner when the container is gone. */
static bool stream_may_be_given(int fd, const struct stat *st, bool own_terminal)
{
	struct statfs fs;

	if (S_ISFIFO(st->st_mode))
		return fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC;
	return S_ISSOCK(st->st_mode) || own_terminal;
}

static int stream_renew(int fd, dev_t device, struct error *e)
{
	int flags = fcntl(fd, F_GETFL);
	autoclose int own_fd = -1;

	if (flags < 0)
		return err_sys(e, "standard stream %d", fd);
	own_fd = devices_open_own(device, flags & (O_ACCMODE | O_APPEND | O_NONBLOCK), e);
	if (own_fd < 0)
		return err_wrap(e, "standard stream %d", fd);
	return dup2(own_fd, fd) < 0 ? err_sys(e, "standard stream %d", fd) : 0;
}

int streams_take(const int streams[3], struct error *e)
{
	int fd, high[3] = {-1, -1, -1}, result = 0;

	/* Aside first: they may be each other's numbers. */
	for (fd = 0; fd < 3; fd++)
		if ((high[fd] = fcntl(streams[fd], F_DUPFD_CLOEXEC, 3)) < 0)
			result = -1;
	for (fd = 0; fd < 3 && result == 0; fd++)
		if (dup2(high[fd], fd) < 0)
			result = -1;
	if (result < 0)
		err_sys(e, "take the program's streams");
	for (fd = 0; fd < 3; fd++)
		fd_close(&high[fd]);
	return result;
}

/* Namespaces, processes and the kernel's objects without a name are no streams, but handles on
 * what is the host's. */
static bool stream_is_handle(int fd)
{
	static const unsigned long kinds[] = {NSFS_MAGIC, ANON_INODE_FS_MAGIC, PID_FS_MAGIC};
	struct statfs fs;
	size_t i;

	if (fstatfs(fd, &fs) < 0)
		return false;
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if ((unsigned long)fs.f_type == kinds[i])
			return true;
	return false;
}

/* A name in this mount namespace for what the descriptor is, as a tree that nothing can be changed
 * through. */
static int stream_find(int fd)
{
	char link[32], path[4096];
	autoclose int tree_fd = -1;
	struct stat st, found;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return -1;
	path[n] = '\0';
	tree_fd = open_tree(AT_FDCWD, path,
			    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
	if (tree_fd < 0 || fstat(fd, &st) < 0 || fstat(tree_fd, &found) < 0 ||
	    st.st_dev != found.st_dev || st.st_ino != found.st_ino ||
	    sys_set_attr(tree_fd, false, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
			 0, MS_PRIVATE) < 0)
		return -1;
	return fd_steal(&tree_fd);
}

static void stream_close_modes(int fd)
{
	autoclose int tree_fd = stream_find(fd), own_fd = -1;
	int flags = fcntl(fd, F_GETFL);
	char link[32];

	if (tree_fd < 0 || flags < 0)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", tree_fd);
	own_fd = open(link, (flags & (O_ACCMODE | O_APPEND)) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (own_fd >= 0 && fcntl(own_fd, F_SETFL, flags) == 0)
		dup2(own_fd, fd);
}

void streams_close_modes(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (isatty(fd))
			stream_close_modes(fd);
}

void streams_give(const int *streams, uint32_t id)
{
	static const int own[3] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
	struct stat st;
	int i;

	if (!streams)
		streams = own;
	for (i = 0; i < 3; i++)
		if (fstat(streams[i], &st) == 0 && stream_may_be_given(streams[i], &st, false))
			(void)!fchown(streams[i], id, id);
}

int streams_settle(uint32_t uid, bool own_terminal, struct error *e)
{
	struct stat st;
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fstat(fd, &st) < 0)
			continue;
		/* From a directory "../.." leads through all of the host, and so it does from a
		 * place (O_PATH). */
		if (S_ISDIR(st.st_mode) || (fcntl(fd, F_GETFL) & O_PATH))
			return err_set(
				e, ERR_USAGE,
				"standard stream %d is a directory of the host, or a place in it, which would lead "
				"the program out of its root: give it a file, a pipe or /dev/null",
				fd);
		if (stream_is_handle(fd))
			return err_set(
				e, ERR_USAGE,
				"standard stream %d is a namespace, a process or another "
				"handle on the host: give the program a file, a pipe, a socket "
				"or /dev/null",
				fd);
		if (S_ISCHR(st.st_mode) && devices_is_standard(st.st_rdev)) {
			if (stream_renew(fd, st.st_rdev, e) < 0)
				return -1;
			continue;
		}
		/* Best effort: an id may have no meaning where the stream comes from. */
		if (st.st_uid != uid && stream_may_be_given(fd, &st, own_terminal) &&
		    fchown(fd, uid, (gid_t)-1) < 0)
			continue;
	}
	return 0;
}
