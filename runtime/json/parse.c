/*
 * Bytes to events: the only file that knows yajl, and only its streaming callbacks (its tree
 * overflows the stack on deep input). yajl checks the grammar; json_scan() checks before it what
 * yajl lets pass: bytes that aren't UTF-8, and escapes that stand for NUL or for half a character.
 *
 * Trust: all of it is hostile. yajl's memory comes from the arena, which never returns NULL: yajl
 * does not check.
 */
#include <string.h>
#include <yajl/yajl_parse.h>

#include "json/bind.h"
#include "json/scan.h"

const struct json_limits json_default_limits = {
	.bytes = JSON_BYTES_MAX,
	.depth = JSON_MAX_DEPTH,
	.elements = 65536,
	.string = 1 << 20,
};

static int on_null(void *b)
{
	return json_bind_null(b);
}

static int on_bool(void *b, int v)
{
	return json_bind_bool(b, v != 0);
}

static int on_number(void *b, const char *digits, size_t len)
{
	return json_bind_number(b, digits, len);
}

static int on_string(void *b, const unsigned char *s, size_t len)
{
	return json_bind_string(b, (const char *)s, len);
}

static int on_key(void *b, const unsigned char *s, size_t len)
{
	return json_bind_key(b, (const char *)s, len);
}

static int on_start_object(void *b)
{
	return json_bind_start_object(b);
}

static int on_end_object(void *b)
{
	return json_bind_end_object(b);
}

static int on_start_array(void *b)
{
	return json_bind_start_array(b);
}

static int on_end_array(void *b)
{
	return json_bind_end_array(b);
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_bool,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_map_key = on_key,
	.yajl_start_map = on_start_object,
	.yajl_end_map = on_end_object,
	.yajl_start_array = on_start_array,
	.yajl_end_array = on_end_array,
};

/* Blocks carry their size, so that realloc knows how much to copy. */
enum { BLOCK_HEAD = 16 };

static void *memory_get(void *a, size_t size)
{
	char *p = arena_alloc(a, 1, size + BLOCK_HEAD);

	memcpy(p, &size, sizeof(size));
	return p + BLOCK_HEAD;
}

static void *memory_resize(void *a, void *old, size_t size)
{
	void *p = memory_get(a, size);
	size_t had;

	if (!old)
		return p;
	memcpy(&had, (char *)old - BLOCK_HEAD, sizeof(had));
	return memcpy(p, old, had < size ? had : size);
}

static void memory_put(void *a, void *p)
{
	(void)a;
	(void)p;
}

/* yajl's own words for what is wrong with the grammar, as one line. */
static bool parse_fail_grammar(struct json_bind *b, yajl_handle h, size_t at)
{
	const char *text = (const char *)yajl_get_error(h, 0, NULL, 0);

	json_bind_at_next(b);
	return json_bind_fail(b, "byte %zu: %.*s", at, (int)strcspn(text, ".\n"), text);
}

/* Reading stopped after `at` bytes. */
static void parse_name_line(const char *text, size_t at, struct error *e)
{
	size_t line = 1, i;

	for (i = 0; i < at; i++)
		line += text[i] == '\n';
	err_wrap(e, "line %zu", line);
}

static bool parse_run(struct json_bind *b, const char *text, size_t len, struct arena *a,
		      size_t *ret_at)
{
	yajl_alloc_funcs memory = {memory_get, memory_resize, memory_put, a};
	struct json_scan bad = json_scan(text, len);
	yajl_handle h = yajl_alloc(&callbacks, &memory, b);
	yajl_status status;

	/* json_scan() has checked more than yajl would. */
	yajl_config(h, yajl_dont_validate_strings, 1);
	/* Up to the bad byte, so that the error can name the place. */
	status = yajl_parse(h, (const unsigned char *)text, bad.why ? bad.at : len);
	*ret_at = status == yajl_status_ok ? len : yajl_get_bytes_consumed(h);
	if (status == yajl_status_ok && bad.why) {
		json_bind_at_next(b);
		return json_bind_fail(b, "byte %zu: %s", bad.at, bad.why);
	}
	if (status == yajl_status_error)
		return parse_fail_grammar(b, h, yajl_get_bytes_consumed(h));
	/* yajl takes a string that begins after the document and never ends for nothing: with these
	 * two bytes it has an end, and is too much. Without one they begin such a string. */
	if (status == yajl_status_ok)
		status = yajl_parse(h, (const unsigned char *)" \"", 2);
	if (status == yajl_status_ok)
		status = yajl_complete_parse(h);
	if (status == yajl_status_error)
		return parse_fail_grammar(b, h, len);
	return status == yajl_status_ok;
}

int json_read(const char *what, const char *text, size_t len, const struct json_table *table,
	      const struct json_limits *limits, void *object, struct arena *a, struct error *e)
{
	struct json_bind *b;
	size_t at = 0;

	if (len > limits->bytes)
		return err_set(e, ERR_CONFIG, "%s: larger than %zu bytes", what, limits->bytes);
	b = json_bind_new(what, text, len, table, limits, object, a, e);
	if (parse_run(b, text, len, a, &at))
		return 0;
	if (limits->lines)
		parse_name_line(text, at, e);
	return -1;
}
