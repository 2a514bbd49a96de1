/*
 * The server: a loop that never waits for anybody in particular, and a table of methods. Each row
 * says in which eras there is the method and what one must be to ask it; a method is answered at
 * once or becomes a call.
 *
 * Eras. Legacy clients say `initialize` first, and what they can then. Modern ones say it with
 * every request, in params._meta; nothing is remembered of them.
 */
#include "mcp/server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "box/operator.h"
#include "json/rows.h"
#include "security/caps.h"
#include "sys/loop.h"

#define META "io.modelcontextprotocol/"
#define MODERN "2026-07-28"

enum { END_MS = 2000, LIST_MAX = 1 << 20, ROUND_MS = 1000, BURST_MAX = 64 };

/* The newest first: that is what a client gets that asks for none of them. */
static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

static const char instructions[] =
	"Runs untrusted code in boxes: sandboxes with limits, no network unless hosts are named, and "
	"a directory /workspace that stays between calls. code_execute without sandbox_id makes a "
	"box and names it; give that id to go on in it. When a result lists denials, do what their "
	"hints say instead of trying the same again.";

/* ---- params ---- */

struct client_info {
	char *name;
};
static const struct json_row client_info_rows[] = {F(client_info, "name", STR, name)};
TABLE(client_info);

struct initialize_params {
	char *version;
	struct client_info client;
};
static const struct json_row initialize_params_rows[] = {
	F(initialize_params, "protocolVersion", STR, version),
	O(initialize_params, "clientInfo", client, client_info),
};
TABLE(initialize_params);

struct call_params {
	char *name, *state;
};
static const struct json_row call_params_rows[] = {
	F(call_params, "name", STR, name),
	F(call_params, "requestState", STR, state),
};
TABLE(call_params);

struct page_params {
	char *cursor;
};
static const struct json_row page_params_rows[] = {F(page_params, "cursor", STR, cursor)};
TABLE(page_params);

/* Form is what an empty capability means. */
static bool client_asks(struct json_span capabilities)
{
	struct json_span e = json_span_in(capabilities, "elicitation");

	return json_span_is_object(e) &&
	       (json_span_in(e, "form").text || !json_span_in(e, "url").text);
}

/* Trust: the name is the client's; it is told to people. */
static void client_name(struct client *c, const char *name)
{
	snprintf(c->name, sizeof(c->name), "%s", json_show(name ? name : "").text);
}

/* ---- methods ---- */

static void capabilities_write(struct buf *b, bool modern)
{
	buf_str(b, modern ?
			   "\"capabilities\":{\"tools\":{},\"resources\":{}}" :
			   "\"capabilities\":{\"tools\":{\"listChanged\":false},\"resources\":{}}");
	buf_str(b, ",\"instructions\":");
	json_write_string(b, instructions);
}

static void method_initialize(const struct request *q)
{
	struct server *s = q->server;
	struct initialize_params p = {0};
	struct buf b = buf_new(q->arena, LIST_MAX);
	struct error e;
	size_t i;

	if (message_read_part("params", q->message->params, &initialize_params_table, &p, q->arena,
			      &e) < 0 ||
	    (!p.version && err_set(&e, ERR_USAGE, "params.protocolVersion: it is missing"))) {
		answer_error(s, q->message->id, RPC_PARAMS, e.text, NULL, q->arena);
		return;
	}
	for (i = ARRAY_SIZE(versions) - 1; i && !str_eq(versions[i], p.version); i--)
		;
	s->client = (struct client){.known = true};
	snprintf(s->client.version, sizeof(s->client.version), "%s", versions[i]);
	client_name(&s->client, p.client.name);
	s->client.asks = client_asks(json_span_in(q->message->params, "capabilities"));
	answer_begin(&b, s, q->message->id, false);
	buf_printf(&b, "\"protocolVersion\":\"%s\",", versions[i]);
	capabilities_write(&b, false);
	buf_str(&b, ",\"serverInfo\":{\"name\":\"sbxrun\",\"title\":\"sbxrun\",\"version\":");
	json_write_string(&b, s->o->version);
	buf_char(&b, '}');
	answer_end(s, &b, q->message->id, q->arena);
}

