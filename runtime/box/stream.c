#include "box/stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "json/json.h"

/* ---- outlets ---- */

static int outlet_write(void *context, short events)
{
	struct outlet *o = context;
	size_t n = o->pending.len - o->at;
	ssize_t got;

	(void)events;
	got = write(o->fd, o->pending.data + o->at, n < OUTLET_CHUNK ? n : OUTLET_CHUNK);
	if (got > 0) {
		o->at += (size_t)got;
		o->written += (uint64_t)got;
	} else if (got < 0 && errno != EAGAIN && errno != EINTR) {
		o->broken = true;
		o->error = errno;
	}
	if (o->at == o->pending.len || o->broken) {
		o->at = o->pending.len = 0;
		o->source->fd = -1;
	}
	return 0;
}

void outlet_add(struct outlet *o, int fd, size_t max, struct loop *l)
{
	*o = (struct outlet){.fd = fd};
	o->pending = buf_new(&o->memory, max);
	o->source = loop_add(l, -1, POLLOUT, outlet_write, o);
}

void outlet_put(struct outlet *o, const void *p, size_t n)
{
	if (!n || o->broken)
		return;
	buf_add(&o->pending, p, n);
	o->source->fd = o->fd;
}

void outlet_cut(struct outlet *o)
{
	o->broken = true;
	o->at = o->pending.len = 0;
	o->source->fd = -1;
}

bool outlet_is_empty(const struct outlet *o)
{
	return o->at == o->pending.len;
}

void outlet_free(struct outlet *o)
{
	arena_free(&o->memory);
}

/* ---- text or bytes ---- */

/* Text may end in the middle of a character: it was cut there. */
bool stream_is_text(const char *data, size_t n)
{
	const unsigned char *p = (const unsigned char *)data;
	size_t len;

	for (; n; p += len, n -= len) {
		len = str_utf8_len(p, n);
		if (!len || !*p)
			return false;
	}
	return true;
}

static void stream_write_base64(struct buf *b, const char *data, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = (const unsigned char *)data;
	size_t i;

	buf_char(b, '"');
	for (i = 0; i < n; i += 3) {
		const unsigned int v = (unsigned int)p[i] << 16 |
				       (i + 1 < n ? (unsigned int)p[i + 1] << 8 : 0U) |
				       (i + 2 < n ? p[i + 2] : 0U);
		const char four[] = {digits[v >> 18], digits[v >> 12 & 63],
				     i + 1 < n ? digits[v >> 6 & 63] : '=',
				     i + 2 < n ? digits[v & 63] : '='};

		buf_add(b, four, sizeof(four));
	}
	buf_char(b, '"');
}

void stream_write_data(struct buf *b, const char *data, size_t n, bool base64)
{
	if (base64)
		stream_write_base64(b, data, n);
	else
		json_write_string(b, n ? data : "");
}

/* ---- streams ---- */

/* How many bytes at the end are the begin of a character whose rest is still to come. */
static size_t stream_cut_off(const char *data, size_t n)
{
	const unsigned char *p = (const unsigned char *)data;
	size_t tail = 1, whole;

	while (tail < 4 && tail < n && (p[n - tail] & 0xc0) == 0x80)
		tail++;
	if (tail > n || p[n - tail] < 0xc2 || p[n - tail] > 0xf4)
		return 0;
	whole = p[n - tail] < 0xe0 ? 2 : p[n - tail] < 0xf0 ? 3 : 4;
	return tail < whole ? tail : 0;
}

