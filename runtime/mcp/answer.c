/*
 * Answers for the client. Models of some clients see structuredContent alone, those of others text
 * alone: so a result says everything in both, and a failure says it in text.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/str.h"
#include "box/stream.h"
#include "json/rows.h"
#include "mcp/server.h"
#include "sys/child.h"
#include "sys/loop.h"

enum { ANSWER_MAX = 32 << 20, SHOWN_MAX = 16 << 10, CONTENT_MAX = 4 << 20 };

/* ---- the frame ---- */

static void send(struct server *s, struct buf *b)
{
	if (!b->overflow)
		line_out_put(&s->out, b->data, b->len);
}

void answer_error(struct server *s, const char *id, int code, const char *text, const char *data,
		  struct arena *a)
{
	struct buf b = buf_new(a, ANSWER_MAX);

	buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":",
		   id ? id : "null", code);
	json_write_string(&b, text);
	if (data)
		buf_printf(&b, ",\"data\":%s", data);
	buf_str(&b, "}}");
	send(s, &b);
}

void answer_begin(struct buf *b, const struct server *s, const char *id, bool modern)
{
	buf_str(b, "{\"jsonrpc\":\"2.0\",\"id\":");
	buf_str(b, id);
	buf_str(b, ",\"result\":{");
	if (!modern)
		return;
	buf_str(b, "\"resultType\":\"complete\",\"_meta\":{"
		   "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"sbxrun\",\"version\":");
	json_write_string(b, s->o->version);
	buf_str(b, "}},");
}

void answer_cache(struct buf *b, bool modern, unsigned int ttl_ms, bool is_public)
{
	if (modern)
		buf_printf(b, ",\"ttlMs\":%u,\"cacheScope\":\"%s\"", ttl_ms,
			   is_public ? "public" : "private");
}

void answer_end(struct server *s, struct buf *b, const char *id, struct arena *a)
{
	buf_str(b, "}}");
	if (b->overflow)
		answer_error(s, id, RPC_INTERNAL, "the answer is too large", NULL, a);
	else
		send(s, b);
}

/* ---- results of tools ---- */

static void result_begin(struct call *c, struct buf *b)
{
	*b = buf_new(&c->arena, ANSWER_MAX);
	answer_begin(b, c->server, c->id, c->modern);
}

void answer_failure(struct call *c, const char *text)
{
	struct buf b;

	if (!c->id)
		return;
	if (c->uri) {
		answer_error(c->server, c->id, c->modern ? RPC_PARAMS : RPC_NOT_FOUND, text, NULL,
			     &c->arena);
		return;
	}
	result_begin(c, &b);
	buf_str(&b, "\"content\":[{\"type\":\"text\",\"text\":");
	json_write_string(&b, text);
	buf_str(&b, "}],\"isError\":true");
	answer_end(c->server, &b, c->id, &c->arena);
}

/* The object as what a program reads, and as text. */
static void answer_object(struct call *c, const char *object)
{
	struct buf b;

	result_begin(c, &b);
	buf_str(&b, "\"content\":[{\"type\":\"text\",\"text\":");
	json_write_string(&b, object);
	buf_str(&b, "}],\"structuredContent\":");
	buf_str(&b, object);
	answer_end(c->server, &b, c->id, &c->arena);
}

/* ---- of code ---- */

struct run_error {
	char *type, *message;
};
struct run_truncated {
	bool out, err;
};
struct run_result {
	char *status, *out, *err, *encoding, *signal;
	bool success;
	int32_t exit_code;
	struct run_error error;
	struct run_truncated truncated;
};

static const struct json_row run_error_rows[] = {
	F(run_error, "type", STR, type),
	F(run_error, "message", STR, message),
};
TABLE(run_error);
static const struct json_row run_truncated_rows[] = {
	F(run_truncated, "stdout", BOOL, out),
	F(run_truncated, "stderr", BOOL, err),
};
TABLE(run_truncated);
static const struct json_row run_result_rows[] = {
	F(run_result, "status", STR, status),
	F(run_result, "stdout", STR, out),
	F(run_result, "stderr", STR, err),
	F(run_result, "encoding", STR, encoding),
	F(run_result, "signal", STR, signal),
	F(run_result, "success", BOOL, success),
	F(run_result, "exit_code", I32, exit_code),
	O(run_result, "error", error, run_error),
	O(run_result, "truncated", truncated, run_truncated),
};
TABLE(run_result);

