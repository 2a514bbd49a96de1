#include "box/session_frame.h"

#include <string.h>

#include "base/str.h"
#include "json/rows.h"

/* ---- one frame ---- */

struct frame_line {
	char *t;
	struct opt_u32 id;
	struct pairs data;
	struct opt_bool ok;
	struct opt_i32 exit_code;
	char *name, *value, *traceback;
};

static const struct json_row frame_line_rows[] = {
	F(frame_line, "t", STR, t, REQUIRED),
	F(frame_line, "id", OPT_U32, id, REQUIRED),
	L(frame_line, "data", PAIRS, data, SESSION_KINDS_MAX),
	F(frame_line, "ok", OPT_BOOL, ok),
	F(frame_line, "exit", OPT_I32, exit_code),
	F(frame_line, "name", STR, name),
	F(frame_line, "value", STR, value),
	F(frame_line, "traceback", STR, traceback),
};
static const struct json_table frame_line_table = {.name = "frame_line",
						   .size = sizeof(struct frame_line),
						   .rows = frame_line_rows,
						   .count = ARRAY_SIZE(frame_line_rows),
						   .closed = true};

static bool kind_is_good(const char *kind)
{
	size_t i;

	for (i = 0; kind[i]; i++)
		if (!(kind[i] >= 'a' && kind[i] <= 'z') && !(kind[i] >= '0' && kind[i] <= '9') &&
		    !strchr("/+.-", kind[i]))
			return false;
	return i && i <= SESSION_KIND_MAX && strchr(kind, '/');
}

/* Kinds whose text is bytes, as base64. */
static bool kind_is_bytes(const char *kind)
{
	return (str_after(kind, "image/") && !str_eq(kind, "image/svg+xml")) ||
	       str_eq(kind, "application/pdf") || str_eq(kind, "application/octet-stream");
}

/* In full fours, with nothing but = at the end. */
static bool text_is_base64(const char *s)
{
	const size_t n = strlen(s), digits = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop"
						       "qrstuvwxyz0123456789+/");

	return n % 4 == 0 && n - digits <= 2 && strspn(s + digits, "=") == n - digits;
}

static int frame_value(const struct pairs *data, struct arena *a, struct session_value *ret,
		       struct error *e)
{
	size_t i;

	ret->v = arena_array(a, data->n + 1, struct session_pair);
	ret->n = 0;
	for (i = 0; i < data->n; i++) {
		const struct pair *p = &data->v[i];

		if (!kind_is_good(p->key))
			return err_set(e, ERR_CONFIG, "%s is no kind of a value",
				       json_show(p->key).text);
		if (kind_is_bytes(p->key) && !text_is_base64(p->value))
			return err_set(e, ERR_CONFIG, "a value of the kind %s is no base64",
				       p->key);
		ret->v[ret->n++] = (struct session_pair){p->key, p->value};
	}
	return 0;
}

static int frame_done(struct session_frames *f, const struct frame_line *line, struct error *e)
{
	if (!line->ok.set)
		return err_set(e, ERR_CONFIG, "the last frame does not say how the code ended");
	f->is_done = true;
	f->ok = line->ok.v;
	/* As of a process: what is more than a byte is of no use to anybody. */
	f->exit_code = line->exit_code.set ? line->exit_code.v & 0xff : f->ok ? 0 : 1;
	f->name = line->name;
	f->value = line->value;
	f->traceback = line->traceback;
	return 0;
}

static int frame_take(struct session_frames *f, const char *text, size_t n, struct error *e)
{
	static const struct json_limits limits = {.bytes = SESSION_FRAME_MAX,
						  .depth = 3,
						  .elements = SESSION_KINDS_MAX,
						  .string = SESSION_FRAME_MAX};
	struct frame_line line = {0};

	if (f->is_done)
		return err_set(e, ERR_CONFIG, "there is a frame behind the last one");
	if (json_read("a frame", text, n, &frame_line_table, &limits, &line, f->arena, e) < 0)
		return -1;
	if (line.id.v != f->id)
		return err_set(e, ERR_CONFIG, "a frame is of call %u, and not of call %u",
			       line.id.v, f->id);
	if (str_eq(line.t, "done"))
		return frame_done(f, &line, e);
	if (str_eq(line.t, "result") && !f->has_result) {
		f->has_result = true;
		return frame_value(&line.data, f->arena, &f->result, e);
	}
	if (str_eq(line.t, "display") && f->n_displays < SESSION_DISPLAYS_MAX)
		return frame_value(&line.data, f->arena, &f->displays[f->n_displays++], e);
	return err_set(e, ERR_CONFIG, "a frame \"%s\" is one too many, or no frame",
		       json_show(line.t).text);
}

