#include "net/lookup.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/str.h"
#include "net/address.h"
#include "sys/loop.h"

enum { PORT = 53, ANSWER_MS = 2000, ROUNDS = 2, OTHER_MS = 500 };

static void ask_serve(struct crowd_member *m, uint32_t events);

/* ---- one question ---- */

static void ask_end(struct ask *a)
{
	crowd_close(a->lookup->net->crowd_fd, &a->member);
	a->over = true;
	a->until = 0;
}

/* Sends it to the resolver whose turn it is. A new socket each time: its port is part of what an
 * answer that was made up would have to guess. */
static int ask_open(struct ask *a)
{
	const struct net *n = a->lookup->net;
	const struct egress_address *server = &n->servers[a->tries % n->n_servers];
	struct sockaddr_storage at;
	const socklen_t size = address_to_socket(server, PORT, &at);
	const int type = a->stream ? SOCK_STREAM : SOCK_DGRAM;

	crowd_close(n->crowd_fd, &a->member);
	a->until = loop_now() + ANSWER_MS * LOOP_MS;
	a->at = 0;
	a->len = dns_write_query(a->packet + 2, sizeof(a->packet) - 2, a->id, &a->lookup->host,
				 a->type);
	a->packet[0] = (unsigned char)(a->len >> 8);
	a->packet[1] = (unsigned char)a->len;
	a->member.fd = socket(at.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (a->member.fd < 0 || (connect(a->member.fd, (struct sockaddr *)&at, size) < 0 &&
				 errno != EINPROGRESS))
		return -1;
	if (a->stream) {
		a->len += 2;
		return crowd_wait_for(n->crowd_fd, &a->member, EPOLLOUT);
	}
	if (send(a->member.fd, a->packet + 2, a->len, MSG_NOSIGNAL) < 0)
		return -1;
	return crowd_wait_for(n->crowd_fd, &a->member, EPOLLIN);
}

/* The next resolver, or none: then it is over. Called when a try has failed. */
static void ask_try_next(struct ask *a)
{
	while (++a->tries < ROUNDS * a->lookup->net->n_servers) {
		a->stream = false;
		if (getrandom(&a->id, sizeof(a->id), 0) == sizeof(a->id) && ask_open(a) == 0)
			return;
	}
	ask_end(a);
}

static void ask_take(struct ask *a, const unsigned char *p, size_t len)
{
	struct lookup *l = a->lookup;
	struct dns_reply r;
	size_t i;

	/* Somebody else has sent what is no answer; the right one may still come. */
	if (!dns_read_reply(p, len, a->id, &l->host, a->type, &r))
		return;
	if (r.truncated && !a->stream) {
		a->stream = true;
		if (ask_open(a) < 0)
			ask_try_next(a);
		return;
	}
	if (r.code != DNS_FINE && r.code != DNS_NO_NAME) {
		ask_try_next(a);
		return;
	}
	for (i = 0; i < r.n && l->n < ARRAY_SIZE(l->v); i++)
		l->v[l->n++] = r.v[i];
	if (r.n)
		l->ttl = r.ttl < l->ttl ? r.ttl : l->ttl;
	l->has_answer = true;
	ask_end(a);
}

/* ---- over TCP: two bytes of length, then the packet ---- */

static void ask_serve_stream(struct ask *a)
{
	const int crowd_fd = a->lookup->net->crowd_fd;
	ssize_t n;

	if (a->member.events == EPOLLOUT) {
		n = send(a->member.fd, a->packet + a->at, a->len - a->at, MSG_NOSIGNAL);
		if (n <= 0) {
			if (n == 0 || errno != EAGAIN)
				ask_try_next(a);
			return;
		}
		a->at += (size_t)n;
		if (a->at == a->len) {
			a->at = 0;
			crowd_wait_for(crowd_fd, &a->member, EPOLLIN);
		}
		return;
	}
	n = recv(a->member.fd, a->packet + a->at, sizeof(a->packet) - a->at, 0);
	if (n <= 0) {
		if (n == 0 || errno != EAGAIN)
			ask_try_next(a);
		return;
	}
	a->at += (size_t)n;
	if (a->at < 2)
		return;
	a->len = (size_t)a->packet[0] << 8 | a->packet[1];
	if (a->len > DNS_TCP_MAX) {
		ask_try_next(a);
		return;
	}
	if (a->at >= a->len + 2) {
		ask_take(a, a->packet + 2, a->len);
		if (!a->over && a->stream)
			ask_try_next(a);
	}
}

static void ask_serve(struct crowd_member *m, uint32_t events)
{
	struct ask *a = m->context;
	ssize_t n;

	(void)events;
	if (a->stream) {
		ask_serve_stream(a);
	} else {
		n = recv(m->fd, a->packet, sizeof(a->packet), 0);
		if (n > 0)
			ask_take(a, a->packet, (size_t)n);
		else if (n < 0 && errno != EAGAIN)
			ask_try_next(a); /* nobody is there */
	}
}

/* ---- both ---- */

void lookup_begin(struct lookup *l, struct net *n, const struct egress_host *h,
		  void (*done)(void *context), void *context)
{
	static const uint16_t types[] = {DNS_A, DNS_AAAA};
	size_t i;

	l->net = n;
	l->host = *h;
	l->runs = true;
	l->has_answer = false;
	l->n = 0;
	l->ttl = UINT32_MAX;
	l->done = done;
	l->context = context;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct ask *a = &l->asks[i];

		a->lookup = l;
		a->type = types[i];
		a->tries = 0;
		a->over = a->stream = false;
		a->member = (struct crowd_member){.fd = -1, .serve = ask_serve, .context = a};
		if (getrandom(&a->id, sizeof(a->id), 0) != sizeof(a->id) || ask_open(a) < 0)
			ask_try_next(a);
	}
}

void lookup_cancel(struct lookup *l)
{
	size_t i;

	for (i = 0; l->runs && i < ARRAY_SIZE(l->asks); i++)
		crowd_close(l->net->crowd_fd, &l->asks[i].member);
	l->runs = false;
}

/* A lookup with addresses of one kind does not wait long for the other. */
static void lookup_hurry(struct lookup *l, int64_t now)
{
	size_t i;

	for (i = 0; l->n && i < ARRAY_SIZE(l->asks); i++)
		if (!l->asks[i].over && l->asks[i].until > now + OTHER_MS * LOOP_MS) {
			l->asks[i].until = now + OTHER_MS * LOOP_MS;
			l->asks[i].tries = ROUNDS * NET_SERVERS_MAX;
		}
}

int64_t lookup_look_at_clock(struct lookup *l, int64_t now)
{
	int64_t next = LOOP_NEVER;
	size_t i;

	if (!l->runs)
		return LOOP_NEVER;
	lookup_hurry(l, now);
	for (i = 0; i < ARRAY_SIZE(l->asks); i++) {
		if (!l->asks[i].over && now >= l->asks[i].until)
			ask_try_next(&l->asks[i]);
		if (!l->asks[i].over && l->asks[i].until < next)
			next = l->asks[i].until;
	}
	if (next != LOOP_NEVER)
		return next;
	l->runs = false;
	l->done(l->context); /* which may be the end of *l */
	return now;
}
