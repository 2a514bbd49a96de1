/* Lines of a client of the Model Context Protocol: the message, and what a tool makes of arguments.
 */
#include "fuzz.h"
#include "mcp/message.h"
#include "mcp/tool.h"

static void check_span(const char *text, size_t len, struct json_span s)
{
	DEMAND(!s.text || (s.text >= text && s.len && s.text + s.len <= text + len));
}

/* Words of a command line have an end that is theirs, and the program's own come first. */
static void check_job(const struct job *j)
{
	size_t i, n, dashes;

	DEMAND(j->n && j->n <= STEPS_MAX);
	for (i = 0; i < j->n; i++) {
		const struct strings *v = &j->steps[i].argv;

		DEMAND(v->n > 2 && str_eq(v->v[0], "box") && !v->v[v->n]);
		dashes = v->n;
		for (n = v->n; n--;)
			if (str_eq(v->v[n], "--"))
				dashes = n;
		DEMAND(dashes < v->n);
		for (n = 2; n < dashes; n++)
			DEMAND(v->v[n][0] == '-' || v->v[n - 1][0] == '-');
	}
}

static void check_elements(const char *text, size_t len)
{
	const struct json_span list = {text, len};
	struct json_span one = {0};

	while ((one = json_span_element(list, one)).text)
		check_span(text, len, one);
}

static void plan(struct json_span arguments, size_t which, struct arena *a)
{
	struct tool_args args;
	struct error e;
	struct job job;

	if (tool_plan(&tools[which % n_tools], arguments, which & 1, &args, &job, a, &e) < 0)
		fuzz_check_error(&e);
	else
		check_job(&job);
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct message m;
	struct error e;
	int code = 0;

	check_span(text, len, json_span_member(text, len, "id"));
	check_elements(text, len);
	check_span(text, len, json_span_member(text, len, "params"));
	if (message_parse(text, len, a, &m, &code, &e) < 0) {
		DEMAND(code == RPC_PARSE || code == RPC_REQUEST || code == RPC_PARAMS);
		fuzz_check_error(&e);
	} else {
		DEMAND(m.kind == MESSAGE_NOTIFICATION || m.id);
		check_span(text, len, m.params);
	}
	/* What is an object at all is also taken for arguments. */
	if (len)
		plan((struct json_span){text, len}, (unsigned char)text[len - 1] + len, a);
	if (m.params.text && json_span_in(m.params, "arguments").text)
		plan(json_span_in(m.params, "arguments"), len, a);
}
