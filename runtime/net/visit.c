/*
 * Visitors tell sbxrun-net something: whoever started it, and of a box that stays, whoever works
 * with it later (egress/wire.h). Each is heard as far as his words go, and waits for nobody else's.
 *
 * Rules come one by one and hold together: until the word that they do, the old ones hold.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "net/net.h"
#include "sys/loop.h"
#include "sys/unix.h"

void visit_say(const struct visit *v, const struct net_message *m)
{
	send(v->member.fd, m, sizeof(*m), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* ---- listeners ---- */

static struct listener *listener_at(struct net *n, uint16_t port)
{
	size_t i;

	for (i = 0; i < n->n_listeners; i++)
		if (n->listeners[i].member.fd >= 0 && n->listeners[i].what == NET_STREAM &&
		    n->listeners[i].port == port)
			return &n->listeners[i];
	return NULL;
}

bool visit_listens(struct net *n, uint16_t port)
{
	return listener_at(n, port) != NULL;
}

static struct listener *listener_free(struct net *n)
{
	size_t i;

	for (i = 0; i < n->n_listeners; i++)
		if (n->listeners[i].member.fd < 0)
			return &n->listeners[i];
	return n->n_listeners < NET_LISTENERS_MAX ? &n->listeners[n->n_listeners++] : NULL;
}

static int visit_take_listener(struct net *n, const struct net_message *m, int *fd)
{
	struct listener *l = *fd < 0 || !m->port || m->port > UINT16_MAX ? NULL : listener_free(n);

	errno = EPROTO;
	if (!l)
		return -1;
	*l = (struct listener){
		.member = {.fd = fd_steal(fd),
			   .serve = m->what == NET_NAMES_DATAGRAM ? names_serve_datagram :
								    link_accept,
			   .context = l},
		.net = n,
		.what = m->what,
		.port = (uint16_t)m->port,
	};
	return n->is_full && l->what != NET_NAMES_DATAGRAM ?
		       0 :
		       crowd_wait_for(n->crowd_fd, &l->member, EPOLLIN);
}

static bool rules_have_port(const struct egress_rules *r, uint16_t port)
{
	uint16_t ports[EGRESS_PORTS_MAX];
	size_t n = 0;
	struct error e;

	if (!r || egress_rules_ports(r, ports, &n, &e) < 0)
		return false;
	while (n)
		if (ports[--n] == port)
			return true;
	return false;
}

/* A port that no rule has any more refuses by itself, as it did before. */
static void listeners_prune(struct net *n)
{
	struct listener *l;

	for (l = n->listeners; l < n->listeners + n->n_listeners; l++)
		if (l->member.fd >= 0 && l->what == NET_STREAM && l->port != EGRESS_PROXY_PORT &&
		    !rules_have_port(&n->own, l->port) && !rules_have_port(n->rules, l->port))
			crowd_close(n->crowd_fd, &l->member);
}

uint16_t visit_lacks(struct net *n)
{
	uint16_t ports[EGRESS_PORTS_MAX];
	size_t count = 0, i;
	struct error e;

	if (egress_rules_ports(n->rules, ports, &count, &e) < 0)
		return 0;
	for (i = 0; i < count; i++)
		if (!listener_at(n, ports[i]))
			return ports[i];
	return 0;
}

/* ---- rules ---- */

static void visit_hold(struct net *n, const struct egress_rules *r, const struct caps *c)
{
	n->rules = r;
	limit_set(&n->limit, c->most, c->rate);
	listeners_prune(n);
	links_look_at_rules(n);
}

/* His words so far are the box's. */
static void visit_own(struct visit *v)
{
	v->net->own = v->rules;
	v->net->own_caps = v->caps;
	v->rules.n = 0;
}

void visit_begin(struct visit *v)
{
	visit_own(v);
	visit_hold(v->net, &v->net->own, &v->net->own_caps);
}

static void visit_apply(struct visit *v, bool alone)
{
	struct net *n = v->net;
	struct net_message m = {.kind = NET_READY};

	if (alone) {
		n->only = v;
		visit_hold(n, &v->rules, &v->caps);
	} else {
		visit_own(v);
		if (n->only)
			visit_hold(n, &n->only->rules, &n->only->caps);
		else
			visit_hold(n, &n->own, &n->own_caps);
	}
	m.port = visit_lacks(n);
	visit_say(v, &m);
}

static void visit_end(struct visit *v)
{
	struct net *n = v->net;

	crowd_close(n->crowd_fd, &v->member);
	v->rules.n = 0;
	if (n->only == v) {
		n->only = NULL;
		visit_hold(n, &n->own, &n->own_caps);
	}
}

