#include "box/resolver.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "box/hints.h"
#include "sys/child.h"
#include "sys/sys.h"
#include "sys/unix.h"

enum { HEADER = 12, TAIL = 4 /* type and class */, NO_SUCH_NAME = 3, PORT = 53 };

/* ---- packets ---- */

/* Labels with their lengths before them, up to an empty one: no pointers in a question. */
static size_t resolver_name(const unsigned char *p, size_t len, char *to, size_t size)
{
	size_t at = 0, n, used = 0;

	while (at < len && p[at]) {
		n = p[at];
		if (n > 63 || at + 1 + n >= len || used + n + 1 >= size)
			return 0;
		if (used)
			to[used++] = '.';
		memcpy(to + used, p + at + 1, n);
		used += n;
		at += 1 + n;
	}
	to[used] = '\0';
	return at < len ? at + 1 : 0;
}

size_t resolver_answer(unsigned char *packet, size_t len, char ret_name[RESOLVER_NAME_MAX])
{
	size_t name;

	/* A question, and one of them. */
	if (len < HEADER + 1 + TAIL || (packet[2] & 0x80) || packet[4] || packet[5] != 1)
		return 0;
	name = resolver_name(packet + HEADER, len - HEADER, ret_name, RESOLVER_NAME_MAX);
	if (!name || HEADER + name + TAIL > len)
		return 0;
	packet[2] = (unsigned char)(0x80 | (packet[2] & 0x79)); /* an answer, to that question */
	packet[3] = 0x80 | NO_SUCH_NAME;
	memset(packet + 6, 0, 6); /* which has no records */
	return HEADER + name + TAIL;
}

/* ---- the socket ---- */

static int resolver_bind(void)
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
				       .sin_port = htons(PORT),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
		fd_close(&fd);
	return fd;
}

/* There and back: a network namespace is a thread's, and this process has one. */
static int resolver_visit(int pidfd)
{
	autoclose int own_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int fd;

	if (own_fd < 0 || setns(pidfd, CLONE_NEWNET) < 0)
		return -1;
	fd = resolver_bind();
	if (setns(own_fd, CLONE_NEWNET) < 0)
		abort(); /* nothing of ours may happen in there */
	return fd;
}

/* An ordinary user enters by way of the user namespace, from which there is no way back. */
static int resolver_send_for(int pidfd)
{
	int pair[2], fd = -1;
	struct error ignored;
	char name[8];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		if (setns(pidfd, CLONE_NEWUSER) == 0 && setns(pidfd, CLONE_NEWNET) == 0 &&
		    (fd = resolver_bind()) >= 0)
			unix_send_fds(pair[1], "dns", 3, &fd, 1, &ignored);
		_exit(0);
	}
	fd_close(&pair[1]);
	if (pid > 0) {
		fd = unix_recv_fd(pair[0], name, sizeof(name));
		child_collect(pid);
	}
	fd_close(&pair[0]);
	return fd;
}

static int resolver_serve(void *context, short events)
{
	struct resolver *r = context;
	unsigned char packet[RESOLVER_PACKET_MAX];
	char name[RESOLVER_NAME_MAX];
	struct sockaddr_in from;
	socklen_t from_len = sizeof(from);
	ssize_t n = recvfrom(r->fd, packet, sizeof(packet), 0, (struct sockaddr *)&from, &from_len);
	size_t len = n > 0 ? resolver_answer(packet, (size_t)n, name) : 0;

	(void)events;
	denials_spend(r->denials);
	if (!len)
		return 0;
	denials_note(r->denials,
		     (struct box_denial){.kind = "network",
					 .name = "resolve",
					 .target = hint_clean(name, &r->denials->scratch),
					 .error = "ENOENT",
					 .hint = hint_of_network()});
	arena_free(&r->denials->scratch);
	sendto(r->fd, packet, len, MSG_DONTWAIT, (struct sockaddr *)&from, from_len);
	return 0;
}

void resolver_open(struct resolver *r, int pidfd, struct denials *d)
{
	r->denials = d;
	r->fd = sys_is_machine_root() ? resolver_visit(pidfd) : resolver_send_for(pidfd);
}

void resolver_add(struct resolver *r, struct loop *l)
{
	r->source = loop_add(l, r->fd, POLLIN, resolver_serve, r);
}

void resolver_settle(struct resolver *r)
{
	r->source->fd = r->fd < 0 || r->denials->pause_until ? -1 : r->fd;
}

void resolver_close(struct resolver *r)
{
	fd_close(&r->fd);
}
