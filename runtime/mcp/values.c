/*
 * The outcome of code in a session: its value and its displays, an object of kinds and texts each.
 * Texts are shortened, one by one and together; an image that a client can show stands beside the
 * object, which says which one it is.
 *
 * Trust: all of it is written by the code (box/session_frame.c has read it); kinds, too.
 */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "json/rows.h"
#include "mcp/server.h"

enum { TEXTS_MAX = 64 << 10, IMAGES_MAX = 6 << 20, KINDS_MAX = 64 };

struct values_value {
	struct pairs kinds;
};
static const struct json_row values_value_rows[] = {
	L(values_value, "v", PAIRS, kinds, KINDS_MAX),
};
TABLE(values_value);

struct values {
	struct call *call;
	struct values_images *images;
	size_t texts; /* bytes so far */
};

/* The text for an image's place. */
static const char *image_take(struct values *v, const char *base64)
{
	const char *kind = answer_image_kind(base64);
	const size_t len = strlen(base64);
	struct values_images *all = v->images;

	if (!kind || len > VALUES_IMAGE_MAX || all->n == VALUES_IMAGES_MOST ||
	    len > IMAGES_MAX - all->bytes)
		return arena_printf(&v->call->arena, "[%zu bytes are left out here]", len / 4 * 3);
	all->kinds[all->n] = kind;
	all->texts[all->n++] = base64;
	all->bytes += len;
	return arena_printf(&v->call->arena, "[image %zu of this result]", all->n);
}

static const char *text_take(struct values *v, const char *text)
{
	const char *shown;
	bool cut = false;

	shown = answer_shorten(text, false, &cut, &v->call->arena);
	if (strlen(shown) > TEXTS_MAX - v->texts)
		return arena_printf(&v->call->arena, "[%zu bytes are left out here]", strlen(text));
	v->texts += strlen(shown);
	return shown;
}

static bool is_image(const char *kind)
{
	return str_after(kind, "image/") && !str_eq(kind, "image/svg+xml");
}

static void value_write(struct values *v, struct json_span value, struct buf *b)
{
	struct values_value x = {0};
	const char *text;
	struct error e;
	size_t i;

	text = arena_printf(&v->call->arena, "{\"v\":%.*s}", (int)value.len, value.text);
	if (!json_span_is_object(value) ||
	    json_read("value", text, strlen(text), &values_value_table, &message_limits, &x,
		      &v->call->arena, &e) < 0) {
		buf_str(b, "null");
		return;
	}
	buf_char(b, '{');
	for (i = 0; i < x.kinds.n; i++) {
		const struct pair *p = &x.kinds.v[i];

		buf_str(b, i ? "," : "");
		json_write_string(b, p->key);
		buf_char(b, ':');
		json_write_string(b, is_image(p->key) ? image_take(v, p->value) :
							text_take(v, p->value));
	}
	buf_char(b, '}');
}

static void exception_write(struct values *v, struct json_span said, struct buf *b)
{
	static const char *const keys[] = {"name", "value", "traceback"};
	size_t i;

	if (!json_span_is_object(said)) {
		buf_str(b, "null");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *text = message_text(json_span_in(said, keys[i]), &v->call->arena);

		buf_printf(b, "%s\"%s\":", i ? "," : "{", keys[i]);
		json_write_string(b, text_take(v, text ? text : ""));
	}
	buf_char(b, '}');
}

void values_write(struct call *c, struct json_span said, struct buf *b, struct values_images *ret)
{
	struct json_span session = json_span_in(said, "session"), list, one = {0};
	struct values v = {.call = c, .images = ret};
	size_t i;

	if (!json_span_is_object(session))
		return;
	buf_str(b, ",\"session\":");
	buf_add(b, session.text, session.len);
	buf_str(b, ",\"exception\":");
	exception_write(&v, json_span_in(said, "exception"), b);
	buf_str(b, ",\"result\":");
	value_write(&v, json_span_in(said, "result"), b);
	buf_str(b, ",\"displays\":[");
	list = json_span_in(said, "displays");
	for (i = 0; (one = json_span_element(list, one)).text; i++) {
		buf_str(b, i ? "," : "");
		value_write(&v, one, b);
	}
	buf_char(b, ']');
}
