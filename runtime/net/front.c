/* The first words on a connection, by the box and to it. The first byte tells what is spoken to the
 * proxy. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "net/link.h"

/* ---- what is answered ---- */

enum { SOCKS_FINE = 0, SOCKS_FAILED = 1, SOCKS_REFUSED = 2, SOCKS_NO_HOST = 4, SOCKS_BAD = 7 };

static void front_say_socks(struct link *l, unsigned int code)
{
	const unsigned char five[10] = {5, (unsigned char)code, 0, 1};
	const unsigned char four[8] = {0, code == SOCKS_FINE ? 90 : 91};

	if (l->front == FRONT_SOCKS5)
		link_say(l, five, sizeof(five));
	else
		link_say(l, four, sizeof(four));
}

static bool front_is_socks(const struct link *l)
{
	return l->front == FRONT_SOCKS4 || l->front == FRONT_SOCKS5;
}

static void front_say_http(struct link *l, const char *status, const char *word, const char *text)
{
	char head[1024];
	int n = snprintf(head, sizeof(head),
			 "HTTP/1.1 %s\r\nConnection: close\r\nContent-Type: text/plain\r\n"
			 "X-Proxy-Error: %s\r\nContent-Length: %zu\r\n\r\n%s\n",
			 status, word, strlen(text) + 1, text);

	if (n > 0 && (size_t)n < sizeof(head))
		link_say(l, head, (size_t)n);
}

/* Refusals name no address: who may not go there need not know where it is. */
static const struct {
	const char *word, *text;
} refusals[] = {
	[EGRESS_NOT_ALLOWED] = {"blocked-by-allowlist", "is not allowed (--allow)"},
	[EGRESS_DENIED] = {"blocked-by-denylist", "is denied (--deny)"},
	[EGRESS_BAD_HOST] = {"bad-host", "is no host"},
	[EGRESS_BAD_ADDRESS] = {"blocked-address", "is at no address that a box may reach by it"},
	[EGRESS_FRONTED] = {"other-host", "is not what was asked for inside"},
	[EGRESS_SPENT] = {"spent", "is too much: the box carried all it may (--net-limit)"},
};
_Static_assert(sizeof(refusals) / sizeof(*refusals) == EGRESS_SPENT + 1, "a word for each verdict");

void front_refuse(struct link *l, enum egress_verdict why)
{
	char text[EGRESS_NAME_MAX + 128];

	if (front_is_socks(l)) {
		front_say_socks(l, SOCKS_REFUSED);
	} else {
		snprintf(text, sizeof(text), "sbxrun: %s:%u %s", l->host.name, l->port,
			 refusals[why].text);
		front_say_http(l, "403 Forbidden", refusals[why].word, text);
	}
	link_take_leave(l);
}

static const struct {
	const char *status, *word, *text;
	unsigned int socks;
} failures[] = {
	[LINK_NO_NAME] = {"502 Bad Gateway", "no-such-host", "there is no such host",
			  SOCKS_NO_HOST},
	[LINK_NO_ANSWER] = {"504 Gateway Timeout", "no-resolver",
			    "the machine's resolvers do not answer", SOCKS_NO_HOST},
	[LINK_UNREACHABLE] = {"502 Bad Gateway", "unreachable", "the host can't be reached",
			      SOCKS_FAILED},
	[LINK_BAD_SPEECH] = {"400 Bad Request", "bad-request",
			     "this is no request that a proxy understands", SOCKS_BAD},
};

void front_fail(struct link *l, enum link_failure why)
{
	if (front_is_socks(l))
		front_say_socks(l, failures[why].socks);
	else
		front_say_http(l, failures[why].status, failures[why].word, failures[why].text);
	link_take_leave(l);
}

/* ---- what is asked for ---- */

static void front_forget(struct link *l, size_t len)
{
	l->up.len -= len;
	memmove(l->up.buffer, l->up.buffer + len, l->up.len);
}

static void front_wait(struct link *l)
{
	crowd_wait_for(l->net->crowd_fd, &l->box, EPOLLIN | (l->down.len ? EPOLLOUT : 0));
}

/* A name that is none is refused like one that is not allowed, and shown as such. */
static void front_refuse_host(struct link *l)
{
	l->host = (struct egress_host){0};
	link_refuse(l, EGRESS_BAD_HOST);
}

/* A program that has looked up a name in the box asks for the address that stands for it there. */
static void front_recall_name(struct link *l)
{
	const struct name *name =
		l->host.is_address ? name_of_address(l->net, &l->host.address) : NULL;

	if (name)
		l->host = name->host;
}

static void front_hear_socks(struct link *l)
{
	static const unsigned char welcome[] = {5, 0}, nothing[] = {5, 0xff};
	struct socks_request q;

	switch (socks_read(l->up.buffer, l->up.len, l->greeted, &q)) {
	case SPEECH_MORE:
		front_wait(l);
		return;
	case SPEECH_DONE:
		break;
	default:
		link_fail(l, LINK_BAD_SPEECH);
		return;
	}
	front_forget(l, q.len);
	if (q.greets) {
		l->greeted = true;
		link_say(l, q.knows_none ? welcome : nothing, 2);
		if (!q.knows_none)
			link_take_leave(l);
		else
			front_hear_socks(l); /* the request may be there, too */
		return;
	}
	l->port = q.port;
	if (!q.connects) {
		link_fail(l, LINK_BAD_SPEECH);
	} else if (!q.has_host || !q.port) {
		front_refuse_host(l);
	} else {
		l->host = q.host;
		front_recall_name(l);
		link_reach(l);
	}
}