const char *answer_shorten(const char *text, bool base64, bool *cut, struct arena *a)
{
	size_t len = text ? strlen(text) : 0, head = SHOWN_MAX / 2, tail = len - SHOWN_MAX / 2;

	if (len <= SHOWN_MAX)
		return text ? text : "";
	*cut = true;
	if (base64)
		return arena_strndup(a, text, SHOWN_MAX);
	while (head && ((unsigned char)text[head] & 0xc0) == 0x80)
		head--;
	while (tail < len && ((unsigned char)text[tail] & 0xc0) == 0x80)
		tail++;
	return arena_printf(a, "%.*s\n[… %zu bytes are left out here …]\n%s", (int)head, text,
			    tail - head, text + tail);
}

static void member(struct buf *b, const char *key, const char *text)
{
	buf_printf(b, ",\"%s\":", key);
	if (text)
		json_write_string(b, text);
	else
		buf_str(b, "null");
}

/* As it stands in the child's object. */
static void member_as_is(struct buf *b, const char *key, struct json_span object)
{
	struct json_span value = json_span_in(object, key);

	if (!value.text)
		return;
	buf_printf(b, ",\"%s\":", key);
	buf_add(b, value.text, value.len);
}

static const char *run_object(struct call *c, const struct run_result *r, struct json_span said,
			      struct values_images *images)
{
	bool base64 = r->encoding && str_eq(r->encoding, "base64");
	bool cut[2] = {r->truncated.out, r->truncated.err};
	struct buf b = buf_new(&c->arena, ANSWER_MAX);
	const char *out = answer_shorten(r->out, base64, &cut[0], &c->arena);
	const char *err = answer_shorten(r->err, base64, &cut[1], &c->arena);

	buf_printf(&b, "{\"success\":%s", r->success ? "true" : "false");
	member(&b, "status", r->status);
	member(&b, "sandbox_id", c->job.box);
	buf_printf(&b, ",\"exit_code\":%d", r->exit_code);
	member(&b, "signal", r->signal);
	member(&b, "stdout", out);
	member(&b, "stderr", err);
	member(&b, "encoding", r->encoding ? r->encoding : "utf-8");
	buf_printf(&b, ",\"truncated\":{\"stdout\":%s,\"stderr\":%s}", cut[0] ? "true" : "false",
		   cut[1] ? "true" : "false");
	member_as_is(&b, "execution_time", said);
	member(&b, "error",
	       r->error.message ?
		       arena_printf(&c->arena, "%s: %s", r->error.type ? r->error.type : "Error",
				    r->error.message) :
		       NULL);
	member_as_is(&b, "usage", said);
	member_as_is(&b, "denials", said);
	member_as_is(&b, "redactions", said);
	member_as_is(&b, "notes", said);
	values_write(c, said, &b, images);
	buf_char(&b, '}');
	return b.data;
}

/* With images there is no structuredContent: clients that find one drop them. */
static void answer_with_images(struct call *c, const char *object, const struct values_images *v)
{
	struct buf b;
	size_t i;

	result_begin(c, &b);
	buf_str(&b, "\"content\":[{\"type\":\"text\",\"text\":");
	json_write_string(&b, object);
	for (i = 0; i < v->n; i++) {
		buf_printf(&b, "},{\"type\":\"image\",\"mimeType\":\"%s\",\"data\":", v->kinds[i]);
		json_write_string(&b, v->texts[i]);
	}
	buf_str(&b, "}]");
	answer_end(c->server, &b, c->id, &c->arena);
}

