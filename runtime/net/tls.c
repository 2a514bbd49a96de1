#include <string.h>

#include "net/speech.h"

enum { HANDSHAKE = 22, CLIENT_HELLO = 1, RECORD = 5, SERVER_NAME = 0 };

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

enum speech tls_read(const char *text, size_t len, struct tls_hello *ret)
{
	struct part record = {(const unsigned char *)text, len, false}, x;
	struct tls_hello h = {0};

	if (len && record.p[0] != HANDSHAKE)
		return SPEECH_OTHER;
	if (len > 1 && record.p[1] != 3)
		return SPEECH_OTHER;
	if (len < RECORD + 4)
		return SPEECH_MORE;
	part_number(&record, 3);
	x = part_inner(&record, 2);
	if (record.short_)
		return len >= SPEECH_HEAD_MAX ? SPEECH_BAD : SPEECH_MORE;
	if (part_number(&x, 1) != CLIENT_HELLO)
		return SPEECH_BAD;
	x = part_inner(&x, 3);
	if (x.short_ || !hello_read(x, &h))
		return SPEECH_BAD;
	*ret = h;
	return SPEECH_DONE;
}
