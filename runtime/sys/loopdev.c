#include "sys/loopdev.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "base/fd.h"

enum { TRIES = 64 };

int loopdev_open(int file_fd, bool readonly, char name[LOOPDEV_NAME])
{
	const struct loop_config config = {
		.fd = (unsigned int)file_fd,
		.info.lo_flags = LO_FLAGS_AUTOCLEAR | (readonly ? LO_FLAGS_READ_ONLY : 0U),
	};
	autoclose int control_fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int tries, n;

	for (tries = 0; control_fd >= 0 && tries < TRIES; tries++) {
		autoclose int fd = -1;

		n = ioctl(control_fd, LOOP_CTL_GET_FREE);
		if (n < 0)
			return -1;
		snprintf(name, LOOPDEV_NAME, "/dev/loop%d", n);
		fd = open(name, (readonly ? O_RDONLY : O_RDWR) | O_CLOEXEC);
		if (fd < 0)
			return -1;
		/* Not LOOP_SET_DIRECT_IO, though pages would be kept once instead of twice: all of
		 * a new filesystem would be read from the disk again (seen: 50 ms a mount). */
		if (ioctl(fd, LOOP_CONFIGURE, &config) == 0)
			return fd_steal(&fd);
		/* Somebody else was faster. */
		if (errno != EBUSY)
			return -1;
	}
	return -1;
}
