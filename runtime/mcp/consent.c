/*
 * Before a call: whether a person has to be asked, how, and what he said (approve/approve.h). A
 * call that waits for him has no child yet. What he is asked about is bound to the words and the
 * input that will be started; a box that is still to be made counts as "a new one".
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "approve/approve.h"
#include "base/log.h"
#include "base/str.h"
#include "box/audit.h"
#include "json/rows.h"
#include "mcp/server.h"
#include "sys/loop.h"

enum { PROMPT_MAX = 32 << 10, CLIENT_SHOWN_MAX = 4000, SHOWN_MAX = 128 << 10 };

/* ---- what is asked about ---- */

static void digest_add(struct sha256 *s, const char *p, size_t len)
{
	uint64_t n = len;

	sha256_add(s, &n, sizeof(n));
	sha256_add(s, p, len);
}

static void consent_digest(struct call *c)
{
	unsigned char digest[SHA256_BYTES];
	const struct job *j = &c->job;
	struct sha256 s;
	size_t i, n;

	sha256_begin(&s);
	digest_add(&s, c->tool->name, strlen(c->tool->name));
	for (i = 0; i < c->server->o->globals.n; i++)
		digest_add(&s, c->server->o->globals.v[i], strlen(c->server->o->globals.v[i]));
	for (i = 0; i < j->n; i++) {
		digest_add(&s, "step", 4);
		for (n = 0; n < j->steps[i].argv.n; n++) {
			const char *w = j->steps[i].argv.v[n];

			w = j->new_box && str_eq(w, j->box) ? "" : w;
			digest_add(&s, w, strlen(w));
		}
		digest_add(&s, j->steps[i].input ? j->steps[i].input : "", j->steps[i].input_len);
	}
	sha256_end(&s, digest);
	sha256_to_hex(digest, c->digest);
}

static void pair_add(struct pairs *p, struct arena *a, const char *key, const char *value)
{
	size_t cap = p->n;

	if (!value)
		return;
	p->v = arena_grow(a, p->v, &cap, p->n + 1, sizeof(*p->v));
	p->v[p->n++] = (struct pair){arena_strdup(a, key), arena_strdup(a, value)};
}

/* As a shell would have to be told: where a word begins and ends is part of what is asked. */
static void word_quote(struct buf *b, const char *w)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_-+=./,:@%";
	const char *p;

	if (*w && !w[strspn(w, plain)]) {
		buf_str(b, w);
		return;
	}
	buf_char(b, '\'');
	for (p = w; *p; p++)
		if (*p == '\'')
			buf_str(b, "'\\''");
		else
			buf_char(b, *p);
	buf_char(b, '\'');
}

/* All of them. *ret_too_long: nobody is shown less than will run. */
static const char *joined(const struct strings *v, bool quoted, bool *ret_too_long,
			  struct arena *a)
{
	struct buf b = buf_new(a, quoted ? SHOWN_MAX : MESSAGE_MAX);
	size_t i;

	for (i = 0; i < v->n; i++) {
		buf_str(&b, i ? " " : "");
		if (quoted)
			word_quote(&b, v->v[i]);
		else
			buf_str(&b, v->v[i]);
	}
	*ret_too_long |= b.overflow;
	return v->n ? b.data : NULL;
}

/* For patterns as it is, for people so that nothing looks like something else. */
static struct pairs consent_parameters(struct call *c, bool quoted, bool *ret_too_long)
{
	const struct tool_args *g = &c->args;
	struct arena *a = &c->arena;
	struct pairs p = {0};

