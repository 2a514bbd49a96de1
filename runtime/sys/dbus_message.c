#include "sys/dbus_message.h"

#include <string.h>

#include "base/str.h"

enum {
	FIXED = 12,	       /* order, type, flags, version, length of the body, serial */
	FIELDS_AT = FIXED + 4, /* behind the length of their array */
	VERSION = 1,
	SIGNATURE_MAX = 255,
};

static const char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 'l' : 'B';

/* Fields of a header by their number. */
static const struct field {
	char type[2];
	size_t at; /* of the member in struct dbus_message; 0, where the message's type is: none */
} fields[] = {
	[1] = {"o", offsetof(struct dbus_message, path)},
	[2] = {"s", offsetof(struct dbus_message, interface)},
	[3] = {"s", offsetof(struct dbus_message, member)},
	[4] = {"s", offsetof(struct dbus_message, error_name)},
	[5] = {"u", offsetof(struct dbus_message, reply_serial)},
	[6] = {"s", offsetof(struct dbus_message, destination)},
	[7] = {"s", offsetof(struct dbus_message, sender)},
	[8] = {"g", offsetof(struct dbus_message, signature)},
	[9] = {"u", 0}, /* how many descriptors come along: recv() drops them */
};

static size_t padding(size_t at, size_t align)
{
	return -at & (align - 1);
}

/* ---- writing ---- */

static void put_aligned(struct buf *b, size_t align, const void *p, size_t len)
{
	static const char zeroes[8];

	buf_add(b, zeroes, padding(b->len, align));
	buf_add(b, p, len);
}

void dbus_put_byte(struct buf *b, uint8_t v)
{
	buf_add(b, &v, 1);
}

void dbus_put_u32(struct buf *b, uint32_t v)
{
	put_aligned(b, sizeof(v), &v, sizeof(v));
}

void dbus_put_u64(struct buf *b, uint64_t v)
{
	put_aligned(b, sizeof(v), &v, sizeof(v));
}

void dbus_put_string(struct buf *b, const char *s)
{
	const size_t len = strlen(s);

	if (len > b->max) {
		b->overflow = true;
		return;
	}
	dbus_put_u32(b, (uint32_t)len);
	buf_add(b, s, len + 1);
}

void dbus_put_signature(struct buf *b, const char *s)
{
	const size_t len = strlen(s);

	if (len > SIGNATURE_MAX) {
		b->overflow = true;
		return;
	}
	dbus_put_byte(b, (uint8_t)len);
	buf_add(b, s, len + 1);
}

void dbus_put_struct(struct buf *b)
{
	put_aligned(b, 8, "", 0);
}

struct dbus_array dbus_array_begin(struct buf *b, size_t align)
{
	struct dbus_array array;

	dbus_put_u32(b, 0);
	array.length_at = b->len - sizeof(uint32_t);
	put_aligned(b, align, "", 0);
	array.begin = b->len;
	return array;
}

void dbus_array_end(struct buf *b, struct dbus_array array)
{
	const uint32_t len = (uint32_t)(b->len - array.begin);

	if (!b->overflow)
		memcpy(b->data + array.length_at, &len, sizeof(len));
}

/* Begins a field; its value follows. */
static void put_field_head(struct buf *b, size_t code)
{
	dbus_put_struct(b);
	dbus_put_byte(b, (uint8_t)code);
	dbus_put_signature(b, fields[code].type);
}

static void put_field(struct buf *b, size_t code, const struct dbus_message *m)
{
	const struct field *f = &fields[code];
	const char *text = NULL;
	uint32_t number = 0;

	if (!f->at)
		return;
	if (f->type[0] == 'u') {
		memcpy(&number, (const char *)m + f->at, sizeof(number));
		if (!number)
			return;
		put_field_head(b, code);
		dbus_put_u32(b, number);
		return;
	}
	memcpy(&text, (const char *)m + f->at, sizeof(text));
	if (!text || (f->type[0] == 'g' && !*text))
		return;
	put_field_head(b, code);
	if (f->type[0] == 'g')
		dbus_put_signature(b, text);
	else
		dbus_put_string(b, text);
}

