/*
 * Runs in a child, which is in the box's network namespace for a moment: with the rights of the
 * machine's root over it, or of the root of the box's user namespace. The box itself has none.
 */
#include "box/network_listen.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "egress/egress.h"
#include "egress/wire.h"
#include "sys/child.h"
#include "sys/msg.h"
#include "sys/netlink.h"
#include "sys/sys.h"
#include "sys/unix.h"

enum { LOOPBACK_INDEX = 1, QUEUE = 128 };

enum listen_work { LISTEN_ALL, LISTEN_MORE, LISTEN_END };

struct listening {
	int pidfd, control_fd;
	const uint16_t *ports;
	size_t n;
	enum listen_work work;
	bool is_used; /* programs run there, and may listen already */
};

/* Every address is this machine's, and packets for it come back on loopback. */
static int listen_change_route(int sock, int family, bool add)
{
	const struct rtmsg fixed = {.rtm_family = (unsigned char)family,
				    .rtm_table = RT_TABLE_LOCAL,
				    .rtm_protocol = RTPROT_STATIC,
				    .rtm_scope = family == AF_INET ? RT_SCOPE_HOST : 0,
				    .rtm_type = RTN_LOCAL};
	struct netlink_request r;

	netlink_begin(&r, add ? RTM_NEWROUTE : RTM_DELROUTE,
		      add ? NLM_F_CREATE | NLM_F_REPLACE : 0, &fixed, sizeof(fixed));
	netlink_put_u32(&r, RTA_OIF, LOOPBACK_INDEX);
	return netlink_ask(sock, &r, NULL, NULL);
}

static int listen_bind(int family, int type, uint16_t port)
{
	const struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	const struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	const bool six = family == AF_INET6;
	autoclose int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    (six && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0))
		return -1;
	if (type == SOCK_DGRAM &&
	    setsockopt(fd, six ? IPPROTO_IPV6 : IPPROTO_IP,
		       six ? IPV6_RECVPKTINFO : IP_PKTINFO, &on, sizeof(on)) < 0)
		return -1;
	if (bind(fd, six ? (const struct sockaddr *)&v6 : (const struct sockaddr *)&v4,
		 six ? sizeof(v6) : sizeof(v4)) < 0 ||
	    (type == SOCK_STREAM && listen(fd, QUEUE) < 0))
		return -1;
	return fd_steal(&fd);
}

/* A machine may have no IPv6; its boxes need none. */
static int listen_send(const struct listening *x, enum net_listener what, uint16_t port,
		       struct error *e)
{
	static const int families[] = {AF_INET, AF_INET6};
	const struct net_message m = {.kind = NET_LISTEN, .what = what, .port = port};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		autoclose int fd = listen_bind(
			families[i], what == NET_NAMES_DATAGRAM ? SOCK_DGRAM : SOCK_STREAM, port);

		if (fd < 0 && x->is_used && errno == EADDRINUSE)
			continue;
		if (fd < 0 && families[i] == AF_INET)
			return err_sys(e, "listen at port %u", port);
		if (fd >= 0 && unix_send_fds(x->control_fd, &m, sizeof(m), &fd, 1, e) < 0)
			return -1;
	}
	return 0;
}

static int listen_ports(const struct listening *x, bool *ret_has_proxy, struct error *e)
{
	size_t i;

	for (i = 0; i < x->n; i++) {
		if (listen_send(x, NET_STREAM, x->ports[i], e) < 0)
			return -1;
		*ret_has_proxy |= x->ports[i] == EGRESS_PROXY_PORT;
	}
	return 0;
}

static int listen_all(const struct listening *x, struct error *e)
{
	autoclose int sock = netlink_open();
	bool has_proxy = false;

	if (sock < 0 || listen_change_route(sock, AF_INET, true) < 0)
		return err_sys(e, "add a route");
	listen_change_route(sock, AF_INET6, true);
	if (listen_ports(x, &has_proxy, e) < 0 ||
	    (!has_proxy && listen_send(x, NET_STREAM, EGRESS_PROXY_PORT, e) < 0) ||
	    listen_send(x, NET_NAMES_STREAM, EGRESS_NAMES_PORT, e) < 0)
		return -1;
	return listen_send(x, NET_NAMES_DATAGRAM, EGRESS_NAMES_PORT, e);
}

static int listen_end(struct error *e)
{
	autoclose int sock = netlink_open();

	if (sock < 0 || listen_change_route(sock, AF_INET, false) < 0)
		return err_sys(e, "remove a route");
	listen_change_route(sock, AF_INET6, false);
	return 0;
}

static int listen_do(const struct listening *x, struct error *e)
{
	bool ignored = false;

	return x->work == LISTEN_ALL  ? listen_all(x, e) :
	       x->work == LISTEN_MORE ? listen_ports(x, &ignored, e) :
					listen_end(e);
}

/* An ordinary user enters by way of the user namespace. */
static int listen_enter(int pidfd, struct error *e)
{
	if (!sys_is_machine_root() && setns(pidfd, CLONE_NEWUSER) < 0)
		return err_sys(e, "enter the box's user namespace");
	return setns(pidfd, CLONE_NEWNET) < 0 ? err_sys(e, "enter the box's network namespace") : 0;
}

static int listen_in_child(const struct listening *x, struct error *e)
{
	struct error told = {0};
	int pair[2], kind, got;
	pid_t pid;

	if (msg_pair(pair, e) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		struct error mine = {0};
		const bool done = listen_enter(x->pidfd, &mine) == 0 &&
				  listen_do(x, &mine) == 0;

		msg_send(pair[1], 0, done ? NULL : &mine, -1);
		_exit(0);
	}
	fd_close(&pair[1]);
	got = pid < 0 ? -1 : msg_recv(pair[0], &kind, &told, NULL);
	if (pid > 0)
		child_collect(pid);
	fd_close(&pair[0]);
	if (got <= 0)
		return err_set(e, ERR_SYSTEM, "make the box's listeners");
	if (told.class != ERR_NONE) {
		*e = told;
		return -1;
	}
	return 0;
}

int network_listen(int pidfd, int control_fd, const uint16_t *ports, size_t n, bool is_used,
		   struct error *e)
{
	const struct listening x = {pidfd, control_fd, ports, n, LISTEN_ALL, is_used};

	return listen_in_child(&x, e);
}

int network_listen_more(int pidfd, int control_fd, const uint16_t *ports, size_t n, struct error *e)
{
	const struct listening x = {pidfd, control_fd, ports, n, LISTEN_MORE, true};

	return listen_in_child(&x, e);
}

int network_listen_end(int pidfd, struct error *e)
{
	const struct listening x = {.pidfd = pidfd, .control_fd = -1, .work = LISTEN_END};

	return listen_in_child(&x, e);
}
