/*
 * Files of boxes as resources: sbx://BOX/PATH, a directory with a slash behind it. Reading one is
 * the tool code_read_file in another form, and held to the same.
 */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "json/rows.h"
#include "mcp/server.h"

#define SCHEME "sbx://"
enum { URI_MAX = 8192, LIST_MAX = 1 << 20, ROOTS_MOST = 100 };

struct read_params {
	char *uri;
};
static const struct json_row read_params_rows[] = {F(read_params, "uri", STR, uri)};
TABLE(read_params);

void resource_templates(const struct request *q)
{
	struct buf b = buf_new(q->arena, LIST_MAX);

	answer_begin(&b, q->server, q->message->id, q->modern);
	buf_str(&b, "\"resourceTemplates\":[{\"uriTemplate\":\"" SCHEME "{box}/{+path}\","
		    "\"name\":\"box-file\",\"title\":\"A file of a box\",\"description\":"
		    "\"A file below /workspace; a path that ends with a slash is a directory.\"}]");
	answer_cache(&b, q->modern, 3600000, true);
	answer_end(q->server, &b, q->message->id, q->arena);
}

/* The boxes that sbxrun mcp has made, as directories: what is in one is told by reading it, which
 * is a call that somebody may be asked about. */
void resource_list(const struct request *q)
{
	struct call *c = server_new_call(q);
	struct error e;

	if (!c)
		return;
	c->uri = "";
	c->tool = tool_find("box_list");
	if (tool_plan(c->tool, (struct json_span){0}, false, &c->args, &c->job, &c->arena, &e) <
	    0) {
		answer_failure(c, e.text);
		call_free(c);
		return;
	}
	c->job.answer = ANSWER_ROOTS;
	server_begin(c);
}

/* One box of the list; false: it is none of ours, or doesn't run. */
static bool root_write(struct json_span box, bool first, struct buf *b, struct arena *a)
{
	const char *id = message_text(json_span_in(box, "sandbox_id"), a);
	const char *status = message_text(json_span_in(box, "status"), a);
	const char *language = message_text(json_span_in(box, "language"), a);

	if (!id || !str_after(id, APPROVE_OWN_BOX) || !status || str_eq(status, "expired"))
		return false;
	buf_str(b, first ? "{\"uri\":" : ",{\"uri\":");
	json_write_string(b, arena_printf(a, SCHEME "%s/", id));
	buf_str(b, ",\"name\":");
	json_write_string(b, id);
	buf_str(b, ",\"mimeType\":\"application/json\",\"description\":");
	json_write_string(b, arena_printf(a, "Files of this box%s%s, as a list.",
					  language ? ", which is for " : "",
					  language ? language : ""));
	buf_char(b, '}');
	return true;
}

void answer_roots(struct call *c, struct json_span said)
{
	struct buf b = buf_new(&c->arena, LIST_MAX);
	struct json_span box = {0};
	size_t n = 0;

	answer_begin(&b, c->server, c->id, c->modern);
	buf_str(&b, "\"resources\":[");
	while (n < ROOTS_MOST && (box = json_span_element(said, box)).text)
		n += root_write(box, n == 0, &b, &c->arena);
	buf_char(&b, ']');
	answer_cache(&b, c->modern, 0, false);
	answer_end(c->server, &b, c->id, &c->arena);
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 :
				      -1;
}

/* %41 as A. NULL: it is no path. */
static char *path_decode(const char *text, struct arena *a)
{
	char *path = arena_strdup(a, text), *to = path;
	const char *p;

	for (p = text; *p; p++) {
		if (*p != '%') {
			*to++ = *p;
			continue;
		}
		if (hex(p[1]) < 0 || hex(p[2]) < 0 || (hex(p[1]) == 0 && hex(p[2]) == 0))
			return NULL;
		*to++ = (char)(hex(p[1]) * 16 + hex(p[2]));
		p += 2;
	}
	*to = '\0';
	return str_is_utf8(path) ? path : NULL;
}

/* The arguments of the tool that this is. NULL: the URI is none of ours. */
static char *read_arguments(const char *uri, bool *ret_list, struct arena *a)
{
	const char *rest = uri && strlen(uri) <= URI_MAX ? str_after(uri, SCHEME) : NULL;
	const char *slash = rest ? strchr(rest, '/') : NULL;
	char *path = slash ? path_decode(slash + 1, a) : NULL;
	struct buf b = buf_new(a, LIST_MAX);

	if (!path)
		return NULL;
	*ret_list = !*path || str_ends(path, "/");
	buf_str(&b, "{\"sandbox_id\":");
	json_write_string(&b, arena_strndup(a, rest, (size_t)(slash - rest)));
	buf_str(&b, *ret_list ? ",\"path\":" : ",\"file_path\":");
	json_write_string(&b, *path ? path : ".");
	buf_char(&b, '}');
	return b.overflow ? NULL : b.data;
}

void resource_read(const struct request *q)
{
	struct read_params p = {0};
	struct error e;
	struct call *c;
	char *arguments;
	bool lists = false;

	if (message_read_part("params", q->message->params, &read_params_table, &p, q->arena, &e) <
	    0) {
		answer_error(q->server, q->message->id, RPC_PARAMS, e.text, NULL, q->arena);
		return;
	}
	arguments = read_arguments(p.uri, &lists, q->arena);
	if (!arguments) {
		answer_error(q->server, q->message->id, q->modern ? RPC_PARAMS : RPC_NOT_FOUND,
			     "uri: it is not " SCHEME "BOX/PATH", NULL, q->arena);
		return;
	}
	c = server_new_call(q);
	if (!c)
		return;
	c->uri = arena_strdup(&c->arena, p.uri);
	c->tool = tool_find(lists ? "code_list_files" : "code_read_file");
	arguments = arena_strdup(&c->arena, arguments);
	if (tool_plan(c->tool, (struct json_span){arguments, strlen(arguments)}, false, &c->args,
		      &c->job, &c->arena, &e) < 0) {
		answer_failure(c, e.text);
		call_free(c);
		return;
	}
	c->job.answer = lists ? ANSWER_FILES : ANSWER_FILE;
	server_begin(c);
}

void answer_resource(struct call *c, const char *mime, const char *text, bool blob)
{
	struct buf b = buf_new(&c->arena, 2 * CALL_OUTPUT_MAX);

	answer_begin(&b, c->server, c->id, c->modern);
	buf_str(&b, "\"contents\":[{\"uri\":");
	json_write_string(&b, c->uri);
	buf_printf(&b, ",\"mimeType\":\"%s\",\"%s\":", mime, blob ? "blob" : "text");
	json_write_string(&b, text);
	buf_str(&b, "}]");
	answer_cache(&b, c->modern, 0, false);
	answer_end(c->server, &b, c->id, &c->arena);
}
