/*
 * A connection of the box's: heard, decided about, looked up, dialled, carried. Each step has its
 * time, and none waits for another connection's.
 */
#pragma once

#include "net/lookup.h"
#include "net/speech.h"
#include "net/width.h"

enum {
	LINK_BUFFER = 64 << 10,
	LINK_BUFFER_MORE =
		256 << 10, /* for who fills it, and twice that in the kernel for its way on */
	LINK_GROWTH = LINK_BUFFER_MORE - LINK_BUFFER + 4 * LINK_BUFFER_MORE - 2 * WIDTH_LEAST,
	LINK_HEAD = SPEECH_HEAD_MAX + 1024, /* of a request as we write it */
	LINK_SPARE = LINK_HEAD,		    /* behind it: for words of ours within another's */
	LINK_HEAR_MS = 10000,
	LINK_DIAL_MS = 10000,
	LINK_IDLE_MS = 15 * 60 * 1000,
	LINK_FAREWELL_MS = 2000,
};

enum link_state {
	LINK_HEARS,	/* what the proxy is asked for */
	LINK_ANSWERS,	/* questions for names, over TCP */
	LINK_LOOKS_UP,
	LINK_DIALS,
	LINK_CARRIES,
	LINK_TAKES_LEAVE, /* what is left to say is said */
};

enum link_front { FRONT_NONE, FRONT_CONNECT, FRONT_HTTP, FRONT_SOCKS4, FRONT_SOCKS5 };

/* Bytes on their way in one direction. */
struct half {
	char *buffer;
	size_t size, at, len;
	bool filled; /* once, to its end */
	bool ended; /* nothing more comes */
	bool told;  /* and the other side knows */
};

/* The box's freedom on a connection to a host that was named. */
enum link_guard {
	GUARD_LISTENS, /* what it is, is not known yet; nothing is passed on */
	GUARD_BODY,    /* the one request of this connection, to its end */
	GUARD_LINE,    /* no request in its first line */
	GUARD_TLS,     /* no hello to another */
	GUARD_PASSES,
};

struct link {
	struct net *net;
	size_t index;
	struct crowd_member box, far;
	enum link_state state;
	enum link_front front;
	bool greeted; /* SOCKS 5 */
	struct egress_host host;
	uint16_t port;
	struct http_request request;
	struct http_body body;
	struct http_watch watch;
	struct http_answer answer;
	struct tls_records records;
	size_t held; /* at the end of what goes up: not judged yet */
	enum link_guard guard;
	struct lookup lookup;
	size_t n, at;
	struct egress_address v[2 * DNS_ADDRESSES_MAX];
	int error; /* why the last one could not be reached */
	struct half up, down;
	struct width width; /* of the far side */
	int64_t until;
};

/* Why a connection is not to be had, besides a verdict. */
enum link_failure {
	LINK_NO_NAME = NET_NO_NAME,
	LINK_NO_ANSWER = NET_NO_ANSWER,
	LINK_UNREACHABLE = NET_UNREACHABLE,
	LINK_BAD_SPEECH,
};

/* ---- link.c ---- */

/* Decides, and goes on with it or refuses. */
void link_reach(struct link *l);
void link_refuse(struct link *l, enum egress_verdict why);
void link_fail(struct link *l, enum link_failure why);

/* Puts bytes before all else that goes to the box. */
void link_say(struct link *l, const void *p, size_t len);

/* Sends what has been said, and ends. */
void link_take_leave(struct link *l);

/* Without a word. Its memory is gone then. */
void link_reset(struct link *l);

/* ---- front.c ---- */

/* The box's words so far are in l->up. */
void front_hear(struct link *l);

/* The host is there: the front says so, or the request goes there. false: the link is gone. */
bool front_welcome(struct link *l);
void front_refuse(struct link *l, enum egress_verdict why);
void front_fail(struct link *l, enum link_failure why);

/* Looks at what the box says to a host that was named: at all of it, or at what came behind the
 * first bytes. false: it is meant for another, and the link is gone. */
bool front_guard(struct link *l);
bool front_guard_more(struct link *l, size_t before);
