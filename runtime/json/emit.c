/*
 * Structs to JSON through the rows that read them. What is unset is not written; what is set but
 * empty is written unless its row says OMIT. The nesting is that of the tables, so it is bounded.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "json/json.h"
#include "json/scan.h"

struct any_list {
	size_t n;
	const void *v;
} __attribute__((may_alias));

struct out {
	struct buf *b;
	unsigned int indent;
	unsigned int level;
};

/* The escape of one character that JSON strings can't hold as it is. */
static void escape_add(struct buf *b, unsigned char c)
{
	static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
	const char *p = memchr(plain, c, sizeof(plain) - 1);

	if (p)
		buf_printf(b, "\\%c", letter[p - plain]);
	else
		buf_printf(b, "\\u%04x", c);
}

static void write_text(struct buf *b, const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t i, n, run = 0;

	for (i = 0; i < len; i += n) {
		n = p[i] < 0x80 ? 1 : str_utf8_len(p + i, len - i);
		if (n > 0 && p[i] >= 0x20 && p[i] != '"' && p[i] != '\\' && p[i] != 0x7f)
			continue;
		buf_add(b, s + run, i - run);
		if (n == 0) {
			buf_str(b, "\\ufffd");
			n = 1;
		} else {
			escape_add(b, p[i]);
		}
		run = i + n;
	}
	buf_add(b, s + run, len - run);
}

void json_write_string(struct buf *b, const char *s)
{
	buf_char(b, '"');
	write_text(b, s, strlen(s));
	buf_char(b, '"');
}

static void out_newline(struct out *o)
{
	unsigned int i;

	if (!o->indent)
		return;
	buf_char(o->b, '\n');
	for (i = 0; i < o->indent * o->level; i++)
		buf_char(o->b, ' ');
}

static void out_open(struct out *o, char c)
{
	buf_char(o->b, c);
	o->level++;
}

/* The closing bracket; an empty pair stays on one line. */
static void out_close(struct out *o, char c, bool any)
{
	o->level--;
	if (any)
		out_newline(o);
	buf_char(o->b, c);
}

/* Begins an element or key. */
static void out_next(struct out *o, bool *any)
{
	if (*any)
		buf_char(o->b, ',');
	*any = true;
	out_newline(o);
}

static void out_key(struct out *o, const char *key, bool *any)
{
	out_next(o, any);
	json_write_string(o->b, key);
	buf_str(o->b, o->indent ? ": " : ":");
}

static const void *row_field(const struct json_row *r, const void *object)
{
	return (const char *)object + (r->flags & JSON_FLAT ? 0 : r->offset);
}

static bool row_absent(const struct json_row *r, const void *object);

/* Has the object nothing that would be written? */
static bool object_empty(const struct json_table *t, const void *object)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		if (!row_absent(&t->rows[i], object))
			return false;
	return true;
}

/* Is the field's value what a zeroed struct has? */
static bool field_empty(const struct json_row *r, const void *f)
{
	switch (r->type) {
	case JSON_STR:
		return !**(char *const *)f;
	case JSON_BOOL:
		return !*(const bool *)f;
	case JSON_I32:
	case JSON_U32:
	case JSON_ENUM:
		return *(const uint32_t *)f == 0;
	case JSON_I64:
	case JSON_U64:
		return *(const uint64_t *)f == 0;
	case JSON_STRINGS:
	case JSON_IDS:
	case JSON_PAIRS:
	case JSON_LIST:
	case JSON_MAP:
		return ((const struct any_list *)f)->n == 0;
	case JSON_OBJECT:
		return object_empty(r->table, f);
	default:
		return false;
	}
}

/* Is the field not written? */
static bool row_absent(const struct json_row *r, const void *object)
{
	const void *f = row_field(r, object);

	switch (r->type) {
	case JSON_STR:
		if (!*(char *const *)f)
			return true;
		break;
	case JSON_OPT_BOOL:
	case JSON_OPT_I32:
	case JSON_OPT_U32:
	case JSON_OPT_I64:
	case JSON_OPT_U64:
		return !*(const bool *)f; /* all of them begin with `set` */
	case JSON_OBJECT:
		if (r->flags & JSON_SETS)
			return !*(const bool *)f;
		break;
	default:
		break;
	}
	return r->flags & JSON_OMIT && field_empty(r, f);
}

