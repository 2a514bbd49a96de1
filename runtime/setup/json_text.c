/* A recursive reader with a cap on depth. Pure. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"
#include "json/scan.h"
#include "setup/json_text.h"
#include "setup/place.h"

struct reader {
	const char *what;
	const char *text;
	size_t len;
	size_t at;
	struct arena *arena;
	struct error *e;
};

int json_text_fail(const char *what, const char *text, size_t len, size_t at, struct error *e,
		   const char *fmt, ...)
{
	struct place p = place_of(text, len, at);
	char why[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return err_set(e, ERR_CONFIG, "%s:%zu:%zu: %s", what, p.line, p.column, why);
}

static int read_fail(const struct reader *r, const char *why)
{
	return json_text_fail(r->what, r->text, r->len, r->at, r->e, "%s", why);
}

/* The next byte; 0 at the end: the text has none. */
static char read_peek(const struct reader *r)
{
	return r->at < r->len ? r->text[r->at] : '\0';
}

static void read_space(struct reader *r)
{
	while (r->at < r->len && strchr(" \t\r\n", r->text[r->at]))
		r->at++;
}

static bool read_take(struct reader *r, char c)
{
	if (read_peek(r) != c)
		return false;
	r->at++;
	return true;
}

static size_t read_digits(struct reader *r)
{
	size_t from = r->at;

	while (read_peek(r) >= '0' && read_peek(r) <= '9')
		r->at++;
	return r->at - from;
}

static int read_number(struct reader *r, struct json_node *n)
{
	size_t from = r->at, digits;
	bool zero;

	read_take(r, '-');
	zero = read_peek(r) == '0';
	digits = read_digits(r);
	if (!digits || (zero && digits > 1))
		return read_fail(r,
				 "not a number: digits are missing, or there is a zero in front");
	if (read_take(r, '.') && !read_digits(r))
		return read_fail(r, "a number without digits behind its point");
	if (read_take(r, 'e') || read_take(r, 'E')) {
		if (!read_take(r, '+'))
			read_take(r, '-');
		if (!read_digits(r))
			return read_fail(r, "a number without digits in its exponent");
	}
	n->kind = JSON_TEXT_NUMBER;
	n->word = arena_strndup(r->arena, r->text + from, r->at - from);
	return 0;
}