	*ret_too_long = false;
	pair_add(&p, a, "sandbox_id", g->sandbox_id);
	pair_add(&p, a, "language", g->language);
	pair_add(&p, a, "network_enabled",
		 g->network_enabled.set && g->network_enabled.v ? "true" : "false");
	pair_add(&p, a, "allowed_domains", joined(&g->allowed_domains, quoted, ret_too_long, a));
	pair_add(&p, a, "package", g->package);
	if (str_eq(c->tool->name, "code_install_package"))
		pair_add(&p, a, "registry", g->registry ? g->registry : "pypi");
	pair_add(&p, a, "file_path", g->file_path);
	pair_add(&p, a, "path",
		 !g->path && !quoted && str_eq(c->tool->name, "code_list_files") ? "." : g->path);
	pair_add(&p, a, "session", g->session);
	pair_add(&p, a, "snapshot", g->snapshot);
	pair_add(&p, a, "hosts", joined(&g->hosts, quoted, ret_too_long, a));
	if (g->hosts.n)
		pair_add(&p, a, "remove", g->remove.set && g->remove.v ? "true" : "false");
	pair_add(&p, a, "command", joined(&g->command, quoted, ret_too_long, a));
	if (g->timeout.set)
		pair_add(&p, a, "timeout", arena_printf(a, "%u", g->timeout.v));
	if (g->memory_mb.set)
		pair_add(&p, a, "memory_mb", arena_printf(a, "%u", g->memory_mb.v));
	if (g->cpu_percent.set)
		pair_add(&p, a, "cpu_percent", arena_printf(a, "%u", g->cpu_percent.v));
	if (g->disk_mb.set)
		pair_add(&p, a, "disk_mb", arena_printf(a, "%u", g->disk_mb.v));
	if (g->keep.set)
		pair_add(&p, a, "keep", g->keep.v ? "true" : "false");
	pair_add(&p, a, "code", g->code);
	pair_add(&p, a, "content", g->content);
	return p;
}

/* Trust: all of it is a model's; approve_show() makes it fit to be read. */
static char *consent_text(struct call *c, const struct pairs *p)
{
	struct buf b = buf_new(&c->arena, SHOWN_MAX);
	size_t i;

	for (i = 0; i < p->n; i++) {
		buf_str(&b, b.len ? "\n" : "");
		buf_str(&b, p->v[i].key);
		buf_str(&b, ": ");
		buf_str(&b, p->v[i].value);
	}
	return b.overflow ? NULL : b.data;
}

/* ---- the record ---- */

static int audit_each(struct call *c, const char *outcome, struct arena *a, struct error *e)
{
	char *words[] = {arena_printf(a, "approval=%s", c->approved ? c->approved : "none"),
			 arena_printf(a, "client=%s", c->client.name)};
	const struct audit_entry entry = {
		.uid = getuid(),
		.verb = arena_printf(a, "mcp %s", c->tool->name),
		.id = c->job.box,
		.language = c->args.language,
		.code_sha256 = *c->digest ? c->digest : NULL,
		.status = outcome,
		.exit_code = c->status,
		.args = {.n = 2, .v = words},
	};
	const struct strings *files = &c->server->o->audits;
	const char *found;
	size_t i;

	for (i = 0; i < files->n; i++) {
		found = NULL;
		if (audit_append(&(struct audit_place){.path = files->v[i]}, &entry, a, &found, e) <
		    0)
			return err_wrap(e, "the audit %s has no line about this call",
					files->v[i]);
		if (found)
			log_warn("%s: %s", files->v[i], found);
	}
	return 0;
}

int consent_record(struct call *c, const char *outcome)
{
	struct arena a = {0};
	struct error e;
	int result = 0;

	if (c->tool && c->server->o->audits.n)
		result = audit_each(c, outcome, &a, &e);
	if (result < 0) {
		log_warn("%s", e.text);
		answer_failure(c, e.text);
	}
	arena_free(&a);
	return result;
}

/* ---- asking ---- */

static int queue_open(struct call *c, struct approve_queue *q, struct error *e)
{
	return approve_queue_open(c->server->o->root, &c->server->o->audits, true, q, e);
}

static void schema_write(struct buf *b, bool for_box)
{
	buf_printf(
		b,
		",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"decision\":{"
		"\"type\":\"string\",\"title\":\"Decision\",\"enum\":[\"deny\",\"allow_once\"%s],"
		"\"default\":\"deny\"}},\"required\":[\"decision\"]}",
		for_box ? ",\"allow_for_box\"" : "");
}

static void prompt_write(struct call *c, const struct approve_question *x, bool mode, struct buf *b)
{
	struct buf text = buf_new(&c->arena, PROMPT_MAX);

	approve_prompt(x, false, 0, CLIENT_SHOWN_MAX, &text);
	buf_printf(b, "{%s\"message\":", mode ? "\"mode\":\"form\"," : "");
	json_write_string(b, text.data);
	schema_write(b, x->box && x->most >= SCOPE_BOX);
	buf_char(b, '}');
}