static void write_object(struct out *o, const struct json_table *t, const void *object);

static void write_strings(struct out *o, const struct strings *l)
{
	bool any = false;
	size_t i;

	out_open(o, '[');
	for (i = 0; i < l->n; i++) {
		out_next(o, &any);
		json_write_string(o->b, l->v[i]);
	}
	out_close(o, ']', any);
}

static void write_ids(struct out *o, const struct ids *l)
{
	bool any = false;
	size_t i;

	out_open(o, '[');
	for (i = 0; i < l->n; i++) {
		out_next(o, &any);
		buf_printf(o->b, "%" PRIu32, l->v[i]);
	}
	out_close(o, ']', any);
}

static void write_pairs(struct out *o, const struct pairs *l)
{
	bool any = false;
	size_t i;

	out_open(o, '{');
	for (i = 0; i < l->n; i++) {
		out_key(o, l->v[i].key, &any);
		json_write_string(o->b, l->v[i].value);
	}
	out_close(o, '}', any);
}

static void write_list(struct out *o, const struct json_row *r, const struct any_list *l)
{
	bool any = false, map = r->type == JSON_MAP;
	const char *element;
	size_t i;

	out_open(o, map ? '{' : '[');
	for (i = 0; i < l->n; i++) {
		element = (const char *)l->v + i * r->table->size;
		if (map)
			out_key(o, *(char *const *)(const void *)(element + r->table->key_offset),
				&any);
		else
			out_next(o, &any);
		write_object(o, r->table, element);
	}
	out_close(o, map ? '}' : ']', any);
}

static const char *word_of(const struct json_word *w, int value)
{
	while (w->word && w->value != value)
		w++;
	return w->word ? w->word : "";
}

static void write_value(struct out *o, const struct json_row *r, const void *f)
{
	struct buf *b = o->b;

	switch (r->type) {
	case JSON_STR:
		json_write_string(b, *(char *const *)f);
		break;
	case JSON_BOOL:
		buf_str(b, *(const bool *)f ? "true" : "false");
		break;
	case JSON_OPT_BOOL:
		buf_str(b, ((const struct opt_bool *)f)->v ? "true" : "false");
		break;
	case JSON_I32:
		buf_printf(b, "%" PRId32, *(const int32_t *)f);
		break;
	case JSON_U32:
		buf_printf(b, "%" PRIu32, *(const uint32_t *)f);
		break;
	case JSON_I64:
		buf_printf(b, "%" PRId64, *(const int64_t *)f);
		break;
	case JSON_U64:
		buf_printf(b, "%" PRIu64, *(const uint64_t *)f);
		break;
	case JSON_OPT_I32:
		buf_printf(b, "%" PRId32, ((const struct opt_i32 *)f)->v);
		break;
	case JSON_OPT_U32:
		buf_printf(b, "%" PRIu32, ((const struct opt_u32 *)f)->v);
		break;
	case JSON_OPT_I64:
		buf_printf(b, "%" PRId64, ((const struct opt_i64 *)f)->v);
		break;
	case JSON_OPT_U64:
		buf_printf(b, "%" PRIu64, ((const struct opt_u64 *)f)->v);
		break;
	case JSON_ENUM:
		json_write_string(b, word_of(r->words, *(const int *)f));
		break;
	case JSON_OBJECT:
		write_object(o, r->table, f);
		break;
	case JSON_STRINGS:
		write_strings(o, f);
		break;
	case JSON_IDS:
		write_ids(o, f);
		break;
	case JSON_PAIRS:
		write_pairs(o, f);
		break;
	case JSON_LIST:
	case JSON_MAP:
		write_list(o, r, f);
		break;
	}
}

static void write_object(struct out *o, const struct json_table *t, const void *object)
{
	const struct json_row *r;
	bool any = false;
	size_t i;

	out_open(o, '{');
	for (i = 0; i < t->count; i++) {
		r = &t->rows[i];
		if (row_absent(r, object))
			continue;
		out_key(o, r->key, &any);
		write_value(o, r, row_field(r, object));
	}
	out_close(o, '}', any);
}

void json_write(struct buf *b, const struct json_table *table, const void *object,
		unsigned int indent)
{
	struct out o = {.b = b, .indent = indent};

	write_object(&o, table, object);
}