static void answer_run(struct call *c, struct json_span said)
{
	struct values_images images = {0};
	struct run_result r = {0};
	const char *object;
	struct error e;

	if (said.len > MESSAGE_MAX) {
		answer_failure(c, "the values of this call have more than 8 MB: show less at once");
		return;
	}
	if (message_read_part("result", said, &run_result_table, &r, &c->arena, &e) < 0 ||
	    !r.status) {
		answer_failure(c, "sbxrun printed no result that can be read");
		return;
	}
	if (str_eq(r.status, "sandbox_error")) {
		answer_failure(c, arena_printf(&c->arena, "%s: %s",
					       r.error.type ? r.error.type : "SandboxError",
					       r.error.message ? r.error.message :
								 "the box could not be used"));
		return;
	}
	object = run_object(c, &r, said, &images);
	if (images.n)
		answer_with_images(c, object, &images);
	else
		answer_object(c, object);
}

/* Trust: the child is ours, but names of files and output are a program's. Only what reads as JSON
 * goes on. */
static bool said_is_json(struct call *c, struct json_span said)
{
	static const struct json_table any = {.name = "any", .size = 1};
	char *document = arena_printf(&c->arena, "{\"v\":%.*s}", (int)said.len, said.text);
	struct error e;
	char object;

	return json_read("result", document, strlen(document), &any, &message_limits, &object,
			 &c->arena, &e) == 0;
}

/* ---- of files and boxes ---- */

struct file_result {
	char *encoding, *content;
	bool success;
	struct run_error error;
};
static const struct json_row file_result_rows[] = {
	F(file_result, "encoding", STR, encoding),
	F(file_result, "content", STR, content),
	F(file_result, "success", BOOL, success),
	O(file_result, "error", error, run_error),
};
TABLE(file_result);

