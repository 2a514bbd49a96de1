#include <string.h>

#include "net/speech.h"

enum { CONNECT = 1, KIND_V4 = 1, KIND_NAME = 3, KIND_V6 = 4, USER_MAX = 255 };

static uint16_t socks_port(const unsigned char *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void socks_take_bytes(const unsigned char *p, bool v6, struct socks_request *q)
{
	struct egress_address a = {.v6 = v6};
	char text[EGRESS_ADDRESS_SIZE];

	memcpy(a.b, p, v6 ? 16 : 4);
	egress_address_write(&a, text);
	q->has_host = egress_host_read(text, strlen(text), &q->host);
}

/* Version 5: the ways it knows, then a request. */
static enum speech socks_greeting(const unsigned char *p, size_t len, struct socks_request *q)
{
	if (len < 2 || len < 2U + p[1])
		return SPEECH_MORE;
	q->greets = true;
	q->knows_none = memchr(p + 2, 0, p[1]) != NULL;
	q->len = 2U + p[1];
	return SPEECH_DONE;
}

static enum speech socks_request5(const unsigned char *p, size_t len, struct socks_request *q)
{
	size_t size;

	if (len < 5)
		return SPEECH_MORE;
	if (p[2] != 0 || (p[3] != KIND_V4 && p[3] != KIND_NAME && p[3] != KIND_V6))
		return SPEECH_BAD;
	size = p[3] == KIND_V4 ? 4 : p[3] == KIND_V6 ? 16 : 1U + p[4];
	if (len < 4 + size + 2)
		return SPEECH_MORE;
	if (p[3] == KIND_NAME)
		q->has_host = egress_host_read((const char *)p + 5, p[4], &q->host);
	else
		socks_take_bytes(p + 4, p[3] == KIND_V6, q);
	q->connects = p[1] == CONNECT;
	q->port = socks_port(p + 4 + size);
	q->len = 4 + size + 2;
	return SPEECH_DONE;
}

/* Version 4: an address and who one is, which ends with a zero; version 4a: then a name, too. */
static enum speech socks_request4(const unsigned char *p, size_t len, struct socks_request *q)
{
	const unsigned char *user, *name;

	if (len < 9)
		return SPEECH_MORE;
	user = memchr(p + 8, 0, len - 8);
	if (!user)
		return len > 8 + USER_MAX ? SPEECH_BAD : SPEECH_MORE;
	q->connects = p[1] == CONNECT;
	q->port = socks_port(p + 2);
	q->len = (size_t)(user - p) + 1;
	if (p[4] || p[5] || p[6] || !p[7]) {
		socks_take_bytes(p + 4, false, q);
		return SPEECH_DONE;
	}
	name = memchr(user + 1, 0, len - q->len);
	if (!name)
		return len - q->len > EGRESS_NAME_MAX + 1 ? SPEECH_BAD : SPEECH_MORE;
	q->has_host = egress_host_read((const char *)user + 1, (size_t)(name - user) - 1, &q->host);
	q->len = (size_t)(name - p) + 1;
	return SPEECH_DONE;
}

enum speech socks_read(const char *text, size_t len, bool greeted, struct socks_request *ret)
{
	const unsigned char *p = (const unsigned char *)text;
	struct socks_request q = {.version = len ? p[0] : 0};
	enum speech result;

	if (!len)
		return SPEECH_MORE;
	if (q.version != 4 && q.version != 5)
		return SPEECH_BAD;
	result = q.version == 4 ? socks_request4(p, len, &q) :
		 greeted	? socks_request5(p, len, &q) :
				  socks_greeting(p, len, &q);
	if (result == SPEECH_DONE)
		*ret = q;
	return result;
}