static void ask_legacy(struct call *c, const struct approve_question *x)
{
	struct buf b = buf_new(&c->arena, 4 * PROMPT_MAX);

	c->asking = ++c->server->asked;
	c->deadline = loop_now() + (x->until - x->asked) * LOOP_SECOND;
	buf_printf(&b,
		   "{\"jsonrpc\":\"2.0\",\"id\":\"sbx-%llu\",\"method\":\"elicitation/create\","
		   "\"params\":",
		   (unsigned long long)c->asking);
	prompt_write(c, x, str_eq(c->client.version, "2025-11-25"), &b);
	buf_char(&b, '}');
	line_out_put(&c->server->out, b.data, b.len);
}

/* The call ends; the client repeats it with the answer. */
static int ask_modern(struct call *c, struct approve_queue *q, const struct approve_question *x,
		      struct error *e)
{
	struct buf b = buf_new(&c->arena, 4 * PROMPT_MAX);
	const char *seal;

	if (approve_seal(q, x->id, c->digest, &c->arena, &seal, e) < 0)
		return -1;
	buf_printf(&b,
		   "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"resultType\":\"input_required\","
		   "\"inputRequests\":{\"approval\":{\"method\":\"elicitation/create\",\"params\":",
		   c->id);
	prompt_write(c, x, true, &b);
	buf_printf(&b, "}},\"requestState\":\"%s\"}}", seal);
	if (consent_record(c, "asked") == 0)
		line_out_put(&c->server->out, b.data, b.len);
	call_free(c);
	return 0;
}

/* By a child, for it may take its time: `approve ask`. */
static int ask_child(struct call *c, const struct approve_question *x, struct error *e)
{
	const char *mode = c->server->o->ask;
	char **v = arena_array(&c->arena, 8, char *);
	size_t n = 0;

	v[n++] = arena_strdup(&c->arena, "approve");
	if (c->server->o->audit) {
		v[n++] = arena_strdup(&c->arena, "--audit");
		v[n++] = c->server->o->audit;
	}
	if (!str_eq(mode, "terminal")) {
		v[n++] = arena_strdup(&c->arena, "--by");
		v[n++] = arena_strdup(&c->arena, mode);
	}
	v[n++] = arena_strdup(&c->arena, "ask");
	v[n++] = x->id;
	c->question = (struct step){.argv = {.n = n, .v = v}};
	c->by_child = true;
	return call_go(c, e);
}

/* The words that a person has to type: with the state directory, if it is not that of everybody.
 * One with odd characters is quoted for a shell. */