const char *answer_image_kind(const char *base64)
{
	static const struct {
		const char *begins, *mime;
	} kinds[] = {
		{"iVBORw0KGgo", "image/png"},
		{"/9j/", "image/jpeg"},
		{"R0lGOD", "image/gif"},
		{"UklGR", "image/webp"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_after(base64, kinds[i].begins))
			return kinds[i].mime;
	return NULL;
}

static void answer_image(struct call *c, const struct file_result *r)
{
	const char *kind = r->encoding && str_eq(r->encoding, "base64") && r->content ?
				   answer_image_kind(r->content) :
				   NULL;
	struct buf b;

	if (!kind) {
		answer_failure(
			c, "the file is no PNG, JPEG, GIF or WebP; code_read_file reads others");
		return;
	}
	if (strlen(r->content) > VALUES_IMAGE_MAX) {
		answer_failure(c, "the image has more than 3.75 MB: make it smaller by code");
		return;
	}
	/* No structuredContent: clients that find one drop the image. */
	result_begin(c, &b);
	buf_printf(&b, "\"content\":[{\"type\":\"image\",\"mimeType\":\"%s\",\"data\":", kind);
	json_write_string(&b, r->content);
	buf_str(&b, "}]");
	answer_end(c->server, &b, c->id, &c->arena);
}

/* The child's own object, after a look whether it tells of a failure. */
static void answer_file(struct call *c, struct json_span said)
{
	struct file_result r = {0};
	struct error e;
	const char *kind;
	bool base64;

	if (message_read_part("result", said, &file_result_table, &r, &c->arena, &e) < 0) {
		answer_failure(c, "sbxrun printed no result that can be read");
	} else if (r.error.message) {
		answer_failure(c, arena_printf(&c->arena, "%s: %s",
					       r.error.type ? r.error.type : "Error",
					       r.error.message));
	} else if (c->job.answer == ANSWER_FILE) {
		base64 = r.encoding && str_eq(r.encoding, "base64");
		kind = base64 && r.content ? answer_image_kind(r.content) : "text/plain";
		answer_resource(c, kind ? kind : "application/octet-stream",
				r.content ? r.content : "", base64);
	} else if (c->job.answer == ANSWER_FILES) {
		answer_resource(c, "application/json",
				arena_strndup(&c->arena, said.text, said.len), false);
	} else if (c->job.answer == ANSWER_IMAGE) {
		answer_image(c, &r);
	} else if (said.len > CONTENT_MAX) {
		answer_failure(c, "the answer has more than 4 MB: read less at once, by code");
	} else {
		answer_object(c, arena_strndup(&c->arena, said.text, said.len));
	}
}

static void answer_wrapped(struct call *c, const char *key, struct json_span said)
{
	answer_object(c, arena_printf(&c->arena, "{\"%s\":%.*s}", key, (int)said.len, said.text));
}

/* Lines of JSON as a list. */
static void answer_lines(struct call *c, struct json_span said)
{
	struct buf b = buf_new(&c->arena, ANSWER_MAX);
	size_t i;

	buf_char(&b, '[');
	for (i = 0; i < said.len; i++)
		buf_char(&b, said.text[i] == '\n' ? ',' : said.text[i]);
	buf_char(&b, ']');
	if (said_is_json(c, (struct json_span){b.data, b.len}))
		answer_wrapped(c, "events", (struct json_span){b.data, b.len});
	else
		answer_failure(c, "the log of the box can't be read");
}

static void answer_done(struct call *c)
{
	struct buf b = buf_new(&c->arena, ANSWER_MAX);

	buf_str(&b, "{\"success\":true");
	if (c->job.box)
		member(&b, "sandbox_id", c->job.box);
	else
		member(&b, "snapshot", c->args.snapshot);
	buf_char(&b, '}');
	answer_object(c, b.data);
}

/* ---- all of them ---- */

/* A failed child's words, without the names of our program. */
static const char *failure_text(struct call *c)
{
	char *text = c->err.len ? c->err.data : arena_strdup(&c->arena, ""), *line = text, *next;
	size_t len;

	while ((next = strchr(line, '\n')) && next[1])
		line = next + 1;
	len = strcspn(line, "\n");
	line = arena_strndup(&c->arena, line, len);
	if (str_after(line, "sbxrun: "))
		line += strlen("sbxrun: ");
	if (!str_is_utf8(line) || !*line)
		return arena_printf(&c->arena, "sbxrun ended with status %d",
				    child_exit_code(c->status));
	return line;
}

/* Of a box that could not be made, or a list that could not be had. NULL: it is a result, or about
 * a file, which tell more. */
static const char *said_why(struct call *c, struct json_span said)
{
	struct file_result r = {0};
	struct error e;

	if (child_exit_code(c->status) == 0 || !said.len || *said.text != '{' ||
	    json_span_in(said, "status").text || json_span_in(said, "file_path").text ||
	    message_read_part("result", said, &file_result_table, &r, &c->arena, &e) < 0)
		return NULL;
	return r.error.message;
}

static struct json_span said_trim(const struct call *c)
{
	struct json_span said = {c->out.data, c->out.len};

	while (said.len && strchr(" \n", said.text[said.len - 1]))
		said.len--;
	return said;
}

void answer_call(struct call *c)
{
	struct json_span said = said_trim(c);
	const char *why;

	if (!c->id)
		return;
	if (c->late)
		answer_failure(c, "the call took longer than its time, and was ended");
	else if (c->out.overflow)
		answer_failure(c, "the answer is larger than 12 MB: take less at once, by code");
	else if (c->killed)
		answer_failure(c, "the call was ended");
	else if (c->job.answer == ANSWER_DONE && child_exit_code(c->status) == 0)
		answer_done(c);
	else if (c->job.answer == ANSWER_LINES && child_exit_code(c->status) == 0)
		answer_lines(c, said);
	else if (!said.len || !said_is_json(c, said))
		answer_failure(c, failure_text(c));
	else if ((why = said_why(c, said)))
		answer_failure(c, why);
	else if (c->job.answer == ANSWER_RUN)
		answer_run(c, said);
	else if (c->job.answer == ANSWER_LIST)
		answer_wrapped(c, "boxes", said);
	else if (c->job.answer == ANSWER_SNAPSHOTS)
		answer_wrapped(c, "snapshots", said);
	else if (c->job.answer == ANSWER_ROOTS)
		answer_roots(c, said);
	else if (c->job.answer == ANSWER_BOX)
		answer_object(c, arena_strndup(&c->arena, said.text, said.len));
	else
		answer_file(c, said);
}
