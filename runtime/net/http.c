#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "net/speech.h"

enum { METHOD_MAX = 32, VERSION = 8 /* HTTP/1.1 */, PORT_HTTP = 80 };

/* ---- a head ---- */

static bool http_is_token(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool http_is_text(char c)
{
	return c == '\t' || (unsigned char)c >= 0x20;
}

/* A line without its end; where the next one begins, or 0: it is not all there. *ret_bad: it has
 * bytes that no line has. */
static size_t http_line(const char *p, size_t len, size_t at, size_t *ret_len, bool *ret_bad)
{
	size_t i;

	for (i = at; i < len && http_is_text(p[i]) && p[i] != 0x7f; i++)
		;
	*ret_len = i - at;
	if (i == len || (p[i] == '\r' && i + 1 == len))
		return 0;
	*ret_bad = p[i] != '\r' || p[i + 1] != '\n';
	return i + 2;
}

/* ---- its first line ---- */

static bool http_read_absolute(const char *target, size_t len, struct http_request *q)
{
	static const char scheme[] = "http://";
	const size_t skip = sizeof(scheme) - 1;
	size_t end = skip;

	if (len <= skip || strncasecmp(target, scheme, skip) != 0)
		return false;
	while (end < len && target[end] != '/' && target[end] != '?' && target[end] != '#')
		end++;
	q->form = HTTP_ABSOLUTE;
	q->port = PORT_HTTP;
	q->path += end;
	q->path_len = len - end;
	return egress_host_port_read(target + skip, end - skip, &q->host, &q->port);
}

/* Method, target, version, with one space between each. */
static bool http_read_first(const char *p, size_t len, struct http_request *q)
{
	const char *space = memchr(p, ' ', len), *target, *second;
	size_t i;

	if (!space || len < (size_t)(space - p) + 2 + VERSION)
		return false;
	second = p + len - VERSION - 1;
	q->old = memcmp(second, " HTTP/1.0", VERSION + 1) == 0;
	if (second <= space + 1 || (!q->old && memcmp(second, " HTTP/1.1", VERSION + 1) != 0))
		return false;
	q->method = (size_t)(space - p);
	for (i = 0; i < q->method; i++)
		if (!http_is_token(p[i]))
			return false;
	target = space + 1;
	q->path = (size_t)(target - p);
	q->path_len = (size_t)(second - target);
	for (i = 0; i < q->path_len; i++)
		if ((unsigned char)target[i] <= 0x20 || (unsigned char)target[i] >= 0x7f)
			return false;
	if (q->method == 7 && memcmp(p, "CONNECT", 7) == 0) {
		q->form = HTTP_CONNECT;
		return egress_host_port_read(target, q->path_len, &q->host, &q->port) && q->port;
	}
	q->form = HTTP_ORIGIN;
	return target[0] == '/' || (q->path_len == 1 && target[0] == '*') ||
	       http_read_absolute(target, q->path_len, q);
}

/* Methods are letters. Who begins with others is not kept waiting for the end of a line. */
static bool http_is_method(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

/* Whether a server could take it for a request, however it is written: a word, a space, and HTTP/
 * in the same line. SPEECH_DONE: it could. */
static enum speech http_look(const char *p, size_t len)
{
	size_t at = 0, word;
	const char *end;

	while (at < len && strchr("\r\n\t ", p[at]) && p[at])
		at++;
	word = at;
	while (at < len && at - word <= METHOD_MAX && http_is_method(p[at]))
		at++;
	if (at == len)
		return len >= SPEECH_HEAD_MAX ? SPEECH_BAD : SPEECH_MORE;
	if (at == word || (p[at] != ' ' && p[at] != '\t'))
		return SPEECH_OTHER;
	end = memchr(p + at, '\n', len - at);
	if (memchr(p + at, '\0', end ? (size_t)(end - p) - at : len - at))
		return SPEECH_OTHER; /* no server takes that, and who sends it has no lines */
	if (!end)
		return len >= SPEECH_HEAD_MAX ? SPEECH_BAD : SPEECH_MORE;
	for (; p + at + 5 <= end; at++)
		if (strncasecmp(p + at, "HTTP/", 5) == 0)
			return SPEECH_DONE;
	return SPEECH_OTHER;
}

enum { WATCH_BLANK, WATCH_WORD, WATCH_LINE, WATCH_OVER };

/* Blank lines before the first one are skipped by servers. A zero in the first word is said by
 * those who count their bytes, not by those who have lines. */
static unsigned int watch_step(unsigned int step, unsigned char c)
{
	if (step == WATCH_LINE)
		return c == '\n' ? WATCH_OVER : WATCH_LINE;
	if (!c)
		return WATCH_OVER;
	if (step == WATCH_BLANK)
		return c <= ' ' ? WATCH_BLANK : WATCH_WORD;
	/* A space to anybody is a space. */
	return c == '\n' ? WATCH_OVER : c <= ' ' || c >= 0x7f ? WATCH_LINE : WATCH_WORD;
}

bool http_watch(struct http_watch *w, const char *p, size_t len)
{
	static const char says[] = "HTTP/";
	size_t i;

	for (i = 0; i < len && w->step != WATCH_OVER; i++) {
		const char c = (char)(p[i] >= 'a' && p[i] <= 'z' ? p[i] - 'a' + 'A' : p[i]);

		w->step = watch_step(w->step, (unsigned char)c);
		w->matched = c == says[w->matched] ? w->matched + 1 : c == says[0];
		if (w->matched == sizeof(says) - 1)
			return false;
	}
	return true;
}

/* ---- its fields ---- */

struct http_seen {
	bool host, length, encoding;
};

static bool http_field_is(const char *p, size_t len, const char *name)
{
	return len == strlen(name) && strncasecmp(p, name, len) == 0;
}

/* The target and Host are one, or somebody is being deceived. */
static bool http_take_host(const char *value, size_t len, struct http_request *q,
			   struct http_seen *seen)
{
	struct egress_host host;
	uint16_t port = PORT_HTTP;

	if (seen->host || !egress_host_port_read(value, len, &host, &port))
		return false;
	seen->host = true;
	if (q->form == HTTP_CONNECT)
		return true; /* nobody reads it */
	if (q->form == HTTP_ORIGIN) {
		q->host = host;
		q->port = port;
		return true;
	}
	return port == q->port && host.len == q->host.len &&
	       memcmp(host.name, q->host.name, host.len) == 0;
}

static bool http_take_length(const char *value, size_t len, struct http_request *q,
			     struct http_seen *seen)
{
	char copy[20];

	if (seen->length || !len || len >= sizeof(copy))
		return false;
	memcpy(copy, value, len);
	copy[len] = '\0';
	seen->length = true;
	return str_to_u64(copy, INT64_MAX, &q->length);
}

static bool http_take_field(const char *line, size_t len, struct http_request *q,
			    struct http_seen *seen)
{
	const char *colon = memchr(line, ':', len), *value;
	size_t name, i;

	if (!colon || colon == line)
		return false;
	name = (size_t)(colon - line);
	for (i = 0; i < name; i++)
		if (!http_is_token(line[i])) /* a space before the colon, a folded line */
			return false;
	value = colon + 1;
	len -= name + 1;
	while (len && (*value == ' ' || *value == '\t'))
		value++, len--;
	while (len && (value[len - 1] == ' ' || value[len - 1] == '\t'))
		len--;
	if (http_field_is(line, name, "Host"))
		return http_take_host(value, len, q, seen);
	if (http_field_is(line, name, "Content-Length"))
		return http_take_length(value, len, q, seen);
	if (http_field_is(line, name, "Transfer-Encoding")) {
		q->chunked = !seen->encoding && http_field_is(value, len, "chunked");
		seen->encoding = true;
		return q->chunked;
	}
	return true;
}

/* Two lengths are two readings, and HTTP/1.0 knows no chunks. */
static bool http_is_whole(const struct http_request *q, const struct http_seen *seen)
{
	return !(seen->length && seen->encoding) && !(q->old && q->chunked) &&
	       (seen->host || q->form != HTTP_ORIGIN);
}

enum speech http_read(const char *p, size_t len, struct http_request *ret)
{
	const enum speech looks = http_look(p, len);
	struct http_request q = {0};
	struct http_seen seen = {0};
	size_t at, line, next;
	bool bad = false;

	if (looks != SPEECH_DONE)
		return looks;
	at = http_line(p, len, 0, &line, &bad);
	if (!at || bad || !http_read_first(p, line, &q))
		return SPEECH_BAD;
	for (; (next = http_line(p, len, at, &line, &bad)); at = next) {
		if (bad || next > SPEECH_HEAD_MAX)
			return SPEECH_BAD;
		if (!line) {
			q.len = next;
			*ret = q;
			return http_is_whole(&q, &seen) ? SPEECH_DONE : SPEECH_BAD;
		}
		if (!http_take_field(p + at, line, &q, &seen))
			return SPEECH_BAD;
	}
	return len >= SPEECH_HEAD_MAX ? SPEECH_BAD : SPEECH_MORE;
}

/* ---- a head for the host ---- */

static const char *const dropped[] = {
	"Host", "Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authorization",
	"Proxy-Authenticate", "TE", "Upgrade", "HTTP2-Settings",
};

struct http_out {
	char *to;
	size_t size, len;
	bool full;
};

static void http_put(struct http_out *o, const char *p, size_t len)
{
	if (o->full || len > o->size - o->len) {
		o->full = true;
		return;
	}
	memcpy(o->to + o->len, p, len);
	o->len += len;
}

static void http_put_str(struct http_out *o, const char *s)
{
	http_put(o, s, strlen(s));
}

static void http_put_host(struct http_out *o, const struct http_request *q)
{
	char port[8];
	size_t at = sizeof(port);
	unsigned int value = q->port;

	http_put_str(o, "\r\nHost: ");
	http_put_str(o, q->host.is_address && q->host.address.v6 ? "[" : "");
	http_put(o, q->host.name, q->host.len);
	http_put_str(o, q->host.is_address && q->host.address.v6 ? "]" : "");
	if (q->port == PORT_HTTP)
		return;
	for (; value; value /= 10)
		port[--at] = (char)('0' + value % 10);
	port[--at] = ':';
	http_put(o, port + at, sizeof(port) - at);
}

static bool http_is_dropped(const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);
	size_t i;

	for (i = 0; colon && i < ARRAY_SIZE(dropped); i++)
		if (http_field_is(line, (size_t)(colon - line), dropped[i]))
			return true;
	return false;
}

size_t http_write(const struct http_request *q, const char *p, char *to, size_t size)
{
	struct http_out o = {to, size, 0, false};
	size_t line, at, next;
	bool bad;

	http_put(&o, p, q->method + 1);
	if (!q->path_len || p[q->path] == '?' || p[q->path] == '#')
		http_put_str(&o, "/");
	http_put(&o, p + q->path, q->path_len);
	at = http_line(p, q->len, 0, &line, &bad);
	http_put(&o, p + line - VERSION - 1, VERSION + 1);
	http_put_host(&o, q);
	http_put_str(&o, "\r\nConnection: close\r\n");
	for (; (next = http_line(p, q->len, at, &line, &bad)) && line; at = next)
		if (!http_is_dropped(p + at, line))
			http_put(&o, p + at, line + 2);
	http_put_str(&o, "\r\n");
	return o.full ? 0 : o.len;
}

/* ---- a body ---- */

enum { SIZE, SIZE_REST, SIZE_LF, DATA, DATA_CR, DATA_LF, TRAILER, TRAILER_LF, OVER };

void http_body_begin(struct http_body *b, const struct http_request *q)
{
	*b = (struct http_body){.chunked = q->chunked,
				.left = q->chunked ? 0 : q->length,
				.step = q->chunked ? SIZE : q->length ? DATA : OVER};
}

bool http_body_is_over(const struct http_body *b)
{
	return b->step == OVER;
}

static bool body_take_digit(struct http_body *b, char c)
{
	const int digit = c >= '0' && c <= '9' ? c - '0' :
			  c >= 'a' && c <= 'f' ? c - 'a' + 10 :
			  c >= 'A' && c <= 'F' ? c - 'A' + 10 :
						 -1;

	if (digit < 0 || ++b->digits > 15)
		return false;
	b->left = b->left << 4 | (unsigned int)digit;
	return true;
}

/* One byte of what is between the chunks. Trailers are not carried: a body ends with its last
 * chunk and an empty line. */
static void body_take_byte(struct http_body *b, char c)
{
	bool fine = true;

	switch (b->step) {
	case SIZE:
		if (c == '\r' && b->digits)
			b->step = SIZE_LF;
		else if (c == ';' && b->digits)
			b->step = SIZE_REST;
		else
			fine = body_take_digit(b, c);
		break;
	case SIZE_REST:
		if (c == '\r')
			b->step = SIZE_LF;
		else
			fine = http_is_text(c);
		break;
	case SIZE_LF:
		fine = c == '\n';
		b->step = b->left ? DATA : TRAILER;
		b->digits = 0;
		break;
	case DATA_CR:
		fine = c == '\r';
		b->step = DATA_LF;
		break;
	case DATA_LF:
		fine = c == '\n';
		b->step = SIZE;
		break;
	case TRAILER:
		fine = c == '\r';
		b->step = TRAILER_LF;
		break;
	default:
		fine = c == '\n';
		b->step = OVER;
	}
	b->bad |= !fine;
}

size_t http_body_take(struct http_body *b, const char *p, size_t len)
{
	size_t at = 0, n;

	while (at < len && b->step != OVER && !b->bad) {
		if (b->step != DATA) {
			body_take_byte(b, p[at++]);
			continue;
		}
		n = b->left < len - at ? (size_t)b->left : len - at;
		b->left -= n;
		at += n;
		if (!b->left)
			b->step = b->chunked ? DATA_CR : OVER;
	}
	return at;
}