/* ---- lines ---- */

void session_frames_begin(struct session_frames *f, uint32_t id, struct arena *a)
{
	*f = (struct session_frames){.id = id, .arena = a};
	f->partial = buf_new(&f->partial_memory, SESSION_FRAME_MAX);
}

void session_frames_end(struct session_frames *f)
{
	arena_free(&f->partial_memory);
}

static int frames_line(struct session_frames *f, const char *p, size_t n, struct error *e)
{
	int result;

	if (!f->partial.len)
		return frame_take(f, p, n, e);
	buf_add(&f->partial, p, n);
	if (f->partial.overflow)
		return err_set(e, ERR_CONFIG, "a frame is too large");
	result = frame_take(f, f->partial.data, f->partial.len, e);
	f->partial.len = 0;
	return result;
}

int session_frames_feed(struct session_frames *f, const char *p, size_t n, struct error *e)
{
	const char *end;

	f->bytes += n;
	if (f->bytes > SESSION_FRAMES_MAX)
		return err_set(e, ERR_CONFIG, "the values of one call have more than %d MB",
			       SESSION_FRAMES_MAX >> 20);
	for (; n && (end = memchr(p, '\n', n)); n -= (size_t)(end + 1 - p), p = end + 1)
		if (frames_line(f, p, (size_t)(end - p), e) < 0)
			return -1;
	if (n && f->is_done)
		return err_set(e, ERR_CONFIG, "there is something behind the last frame");
	buf_add(&f->partial, p, n);
	if (f->partial.overflow)
		return err_set(e, ERR_CONFIG, "a frame is too large");
	return 0;
}

/* ---- the result ---- */

static void redact_take(void *to, const char *p, size_t n)
{
	buf_add(to, p, n);
}

static const char *frames_clean(struct session_frames *f, struct redact *r, const char *text)
{
	struct buf b = buf_new(f->arena, 2 * (size_t)SESSION_FRAME_MAX);
	const struct redact_sink sink = {.put = redact_take, .to = &b};

	if (!text)
		return NULL;
	redact_begin(r, REDACT_STDOUT);
	redact_feed(r, REDACT_STDOUT, text, strlen(text), &sink);
	redact_finish(r, REDACT_STDOUT, &sink);
	return b.len ? b.data : "";
}

static void frames_clean_value(struct session_frames *f, struct redact *r, struct session_value *v)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		if (!kind_is_bytes(v->v[i].kind))
			v->v[i].text = frames_clean(f, r, v->v[i].text);
}

void session_frames_redact(struct session_frames *f, struct redact *r)
{
	size_t i;

	frames_clean_value(f, r, &f->result);
	for (i = 0; i < f->n_displays; i++)
		frames_clean_value(f, r, &f->displays[i]);
	f->name = frames_clean(f, r, f->name);
	f->value = frames_clean(f, r, f->value);
	f->traceback = frames_clean(f, r, f->traceback);
}

static void frames_write_value(const struct session_value *v, struct buf *b)
{
	size_t i;

	buf_char(b, '{');
	for (i = 0; i < v->n; i++) {
		buf_str(b, i ? "," : "");
		json_write_string(b, v->v[i].kind);
		buf_char(b, ':');
		json_write_string(b, v->v[i].text);
	}
	buf_char(b, '}');
}

void session_frames_write(const struct session_frames *f, struct buf *b)
{
	size_t i;

	buf_str(b, "\"result\":");
	if (f->has_result)
		frames_write_value(&f->result, b);
	else
		buf_str(b, "null");
	buf_str(b, ",\"displays\":[");
	for (i = 0; i < f->n_displays; i++) {
		buf_str(b, i ? "," : "");
		frames_write_value(&f->displays[i], b);
	}
	buf_str(b, "],\"exception\":");
	if (!f->name) {
		buf_str(b, "null");
		return;
	}
	buf_str(b, "{\"name\":");
	json_write_string(b, f->name);
	buf_str(b, ",\"value\":");
	json_write_string(b, f->value ? f->value : "");
	buf_str(b, ",\"traceback\":");
	json_write_string(b, f->traceback ? f->traceback : "");
	buf_char(b, '}');
}

void session_value_tell(const struct session_value *v, struct buf *b)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		if (str_eq(v->v[i].kind, "text/plain")) {
			buf_printf(b, "%s\n", v->v[i].text);
			return;
		}
	for (i = 0; i < v->n; i++)
		buf_printf(b, "%s%s", i ? ", " : "[", v->v[i].kind);
	buf_str(b, v->n ? ": --json has it]\n" : "");
}