static void method_discover(const struct request *q)
{
	struct buf b = buf_new(q->arena, LIST_MAX);

	answer_begin(&b, q->server, q->message->id, true);
	buf_str(&b, "\"supportedVersions\":[\"" MODERN "\"],");
	capabilities_write(&b, true);
	answer_cache(&b, true, 3600000, true);
	answer_end(q->server, &b, q->message->id, q->arena);
}

static void method_ping(const struct request *q)
{
	struct buf b = buf_new(q->arena, LIST_MAX);

	answer_begin(&b, q->server, q->message->id, false);
	answer_end(q->server, &b, q->message->id, q->arena);
}

/* All fits one page, so there is no cursor that could be right but the empty one. */
static bool page_is_first(const struct request *q)
{
	struct page_params p = {0};
	struct error e = {0};

	if (message_read_part("params", q->message->params, &page_params_table, &p, q->arena, &e) <
		    0 ||
	    (p.cursor && *p.cursor)) {
		answer_error(q->server, q->message->id, RPC_PARAMS,
			     *e.text ? e.text : "cursor: there is no such page", NULL, q->arena);
		return false;
	}
	return true;
}

static void method_tools(const struct request *q)
{
	struct buf b = buf_new(q->arena, LIST_MAX);
	size_t i;

	if (!page_is_first(q))
		return;
	answer_begin(&b, q->server, q->message->id, q->modern);
	buf_str(&b, "\"tools\":[");
	for (i = 0; i < n_tools; i++) {
		buf_str(&b, i ? "," : "");
		tool_write(&tools[i], &b);
	}
	buf_char(&b, ']');
	answer_cache(&b, q->modern, 3600000, true);
	answer_end(q->server, &b, q->message->id, q->arena);
}

static void method_resources(const struct request *q)
{
	if (page_is_first(q))
		resource_list(q);
}

static void method_templates(const struct request *q)
{
	if (page_is_first(q))
		resource_templates(q);
}

/* Nothing is ever told on it; it stays open until it is cancelled or all ends. */
static void method_listen(const struct request *q)
{
	struct buf b = buf_new(q->arena, LIST_MAX);

	buf_printf(&b,
		   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
		   "\"params\":{\"_meta\":{\"" META "subscriptionId\":%s},\"notifications\":{}}}",
		   q->message->id);
	line_out_put(&q->server->out, b.data, b.len);
}

struct call *server_new_call(const struct request *q)
{
	struct json_span token = json_span_in(q->meta, "progressToken"), given;
	struct call *c = call_new(q->server, q->message->id, q->modern);

	if (!c) {
		answer_error(q->server, q->message->id, RPC_INTERNAL,
			     "64 calls run already: wait for one of them", NULL, q->arena);
		return NULL;
	}
	c->client = q->client;
	c->state = message_text(json_span_in(q->message->params, "requestState"), &c->arena);
	given = json_span_in(q->message->params, "inputResponses");
	if (json_span_is_object(given))
		c->responses = (struct json_span){arena_strndup(&c->arena, given.text, given.len),
						  given.len};
	if (token.text && token.len <= MESSAGE_ID_MAX)
		c->progress = arena_strndup(&c->arena, token.text, token.len);
	return c;
}

/* A model's wishes for a box, held against the operator's file as it is now. */
static int call_hold(struct call *c, struct error *e)
{
	const struct operator_models wish = {.memory_mb = c->args.memory_mb,
					     .cpu_percent = c->args.cpu_percent,
					     .disk_mb = c->args.disk_mb};
	struct operator_file f;

	if (!wish.memory_mb.set && !wish.cpu_percent.set && !wish.disk_mb.set)
		return 0;
	if (operator_read(&c->arena, &f, e) < 0)
		return -1;
	return operator_hold_model(&f, &wish, e);
}