static const char *approve_words(struct call *c)
{
	const struct mcp_options *o = c->server->o;
	bool given = false, plain;
	size_t i;

	for (i = 0; i < o->globals.n && !given; i++) {
		const char *word = o->globals.v[i];

		word += *word == '-' ? 1 + (word[1] == '-') : 0;
		given = str_eq(word, "root") || str_after(word, "root=");
	}
	if (!given || !o->root)
		return "sbxrun approve";
	if (strchr(o->root, '\''))
		return "sbxrun --root DIR approve";
	plain = !o->root[strspn(o->root, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789/._-")];
	return arena_printf(&c->arena, "sbxrun --root %s%s%s approve", plain ? "" : "'", o->root,
			    plain ? "" : "'");
}

static void tell_queue(struct call *c, const struct approve_question *x)
{
	if (consent_record(c, "asked") == 0)
		answer_failure(
			c, arena_printf(&c->arena,
				       "Approval is needed (%s, risk %s: %s). A person has to run "
				       "`%s yes %s` in a terminal within %lld seconds; "
				       "then repeat this very call with approval_id \"%s\". Do not "
				       "repeat it without.",
				       x->id, approve_risk_word(x->risk), x->why,
				       approve_words(c), x->id,
				       (long long)(x->until - x->asked), x->id));
	call_free(c);
}

static const char *ask_channel(const struct call *c)
{
	const char *mode = c->server->o->ask;

	if (!mode)
		return c->client.asks ? "client" : "queue";
	return str_eq(mode, "client") || str_eq(mode, "queue") || str_eq(mode, "terminal") ?
		       mode :
		       "command";
}

static int consent_ask(struct call *c, struct approve_queue *q, const struct approve_judgement *j,
		       struct error *e)
{
	const char *mode = c->server->o->ask;
	bool too_long;
	struct pairs p = consent_parameters(c, true, &too_long);
	struct approve_question x = {
		.channel = ask_channel(c),
		.client = *c->client.name ? c->client.name : NULL,
		.tool = arena_strdup(&c->arena, c->tool->name),
		.box = c->job.new_box || !c->job.box ? NULL : arena_strdup(&c->arena, c->job.box),
		.risk = j->risk,
		.why = arena_strdup(&c->arena, j->why),
		.shown = consent_text(c, &p),
		.digest = c->digest,
		.most = j->most,
	};

	if (too_long || !x.shown)
		return err_set(e, ERR_USAGE,
			       "this is too long for a person to be asked about it: "
			       "write less at once");
	if (approve_ask(q, &x, j->timeout_s, &c->arena, e) < 0)
		return -1;
	c->asked_id = x.id;
	if (mode && !str_eq(mode, "client") && !str_eq(mode, "queue")) {
		approve_queue_close(q);
		return ask_child(c, &x, e);
	}
	if ((mode && str_eq(mode, "queue")) || (!mode && !c->client.asks))
		tell_queue(c, &x);
	else if (!c->client.asks)
		return err_set(e, ERR_USAGE, "the client can't ask its user (elicitation)");
	else if (c->modern)
		return ask_modern(c, q, &x, e);
	else
		ask_legacy(c, &x);
	return 0;
}

/* ---- answers ---- */

/* Exactly these words, in an answer that was accepted. */
static int answer_read(struct json_span result, bool *ret_yes, enum approve_scope *ret_scope,
		       struct arena *a)
{
	char *action = message_text(json_span_in(result, "action"), a);
	char *decision = message_text(json_span_in(json_span_in(result, "content"), "decision"), a);

	if (!action)
		return -1;
	*ret_scope = decision && str_eq(decision, "allow_for_box") ? SCOPE_BOX : SCOPE_ONCE;
	*ret_yes = str_eq(action, "accept") && decision &&
		   (*ret_scope == SCOPE_BOX || str_eq(decision, "allow_once"));
	return 0;
}

static void consent_refuse(struct call *c, const char *text)
{
	if (consent_record(c, "denied") == 0)
		answer_failure(c, arena_printf(&c->arena,
					       "Denied: %s. Do not repeat it; do something else, "
					       "or ask the person you work for.",
					       text));
	call_free(c);
}

/* Uses the answer and goes on. */
static int consent_use(struct call *c, struct approve_queue *q, const char *id, struct error *e)
{
	struct approve_question x;

	if (approve_take(q, id, c->digest, &c->arena, &x, e) < 0)
		return -1;
	c->approved = arena_printf(&c->arena, "%s by %s", x.id, x.by ? x.by : "somebody");
	if (approve_grant(q, &x, &c->arena, e) < 0)
		return -1;
	approve_queue_close(q);
	c->asking = 0;
	c->deadline = LOOP_NEVER;
	server_go(c);
	return 0;
}

static int answer_use(struct call *c, struct approve_queue *q, const char *id, bool yes,
		      enum approve_scope scope, struct error *e)
{
	struct approve_question x;
	const char *by = arena_printf(&c->arena, "client %s", c->client.name);

	if (approve_answer(q, id, yes, scope, by, &c->arena, &x, e) < 0)
		return -1;
	return consent_use(c, q, id, e);
}

/* Reads a modern client's answer. 1: none, so it is asked. */
static int consent_resume(struct call *c, struct approve_queue *q, struct error *e)
{
	struct json_span answer = json_span_in(c->responses, "approval");
	const char *id = approve_unseal(q, c->state, c->digest, &c->arena);
	enum approve_scope scope = SCOPE_ONCE;
	struct approve_question x;
	bool yes = false;

	if (!id)
		return err_set(e, ERR_USAGE, "requestState is not what this call was given");
	if (approve_find(q, id, &c->arena, &x, e) < 0)
		return -1;
	if (str_eq(x.status, "asked") &&
	    (!answer.text || answer_read(answer, &yes, &scope, &c->arena) < 0))
		return ask_modern(c, q, &x, e);
	return str_eq(x.status, "asked") ? answer_use(c, q, id, yes, scope, e) :
					   consent_use(c, q, id, e);
}

static int consent_try(struct call *c, const struct approve_judgement *j, struct error *e)
{
	autoqueue struct approve_queue q = APPROVE_QUEUE_NONE;
	enum approve_scope granted;

	if (queue_open(c, &q, e) < 0)
		return -1;
	if (c->args.approval_id)
		return consent_use(c, &q, c->args.approval_id, e);
	if (c->modern && c->state)
		return consent_resume(c, &q, e);
	granted = approve_is_granted(&q, c->tool->name, c->job.new_box ? NULL : c->job.box, j,
				     &c->arena);
	if (granted) {
		c->approved = granted == SCOPE_BOX ? "for the box" : "for good";
		approve_queue_close(&q);
		server_go(c);
		return 0;
	}
	return consent_ask(c, &q, j, e);
}

void consent_begin(struct call *c)
{
	bool too_long;
	struct pairs p = consent_parameters(c, false, &too_long);
	struct approve_call spelt;
	struct approve_judgement j;
	struct error e;
	size_t i;

	consent_digest(c);
	/* A call without a record is not run. */
	for (i = 0; i < c->server->o->audits.n; i++)
		if (audit_try(&(struct audit_place){.path = c->server->o->audits.v[i]}, &c->arena,
			      &e) < 0) {
			answer_failure(c, e.text);
			call_free(c);
			return;
		}
	if (c->server->o->ask && str_eq(c->server->o->ask, "none")) {
		server_go(c);
		return;
	}
	spelling_read(&c->args, &p, &spelt, &c->arena);
	j = approve_judge(c->server->o->rules, c->tool->name, &spelt);
	if (j.denied)
		consent_refuse(
			c, arena_printf(&c->arena, "the operator's rules forbid it (%s)", j.why));
	else if (j.risk == RISK_LOW && !too_long)
		server_go(c);
	else if (consent_try(c, &j, &e) < 0)
		consent_refuse(c, e.text);
}

/* ---- while somebody is asked ---- */

void consent_hear(struct server *s, const struct message *m, struct arena *a)
{
	unsigned long long number = 0;
	enum approve_scope scope = SCOPE_ONCE;
	bool yes = false;
	struct call *c = NULL;
	struct error e;
	size_t i;

	if (!m->id || sscanf(m->id, "\"sbx-%llu\"", &number) != 1 || !number)
		return;
	for (i = 0; i < CALLS_MAX && !c; i++)
		if (s->calls[i] && s->calls[i]->asking == number)
			c = s->calls[i];
	if (!c)
		return;
	autoqueue struct approve_queue q = APPROVE_QUEUE_NONE;

	if (m->result.text && answer_read(m->result, &yes, &scope, a) < 0)
		yes = false;
	if (queue_open(c, &q, &e) < 0 || answer_use(c, &q, c->asked_id, yes, scope, &e) < 0) {
		approve_queue_close(&q);
		consent_refuse(c, e.text);
	}
}

void consent_child_done(struct call *c)
{
	autoqueue struct approve_queue q = APPROVE_QUEUE_NONE;
	struct error e;

	c->by_child = false;
	if (queue_open(c, &q, &e) < 0 || consent_use(c, &q, c->asked_id, &e) < 0) {
		approve_queue_close(&q);
		consent_drop(c);
		consent_refuse(c, e.text);
	}
}

void consent_drop(struct call *c)
{
	autoqueue struct approve_queue q = APPROVE_QUEUE_NONE;
	struct error ignored;

	if (c->asked_id && approve_queue_open(c->server->o->root, &c->server->o->audits, false, &q,
					      &ignored) == 0)
		approve_forget(&q, c->asked_id);
}

/* Somebody else may have answered: `sbxrun approve`. */
void consent_look(struct call *c, int64_t now)
{
	autoqueue struct approve_queue q = APPROVE_QUEUE_NONE;
	struct approve_question x;
	struct error e;

	if (now >= c->deadline) {
		consent_drop(c);
		consent_refuse(c, "nobody answered in time");
		return;
	}
	if (queue_open(c, &q, &e) < 0 || approve_find(&q, c->asked_id, &c->arena, &x, &e) < 0 ||
	    str_eq(x.status, "asked"))
		return;
	if (consent_use(c, &q, c->asked_id, &e) < 0) {
		approve_queue_close(&q);
		consent_refuse(c, e.text);
	}
}
