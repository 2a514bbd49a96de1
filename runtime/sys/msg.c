#include "sys/msg.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/fd.h"
#include "sys/patience.h"

struct msg {
	int kind;
	int class;
	int sys;
	char text[sizeof(((struct error *)0)->text)];
};

union control {
	char space[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static int msg_make_pair(int type, int fds[2], struct error *e)
{
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) < 0)
		return err_sys(e, "socketpair");
	return 0;
}

int msg_pair(int fds[2], struct error *e)
{
	return msg_make_pair(SOCK_SEQPACKET, fds, e);
}

int msg_stream_pair(int fds[2], struct error *e)
{
	return msg_make_pair(SOCK_STREAM, fds, e);
}

int msg_send(int fd, int kind, const struct error *error, int pass_fd)
{
	struct msg m = {.kind = kind};
	struct iovec io = {.iov_base = &m, .iov_len = offsetof(struct msg, text)};
	union control control = {0};
	struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1};
	struct cmsghdr *c;
	ssize_t n;

	if (error) {
		m.class = (int)error->class;
		m.sys = error->sys;
		memcpy(m.text, error->text, sizeof(m.text));
		io.iov_len += strnlen(m.text, sizeof(m.text) - 1) + 1;
	}
	if (pass_fd >= 0) {
		h.msg_control = control.space;
		h.msg_controllen = sizeof(control.space);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &pass_fd, sizeof(int));
	}
	do
		n = sendmsg(fd, &h, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -1 : 0;
}

int msg_recv(int fd, int *ret_kind, struct error *ret_error, int *ret_fd)
{
	struct msg m = {0};
	struct iovec io = {.iov_base = &m, .iov_len = sizeof(m)};
	union control control;
	struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control.space,
			   .msg_controllen = sizeof(control.space)};
	int got = -1;
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(fd, &h, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -1;
	if (n == 0)
		return 0;
	c = CMSG_FIRSTHDR(&h);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&got, CMSG_DATA(c), sizeof(int));
	if ((size_t)n < offsetof(struct msg, text)) {
		fd_close(&got);
		errno = EPROTO;
		return -1;
	}
	*ret_kind = m.kind;
	ret_error->class = (enum err_class)m.class;
	ret_error->sys = m.sys;
	memcpy(ret_error->text, m.text, sizeof(ret_error->text));
	ret_error->text[sizeof(ret_error->text) - 1] = '\0';
	if (ret_fd)
		*ret_fd = got;
	else
		fd_close(&got);
	return 1;
}

int msg_wait(int fd, struct error *e)
{
	return patience_wait(fd, POLLIN, 0, e);
}

int msg_await(int fd, int *ret_kind, struct error *ret_error, int *ret_fd, const char *gone,
	      struct error *e)
{
	int got = msg_recv(fd, ret_kind, ret_error, ret_fd);

	if (got < 0)
		return err_sys(e, "wait for a message of our other process");
	return got ? 0 : err_set(e, ERR_SYSTEM, "%s", gone);
}