/* A character that came in two pieces is told with the second one; at the end, as it is. */
static void stream_tell(struct stream *s, const char *data, size_t n)
{
	struct arena memory = {0};
	struct buf b = buf_new(&memory, OUTLET_MAX);
	char *copy = arena_alloc(&memory, 1, s->tail_len + n + 1);
	bool text;

	memcpy(copy, s->tail, s->tail_len);
	if (n)
		memcpy(copy + s->tail_len, data, n);
	n += s->tail_len;
	s->tail_len = s->finished ? 0 : stream_cut_off(copy, n);
	n -= s->tail_len;
	memcpy(s->tail, copy + n, s->tail_len);
	copy[n] = '\0';
	text = stream_is_text(copy, n);
	if (!n) {
		arena_free(&memory);
		return;
	}

	buf_printf(&b, "{\"event\":\"%s\",\"data\":", s->name);
	stream_write_data(&b, copy, n, !text);
	buf_printf(&b, ",\"encoding\":\"%s\"}\n", text ? "utf-8" : "base64");
	outlet_put(s->outlet, b.data, b.len);
	arena_free(&memory);
}

static void stream_put(struct stream *s, const char *data, size_t n)
{
	if (!n)
		return;
	if (!s->outlet)
		buf_add(&s->kept, data, n);
	else if (s->events)
		stream_tell(s, data, n);
	else
		outlet_put(s->outlet, data, n);
}

/* Passes on up to the limit. */
static void stream_take(void *context, const char *data, size_t n)
{
	struct stream *s = context;
	const uint64_t room = s->cap - s->passed;
	size_t some = n < room ? n : (size_t)room;

	s->truncated = s->truncated || some < n;
	s->passed += some;
	stream_put(s, data, some);
}

/* Secrets go before the limit cuts one in two. */
static void stream_pass(struct stream *s, const char *data, size_t n)
{
	const struct redact_sink sink = {.put = stream_take, .to = s};

	/* Nobody sees more of it, so nobody looks for secrets there. */
	if (s->passed >= s->cap) {
		s->truncated = true;
		return;
	}
	if (s->redact)
		redact_feed(s->redact, s->which, data, n, &sink);
	else
		stream_take(s, data, n);
}

/* The limit may have cut a character in two, which would make the text bytes. */
static void stream_trim(struct stream *s)
{
	const unsigned char *p = (const unsigned char *)s->kept.data;
	size_t n = s->kept.len, tail = 1;

	while (tail < 4 && tail < n && (p[n - tail] & 0xc0) == 0x80)
		tail++;
	if (tail > n || p[n - tail] < 0xc2 || str_utf8_len(p + n - tail, tail))
		return;
	s->kept.len -= tail;
	s->passed -= tail;
}

void stream_finish(struct stream *s)
{
	const struct redact_sink sink = {.put = stream_take, .to = s};
	char mark[128];
	int n;

	if (s->finished)
		return;
	s->finished = true;
	if (s->redact)
		redact_finish(s->redact, s->which, &sink);
	if (s->events && s->outlet && s->tail_len)
		stream_tell(s, "", 0);
	if (!s->truncated)
		return;
	stream_trim(s);
	n = snprintf(mark, sizeof(mark), "\n[OUTPUT TRUNCATED: %llu bytes, showing first %llu]\n",
		     (unsigned long long)s->bytes, (unsigned long long)s->passed);
	stream_put(s, mark, (size_t)n);
}

static int stream_read(void *context, short events)
{
	static char data[STREAM_CHUNK];
	struct stream *s = context;
	ssize_t n = read(s->from, data, sizeof(data));

	(void)events;
	if (n > 0) {
		s->bytes += (uint64_t)n;
		stream_pass(s, data, (size_t)n);
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		fd_close(&s->from);
		stream_finish(s);
	}
	stream_settle(s);
	return 0;
}

void stream_settle(struct stream *s)
{
	bool room = !s->outlet || outlet_is_empty(s->outlet);

	/* Nobody reads it any more, which the program hears as it would without a box. */
	if (s->outlet && s->outlet->broken)
		fd_close(&s->from);
	s->source->fd = room ? s->from : -1;
}

void stream_add(struct stream *s, struct loop *l)
{
	s->kept = buf_new(s->arena, s->cap + 256);
	s->source = loop_add(l, s->from, POLLIN, stream_read, s);
}