static void method_call(const struct request *q)
{
	struct json_span arguments = json_span_in(q->message->params, "arguments");
	struct call_params p = {0};
	const struct tool *tool;
	struct error e;
	struct call *c;
	char *copy;

	if (message_read_part("params", q->message->params, &call_params_table, &p, q->arena, &e) <
		    0 ||
	    (!p.name && err_set(&e, ERR_USAGE, "params.name: it is missing")) ||
	    (!(tool = tool_find(p.name)) &&
	     err_set(&e, ERR_USAGE, "Unknown tool: %s", json_show(p.name).text))) {
		answer_error(q->server, q->message->id, RPC_PARAMS, e.text, NULL, q->arena);
		return;
	}
	c = server_new_call(q);
	if (!c)
		return;
	c->tool = tool;
	copy = arguments.text ? arena_strndup(&c->arena, arguments.text, arguments.len) : NULL;
	if (tool_plan(tool, (struct json_span){copy, copy ? arguments.len : 0}, !q->server->o->raw,
		      &c->args, &c->job, &c->arena, &e) < 0 ||
	    call_hold(c, &e) < 0) {
		answer_failure(c, e.text);
		call_free(c);
		return;
	}
	server_begin(c);
}

static void method_cancelled(const struct request *q)
{
	struct json_span id = json_span_in(q->message->params, "requestId");
	size_t i;

	for (i = 0; id.text && i < CALLS_MAX; i++) {
		struct call *c = q->server->calls[i];

		if (c && c->id && strlen(c->id) == id.len && memcmp(c->id, id.text, id.len) == 0) {
			if (!c->asking) {
				call_cancel(c);
				return;
			}
			consent_drop(c);
			c->id = NULL;
			consent_record(c, "cancelled");
			call_free(c);
		}
	}
}

/* Askers: anybody, who has said initialize, who says who he is each time. */
enum { LEGACY = 1, MODERN_ERA = 2, FIRST = 4 };

static const struct method {
	const char *name;
	unsigned int eras;
	void (*serve)(const struct request *q);
} methods[] = {
	{"initialize", LEGACY | FIRST, method_initialize},
	{"ping", LEGACY | FIRST, method_ping},
	{"server/discover", MODERN_ERA, method_discover},
	{"tools/list", LEGACY | MODERN_ERA, method_tools},
	{"tools/call", LEGACY | MODERN_ERA, method_call},
	{"resources/list", LEGACY | MODERN_ERA, method_resources},
	{"resources/templates/list", LEGACY | MODERN_ERA, method_templates},
	{"resources/read", LEGACY | MODERN_ERA, resource_read},
	{"subscriptions/listen", MODERN_ERA, method_listen},
};

/* ---- calls ---- */

static void call_end(struct call *c)
{
	if (c->job.n && c->job.steps[0].creates && c->at == 0 && !c->job.keep)
		keeper_box_ended(&c->server->keeper, c->job.box);
	call_free(c);
}

void server_begin(struct call *c)
{
	consent_begin(c);
}

void server_go(struct call *c)
{
	struct error e;

	if (call_go(c, &e) < 0) {
		answer_failure(c, e.text);
		call_end(c);
	}
}

void server_step_done(struct call *c)
{
	const struct step *step = &c->job.steps[c->at];
	struct error e;

	if (c->by_child && !c->killed) {
		consent_child_done(c);
		return;
	}
	if (step->destroys && c->status == 0)
		keeper_box_ended(&c->server->keeper, c->job.box);
	/* A box that was made for a call that nobody waits for has no name that anybody knows: it
	 * goes with the server, or by itself. */
	if (c->status == 0 && !c->killed && c->at + 1 < c->job.n) {
		c->at++;
		if (call_go(c, &e) == 0)
			return;
		if (consent_record(c, "error") == 0)
			answer_failure(c, e.text);
		call_free(c);
		return;
	}
	if (c->by_child)
		consent_drop(c);
	if (consent_record(c, c->cancelled ? "cancelled" : c->status == 0 ? "ok" : "error") == 0)
		answer_call(c);
	call_free(c);
}

