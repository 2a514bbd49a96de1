#include "sys/unix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/fd.h"

enum { FDS_MAX = 4 };

int unix_connect(const char *path, struct error *e)
{
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	const char *slash = strrchr(path, '/');
	autoclose int dfd = -1;
	char dir[4096];

	if (fd < 0)
		return err_sys(e, "socket");
	if (strlen(path) < sizeof(at.sun_path)) {
		memcpy(at.sun_path, path, strlen(path) + 1);
	} else {
		snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
		dfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dfd < 0 || snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%s", dfd,
					slash ? slash + 1 : path) >= (int)sizeof(at.sun_path))
			return err_sys(e, "connect to %s", path);
	}
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		return err_sys(e, "connect to %s", path);
	return fd_steal(&fd);
}

int unix_send_fds(int sock, const void *text, size_t len, const int *fds, size_t n)
{
	union {
		char space[CMSG_SPACE(FDS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec io = {.iov_len = len};
	struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control.space,
			   .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	ssize_t sent;

	if (!c || n == 0 || n > FDS_MAX) {
		errno = EINVAL;
		return -1;
	}
	memcpy(&io.iov_base, &text, sizeof(text)); /* sendmsg() does not write there */
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	do
		sent = sendmsg(sock, &h, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -1;
	/* A stream may take less; descriptors have gone with the first byte. */
	return fd_write_all(sock, (const char *)text + sent, len - (size_t)sent);
}

int unix_recv_fd(int sock, void *text, size_t size)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec io = {.iov_base = text, .iov_len = size};
	struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control.space,
			   .msg_controllen = sizeof(control.space)};
	struct cmsghdr *c;
	ssize_t n;
	int fd;

	do
		n = recvmsg(sock, &h, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	c = CMSG_FIRSTHDR(&h);
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) {
		errno = ENODATA;
		return -1;
	}
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}
