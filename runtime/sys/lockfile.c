#include "sys/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/fd.h"

enum { REOPENS = 8 };

int lockfile_open(int dfd, const char *name, int flags, int how)
{
	struct stat st;
	int tries;

	for (tries = 0; tries < REOPENS; tries++) {
		autoclose int fd = openat(dfd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);

		if (fd < 0 || flock(fd, how | LOCK_NB) < 0 || fstat(fd, &st) < 0)
			return -1;
		/* Not if it was removed before we had the lock: its name may be another's. */
		if (st.st_nlink)
			return fd_steal(&fd);
	}
	errno = EWOULDBLOCK;
	return -1;
}