void server_tell_progress(struct call *c, unsigned int seconds)
{
	struct buf b = buf_new(&c->arena, LIST_MAX);

	/* A client that doesn't read is told no more than he needs. */
	if (!c->progress || !c->id || line_out_pending(&c->server->out))
		return;
	buf_printf(&b,
		   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
		   "\"progressToken\":%s,\"progress\":%u,\"message\":\"running for %u s\"}}",
		   c->progress, seconds, seconds);
	line_out_put(&c->server->out, b.data, b.len);
}

/* ---- which era, and what may be asked in it ---- */

static int modern_client(struct request *q, const char *version, const char **ret_data,
			 struct error *e)
{
	struct json_span capabilities = json_span_in(q->meta, META "clientCapabilities");
	struct json_span info = json_span_in(q->meta, META "clientInfo");
	struct client_info who = {0};
	struct buf data = buf_new(q->arena, LIST_MAX);

	if (!str_eq(version, MODERN)) {
		buf_str(&data, "{\"supported\":[\"" MODERN "\"],\"requested\":");
		json_write_string(&data, version);
		buf_char(&data, '}');
		*ret_data = data.data;
		err_set(e, ERR_USAGE, "protocol version %s is not " MODERN,
			json_show(version).text);
		return RPC_VERSION;
	}
	if (!json_span_is_object(capabilities)) {
		err_set(e, ERR_USAGE, "params._meta." META "clientCapabilities: it is missing");
		return RPC_PARAMS;
	}
	if (json_span_is_object(info) &&
	    message_read_part("clientInfo", info, &client_info_table, &who, q->arena, e) < 0)
		return RPC_PARAMS;
	q->modern = true;
	q->client = (struct client){.known = true, .asks = client_asks(capabilities)};
	snprintf(q->client.version, sizeof(q->client.version), MODERN);
	client_name(&q->client, who.name);
	return 0;
}

/* 0, or the code of an error. */
static int request_judge(struct request *q, const struct method *m, const char **ret_data,
			 struct error *e)
{
	struct json_span version;
	const char *text;
	int code;

	q->meta = json_span_in(q->message->params, "_meta");
	version = json_span_in(q->meta, META "protocolVersion");
	text = message_text(version, q->arena);
	if (version.text && !text) {
		err_set(e, ERR_USAGE, "params._meta." META "protocolVersion: it is no text");
		return RPC_PARAMS;
	}
	code = text && !(m && m->serve == method_initialize) ? modern_client(q, text, ret_data, e) :
							       0;
	if (code)
		return code;
	if (!m || !(m->eras & (q->modern ? MODERN_ERA : LEGACY | (text ? MODERN_ERA : 0)))) {
		if (m && m->serve == method_discover && !q->server->client.known) {
			err_set(e, ERR_USAGE,
				"params._meta." META "protocolVersion: it is missing");
			return RPC_PARAMS;
		}
		err_set(e, ERR_USAGE, "there is no method %s (versions: " MODERN ", %s to %s)",
			json_show(q->message->method).text, versions[ARRAY_SIZE(versions) - 1],
			versions[0]);
		return RPC_METHOD;
	}
	if (!q->modern && !(m->eras & FIRST)) {
		if (!q->server->client.known) {
			err_set(e, ERR_USAGE,
				"params._meta." META "protocolVersion: it is missing, "
				"and there was no initialize");
			return RPC_PARAMS;
		}
		q->client = q->server->client;
	}
	return 0;
}

