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
	visit_say(&net.visits[0], &m);
}

static int main_fail(const char *what)
{
	char text[NET_TEXT_MAX];

	snprintf(text, sizeof(text), "%s: %s", what, strerror(errno));
	main_say(NET_FAILED, text);
	return 1;
}

/* Until it is told to begin. */
static int main_be_told(struct visit *v)
{
	struct net_message m;
	int got;

	for (;;) {
		autoclose int fd = -1;

		got = visit_receive(v, &m, &fd);
		if (got <= 0) {
			errno = got ? errno : ECONNRESET;
			return -1;
		}
		if (m.kind == NET_BEGIN)
			return 0;
		if (visit_take(v, &m, &fd) < 0)
			return -1;
	}
}

static void main_set_up(void)
{
	size_t i;

	net.box.fd = net.door.fd = -1;
	for (i = 0; i < NET_VISITS_MAX; i++)
		net.visits[i] = (struct visit){
			.member = {.fd = i ? -1 : NET_CONTROL_FD, .serve = visit_serve,
				   .context = &net.visits[i]},
			.net = &net};
	net.crowd_fd = crowd_open();
	net.route_fd = netlink_open();
}

/* Of a box that stays it is not with who started it that it ends. */
static int main_begin(void)
{
	visit_begin(&net.visits[0]);
	if (!net.n_servers) /* as the C library has it */
		net.servers[net.n_servers++] = (struct egress_address){.b = {127, 0, 0, 1}};
	if (net.box.fd >= 0 && prctl(PR_SET_PDEATHSIG, 0) < 0)
		return -1;
	if (crowd_wait_for(net.crowd_fd, &net.visits[0].member, EPOLLIN) < 0)
		return -1;
	return confine_self();
}

int main(void)
{
	struct net_message ready = {.kind = NET_READY};

	prctl(PR_SET_NAME, "sbxrun-net");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	main_set_up();
	if (net.crowd_fd < 0 || net.route_fd < 0 ||
	    getrandom(&net.salt, sizeof(net.salt), 0) != sizeof(net.salt))
		return main_fail("begin");
	if (main_be_told(&net.visits[0]) < 0)
		return main_fail("be told what holds");
	if (main_begin() < 0)
		return main_fail("give up what is not needed");
	ready.port = visit_lacks(&net);
	visit_say(&net.visits[0], &ready);
	for (;;)
		crowd_round(net.crowd_fd, links_look_at_clock(&net));
}
