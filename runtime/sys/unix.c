#include "sys/unix.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/fd.h"
#include "sys/patience.h"

enum { FDS_MAX = UNIX_FDS_MAX };

/* A listener may never accept; then callers before us may have filled its queue. */
static int unix_connect_in_time(int fd, const struct sockaddr_un *at, size_t size, const char *path,
				int64_t until, struct error *e)
{
	while (connect(fd, (const struct sockaddr *)at, (socklen_t)size) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return err_sys(e, "connect to %s", path);
		if (patience_nap(until, e) < 0)
			return err_wrap(e, "connect to %s", path);
	}
	return 0;
}

static int unix_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int unix_connect(const char *path, struct error *e)
{
	return unix_connect_until(path, patience_until(PATIENCE_PEER_MS), e);
}

int unix_connect_until(const char *path, int64_t until, struct error *e)
{
	autoclose int fd = unix_socket();
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	const char *slash = strrchr(path, '/');
	autoclose int dfd = -1;
	char dir[4096];

	if (fd < 0)
		return err_sys(e, "socket");
	if (strlen(path) < sizeof(at.sun_path)) {
		memcpy(at.sun_path, path, strlen(path) + 1);
	} else {
		snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1,
			 slash ? path : ".");
		dfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dfd < 0 || snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%s",
					dfd, slash ? slash + 1 : path) >= (int)sizeof(at.sun_path))
			return err_sys(e, "connect to %s", path);
	}
	return unix_connect_in_time(fd, &at, sizeof(at), path, until, e) < 0 ? -1 : fd_steal(&fd);
}

int unix_connect_abstract(const char *name, int64_t until, struct error *e)
{
	autoclose int fd = unix_socket();
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	const size_t len = strlen(name);

	if (fd < 0)
		return err_sys(e, "socket");
	if (len >= sizeof(at.sun_path))
		return err_set(e, ERR_SYSTEM, "connect to @%s: name too long", name);
	memcpy(at.sun_path + 1, name, len);
	if (unix_connect_in_time(fd, &at, offsetof(struct sockaddr_un, sun_path) + 1 + len, name,
				 until, e) < 0)
		return -1;
	return fd_steal(&fd);
}

/* Sends what fits, once something does. */
static ssize_t unix_send_some(int sock, const struct msghdr *h, int64_t until, struct error *e)
{
	ssize_t n;

	while ((n = sendmsg(sock, h, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return err_sys(e, "send");
		if (patience_wait(sock, POLLOUT, until, e) < 0)
			return err_wrap(e, "send");
	}
	return n;
}

int unix_send_fds(int sock, const void *text, size_t len, const int *fds, size_t n, struct error *e)
{
	union {
		char space[CMSG_SPACE(FDS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec io = {.iov_len = len};
	struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control.space,
			   .msg_controllen = n ? CMSG_SPACE(n * sizeof(int)) : 0};
	struct cmsghdr *c = &control.align;
	const int64_t until = patience_until(PATIENCE_PEER_MS);
	ssize_t sent;

	if (n > FDS_MAX)
		return err_set(e, ERR_BUG, "%zu descriptors at once", n);
	memcpy(&io.iov_base, &text, sizeof(text)); /* sendmsg() does not write there */
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	if (n)
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	/* A stream may take less; descriptors have gone with the first byte. */
	while (io.iov_len) {
		sent = unix_send_some(sock, &h, until, e);
		if (sent < 0)
			return -1;
		io.iov_base = (char *)io.iov_base + sent;
		io.iov_len -= (size_t)sent;
		h.msg_control = NULL;
		h.msg_controllen = 0;
	}
	return 0;
}

/* All that came along, also more than was asked for: nothing of it may be left open. */
static size_t unix_take_fds(struct msghdr *h, int fds[FDS_MAX])
{
	struct cmsghdr *c;
	size_t n = 0;

	for (c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	}
	return n;
}

ssize_t unix_recv_fds(int sock, void *text, size_t size, int *ret_fds, size_t max, size_t *ret_n)
{
	union {
		char space[CMSG_SPACE(FDS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec io = {.iov_base = text, .iov_len = size};
	struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control.space,
			   .msg_controllen = sizeof(control.space)};
	int fds[FDS_MAX];
	size_t i, n;
	ssize_t len;

	do
		len = recvmsg(sock, &h, MSG_CMSG_CLOEXEC);
	while (len < 0 && errno == EINTR);
	if (len < 0)
		return -1;
	n = unix_take_fds(&h, fds);
	if (n > max || h.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		for (i = 0; i < n; i++)
			fd_close(&fds[i]);
		errno = EMSGSIZE;
		return -1;
	}
	memcpy(ret_fds, fds, n * sizeof(int));
	*ret_n = n;
	return len;
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