static void serve_request(struct server *s, const struct message *m, struct arena *a)
{
	struct request q = {.server = s, .arena = a, .message = m};
	const struct method *method = NULL;
	const char *data = NULL;
	struct error e;
	size_t i;
	int code;

	for (i = 0; i < ARRAY_SIZE(methods) && !method; i++)
		if (str_eq(methods[i].name, m->method))
			method = &methods[i];
	for (i = 0; i < CALLS_MAX; i++)
		if (s->calls[i] && s->calls[i]->id && str_eq(s->calls[i]->id, m->id)) {
			answer_error(s, m->id, RPC_REQUEST, "id: a call of that id runs", NULL, a);
			return;
		}
	code = request_judge(&q, method, &data, &e);
	if (code)
		answer_error(s, m->id, code, e.text, data, a);
	else
		method->serve(&q);
}

static void serve_line(struct server *s, const char *line, size_t len, bool too_long)
{
	struct arena a = {0};
	struct message m;
	struct error e;
	int code = RPC_PARSE;

	if (!too_long && len == strspn(line, " \t\r") && len < 16)
		return; /* between two lines */
	if (too_long) {
		m.id = NULL;
		answer_error(s, m.id, RPC_REQUEST, "a message has more than 8 MB", NULL, &a);
	} else if (message_parse(line, len, &a, &m, &code, &e) < 0) {
		answer_error(s, m.id, code, e.text, NULL, &a);
	} else if (m.kind == MESSAGE_REQUEST) {
		serve_request(s, &m, &a);
	} else if (m.kind == MESSAGE_RESPONSE) {
		consent_hear(s, &m, &a);
	} else if (m.kind == MESSAGE_NOTIFICATION && str_eq(m.method, "notifications/cancelled")) {
		method_cancelled(&(struct request){.server = s, .arena = &a, .message = &m});
	}
	arena_free(&a);
}

/* ---- the loop ---- */

/* A few lines at a time, so that calls get on; and none while the client doesn't read. */
static void serve_lines(struct server *s)
{
	enum line_verdict verdict = LINE_NONE;
	const char *line;
	size_t len, n;

	for (n = 0; n < BURST_MAX && line_out_pending(&s->out) < LINES_PENDING_MAX; n++) {
		verdict = line_in_next(&s->in, &line, &len);
		if (verdict == LINE_NONE)
			return;
		serve_line(s, line, len, verdict == LINE_TOO_LONG);
	}
}

static bool lines_wait(const struct server *s)
{
	return s->in.len > s->in.at &&
	       memchr(s->in.text + s->in.at, '\n', s->in.len - s->in.at) != NULL;
}

static void in_serve(struct crowd_member *m, uint32_t events)
{
	struct server *s = m->context;

	(void)events;
	if (line_in_fill(&s->in) < 0)
		s->in.ended = true;
	serve_lines(s);
}

static void out_serve(struct crowd_member *m, uint32_t events)
{
	struct server *s = m->context;

	if (events & (EPOLLERR | EPOLLHUP))
		s->out.broken = true;
	line_out_flush(&s->out);
}

static void signal_serve(struct crowd_member *m, uint32_t events)
{
	struct server *s = m->context;

	(void)events;
	s->over = true;
}

/* Whether more may be read, and whether somebody waits to be told. */
static int server_settle(struct server *s, struct error *e)
{
	bool reads =
		!s->in.ended && line_out_pending(&s->out) < LINES_PENDING_MAX && !lines_wait(s);
	bool writes = line_out_pending(&s->out) > 0;

	if (!s->in_is_file && crowd_wait_for(s->crowd_fd, &s->in_member, reads ? EPOLLIN : 0) < 0) {
		if (errno != EPERM)
			return err_sys(e, "watch the input");
		s->in_member.events = 0;
		s->in_is_file = true;
	}
	if (!s->out_is_file &&
	    crowd_wait_for(s->crowd_fd, &s->out_member, writes ? EPOLLOUT : 0) < 0) {
		if (errno != EPERM)
			return err_sys(e, "watch the output");
		s->out_is_file = true;
	}
	if (s->in_is_file && reads)
		in_serve(&s->in_member, 0);
	return 0;
}