static void front_hear_http(struct link *l)
{
	switch (http_read(l->up.buffer, l->up.len, &l->request)) {
	case SPEECH_MORE:
		front_wait(l);
		return;
	case SPEECH_DONE:
		break;
	default:
		link_fail(l, LINK_BAD_SPEECH);
		return;
	}
	if (l->request.form == HTTP_ORIGIN) { /* we are no server */
		link_fail(l, LINK_BAD_SPEECH);
		return;
	}
	l->front = l->request.form == HTTP_CONNECT ? FRONT_CONNECT : FRONT_HTTP;
	l->host = l->request.host;
	l->port = l->request.port;
	if (l->front == FRONT_CONNECT) {
		front_forget(l, l->request.len);
		front_recall_name(l);
	}
	link_reach(l);
}

void front_hear(struct link *l)
{
	if (!l->up.len) {
		front_wait(l);
		return;
	}
	if (l->front == FRONT_NONE)
		l->front = l->up.buffer[0] == 5 ? FRONT_SOCKS5 :
			   l->up.buffer[0] == 4 ? FRONT_SOCKS4 :
						  FRONT_HTTP;
	if (front_is_socks(l))
		front_hear_socks(l);
	else
		front_hear_http(l);
}

/* ---- to the host ---- */

/* The head that is at the beginning of what the box has said becomes one for the host, and the rest
 * is its body. */
static bool front_send_request(struct link *l)
{
	static char head[LINK_HEAD];
	const size_t len = http_write(&l->request, l->up.buffer, head, sizeof(head));
	size_t taken;

	if (!len)
		return false;
	front_forget(l, l->request.len);
	http_body_begin(&l->body, &l->request);
	taken = http_body_take(&l->body, l->up.buffer, l->up.len);
	if (l->body.bad)
		return false;
	memmove(l->up.buffer + len, l->up.buffer, taken);
	memcpy(l->up.buffer, head, len);
	l->up.len = len + taken;
	l->guard = GUARD_BODY;
	if (http_body_is_over(&l->body))
		l->up.ended = l->up.told = true;
	return true;
}

bool front_welcome(struct link *l)
{
	static const char connected[] = "HTTP/1.1 200 Connection established\r\n\r\n";

	if (front_is_socks(l))
		front_say_socks(l, SOCKS_FINE);
	else if (l->front == FRONT_CONNECT)
		link_say(l, connected, sizeof(connected) - 1);
	if (l->front != FRONT_HTTP || front_send_request(l))
		return true;
	link_refuse(l, EGRESS_FRONTED);
	return false;
}

static bool front_is_meant(const struct link *l, const struct egress_host *h)
{
	return h->len == l->host.len && memcmp(h->name, l->host.name, h->len) == 0;
}

/* The one request of the connection has a length; what follows it goes nowhere. */
static bool front_take_body(struct link *l, size_t before)
{
	struct half *h = &l->up;
	const size_t more = h->len - before;
	const size_t taken = http_body_take(&l->body, h->buffer + h->at + before, more);

	if (l->body.bad)
		return false;
	h->len = before + taken;
	if (http_body_is_over(&l->body))
		h->ended = h->told = true; /* unsaid: a host might think that we have left */
	return true;
}

static bool front_take_line(struct link *l, size_t before)
{
	const struct half *h = &l->up;

	return http_watch(&l->watch, h->buffer + h->at + before, h->len - before);
}

static bool front_is_hello_meant(const struct link *l, const struct tls_hello *h)
{
	return !h->names || (h->is_host && front_is_meant(l, &h->host));
}

/* A record that came in part is held until the rest of it is there. */
static bool front_take_records(struct link *l, size_t before)
{
	const struct half *h = &l->up;
	size_t at = before - l->held, taken;
	struct tls_hello hello;
	enum speech speech;

	do {
		speech = tls_follow(&l->records, h->buffer + h->at + at, h->len - at, &taken,
				    &hello);
		at += taken;
		if (speech == SPEECH_BAD ||
		    (speech == SPEECH_DONE && !front_is_hello_meant(l, &hello)))
			return false;
	} while (speech == SPEECH_DONE);
	l->held = h->len - at;
	if (l->held && h->ended)
		return false;
	l->guard = speech == SPEECH_OTHER ? GUARD_PASSES : GUARD_TLS;
	return true;
}

bool front_guard_more(struct link *l, size_t before)
{
	static bool (*const take[])(struct link *, size_t) = {
		[GUARD_BODY] = front_take_body,
		[GUARD_LINE] = front_take_line,
		[GUARD_TLS] = front_take_records,
		[GUARD_PASSES] = NULL,
	};

	if (!take[l->guard] || take[l->guard](l, before))
		return true;
	link_refuse(l, EGRESS_FRONTED);
	return false;
}

bool front_guard(struct link *l)
{
	struct tls_hello hello = {0};
	enum speech tls = tls_read(l->up.buffer, l->up.len, &hello);
	enum speech http =
		tls != SPEECH_OTHER ? SPEECH_BAD : http_read(l->up.buffer, l->up.len, &l->request);

	if (!l->up.len || ((tls == SPEECH_MORE || http == SPEECH_MORE) && !l->up.ended))
		return true;
	if (tls == SPEECH_DONE && front_is_hello_meant(l, &hello)) {
		l->guard = GUARD_TLS;
		return front_guard_more(l, hello.len);
	}
	/* To some, the end of all is the end of a head. */
	if (http == SPEECH_OTHER || http == SPEECH_MORE) {
		l->guard = GUARD_LINE;
		return front_guard_more(l, 0);
	}
	if (http == SPEECH_DONE && l->request.form != HTTP_CONNECT &&
	    front_is_meant(l, &l->request.host)) {
		l->request.port = l->port;
		if (front_send_request(l))
			return true;
	}
	link_refuse(l, EGRESS_FRONTED);
	return false;
}