void dbus_message_write(struct buf *b, const struct dbus_message *m)
{
	struct buf header = buf_new(b->arena, DBUS_HEADER_MAX);
	struct dbus_array array;
	size_t code;

	dbus_put_byte(&header, (uint8_t)order);
	dbus_put_byte(&header, (uint8_t)m->type);
	dbus_put_byte(&header, m->flags);
	dbus_put_byte(&header, VERSION);
	dbus_put_u32(&header, (uint32_t)m->body_len);
	dbus_put_u32(&header, m->serial);
	array = dbus_array_begin(&header, 8);
	for (code = 1; code < ARRAY_SIZE(fields); code++)
		put_field(&header, code, m);
	dbus_array_end(&header, array);
	dbus_put_struct(&header);
	if (header.overflow || m->body_len > DBUS_BODY_MAX) {
		b->overflow = true;
		return;
	}
	buf_add(b, header.data, header.len);
	if (m->body_len)
		buf_add(b, m->body, m->body_len);
}

/* ---- reading ---- */

static bool get_aligned(struct dbus_reader *r, size_t align, void *ret, size_t len)
{
	size_t pad = padding(r->at, align);

	if (pad > r->len - r->at)
		return false;
	for (; pad; pad--)
		if (r->p[r->at++])
			return false;
	if (len > r->len - r->at)
		return false;
	if (len)
		memcpy(ret, r->p + r->at, len);
	r->at += len;
	return true;
}

/* Text of len bytes, its NUL, and no other. */
static bool get_text(struct dbus_reader *r, size_t len, const char **ret)
{
	const char *s = r->p + r->at;

	if (len >= r->len - r->at || strnlen(s, len + 1) != len)
		return false;
	r->at += len + 1;
	*ret = s;
	return true;
}

bool dbus_get_u32(struct dbus_reader *r, uint32_t *ret)
{
	return get_aligned(r, sizeof(*ret), ret, sizeof(*ret));
}

bool dbus_get_string(struct dbus_reader *r, const char **ret)
{
	const char *s;
	uint32_t len;

	if (!dbus_get_u32(r, &len) || !get_text(r, len, &s) || !str_is_utf8(s))
		return false;
	*ret = s;
	return true;
}

bool dbus_get_signature(struct dbus_reader *r, const char **ret)
{
	const char *s;
	uint8_t len;

	if (!get_aligned(r, 1, &len, 1) || !get_text(r, len, &s) ||
	    strspn(s, "ybnqiuxtdsogahv(){}") != len)
		return false;
	*ret = s;
	return true;
}

bool dbus_at_end(const struct dbus_reader *r)
{
	return r->at == r->len;
}

struct dbus_reader dbus_body(const struct dbus_message *m)
{
	return (struct dbus_reader){.p = m->body, .len = m->body_len};
}

/* The value of a field that we don't know. Those that the specification may add are as plain as
 * those that it has; containers, which would be walked through by recursion, are refused. */
static bool skip_plain(struct dbus_reader *r, char type)
{
	static const struct {
		char type;
		size_t size;
	} sizes[] = {{'y', 1}, {'n', 2}, {'q', 2}, {'b', 4}, {'i', 4},
		     {'u', 4}, {'h', 4}, {'x', 8}, {'t', 8}, {'d', 8}};
	const char *text;
	char space[8];
	size_t i;

	if (type == 's' || type == 'o')
		return dbus_get_string(r, &text);
	if (type == 'g')
		return dbus_get_signature(r, &text);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (sizes[i].type == type)
			return get_aligned(r, sizes[i].size, space, sizes[i].size);
	return false;
}

static bool get_known_field(struct dbus_reader *r, const struct field *f, struct dbus_message *m)
{
	char *member = (char *)m + f->at;
	const char *text, *old;
	uint32_t number;

	if (f->type[0] == 'u') {
		if (!dbus_get_u32(r, &number))
			return false;
		if (!f->at)
			return true;
		if (!number || m->reply_serial)
			return false;
		m->reply_serial = number;
		return true;
	}
	if (!(f->type[0] == 'g' ? dbus_get_signature(r, &text) : dbus_get_string(r, &text)))
		return false;
	memcpy(&old, member, sizeof(old));
	if (old) /* twice */
		return false;
	memcpy(member, &text, sizeof(text));
	return true;
}