static int server_run(struct server *s, struct error *e)
{
	int64_t now, until;
	size_t i;
	bool busy;

	while (!s->over && !s->out.broken && !(s->in.ended && !lines_wait(s))) {
		if (server_settle(s, e) < 0)
			return -1;
		busy = lines_wait(s) && line_out_pending(&s->out) < LINES_PENDING_MAX;
		now = loop_now();
		until = LOOP_NEVER;
		for (i = 0; i < CALLS_MAX; i++)
			if (s->calls[i])
				until = now + ROUND_MS * LOOP_MS;
		crowd_round(s->crowd_fd, busy || s->in_is_file ? now : until);
		if (busy)
			serve_lines(s);
		for (i = 0; i < CALLS_MAX; i++)
			if (s->calls[i])
				call_look(s->calls[i], loop_now());
	}
	return 0;
}

/* Calls are told to end, and have ended or not when the keeper looks after them. */
static void server_end(struct server *s)
{
	int64_t until = loop_now() + END_MS * LOOP_MS;
	size_t i;

	for (i = 0; i < CALLS_MAX; i++)
		if (s->calls[i] && s->calls[i]->asking)
			consent_drop(s->calls[i]);
	for (i = 0; i < CALLS_MAX; i++)
		if (s->calls[i])
			call_cancel(s->calls[i]);
	while (!s->out.broken && line_out_pending(&s->out) && loop_now() < until &&
	       !s->out_is_file) {
		crowd_wait_for(s->crowd_fd, &s->in_member, 0);
		crowd_wait_for(s->crowd_fd, &s->out_member, EPOLLOUT);
		crowd_round(s->crowd_fd, until);
	}
	keeper_let(&s->keeper);
	for (i = 0; i < CALLS_MAX; i++)
		if (s->calls[i]) {
			s->calls[i]->pid = -1; /* it ends by itself, and takes its time for that */
			call_free(s->calls[i]);
		}
	line_free(&s->in, &s->out);
}

static int signals_open(struct server *s, struct error *e)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	s->signal_member = (struct crowd_member){
		.fd = signalfd(-1, &ends, SFD_CLOEXEC), .serve = signal_serve, .context = s};
	return s->signal_member.fd < 0 ||
			       crowd_wait_for(s->crowd_fd, &s->signal_member, EPOLLIN) < 0 ?
		       err_sys(e, "watch for signals") :
		       0;
}

/* Root's children get theirs back by execve; with no_new_privs they would not. An ordinary user has
 * none, and his boxes need no program that gives him any. */
static int rights_give_up(struct error *e)
{
	if (geteuid() != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(e, "no_new_privs");
	return caps_apply_final(&(struct cap_sets){0}, e);
}

int mcp_serve(const struct mcp_options *o, struct error *e)
{
	struct server s = {
		.o = o,
		.crowd_fd = crowd_open(),
		.in.fd = STDIN_FILENO,
		.out.fd = STDOUT_FILENO,
		.in_member = {.fd = STDIN_FILENO, .serve = in_serve, .context = &s},
		.out_member = {.fd = STDOUT_FILENO, .serve = out_serve, .context = &s},
		.keeper = KEEPER_NONE,
	};
	int result;

	if (s.crowd_fd < 0)
		return err_sys(e, "epoll_create");
	if (rights_give_up(e) < 0 || signals_open(&s, e) < 0)
		return -1;
	result = server_run(&s, e);
	server_end(&s);
	fd_close(&s.signal_member.fd);
	fd_close(&s.crowd_fd);
	return result;
}
