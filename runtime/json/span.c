/* Trust: the text may be anything; nothing behind it is looked at, and nesting costs no stack. */
#include "json/span.h"

#include <string.h>

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* From its first quote to behind its last; NULL: it never ends. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : NULL;
}

static const char *skip_nested(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
			if (!p)
				return NULL;
			continue;
		}
		if (*p == '{' || *p == '[')
			depth++;
		if ((*p == '}' || *p == ']') && --depth == 0)
			return p + 1;
		p++;
	}
	return NULL;
}

static const char *skip_value(const char *p, const char *end)
{
	const char *from = p;

	if (p == end)
		return NULL;
	if (*p == '"')
		return skip_string(p, end);
	if (*p == '{' || *p == '[')
		return skip_nested(p, end);
	while (p < end && !strchr(",]} \t\r\n", *p))
		p++;
	return p > from ? p : NULL;
}

static int hex_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 :
				      -1;
}

/* One character of a string as the byte that it stands for, and *p behind it; -1: it is none. */
static int key_char(const char **p, const char *end)
{
	int value = 0, i, digit;

	if (**p != '\\')
		return (unsigned char)*(*p)++;
	if (end - *p >= 2 && (*p)[1] != 'u') {
		*p += 2;
		return strchr("\"\\/", (*p)[-1]) ? (unsigned char)(*p)[-1] : -1;
	}
	if (end - *p < 6)
		return -1;
	for (i = 2; i < 6; i++) {
		digit = hex_value((*p)[i]);
		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	*p += 6;
	return value < 0x80 ? value : -1;
}

/* p is behind the first quote, end at the last. */
static bool key_is(const char *p, const char *end, const char *key)
{
	while (p < end && *key)
		if (key_char(&p, end) != (unsigned char)*key++)
			return false;
	return p == end && !*key;
}

struct json_span json_span_member(const char *text, size_t len, const char *key)
{
	const struct json_span none = {0};
	const char *end, *p, *name, *value;

	if (!text)
		return none;
	end = text + len;
	p = skip_space(text, end);
	if (p == end || *p != '{')
		return none;
	do {
		p = skip_space(p + 1, end);
		if (p == end || *p != '"')
			return none;
		name = p;
		p = skip_string(p, end);
		if (!p)
			return none;
		value = skip_space(p, end);
		if (value == end || *value != ':')
			return none;
		value = skip_space(value + 1, end);
		if (key_is(name + 1, p - 1, key)) {
			p = skip_value(value, end);
			return p ? (struct json_span){value, (size_t)(p - value)} : none;
		}
		p = skip_value(value, end);
		p = p ? skip_space(p, end) : end;
	} while (p < end && *p == ',');
	return none;
}

struct json_span json_span_in(struct json_span s, const char *key)
{
	return json_span_member(s.text, s.len, key);
}

struct json_span json_span_element(struct json_span list, struct json_span before)
{
	const struct json_span none = {0};
	const char *end, *p = list.text, *to;

	if (!p)
		return none;
	end = list.text + list.len;
	if (before.text)
		p = before.text + before.len;
	p = skip_space(p, end);
	if (p == end || *p != (before.text ? ',' : '['))
		return none;
	p = skip_space(p + 1, end);
	to = skip_value(p, end);
	return to ? (struct json_span){p, (size_t)(to - p)} : none;
}

bool json_span_is_object(struct json_span s)
{
	return s.text && s.len && *s.text == '{';
}
