#include <string.h>

#include "net/speech.h"

enum { CIPHER_CHANGE = 20, ALERT = 21, HANDSHAKE = 22, DATA = 23, HEARTBEAT = 24 };
enum { CLIENT_HELLO = 1, CERTIFICATE = 11, KEY_EXCHANGE = 16, SUPPLEMENT = 23 };
enum { RECORD = 5, RECORD_MAX = 16384 + 2048, SECRET_MIN = 28, SERVER_NAME = 0 };

/* Bytes that are left of a part whose length was told. */
struct part {
	const unsigned char *p;
	size_t left;
	bool short_; /* something was not there */
};

static size_t part_number(struct part *x, size_t bytes)
{
	size_t value = 0;

	if (x->short_ || x->left < bytes) {
		x->short_ = true;
		return 0;
	}
	for (; bytes; bytes--, x->left--)
		value = value << 8 | *x->p++;
	return value;
}

/* A part of it, with its length before it. */
static struct part part_inner(struct part *x, size_t bytes)
{
	const size_t len = part_number(x, bytes);
	struct part inner = {x->p, len, false};

	if (x->short_ || x->left < len) {
		x->short_ = true;
		return (struct part){.short_ = true};
	}
	x->p += len;
	x->left -= len;
	return inner;
}

static bool hello_take_name(struct part list, struct tls_hello *h)
{
	struct part names = part_inner(&list, 2), name;

	if (part_number(&names, 1) != 0)
		return false;
	name = part_inner(&names, 2);
	/* A second one would be somebody else's first. */
	if (h->names || names.short_ || names.left || list.left || name.short_)
		return false;
	h->names = true;
	h->is_host = egress_host_read((const char *)name.p, name.left, &h->host);
	return true;
}

static bool hello_read(struct part x, struct tls_hello *h)
{
	struct part all, one;
	size_t kind;

	part_number(&x, 2); /* version */
	if (x.left < 32)
		return false;
	x.p += 32; /* random */
	x.left -= 32;
	part_inner(&x, 1); /* session */
	part_inner(&x, 2); /* ciphers */
	part_inner(&x, 1); /* compression */
	if (x.short_)
		return false;
	if (!x.left)
		return true;
	all = part_inner(&x, 2);
	while (all.left && !all.short_) {
		kind = part_number(&all, 2);
		one = part_inner(&all, 2);
		if (!all.short_ && kind == SERVER_NAME && !hello_take_name(one, h))
			return false;
	}
	return !all.short_ && !x.left;
}

static bool tls_is_record(unsigned char kind)
{
	return kind >= CIPHER_CHANGE && kind <= HEARTBEAT;
}

/* A message that is the whole of its record. */
static bool message_read(struct part x, struct tls_hello *ret)
{
	struct tls_hello h = {0};
	struct part body;

	if (part_number(&x, 1) != CLIENT_HELLO)
		return false;
	body = part_inner(&x, 3);
	if (x.short_ || x.left || !hello_read(body, &h))
		return false;
	*ret = h;
	return true;
}

enum speech tls_read(const char *text, size_t len, struct tls_hello *ret)
{
	struct part record = {(const unsigned char *)text, len, false}, x;

	if (len && !(tls_is_record(record.p[0]) && record.p[0] != HEARTBEAT))
		return SPEECH_OTHER;
	/* Servers read on where the version is none, or a warning comes first. */
	if (len && (record.p[0] != HANDSHAKE || (len > 1 && record.p[1] != 3)))
		return SPEECH_BAD;
	if (len < RECORD + 4)
		return SPEECH_MORE;
	part_number(&record, 3);
	x = part_inner(&record, 2);
	if (record.short_)
		return len >= SPEECH_HEAD_MAX ? SPEECH_BAD : SPEECH_MORE;
	if (!message_read(x, ret))
		return SPEECH_BAD;
	ret->len = len - record.left;
	return SPEECH_DONE;
}

/* ---- what follows ---- */

/* A message that begins so, and is no hello, is a piece of one. Behind a change of ciphers it may
 * be a secret message instead (a session that is resumed), which has no less than its seal. */
static enum speech records_take_message(struct tls_records *r, struct part x, struct tls_hello *ret)
{
	const bool begins = x.left && x.p[0] == CLIENT_HELLO && (x.left < 2 || x.p[1] < 4);

	if (message_read(x, ret))
		return SPEECH_DONE;
	if (!x.left || begins || (r->changed && x.left < SECRET_MIN))
		return SPEECH_BAD;
	if (!r->changed && x.p[0] != CERTIFICATE && x.p[0] != KEY_EXCHANGE && x.p[0] != SUPPLEMENT)
		return SPEECH_BAD;
	r->over = true; /* whoever takes that takes no hello any more */
	return SPEECH_OTHER;
}

static enum speech records_take_one(struct tls_records *r, struct part *x, struct tls_hello *ret)
{
	struct part all = *x, body;
	const size_t kind = part_number(&all, 1), version = part_number(&all, 2);

	if (!tls_is_record((unsigned char)kind) || version >> 8 != 3)
		return SPEECH_BAD;
	if (kind != HANDSHAKE && kind != CIPHER_CHANGE) {
		r->left = part_number(&all, 2);
		*x = all;
		return r->left > RECORD_MAX ? SPEECH_BAD : SPEECH_OTHER;
	}
	body = all;
	if (part_number(&body, 2) > RECORD_MAX)
		return SPEECH_BAD;
	body = part_inner(&all, 2);
	if (all.short_)
		return SPEECH_MORE;
	*x = all;
	if (kind == HANDSHAKE)
		return records_take_message(r, body, ret);
	r->changed = true;
	return body.left == 1 && body.p[0] == 1 ? SPEECH_OTHER : SPEECH_BAD;
}

enum speech tls_follow(struct tls_records *r, const char *text, size_t len, size_t *ret_taken,
		       struct tls_hello *ret)
{
	struct part x = {(const unsigned char *)text, len, false};
	enum speech speech = SPEECH_MORE;
	size_t n;

	while (speech != SPEECH_BAD && speech != SPEECH_DONE && x.left && !r->over) {
		n = r->left < x.left ? r->left : x.left;
		r->left -= n;
		x.p += n;
		x.left -= n;
		if (x.left < RECORD)
			break;
		speech = records_take_one(r, &x, ret);
		if (speech == SPEECH_MORE)
			break;
	}
	*ret_taken = r->over ? len : len - x.left;
	return r->over ? SPEECH_OTHER : speech == SPEECH_OTHER ? SPEECH_MORE : speech;
}