/* Four digits that json_scan() has not found to be half a character, or NUL. */
static int read_unit(struct reader *r, uint32_t *ret)
{
	uint32_t v = 0;
	size_t i;
	char c;

	for (i = 0; i < 4; i++, r->at++) {
		c = read_peek(r);
		if (c >= '0' && c <= '9')
			v = v * 16 + (uint32_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			v = v * 16 + (uint32_t)((c | 0x20) - 'a' + 10);
		else
			return read_fail(r, "an escape \\u without four hexadecimal digits");
	}
	*ret = v;
	return 0;
}

static void read_add_character(struct buf *b, uint32_t c)
{
	if (c < 0x80) {
		buf_char(b, (char)c);
	} else if (c < 0x800) {
		buf_char(b, (char)(0xc0 | (c >> 6)));
		buf_char(b, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_char(b, (char)(0xe0 | (c >> 12)));
		buf_char(b, (char)(0x80 | ((c >> 6) & 0x3f)));
		buf_char(b, (char)(0x80 | (c & 0x3f)));
	} else {
		buf_char(b, (char)(0xf0 | (c >> 18)));
		buf_char(b, (char)(0x80 | ((c >> 12) & 0x3f)));
		buf_char(b, (char)(0x80 | ((c >> 6) & 0x3f)));
		buf_char(b, (char)(0x80 | (c & 0x3f)));
	}
}

static int read_escape(struct reader *r, struct buf *b)
{
	static const char letters[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
	char c = read_peek(r);
	const char *letter = c ? strchr(letters, c) : NULL;
	uint32_t unit, low;

	if (letter) {
		r->at++;
		buf_char(b, meaning[letter - letters]);
		return 0;
	}
	if (!read_take(r, 'u'))
		return read_fail(r, "an escape that JSON does not know");
	if (read_unit(r, &unit) < 0)
		return -1;
	if (unit >= 0xd800 && unit <= 0xdbff) {
		if (!read_take(r, '\\') || !read_take(r, 'u') || read_unit(r, &low) < 0)
			return read_fail(r, "half of a surrogate pair");
		unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
	}
	read_add_character(b, unit);
	return 0;
}

static int read_string(struct reader *r, const char **ret)
{
	struct buf b = buf_new(r->arena, r->len + 1);
	size_t from = r->at;

	if (!read_take(r, '"'))
		return read_fail(r, "a string in quotes is missing");
	while (!read_take(r, '"')) {
		if (r->at >= r->len) {
			r->at = from;
			return read_fail(r, "a string without its closing quote");
		}
		if ((unsigned char)read_peek(r) < 0x20)
			return read_fail(r, "a control character in a string");
		if (!read_take(r, '\\'))
			buf_char(&b, r->text[r->at++]);
		else if (read_escape(r, &b) < 0)
			return -1;
	}
	*ret = b.len ? b.data : "";
	return 0;
}

static int read_value(struct reader *r, size_t depth, struct json_node *n);

static void read_append(struct json_node *parent, struct json_node *child)
{
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
	parent->n++;
}

static int read_array(struct reader *r, size_t depth, struct json_node *n)
{
	struct json_node *item;

	n->kind = JSON_TEXT_ARRAY;
	r->at++;
	read_space(r);
	if (read_take(r, ']'))
		return 0;
	for (;;) {
		item = arena_new(r->arena, struct json_node);
		if (read_value(r, depth, item) < 0)
			return -1;
		read_append(n, item);
		if (read_take(r, ']'))
			return 0;
		if (!read_take(r, ','))
			return read_fail(r, "a comma or ] is missing");
	}
}

static int read_member(struct reader *r, size_t depth, struct json_node *n)
{
	read_space(r);
	n->key_at = r->at;
	if (read_peek(r) == '}')
		return read_fail(r, "a comma before }");
	if (read_string(r, &n->key) < 0)
		return -1;
	n->key_end = r->at;
	read_space(r);
	if (!read_take(r, ':'))
		return read_fail(r, "a colon is missing");
	return read_value(r, depth, n);
}

static int compare_keys(const void *a, const void *b)
{
	const struct json_node *const *x = a, *const *y = b;
	int order = strcmp((*x)->key, (*y)->key);

	return order ? order : (*x)->key_at < (*y)->key_at ? -1 : 1;
}

static int read_check_keys(struct reader *r, const struct json_node *object)
{
	const struct json_node **sorted =
		arena_array(r->arena, object->n + 1, const struct json_node *);
	const struct json_node *m;
	struct place first;
	size_t i = 0;

	for (m = object->first; m; m = m->next)
		sorted[i++] = m;
	if (object->n)
		qsort(sorted, object->n, sizeof(*sorted), compare_keys);
	for (i = 1; i < object->n; i++) {
		if (!str_eq(sorted[i - 1]->key, sorted[i]->key))
			continue;
		first = place_of(r->text, r->len, sorted[i - 1]->key_at);
		return json_text_fail(r->what, r->text, r->len, sorted[i]->key_at, r->e,
				      "the key %s stands there already, in line %zu: docker takes "
				      "the last one; remove one of them",
				      json_show(sorted[i]->key).text, first.line);
	}
	return 0;
}

static int read_object(struct reader *r, size_t depth, struct json_node *n)
{
	struct json_node *member;

	n->kind = JSON_TEXT_OBJECT;
	r->at++;
	read_space(r);
	if (read_take(r, '}'))
		return 0;
	for (;;) {
		member = arena_new(r->arena, struct json_node);
		if (read_member(r, depth, member) < 0)
			return -1;
		read_append(n, member);
		if (read_take(r, '}'))
			return read_check_keys(r, n);
		if (!read_take(r, ','))
			return read_fail(r, "a comma or } is missing");
	}
}

static int read_word(struct reader *r, struct json_node *n)
{
	static const struct {
		const char *word;
		enum json_kind kind;
	} words[] = {
		{"null", JSON_TEXT_NULL}, {"true", JSON_TEXT_TRUE}, {"false", JSON_TEXT_FALSE}};
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		len = strlen(words[i].word);
		if (r->len - r->at >= len && memcmp(r->text + r->at, words[i].word, len) == 0) {
			r->at += len;
			n->kind = words[i].kind;
			return 0;
		}
	}
	return read_fail(r, r->at < r->len ? "a value is missing" : "the text ends too early");
}

/* With the space around it. */
static int read_value(struct reader *r, size_t depth, struct json_node *n)
{
	char c;
	int result;

	read_space(r);
	if (depth > JSON_TEXT_DEPTH)
		return read_fail(r, "nested deeper than 64 levels");
	c = read_peek(r);
	n->at = r->at;
	if (c == '{')
		result = read_object(r, depth + 1, n);
	else if (c == '[')
		result = read_array(r, depth + 1, n);
	else if (c == '"')
		result = read_string(r, &n->word), n->kind = JSON_TEXT_STRING;
	else if (c == '-' || (c >= '0' && c <= '9'))
		result = read_number(r, n);
	else
		result = read_word(r, n);
	n->end = r->at;
	read_space(r);
	return result;
}

int json_text_read(const char *what, const char *text, size_t len, struct arena *a,
		   struct json_node **ret, struct error *e)
{
	struct reader r = {.what = what, .text = text, .len = len, .arena = a, .e = e};
	struct json_scan bad = json_scan(text, len);
	struct json_node *top = arena_new(a, struct json_node);

	if (bad.why)
		return json_text_fail(what, text, len, bad.at, e, "%s", bad.why);
	if (read_value(&r, 0, top) < 0)
		return -1;
	if (r.at < len)
		return read_fail(&r, "more follows after the end of the document");
	*ret = top;
	return 0;
}

struct json_node *json_text_get(const struct json_node *object, const char *key)
{
	struct json_node *m;

	if (!object || object->kind != JSON_TEXT_OBJECT)
		return NULL;
	for (m = object->first; m; m = m->next)
		if (str_eq(m->key, key))
			return m;
	return NULL;
}

bool json_text_equal(const struct json_node *a, const struct json_node *b)
{
	const struct json_node *x, *y;

	if (a->kind != b->kind || a->n != b->n || !a->word != !b->word ||
	    (a->word && !str_eq(a->word, b->word)))
		return false;
	for (x = a->first, y = b->first; x && y; x = x->next, y = y->next)
		if (!x->key != !y->key || (x->key && !str_eq(x->key, y->key)) ||
		    !json_text_equal(x, y))
			return false;
	return !x && !y;
}
