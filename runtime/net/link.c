#include "net/link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/str.h"
#include "net/address.h"
#include "sys/loop.h"

enum { NAME_HOLDS_S = 60 };

static void link_serve_box(struct crowd_member *m, uint32_t events);
static void link_serve_far(struct crowd_member *m, uint32_t events);
static void link_dial(struct link *l);

/* ---- its end ---- */

/* A connection that comes meanwhile waits in the kernel's queue. */
static void listeners_open(struct net *n, bool open)
{
	size_t i;

	n->is_full = !open;
	for (i = 0; i < n->n_listeners; i++)
		if (n->listeners[i].what != NET_NAMES_DATAGRAM)
			crowd_wait_for(n->crowd_fd, &n->listeners[i].member, open ? EPOLLIN : 0);
}

static int half_make(struct half *h)
{
	h->buffer = malloc(LINK_BUFFER + LINK_SPARE);
	h->size = LINK_BUFFER;
	return h->buffer ? 0 : -1;
}

/* With more room at once there are fewer calls and wake-ups. It counts as what the kernel keeps
 * does. */
static bool half_grow(struct net *n, struct half *h)
{
	char *more;

	if (!h->filled || h->len || h->size != LINK_BUFFER || n->width >= WIDTH_ALL)
		return false;
	more = malloc(LINK_BUFFER_MORE + LINK_SPARE);
	if (!more)
		return false;
	free(h->buffer);
	h->buffer = more;
	h->size = LINK_BUFFER_MORE;
	h->at = 0;
	n->width += LINK_GROWTH;
	return true;
}

static void half_free(struct net *n, struct half *h)
{
	if (h->size == LINK_BUFFER_MORE)
		n->width -= LINK_GROWTH;
	free(h->buffer);
}

static void link_end(struct link *l)
{
	struct net *n = l->net;

	lookup_cancel(&l->lookup);
	width_end(&l->width, &n->width);
	crowd_close(n->crowd_fd, &l->box);
	crowd_close(n->crowd_fd, &l->far);
	half_free(n, &l->up);
	half_free(n, &l->down);
	n->links[l->index] = n->links[--n->n_links];
	n->links[l->index]->index = l->index;
	if (n->is_full)
		listeners_open(n, true);
	free(l);
}

