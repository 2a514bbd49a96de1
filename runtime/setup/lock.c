#include "setup/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

/* No engine takes it for a config file of its own, and it is empty. */
static const char lock_name[] = ".sbxrun-lock";

static int lock_fail_busy(const char *shown, struct error *e)
{
	return err_set(e, ERR_HOST, "%s: another sbxrun is at work there: try again", shown);
}

/* One that a crash has left, or that somebody has now. What is not of our making isn't opened. */
static int lock_open_old(int dfd, const char *shown, struct error *e)
{
	autoclose int path_fd = openat(dfd, lock_name, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd = -1;
	char path[32];
	struct stat st;

	if (path_fd < 0 && errno == ENOENT)
		return lock_fail_busy(shown, e);
	if (path_fd < 0 || fstat(path_fd, &st) < 0)
		return err_sys(e, "open %s beside %s", lock_name, shown);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return err_set(e, ERR_HOST,
			       "%s: beside it is a %s that sbxrun has not made: remove it", shown,
			       lock_name);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "open %s beside %s", lock_name, shown) : fd_steal(&fd);
}

static int lock_open(int dfd, const char *shown, struct error *e)
{
	int fd = openat(dfd, lock_name, O_CREAT | O_EXCL | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	return errno == EEXIST ? lock_open_old(dfd, shown, e) :
				 err_sys(e, "make %s beside %s", lock_name, shown);
}

/* The one before us removes the file while we open it. */
static bool lock_is_there(int dfd, int fd)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && fstatat(dfd, lock_name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

int dir_lock_take(int dfd, const char *shown, struct dir_lock *ret, struct error *e)
{
	autoclose int fd = lock_open(dfd, shown, e);

	if (fd < 0)
		return -1;
	/* The file stays then, even if we have made it: somebody else may have locked it. */
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? lock_fail_busy(shown, e) :
					      err_sys(e, "lock the directory of %s", shown);
	if (!lock_is_there(dfd, fd))
		return lock_fail_busy(shown, e);
	*ret = (struct dir_lock){.dfd = dfd, .fd = fd_steal(&fd)};
	return 0;
}

void dir_lock_drop(struct dir_lock *l)
{
	if (l->fd >= 0)
		unlinkat(l->dfd, lock_name, 0);
	fd_close(&l->fd);
}

void dir_lock_sweep(int dfd)
{
	auto_dir_lock struct dir_lock l = DIR_LOCK_NONE;
	struct error ignored;

	if (faccessat(dfd, lock_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		(void)dir_lock_take(dfd, "", &l, &ignored);
}
