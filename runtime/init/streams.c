/*
 * Runs in init and in exec's launcher, inside the container's root and before the program's ids are
 * taken on. What else the caller passes is his to pass (spec/threat-model.md says what root inside can
 * do to it).
 */
#include "init/streams.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "rootfs/devices.h"

/* What belongs to this container alone, or to nobody: a file, a named pipe or a terminal of the caller's
 * would still have its new owner when the container is gone. */
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

int streams_settle(uint32_t uid, bool own_terminal, struct error *e)
{
	struct stat st;
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fstat(fd, &st) < 0)
			continue;
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
