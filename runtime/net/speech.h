/*
 * A box's first words on a connection: to the proxy (HTTP, SOCKS), or to the host that it believes
 * to speak to (HTTP, TLS). Pure. Trust: all of it is the program's.
 *
 * Whatever is not exactly as the standards have it is refused, not mended: what two readers read
 * differently is how one request hides another.
 */
#pragma once

#include "egress/egress.h"

enum { SPEECH_HEAD_MAX = 16 << 10 };

enum speech {
	SPEECH_MORE,  /* it is not all there yet */
	SPEECH_BAD,   /* it is none */
	SPEECH_DONE,  /* it is read */
	SPEECH_OTHER, /* it is something else, which nobody here reads */
};

/* ---- HTTP ---- */

enum http_form {
	HTTP_CONNECT,  /* HOST:PORT */
	HTTP_ABSOLUTE, /* http://HOST/…: to a proxy */
	HTTP_ORIGIN,   /* /…: to the host itself */
};

struct http_request {
	enum http_form form;
	struct egress_host host; /* of the target; in origin form of the header Host */
	uint16_t port;
	size_t len; /* of the head, with the empty line */
	size_t method; /* its length */
	size_t path, path_len; /* where it begins; it may be empty */
	bool old; /* HTTP/1.0 */
	bool chunked;
	uint64_t length; /* of the body, if it is not chunked */
};

/* The head of a request. SPEECH_OTHER: it begins like none; what servers make of it all the same
 * is http_watch()'s. */
enum speech http_read(const char *p, size_t len, struct http_request *ret);

/* Speech that is no HTTP, or a head without an end, piece by piece as it comes. */
struct http_watch {
	unsigned int step;
	unsigned int matched; /* of HTTP/ */
};

/* false: its first line says HTTP/, so there is a server that would read it as a request. Its last
 * byte did not go yet, and a line without an end is none to anybody. */
bool http_watch(struct http_watch *w, const char *p, size_t len);

/* Writes the head for the host itself: its name alone in Host, nothing that is between the box and
 * us, and that this is the only request of the connection. Its length; 0: no room. */
size_t http_write(const struct http_request *q, const char *p, char *to, size_t size);

/* A host's answer to a request. Some do not say that it is their last answer, though they were
 * asked for that: their client would send the next request where nobody is any more. */
struct http_answer {
	unsigned int step;
	unsigned int at; /* in the line */
	bool informs; /* another answer follows this one */
};

/* Whether the place for a further header is here: behind the first line of the last answer. */
bool http_answer_find(struct http_answer *a, const char *p, size_t len, size_t *ret_at);

/* How much of a body is to come. */
struct http_body {
	bool chunked;
	uint64_t left; /* of the body, or of the chunk */
	unsigned int step;
	unsigned int digits;
	bool bad;
};

void http_body_begin(struct http_body *b, const struct http_request *q);

/* How many of the bytes are the body's. It is over when b->left is 0 and http_body_is_over(). */
size_t http_body_take(struct http_body *b, const char *p, size_t len);
bool http_body_is_over(const struct http_body *b);

/* ---- SOCKS ---- */

struct socks_request {
	unsigned int version;
	bool greets; /* version 5: it says how it could prove itself, and has to be answered */
	bool knows_none; /* that it need not */
	bool connects; /* else it asks for what is not to be had */
	bool has_host; /* else what it names is none */
	struct egress_host host;
	uint16_t port;
	size_t len;
};

/* A greeting, if none was read yet, or a request. */
enum speech socks_read(const char *p, size_t len, bool greeted, struct socks_request *ret);

/* ---- TLS ---- */

struct tls_hello {
	bool names; /* a host */
	bool is_host;
	struct egress_host host;
	size_t len; /* of the first one's record */
};

/* The first message of a client. SPEECH_OTHER: it is no TLS. SPEECH_BAD: it is, and hides what it
 * asks for: a message in pieces, a name twice, something before it. */
enum speech tls_read(const char *p, size_t len, struct tls_hello *ret);

/* A server that wants another key share gets a second hello, also behind data that it skips. */
struct tls_records {
	size_t left;  /* of a record that nobody reads */
	bool changed; /* the ciphers, as far as that is told in the open */
	bool over;    /* no hello can follow */
};

/* Judges what the client sends behind its hello. *ret_taken bytes may go on. SPEECH_DONE: the last
 * of them are a hello, and it goes on behind it. SPEECH_MORE: the rest waits. SPEECH_OTHER: all
 * that will ever come may go on. */
enum speech tls_follow(struct tls_records *r, const char *p, size_t len, size_t *ret_taken,
		       struct tls_hello *ret);