void link_reset(struct link *l)
{
	const struct linger at_once = {.l_onoff = 1};

	setsockopt(l->box.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	if (l->far.fd >= 0)
		setsockopt(l->far.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	link_end(l);
}

/* ---- carrying ---- */

static void link_wait(struct link *l, int ms)
{
	l->until = loop_now() + ms * LOOP_MS;
}

static size_t half_room(const struct half *h)
{
	return h->ended || h->at + h->len >= h->size ? 0 : h->size - h->at - h->len;
}

/* -1: the connection is broken. */
static int half_fill_most(struct half *h, int fd, size_t most)
{
	ssize_t n;

	if (!most || fd < 0)
		return 0;
	n = recv(fd, h->buffer + h->at + h->len, most, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	h->ended = n == 0;
	h->filled |= (size_t)n == h->size;
	h->len += (size_t)n;
	return n > 0;
}

static int half_fill(struct half *h, int fd)
{
	return half_fill_most(h, fd, half_room(h));
}

/* Carries and counts. Past the last byte that may be, nothing but the end may come. */
static int half_carry(struct half *h, int fd, struct limit *limit, bool *ret_spent)
{
	const size_t before = h->len, room = half_room(h);
	char byte;
	int got;

	if (room && limit_is_spent(limit)) {
		*ret_spent = recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) > 0;
		return *ret_spent ? 0 : half_fill_most(h, fd, room);
	}
	got = half_fill_most(h, fd, limit_room(limit, room, loop_now()));
	limit_spend(limit, h->len - before);
	return got;
}

/* All but the last bytes of it. */
static int half_flush_but(struct half *h, size_t held, int fd, uint64_t *count)
{
	ssize_t n;

	if (h->len <= held)
		return 0;
	n = send(fd, h->buffer + h->at, h->len - held, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	h->at += (size_t)n;
	h->len -= (size_t)n;
	if (h->len == held) {
		memmove(h->buffer, h->buffer + h->at, held);
		h->at = 0;
	}
	if (count)
		*count += (uint64_t)n;
	return 0;
}

static int half_flush(struct half *h, int fd, uint64_t *count)
{
	return half_flush_but(h, 0, fd, count);
}

/* Something came of the box, or nothing more does. false: the link is gone. */
static bool link_carry_up(struct link *l)
{
	const size_t before = l->up.len;
	bool spent = false;
	int got = half_carry(&l->up, l->box.fd, &l->net->limit, &spent);

	if (spent) {
		link_refuse(l, EGRESS_SPENT);
		return false;
	}
	if (got < 0) {
		link_reset(l);
		return false;
	}
	if (l->guard != GUARD_LISTENS && (got || l->held) && !front_guard_more(l, before))
		return false;
	if (l->guard == GUARD_LISTENS && (got || l->up.ended) && !front_guard(l))
		return false;
	if (l->guard == GUARD_LISTENS && !l->up.ended)
		return true;
	if (half_flush_but(&l->up, l->held, l->far.fd, &l->net->bytes_out) < 0) {
		link_reset(l);
		return false;
	}
	if (l->up.ended && !l->up.len && !l->up.told) {
		shutdown(l->far.fd, SHUT_WR);
		l->up.told = true;
	}
	return true;
}

/* The next request has another connection, and its client is told so. */
static void link_mark_answer(struct link *l, size_t before)
{
	static const char mark[] = "Connection: close\r\n";
	struct half *h = &l->down;
	char *from = h->buffer + h->at + before;
	const size_t len = h->len - before;
	size_t at;

	if (l->guard != GUARD_BODY || !http_answer_find(&l->answer, from, len, &at))
		return;
	memmove(from + at + sizeof(mark) - 1, from + at, len - at);
	memcpy(from + at, mark, sizeof(mark) - 1);
	h->len += sizeof(mark) - 1;
}

static bool link_carry_down(struct link *l)
{
	const size_t before = l->down.len;
	bool spent = false;
	const bool broken = half_carry(&l->down, l->far.fd, &l->net->limit, &spent) < 0;

	if (spent) {
		link_refuse(l, EGRESS_SPENT);
		return false;
	}
	l->net->bytes_in += l->down.len - before;
	link_mark_answer(l, before);
	if (half_flush(&l->down, l->box.fd, NULL) < 0 || broken) {
		link_reset(l);
		return false;
	}
	if (l->down.ended && !l->down.len && !l->down.told) {
		shutdown(l->box.fd, SHUT_WR);
		l->down.told = true;
	}
	return true;
}

/* When they have enough together, none of them grows. */
static void links_hold(struct net *n)
{
	size_t i;

	for (i = 0; i < n->n_links; i++)
		width_hold(&n->links[i]->width, n->links[i]->far.fd);
}

static void link_grow(struct link *l)
{
	if (width_look(&l->width, l->far.fd, &l->net->width))
		links_hold(l->net);
	half_grow(l->net, &l->up);
	if (half_grow(l->net, &l->down))
		width_bound_out(l->box.fd, 2 * LINK_BUFFER_MORE);
}

static void link_carry(struct link *l)
{
	const uint64_t before = l->net->bytes_in + l->net->bytes_out;
	uint32_t box = 0, far = 0, more;
	int64_t pause;

	if (!link_carry_up(l) || !link_carry_down(l))
		return;
	if (l->net->bytes_in + l->net->bytes_out != before)
		link_grow(l);
	if (l->up.told && l->down.told) {
		link_end(l);
		return;
	}
	/* links_look_at_clock() goes on with it. */
	more = limit_pauses(&l->net->limit, loop_now(), &pause) ? 0 : EPOLLIN;
	box |= half_room(&l->up) ? more : 0;
	box |= l->down.len ? EPOLLOUT : 0;
	far |= half_room(&l->down) ? more : 0;
	far |= l->up.len > l->held && (l->guard != GUARD_LISTENS || l->up.ended) ? EPOLLOUT : 0;
	link_wait(l, LINK_IDLE_MS);
	if (crowd_wait_for(l->net->crowd_fd, &l->box, box) < 0 ||
	    crowd_wait_for(l->net->crowd_fd, &l->far, far) < 0)
		link_reset(l);
}

/* ---- the last words ---- */

void link_say(struct link *l, const void *p, size_t len)
{
	struct half *h = &l->down;

	if (h->at + h->len + len > h->size)
		return; /* nothing of ours is that long */
	memcpy(h->buffer + h->at + h->len, p, len);
	h->len += len;
}

/* Throws away what the box still says: unread bytes would take our words back. */
static void link_farewell(struct link *l)
{
	char waste[4096];
	ssize_t n = recv(l->box.fd, waste, sizeof(waste), MSG_DONTWAIT);

	if (half_flush(&l->down, l->box.fd, NULL) < 0 || n == 0 ||
	    (n < 0 && errno != EAGAIN && errno != EINTR)) {
		link_end(l);
		return;
	}
	if (!l->down.len && !l->down.told) {
		shutdown(l->box.fd, SHUT_WR);
		l->down.told = true;
	}
	crowd_wait_for(l->net->crowd_fd, &l->box, EPOLLIN | (l->down.len ? EPOLLOUT : 0));
}

void link_take_leave(struct link *l)
{
	lookup_cancel(&l->lookup);
	width_end(&l->width, &l->net->width);
	crowd_close(l->net->crowd_fd, &l->far);
	l->state = LINK_TAKES_LEAVE;
	l->down.told = false;
	link_wait(l, LINK_FAREWELL_MS);
	link_farewell(l);
}

void link_refuse(struct link *l, enum egress_verdict why)
{
	refuse_note(l->net, l->host.name, l->port, why);
	if (l->state == LINK_CARRIES || l->front == FRONT_NONE)
		link_reset(l);
	else
		front_refuse(l, why);
}

void link_fail(struct link *l, enum link_failure why)
{
	if (why != LINK_BAD_SPEECH)
		refuse_note_failure(l->net, l->host.name, l->port, (enum net_failure)why);
	if (l->front == FRONT_NONE)
		link_reset(l);
	else
		front_fail(l, why);
}

/* ---- reaching ---- */

static void link_reached(struct link *l)
{
	const int on = 1;

	setsockopt(l->far.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(l->box.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(l->far.fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	l->net->connections++;
	refuse_note_reached(l->net, l->host.name, l->port);
	/* Read by half_fill(), which counts nothing. */
	if (!limit_has(&l->net->limit, l->up.len)) {
		link_refuse(l, EGRESS_SPENT);
		return;
	}
	limit_spend(&l->net->limit, l->up.len);
	l->state = LINK_CARRIES;
	l->guard = l->host.is_address ? GUARD_PASSES : GUARD_LISTENS;
	if (front_welcome(l) && (l->guard != GUARD_LISTENS || front_guard(l)))
		link_carry(l);
}

/* Each address was judged when it came in (link_take()), and is dialled as it was judged. */
static void link_dial(struct link *l)
{
	struct sockaddr_storage at;
	socklen_t size;

	l->state = LINK_DIALS;
	for (; l->at < l->n; l->at++) {
		crowd_close(l->net->crowd_fd, &l->far);
		size = address_to_socket(&l->v[l->at], l->port, &at);
		l->far.fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (l->far.fd < 0) {
			l->error = errno;
			continue;
		}
		width_begin(&l->width, l->far.fd, &l->net->width);
		if (connect(l->far.fd, (struct sockaddr *)&at, size) == 0 ||
		    errno == EINPROGRESS) {
			link_wait(l, LINK_DIAL_MS);
			if (crowd_wait_for(l->net->crowd_fd, &l->far, EPOLLOUT) == 0)
				return;
		}
		l->error = errno;
	}
	link_fail(l, LINK_UNREACHABLE);
}

/* Takes the addresses that may be dialled. */
static void link_take(struct link *l, const struct egress_address *v, size_t n)
{
	enum egress_verdict worst = EGRESS_ALLOWED, verdict;
	enum address_way way;
	size_t i;

	l->n = l->at = 0;
	for (i = 0; i < n && l->n < ARRAY_SIZE(l->v); i++) {
		verdict = egress_judge(l->net->rules, &v[i], l->port);
		way = address_ask_way(l->net->route_fd, &v[i]);
		if (verdict == EGRESS_ALLOWED && way == ADDRESS_OWN)
			verdict = EGRESS_BAD_ADDRESS;
		if (verdict == EGRESS_ALLOWED && way == ADDRESS_ELSEWHERE)
			l->v[l->n++] = v[i];
		worst = verdict > worst ? verdict : worst;
	}
	if (!l->n && worst != EGRESS_ALLOWED)
		link_refuse(l, worst);
	else
		link_dial(l);
}

static void link_looked_up(void *context)
{
	struct link *l = context;
	struct lookup *found = &l->lookup;
	struct name *name = name_get(l->net, &l->host);
	const int64_t holds = found->ttl < NAME_HOLDS_S ? found->ttl : NAME_HOLDS_S;

	if (!found->n) {
		link_fail(l, found->has_answer ? LINK_NO_NAME : LINK_NO_ANSWER);
		return;
	}
	if (name) {
		memcpy(name->v, found->v, sizeof(name->v));
		name->n = found->n;
		name->until = loop_now() + holds * LOOP_SECOND;
	}
	link_take(l, found->v, found->n);
}

/* The only way to a connection, whatever front it comes from. */
void link_reach(struct link *l)
{
	const enum egress_verdict verdict = limit_is_spent(&l->net->limit) ?
						    EGRESS_SPENT :
						    egress_decide(l->net->rules, &l->host, l->port);
	struct name *name;

	crowd_wait_for(l->net->crowd_fd, &l->box, 0);
	if (verdict != EGRESS_ALLOWED) {
		link_refuse(l, verdict);
		return;
	}
	if (l->host.is_address) {
		link_take(l, &l->host.address, 1);
		return;
	}
	name = name_get(l->net, &l->host);
	if (name && name->n && name->until > loop_now()) {
		link_take(l, name->v, name->n);
		return;
	}
	l->state = LINK_LOOKS_UP;
	l->until = LOOP_NEVER; /* it has its own */
	lookup_begin(&l->lookup, l->net, &l->host, link_looked_up, l);
}

static void link_serve_far(struct crowd_member *m, uint32_t events)
{
	struct link *l = m->context;
	socklen_t size = sizeof(l->error);

	(void)events;
	if (l->state == LINK_CARRIES) {
		link_carry(l);
		return;
	}
	if (getsockopt(m->fd, SOL_SOCKET, SO_ERROR, &l->error, &size) == 0 && !l->error) {
		link_reached(l);
		return;
	}
	l->at++;
	link_dial(l);
}

/* ---- its beginning ---- */

static void link_answer_names(struct link *l)
{
	unsigned char *p = (unsigned char *)l->up.buffer, packet[2 + DNS_PACKET_MAX];
	size_t len, n;

	while (l->up.len >= 2) {
		len = (size_t)p[0] << 8 | p[1];
		if (len > DNS_PACKET_MAX) {
			link_reset(l);
			return;
		}
		if (l->up.len < len + 2)
			break;
		memcpy(packet + 2, p + 2, len);
		n = names_answer(l->net, packet + 2, len, DNS_PACKET_MAX);
		packet[0] = (unsigned char)(n >> 8);
		packet[1] = (unsigned char)n;
		if (!n || half_room(&l->down) < n + 2) { /* who does not read is not answered */
			link_reset(l);
			return;
		}
		link_say(l, packet, n + 2);
		l->up.len -= len + 2;
		memmove(p, p + len + 2, l->up.len);
	}
	if (half_flush(&l->down, l->box.fd, NULL) < 0 || l->up.ended)
		link_end(l);
	else
		crowd_wait_for(l->net->crowd_fd, &l->box, EPOLLIN | (l->down.len ? EPOLLOUT : 0));
}

static void link_serve_box(struct crowd_member *m, uint32_t events)
{
	struct link *l = m->context;

	(void)events;
	if (l->state == LINK_CARRIES) {
		link_carry(l);
		return;
	}
	if (l->state == LINK_TAKES_LEAVE) {
		link_farewell(l);
		return;
	}
	if (half_fill(&l->up, m->fd) < 0 || half_flush(&l->down, m->fd, NULL) < 0) {
		link_end(l);
		return;
	}
	if (l->state == LINK_ANSWERS)
		link_answer_names(l);
	else if (l->up.ended)
		link_end(l);
	else
		front_hear(l);
}

static bool link_is_to_itself(const struct link *l)
{
	static const struct egress_address own[] = {{false, {127}}, {true, {[15] = 1}}};

	return egress_address_is_in(&l->host.address, &own[0], 8) ||
	       egress_address_is_in(&l->host.address, &own[1], 128);
}

/* Which host the box means by the address that it dialled. */
static void link_begin(struct link *l, const struct listener *from)
{
	struct sockaddr_storage at = {0};
	socklen_t size = sizeof(at);
	const struct name *name;

	link_wait(l, LINK_HEAR_MS);
	if (getsockname(l->box.fd, (struct sockaddr *)&at, &size) < 0) {
		link_end(l);
		return;
	}
	address_from_socket(&at, &l->host.address, &l->port);
	l->host.is_address = true;
	egress_address_write(&l->host.address, l->host.name);
	l->host.len = strlen(l->host.name);
	l->state = from->what == NET_NAMES_STREAM ? LINK_ANSWERS : LINK_HEARS;
	name = name_of_address(l->net, &l->host.address);
	if (l->state == LINK_ANSWERS || (link_is_to_itself(l) && l->port == EGRESS_PROXY_PORT)) {
		crowd_wait_for(l->net->crowd_fd, &l->box, EPOLLIN);
	} else if (link_is_to_itself(l)) {
		link_reset(l); /* nobody of the box's own listens there */
	} else {
		l->host = name ? name->host : l->host;
		link_reach(l);
	}
}

static struct link *link_new(void)
{
	struct link *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	if (half_make(&l->up) == 0 && half_make(&l->down) == 0)
		return l;
	free(l->up.buffer);
	free(l->down.buffer);
	free(l);
	return NULL;
}

void link_accept(struct crowd_member *m, uint32_t events)
{
	struct listener *from = m->context;
	struct net *n = from->net;
	struct link *l;
	int fd = accept4(m->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	/* Without descriptors it would be tried again at once, and for ever. */
	if (fd < 0 && n->n_links && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		listeners_open(n, false);
	if (fd < 0)
		return;
	l = link_new();
	if (!l) {
		fd_close(&fd);
		return;
	}
	l->net = n;
	width_bound(fd);
	l->box = (struct crowd_member){.fd = fd, .serve = link_serve_box, .context = l};
	l->far = (struct crowd_member){.fd = -1, .serve = link_serve_far, .context = l};
	l->index = n->n_links;
	n->links[n->n_links++] = l;
	if (n->n_links == NET_LINKS_MAX)
		listeners_open(n, false);
	link_begin(l, from);
}

/* ---- rules that change ---- */

/* The address that was dialled is judged anew, too: it may be of a range that is denied now. */
static bool link_may_stay(const struct link *l)
{
	if (l->state == LINK_HEARS || l->state == LINK_ANSWERS || l->state == LINK_TAKES_LEAVE)
		return true;
	if (egress_decide(l->net->rules, &l->host, l->port) != EGRESS_ALLOWED)
		return false;
	return l->state == LINK_LOOKS_UP ||
	       egress_judge(l->net->rules, &l->v[l->at], l->port) == EGRESS_ALLOWED;
}

void links_look_at_rules(struct net *n)
{
	size_t i = n->n_links;

	while (i--)
		if (!link_may_stay(n->links[i]))
			link_reset(n->links[i]);
}

/* ---- time ---- */

static void link_out_of_time(struct link *l)
{
	if (l->state == LINK_DIALS) {
		l->error = ETIMEDOUT;
		l->at++;
		link_dial(l);
	} else if (l->state == LINK_CARRIES) {
		link_reset(l);
	} else {
		link_end(l);
	}
}

int64_t links_look_at_clock(struct net *n)
{
	const int64_t now = loop_now();
	int64_t next = LOOP_NEVER, wants;
	size_t i = n->n_links;
	bool go_on = n->limit.rate && !limit_pauses(&n->limit, now, &wants);

	/* From the last: one that ends is replaced by one that was looked at. */
	while (i--) {
		struct link *l = n->links[i];

		if (go_on && l->state == LINK_CARRIES && now < l->until) {
			next = now + LOOP_SECOND < next ? now + LOOP_SECOND : next;
			link_carry(l);
			continue;
		}
		if (l->state == LINK_LOOKS_UP)
			wants = lookup_look_at_clock(&l->lookup, now);
		else if (now >= l->until)
			wants = (link_out_of_time(l), now);
		else
			wants = l->until;
		next = wants < next ? wants : next;
	}
	if (n->n_links && limit_pauses(&n->limit, now, &wants))
		next = wants < next ? wants : next;
	return next;
}
