/*
 * The whole line is read strictly once (json_read() without rows), so that a part of it can be
 * taken as it stands. What is refused has an id all the same, if one can be made out: a client that
 * gets no answer waits for its whole timeout.
 */
#include "mcp/message.h"

#include <string.h>

#include "base/str.h"
#include "json/rows.h"

const struct json_limits message_limits = {
	.bytes = MESSAGE_MAX,
	.depth = JSON_MAX_DEPTH,
	.elements = 65536,
	.string = MESSAGE_MAX,
};

struct envelope {
	char *jsonrpc, *method;
};
static const struct json_row envelope_rows[] = {
	F(envelope, "jsonrpc", STR, jsonrpc),
	F(envelope, "method", STR, method),
};
TABLE(envelope);

struct texts {
	char *text;
};
static const struct json_row texts_rows[] = {F(texts, "text", STR, text)};
TABLE(texts);

char *message_text(struct json_span s, struct arena *a)
{
	struct error ignored;
	struct texts t = {0};
	char *document;

	if (!s.text || *s.text != '"')
		return NULL;
	if (s.len == 2)
		return arena_strdup(a, "");
	document = arena_printf(a, "{\"text\":%.*s}", (int)s.len, s.text);
	return message_read_part("text", (struct json_span){document, strlen(document)},
				 &texts_table, &t, a, &ignored) < 0 ?
		       NULL :
		       t.text;
}

int message_read_part(const char *what, struct json_span part, const struct json_table *table,
		      void *ret, struct arena *a, struct error *e)
{
	return json_read(what, part.text ? part.text : "{}", part.text ? part.len : 2, table,
			 &message_limits, ret, a, e);
}

/* Neither null, nor a fraction, nor longer than anybody needs. */
static const char *id_read(struct json_span s, struct arena *a)
{
	size_t i;

	if (!s.text || !s.len || s.len > MESSAGE_ID_MAX)
		return NULL;
	if (*s.text == '"') {
		for (i = 0; i < s.len; i++)
			if ((unsigned char)s.text[i] < ' ')
				return NULL;
		return message_text(s, a) ? arena_strndup(a, s.text, s.len) : NULL;
	}
	for (i = *s.text == '-'; i < s.len; i++)
		if (s.text[i] < '0' || s.text[i] > '9')
			return NULL;
	return s.len > (*s.text == '-') ? arena_strndup(a, s.text, s.len) : NULL;
}

static int refuse(int code, int *ret_code)
{
	*ret_code = code;
	return -1;
}

static int message_read_kind(const char *line, size_t len, struct message *m, int *ret_code,
			     struct error *e)
{
	bool has_id = json_span_member(line, len, "id").text != NULL;
	struct json_span error = json_span_member(line, len, "error");

	m->params = json_span_member(line, len, "params");
	m->result = json_span_member(line, len, "result");
	m->kind = m->method && has_id ? MESSAGE_REQUEST :
		  m->method	      ? MESSAGE_NOTIFICATION :
					MESSAGE_RESPONSE;
	if (!m->method && !m->result.text && !error.text) {
		err_set(e, ERR_CONFIG, "a message has a method, a result or an error");
		return refuse(RPC_REQUEST, ret_code);
	}
	if (m->kind != MESSAGE_NOTIFICATION && !m->id) {
		err_set(e, ERR_CONFIG,
			"id: it is neither a string nor an integer of at most %d "
			"bytes",
			MESSAGE_ID_MAX);
		return refuse(RPC_REQUEST, ret_code);
	}
	if (m->params.text && !json_span_is_object(m->params)) {
		err_set(e, ERR_CONFIG, "params: it is no object");
		return refuse(m->id ? RPC_PARAMS : RPC_REQUEST, ret_code);
	}
	return 0;
}

int message_parse(const char *line, size_t len, struct arena *a, struct message *ret, int *ret_code,
		  struct error *e)
{
	struct message m = {0};
	struct envelope head = {0};

	while (len && strchr(" \t\r", line[len - 1]))
		len--;
	m.id = id_read(json_span_member(line, len, "id"), a);
	*ret = m;
	if (len && line[strspn(line, " \t\r")] == '[') {
		err_set(e, ERR_CONFIG, "an array of messages is not taken: one message a line");
		return refuse(RPC_REQUEST, ret_code);
	}
	if (json_read("message", line, len, &envelope_table, &message_limits, &head, a, e) < 0)
		return refuse(RPC_PARSE, ret_code);
	m.method = head.method;
	*ret = m;
	if (!head.jsonrpc || !str_eq(head.jsonrpc, "2.0")) {
		err_set(e, ERR_CONFIG, "jsonrpc: it is not \"2.0\"");
		return refuse(RPC_REQUEST, ret_code);
	}
	if (message_read_kind(line, len, &m, ret_code, e) < 0)
		return -1;
	*ret = m;
	return 0;
}