static bool get_field(struct dbus_reader *r, struct dbus_message *m)
{
	const char *type;
	uint8_t code;

	if (!get_aligned(r, 8, &code, 1) || !code || !dbus_get_signature(r, &type) ||
	    strlen(type) != 1)
		return false;
	if (code >= ARRAY_SIZE(fields))
		return skip_plain(r, type[0]);
	return str_eq(type, fields[code].type) && get_known_field(r, &fields[code], m);
}

/* A message of its type can't be without them. */
static bool has_its_fields(const struct dbus_message *m)
{
	switch (m->type) {
	case DBUS_CALL:
		return m->path && m->member;
	case DBUS_RETURN:
		return m->reply_serial;
	case DBUS_ERROR:
		return m->reply_serial && m->error_name;
	case DBUS_SIGNAL:
		return m->path && m->interface && m->member;
	default:
		return m->type != 0;
	}
}

int dbus_message_read(const char *p, size_t len, struct dbus_message *ret, size_t *ret_len,
		      struct error *e)
{
	struct dbus_message m = {0};
	struct dbus_reader r;
	uint32_t body_len, fields_len;
	size_t body_at;

	if (len < FIELDS_AT)
		return 0;
	memcpy(&body_len, p + 4, sizeof(body_len));
	memcpy(&m.serial, p + 8, sizeof(m.serial));
	memcpy(&fields_len, p + FIXED, sizeof(fields_len));
	if (p[0] != order || (unsigned char)p[3] != VERSION || !m.serial)
		return err_set(e, ERR_SYSTEM, "what it sends is not D-Bus");
	if (fields_len > DBUS_HEADER_MAX - FIELDS_AT || body_len > DBUS_BODY_MAX)
		return err_set(e, ERR_SYSTEM, "it sends a message larger than %d bytes",
			       DBUS_BODY_MAX);
	body_at = FIELDS_AT + fields_len + padding(fields_len, 8);
	if (len < body_at + body_len)
		return 0;
	m.type = (enum dbus_type)(unsigned char)p[1];
	m.flags = (uint8_t)p[2];
	r = (struct dbus_reader){.p = p, .len = FIELDS_AT + fields_len, .at = FIELDS_AT};
	while (!dbus_at_end(&r))
		if (!get_field(&r, &m))
			return err_set(e, ERR_SYSTEM, "it sends a message with a wrong header");
	r.len = body_at;
	if (!get_aligned(&r, 8, NULL, 0) || !has_its_fields(&m) ||
	    (body_len && (!m.signature || !*m.signature)))
		return err_set(e, ERR_SYSTEM, "it sends a message with a wrong header");
	if (!m.signature)
		m.signature = "";
	m.body = p + body_at;
	m.body_len = body_len;
	*ret = m;
	*ret_len = body_at + body_len;
	return 1;
}

/* The length of the character at p if it may be shown, or 0: C0 and DEL, and C1, whose UTF-8 begins
 * with 0xc2, speak to a terminal. */
static size_t shown_len(const unsigned char *p, size_t len)
{
	const size_t n = str_utf8_len(p, len);

	return p[0] < 0x20 || p[0] == 0x7f || (n == 2 && p[0] == 0xc2 && p[1] < 0xa0) ? 0 : n;
}

bool dbus_can_be_shown(const char *s)
{
	size_t len = strlen(s), n;

	for (; len; s += n, len -= n)
		if (!(n = shown_len((const unsigned char *)s, len)))
			return false;
	return true;
}

struct dbus_shown dbus_show(const char *s)
{
	struct dbus_shown r = {0};
	size_t len = strlen(s), at = 0, n;

	for (; len; s += n, len -= n, at += n) {
		n = shown_len((const unsigned char *)s, len);
		if (at + n + 1 + sizeof("…") > sizeof(r.text)) {
			memcpy(r.text + at, "…", sizeof("…"));
			break;
		}
		memcpy(r.text + at, n ? s : "?", n ? n : 1);
		n = n ? n : 1;
	}
	return r;
}
