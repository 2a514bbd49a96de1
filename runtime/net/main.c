/*
 * sbxrun-net: carries the connections of one box (net/net.h). sbxrun, whose file has it inside,
 * starts it as a user without rights, with one socket. It is no command of anybody's.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "net/net.h"
#include "sys/loop.h"
#include "sys/netlink.h"
#include "sys/unix.h"

static struct net net; /* zeroes, which take no room in the file */

static void main_say(enum net_kind kind, const char *text)
{
	struct net_message m = {.kind = kind};

	snprintf(m.text, sizeof(m.text), "%s", text);
	send(net.control.fd, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int main_fail(const char *what)
{
	char text[NET_TEXT_MAX];

	snprintf(text, sizeof(text), "%s: %s", what, strerror(errno));
	main_say(NET_FAILED, text);
	return 1;
}

static int main_take_listener(const struct net_message *m, int *fd)
{
	struct listener *l = &net.listeners[net.n_listeners];

	if (*fd < 0 || net.n_listeners == NET_LISTENERS_MAX || m->port > UINT16_MAX) {
		errno = EPROTO;
		return -1;
	}
	*l = (struct listener){
		.member = {.fd = fd_steal(fd),
			   .serve = m->what == NET_NAMES_DATAGRAM ? names_serve_datagram :
								    link_accept,
			   .context = l},
		.net = &net,
		.what = m->what,
		.port = (uint16_t)m->port,
	};
	net.n_listeners++;
	return crowd_wait_for(net.crowd_fd, &l->member, EPOLLIN);
}

static int main_take(const struct net_message *m, int *fd)
{
	const size_t len = strnlen(m->text, sizeof(m->text));
	struct error e;

	if (len == sizeof(m->text)) {
		errno = EPROTO;
		return -1;
	}
	errno = EINVAL;
	switch (m->kind) {
	case NET_ALLOW:
	case NET_DENY:
		return egress_rules_add(&net.rules, m->text, m->kind == NET_DENY, &e);
	case NET_SERVER:
		if (net.n_servers < NET_SERVERS_MAX &&
		    egress_address_read(m->text, len, &net.servers[net.n_servers]))
			net.n_servers++;
		return 0;
	case NET_LISTEN:
		return main_take_listener(m, fd);
	default:
		return -1;
	}
}

/* 1: a message came; 0: nobody is there any more. */
static int main_receive(struct net_message *ret, int *ret_fd)
{
	size_t n = 0;
	ssize_t len = unix_recv_fds(net.control.fd, ret, sizeof(*ret), ret_fd, 1, &n);

	if (!n)
		*ret_fd = -1;
	if (len > 0 && len != sizeof(*ret)) {
		errno = EPROTO;
		return -1;
	}
	return len < 0 ? -1 : len > 0;
}

/* Until it is told to begin. */
static int main_be_told(void)
{
	struct net_message m;
	int got;

	for (;;) {
		autoclose int fd = -1;

		got = main_receive(&m, &fd);
		if (got <= 0) {
			errno = got ? errno : ECONNRESET;
			return -1;
		}
		if (m.kind == NET_BEGIN)
			return 0;
		if (main_take(&m, &fd) < 0)
			return -1;
	}
}

static bool main_listens(uint16_t port)
{
	size_t i;

	for (i = 0; i < net.n_listeners; i++)
		if (net.listeners[i].what == NET_STREAM && net.listeners[i].port == port)
			return true;
	return false;
}

/* Where somebody listens, the connection tells it all; elsewhere the kernel has refused it. */
static void main_take_seen(const struct net_message *m)
{
	const size_t len = strnlen(m->text, sizeof(m->text));
	const uint16_t port = (uint16_t)m->port;
	struct egress_host h;
	const struct name *name;

	if (main_listens(port) || !egress_host_read(m->text, len, &h) || !h.is_address)
		return;
	name = name_of_address(&net, &h.address);
	if (name)
		h = name->host;
	if (egress_decide(&net.rules, &h, port) != EGRESS_ALLOWED)
		refuse_note(&net, h.name, port, egress_decide(&net.rules, &h, port));
}

static void main_serve_control(struct crowd_member *c, uint32_t events)
{
	struct net_message m;
	autoclose int fd = -1;

	(void)c;
	(void)events;
	if (main_receive(&m, &fd) <= 0)
		_exit(0);
	if (m.kind == NET_SEEN)
		main_take_seen(&m);
	else if (m.kind == NET_TELL)
		refuse_tell(&net);
}

int main(void)
{
	prctl(PR_SET_NAME, "sbxrun-net");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	net.control = (struct crowd_member){.fd = NET_CONTROL_FD, .serve = main_serve_control};
	net.crowd_fd = crowd_open();
	net.route_fd = netlink_open();
	if (net.crowd_fd < 0 || net.route_fd < 0 ||
	    getrandom(&net.salt, sizeof(net.salt), 0) != sizeof(net.salt))
		return main_fail("begin");
	if (main_be_told() < 0)
		return main_fail("be told what holds");
	if (!net.n_servers) /* as the C library has it */
		net.servers[net.n_servers++] = (struct egress_address){.b = {127, 0, 0, 1}};
	if (crowd_wait_for(net.crowd_fd, &net.control, EPOLLIN) < 0 || confine_self() < 0)
		return main_fail("give up what is not needed");
	main_say(NET_READY, "");
	for (;;)
		crowd_round(net.crowd_fd, links_look_at_clock(&net));
}