/* ---- words ---- */

static int visit_take_rule(struct visit *v, const struct net_message *m)
{
	struct net_message no = {.kind = NET_FAILED};
	struct error e = {0};

	errno = EINVAL;
	/* Rules that hold take no more behind anybody's back. */
	if (v->net->only != v &&
	    egress_rules_add(&v->rules, m->text, m->kind == NET_DENY, &e) == 0)
		return 0;
	snprintf(no.text, sizeof(no.text), "%.200s", e.text);
	visit_say(v, &no);
	return -1;
}

static int visit_take_caps(struct visit *v, const struct net_message *m)
{
	errno = EINVAL;
	if (v->net->only == v)
		return -1;
	v->caps = (struct caps){.most = m->bytes_in, .rate = m->count};
	return 0;
}

/* The box's first process has ended, and all that ran in it. */
static void visit_box_has_ended(struct crowd_member *m, uint32_t events)
{
	(void)m;
	(void)events;
	_exit(0);
}

static int visit_take_box(struct net *n, int *fd)
{
	if (*fd < 0 || n->box.fd >= 0)
		return -1;
	n->box = (struct crowd_member){.fd = fd_steal(fd), .serve = visit_box_has_ended};
	return crowd_wait_for(n->crowd_fd, &n->box, EPOLLIN);
}

static int visit_take_door(struct net *n, int *fd)
{
	if (*fd < 0 || n->door.fd >= 0)
		return -1;
	n->door = (struct crowd_member){.fd = fd_steal(fd), .serve = visit_accept, .context = n};
	return crowd_wait_for(n->crowd_fd, &n->door, EPOLLIN);
}

int visit_take(struct visit *v, const struct net_message *m, int *fd)
{
	struct net *n = v->net;
	const size_t len = strnlen(m->text, sizeof(m->text));

	errno = EPROTO;
	if (len == sizeof(m->text))
		return -1;
	switch (m->kind) {
	case NET_ALLOW:
	case NET_DENY:
		return visit_take_rule(v, m);
	case NET_SERVER:
		if (n->n_servers < NET_SERVERS_MAX &&
		    egress_address_read(m->text, len, &n->servers[n->n_servers]))
			n->n_servers++;
		return 0;
	case NET_LISTEN:
		return visit_take_listener(n, m, fd);
	case NET_CAPS:
		return visit_take_caps(v, m);
	case NET_BOX:
		return visit_take_box(n, fd);
	case NET_DOOR:
		return visit_take_door(n, fd);
	case NET_APPLY:
	case NET_ALONE:
		visit_apply(v, m->kind == NET_ALONE);
		return 0;
	case NET_SEEN:
		refuse_seen(n, m);
		return 0;
	case NET_FORGET:
		refuse_forget(n);
		return 0;
	case NET_TELL:
		refuse_tell(n, v);
		return 0;
	default:
		return -1;
	}
}

/* 1: a message came; 0: nobody is there any more. */
int visit_receive(const struct visit *v, struct net_message *ret, int *ret_fd)
{
	size_t n = 0;
	ssize_t len = unix_recv_fds(v->member.fd, ret, sizeof(*ret), ret_fd, 1, &n);

	if (!n)
		*ret_fd = -1;
	if (len > 0 && len != sizeof(*ret)) {
		errno = EPROTO;
		return -1;
	}
	return len < 0 ? -1 : len > 0;
}

void visit_serve(struct crowd_member *member, uint32_t events)
{
	struct visit *v = member->context;
	struct net_message m;
	autoclose int fd = -1;
	int got = visit_receive(v, &m, &fd);

	(void)events;
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0 && visit_take(v, &m, &fd) == 0)
		return;
	/* Without a box that stays, whoever started it is whom it is for. */
	if (v == v->net->visits && v->net->box.fd < 0)
		_exit(0);
	visit_end(v);
}

/* A visitor is sent away when all places are taken. */
void visit_accept(struct crowd_member *m, uint32_t events)
{
	struct net *n = m->context;
	autoclose int fd = accept4(m->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct visit *v;

	(void)events;
	for (v = n->visits; v < n->visits + NET_VISITS_MAX && v->member.fd >= 0; v++)
		;
	if (fd < 0 || v == n->visits + NET_VISITS_MAX)
		return;
	v->net = n;
	v->rules.n = 0;
	v->caps = (struct caps){0};
	v->member = (struct crowd_member){.fd = fd_steal(&fd), .serve = visit_serve, .context = v};
	if (crowd_wait_for(n->crowd_fd, &v->member, EPOLLIN) < 0)
		visit_end(v);
}
