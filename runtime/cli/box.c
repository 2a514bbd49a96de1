/* sbxrun box: boxes that stay between calls. Each verb is a row. */
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "box/disk.h"
#include "box/network.h"
#include "box/operator.h"
#include "box/sandbox.h"
#include "box/session.h"
#include "box/snapshot.h"
#include "cli/box.h"
#include "cli/cli.h"
#include "cli/do.h"
#include "cli/foreign.h"
#include "sys/loop.h"

enum { OUTPUT_MAX = 4 << 20, OPTIONS_MAX = 32 };

struct box_verb {
	const char *name;
	const char *synopsis;
	size_t least, most; /* words behind the verb */
	int (*run)(struct cli *c, const char *id, struct error *e);
	const char *options[OPTIONS_MAX]; /* that it takes, by name; all take --audit and --json */
};

static int box_request_of(struct cli *c, struct box_request *q, struct error *e)
{
	return do_begin(c, q, e) < 0 ? -1 : do_env(c, q, e);
}

/* ---- create, destroy ---- */

void box_show_notes(const struct noted *notes)
{
	size_t i;

	for (i = 0; i < notes->notes.n; i++)
		log_warn("%s", notes->notes.v[i]);
}

void box_write_notes(const struct noted *notes, struct buf *b)
{
	size_t i;

	buf_str(b, "\"notes\":[");
	for (i = 0; i < notes->notes.n; i++) {
		buf_str(b, i ? "," : "");
		json_write_string(b, notes->notes.v[i]);
	}
	buf_str(b, "]");
}

int box_create_show(struct cli *c, const char *id, const struct noted *notes, struct error *e)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	struct sandbox_view v = {.id = id, .status = "idle"};

	if ((c->json || c->deed->files.n) && sandbox_open(c->root, id, c->arena, &s, e) < 0)
		return -1;
	if (c->deed->files.n)
		box_deed_made(c, &s);
	if (!c->json) {
		box_show_notes(notes);
		buf_printf(&b, "%s\n", id);
		box_answer(c, &b);
		return 0;
	}
	v.created = s.record.created;
	v.facts = s.facts;
	sandbox_view_network(&v, &s, c->arena);
	sandbox_write(&v, &b);
	b.len--; /* the brace: there is more to say */
	buf_char(&b, ',');
	box_write_notes(notes, &b);
	buf_str(&b, "}\n");
	box_answer(c, &b);
	return 0;
}

static int box_create(struct cli *c, const char *language, struct error *e)
{
	const struct operator_given given = {.memory = c->memory,
					     .cpus = c->cpus,
					     .pids = c->pids_limit,
					     .disk = c->disk,
					     .writable_root = c->writable_root,
					     .timeout = c->timeout,
					     .output = c->output_limit,
					     .allow = c->allow.n > 0,
					     .bytes = c->net_limit != NULL,
					     .rate = c->net_rate != NULL};
	struct noted notes = {.arena = c->arena};
	struct box_request q;
	struct sandbox_wish wish = {.id = c->box_id};
	struct operator_file operator;
	const char *id;
	int64_t idle_ns = 0;
	uint32_t longest;

	if (box_request_of(c, &q, e) < 0)
		return -1;
	q.allow = c->allow;
	q.deny = c->deny;
	if (network_check(&q.allow, &q.deny, e) < 0 || do_limits(c, &q, e) < 0 ||
	    do_volumes(c, &q, e) < 0 || do_ulimits(c, &q, e) < 0 || do_user(c, &q, e) < 0 ||
	    do_duration("idle", c->idle, &idle_ns, c->arena, e) < 0)
		return -1;
	if (operator_read(c->arena, &operator, e) < 0)
		return -1;
	longest = operator.idle_s.set ? operator.idle_s.v : SANDBOX_IDLE_S;
	if (c->idle && (idle_ns < LOOP_SECOND || idle_ns > longest * LOOP_SECOND))
		return err_set(e, ERR_USAGE, "--idle: \"%s\" is not from 1 to %u seconds", c->idle,
			       longest);
	if (language && !(q.language = box_language_find(language)))
		return err_set(e, ERR_USAGE, "there is no language \"%s\" (see sbxrun help do)",
			       language);
	if (operator_hold(&operator, &given, &q, e) < 0 ||
	    operator_hold_rules(&operator, &q.allow, &q.deny, c->arena, e) < 0)
		return -1;
	if (q.pure)
		return err_set(e, ERR_USAGE, "--preset pure: what writes no file needs no box that "
					     "stays: sbxrun do --preset pure");
	if (!language && !q.rootfs)
		return err_set(e, ERR_USAGE, "a language, or --rootfs, says what is in the box");
	wish.idle_s = c->idle ? (uint32_t)(idle_ns / LOOP_SECOND) : longest;
	wish.most = operator.boxes.set ? operator.boxes.v : SANDBOX_MOST;
	if (sandbox_create(&q, &wish, c->arena, &id, &notes, e) < 0)
		return -1;
	return box_create_show(c, id, &notes, e);
}

/* There is nothing to say but that it is done. */
static int box_answer_done(struct cli *c, const char *id)
{
	struct buf b = buf_new(c->arena, OUTPUT_MAX);

	if (!c->json)
		return 0;
	buf_str(&b, "{\"success\":true,\"sandbox_id\":");
	json_write_string(&b, id);
	buf_str(&b, ",\"error\":null}\n");
	box_answer(c, &b);
	return 0;
}

static int box_destroy(struct cli *c, const char *id, struct error *e)
{
	if (sandbox_destroy(c->root, id, c->arena, e) < 0)
		return -1;
	return box_answer_done(c, id);
}

static int box_pause(struct cli *c, const char *id, struct error *e)
{
	if (sandbox_pause(c->root, id, true, c->arena, e) < 0)
		return -1;
	return box_answer_done(c, id);
}

static int box_resume(struct cli *c, const char *id, struct error *e)
{
	if (sandbox_pause(c->root, id, false, c->arena, e) < 0)
		return -1;
	return box_answer_done(c, id);
}

/* A line that is not noted is no failure: that is for --audit. */
void box_log(const struct cli *c, const struct sandbox *s, const struct sandbox_event *ev)
{
	struct error why;

	if (sandbox_log(s, ev, c->arena, &why) < 0)
		log_warn("%s", why.text);
}

static int box_logs(struct cli *c, const char *id, struct error *e)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	struct buf b = buf_new(c->arena, OUTPUT_MAX);

	if (sandbox_open(c->root, id, c->arena, &s, e) < 0 ||
	    sandbox_read_log(&s, &b, c->arena, e) < 0)
		return -1;
	box_answer(c, &b);
	return 0;
}

/* ---- list, gc ---- */

static const char *list_duration(int64_t s, struct arena *a)
{
	return s < 120 ? arena_printf(a, "%llds", (long long)s) :
			 arena_printf(a, "%lldm", (long long)(s / 60));
}

static int box_list(struct cli *c, const char *none, struct error *e)
{
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	struct sandbox_view *v;
	size_t i, n;

	(void)none;
	sandbox_sweep(c->root, true);
	if (sandbox_list(c->root, c->arena, &v, &n, e) < 0)
		return -1;
	if (c->json)
		buf_char(&b, '[');
	else
		buf_printf(&b, "%-24s %-6s %-6s %-12s %s\n", "ID", "STATUS", "IDLE", "LANGUAGE",
			   "ROOTFS");
	for (i = 0; i < n; i++) {
		if (c->json) {
			buf_str(&b, i ? "," : "");
			sandbox_write(&v[i], &b);
			continue;
		}
		buf_printf(&b, "%-24s %-6s %-6s %-12s %s\n", v[i].id, v[i].status,
			   list_duration(v[i].idle_s, c->arena),
			   v[i].facts.language ? v[i].facts.language : "-",
			   v[i].facts.rootfs ? v[i].facts.rootfs : "");
	}
	if (c->json)
		buf_str(&b, "]\n");
	box_answer(c, &b);
	return 0;
}

static int box_gc(struct cli *c, const char *none, struct error *e)
{
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	size_t n = sandbox_sweep(c->root, true);

	(void)none;
	(void)e;
	snapshot_sweep(c->root);
	disk_sweep();
	buf_printf(&b, c->json ? "{\"removed\":%zu}\n" : "%zu removed\n", n);
	box_answer(c, &b);
	return 0;
}

/* ---- exec, run ---- */

/* A box that isn't there is a result, too, for who asked for one. */
void box_call_explain(struct box_result *r, const char *id, const struct error *e,
			 struct arena *a)
{
	if (r->status == BOX_SANDBOX_ERROR && r->error)
		return;
	*r = (struct box_result){
		.id = id,
		.sandbox_id = id,
		.rootfs = "",
		.status = BOX_SANDBOX_ERROR,
		.exit_code = -1,
		.error_class = e->class,
		.error_type = e->class == ERR_NOT_FOUND ? "SandboxNotFound" :
			      e->class == ERR_EXPIRED	? "SandboxExpired" :
			      e->class == ERR_WRONG_STATE ? "SandboxBusy" :
			      e->class == ERR_USAGE	? "UsageError" :
							    "SandboxError",
		.error = arena_strdup(a, e->text),
		.notes = {.arena = a},
	};
}

/* Others may destroy a box, or sweep it, while a verb is at it. Then that is why the verb has
 * failed, whatever it stumbled over. */
static bool box_tell_gone(struct cli *c, const char *id, struct error *e)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	struct error gone;

	if (e->class == ERR_USAGE || sandbox_open(c->root, id, c->arena, &s, &gone) == 0 ||
	    (gone.class != ERR_NOT_FOUND && gone.class != ERR_EXPIRED))
		return false;
	*e = gone;
	c->failure = DO_FAILURE;
	return true;
}

static int call_request(struct cli *c, struct sandbox *s, bool is_command, struct box_request *q,
			int *ret_stdin_fd, struct error *e)
{
	const struct operator_given given = {.timeout = c->timeout, .output = c->output_limit};
	struct operator_file operator;

	/* Below, readers of `do` take them. */
	c->args += 2;
	c->n_args -= 2;
	c->dashes = is_command;
	if (box_request_of(c, q, e) < 0 || do_program(c, q, e) < 0)
		return -1;
	sandbox_request(s, q, c->arena);
	if (operator_read(c->arena, &operator, e) < 0 || do_limits(c, q, e) < 0 ||
	    operator_hold_call(&operator, &given, q, e) < 0 || do_denials(c, q, e) < 0 ||
	    do_stdin(c, q, ret_stdin_fd, e) < 0)
		return -1;
	q->terminal = false;
	return c->session || c->restart ? session_request(c, is_command, q, e) : 0;
}

static int call_run(struct cli *c, const char *id, bool is_command, struct error *e)
{
	struct box_result *r = arena_new(c->arena, struct box_result);
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	autoclose int stdin_fd = -1;
	struct error ignored;
	struct box_request q = {0};
	bool began;
	int result;

	if (sandbox_check_id(id, e) < 0)
		return -1;
	result = sandbox_open(c->root, id, c->arena, &s, e);
	if (result == 0 && call_request(c, &s, is_command, &q, &stdin_fd, e) < 0)
		return -1;
	if (result == 0)
		result = sandbox_lock(&s, loop_now() + q.limits.timeout_ns, c->arena, e);
	began = result == 0;
	if (began) {
		result = c->session ? session_run(&q, c->session, c->restart, c->arena, r, e) :
				      box_do(&q, c->arena, r, e);
		sandbox_touch(&s);
		sandbox_leave(&s);
		box_log(c, &s, &(struct sandbox_event){.verb = is_command ? "exec" : "run",
						       .result = r,
						       .args = q.args,
						       .failed = r->status != BOX_OK});
	}
	if (result < 0 && !c->json && !c->stream) {
		c->failure = r->error ? box_exit_status(r) : DO_FAILURE;
		return -1;
	}
	if (result < 0) {
		if (box_tell_gone(c, id, e))
			r->error = NULL;
		box_call_explain(r, id, e, c->arena);
	}
	c->status = box_exit_status(r);
	sandbox_sweep(c->root, false);
	c->deed->is_recorded = began;
	c->deed->is_shown = true;
	if (began &&
	    do_audit(c, is_command ? "box exec" : "box run", &c->deed->files, &q, r, e) < 0) {
		notes_add(&r->notes.notes, arena_strdup(c->arena, e->text), c->arena);
		(void)!do_show(c, r, &ignored);
		return -1;
	}
	return session_show(c, r, e) < 0 ? -1 : do_show(c, r, e);
}

static int box_exec(struct cli *c, const char *id, struct error *e)
{
	return call_run(c, id, true, e);
}

static int box_run_code(struct cli *c, const char *id, struct error *e)
{
	return call_run(c, id, false, e);
}

/* ---- the verbs ---- */

#define CALL_OPTIONS                                                                               \
	"env", "env-file", "workdir", "stdin", "no-stdin", "timeout", "cpu-time", "output-limit",  \
		"denials", "redact", "redact-rules", "stream"

static const struct box_verb verbs[] = {
	{"create", "[LANGUAGE]", 0, 1, box_create,
	 {"id", "idle", "rootfs", "volume", "env", "env-file", "user", "preset", "memory", "cpus",
	  "pids-limit", "timeout", "cpu-time", "disk", "tmpfs", "writable-root", "output-limit",
	  "file-size", "ulimit", "strict-limits", "allow", "deny", "net-limit", "net-rate"}},
	{"exec", "ID -- COMMAND [ARG…]", 2, SIZE_MAX, box_exec, {CALL_OPTIONS}},
	{"run", "ID LANGUAGE CODE|FILE|- [-- ARG…]", 3, SIZE_MAX, box_run_code,
	 {CALL_OPTIONS, "code", "file", "session", "restart"}},
	{"sessions", "ID", 1, 1, box_list_sessions, {NULL}},
	{"end-session", "ID [NAME]", 1, 2, box_end_session, {NULL}},
	{"install", "ID pypi|npm NAME[==VERSION]", 3, 3, box_install,
	 {"timeout", "output-limit", "redact", "redact-rules", "stream"}},
	{"allow", "ID HOST[:PORT]…", 2, SIZE_MAX, box_allow, {"remove"}},
	{"deny", "ID HOST[:PORT]…", 2, SIZE_MAX, box_deny, {"remove"}},
	{"rules", "ID", 1, 1, box_rules, {NULL}},
	{"write", "ID PATH [FILE|-]", 2, 3, box_write_file, {NULL}},
	{"read", "ID PATH", 2, 2, box_read_file, {NULL}},
	{"ls", "ID [PATH]", 1, 2, box_list_files, {NULL}},
	{"stat", "ID PATH", 2, 2, box_stat_file, {NULL}},
	{"rm-file", "ID PATH", 2, 2, box_remove_file, {NULL}},
	{"diff", "ID", 1, 1, box_diff, {NULL}},
	{"snapshot", "ID NAME", 2, 2, box_snapshot, {NULL}},
	{"snapshots", "[NAME]", 0, 1, box_snapshots, {"remove"}},
	{"fork", "ID|NAME", 1, 1, box_fork, {"id", "idle", "from", "allow", "deny"}},
	{"list", "", 0, 0, box_list, {NULL}},
	{"logs", "ID", 1, 1, box_logs, {NULL}},
	{"pause", "ID", 1, 1, box_pause, {NULL}},
	{"resume", "ID", 1, 1, box_resume, {NULL}},
	{"destroy", "ID", 1, 1, box_destroy, {NULL}},
	{"gc", "", 0, 0, box_gc, {NULL}},
};

/* clang-format off */
static const struct cli_option verb_options[] = {
	CLI_OPTION(box_id, "id", 0, CLI_TEXT, "ID", "create, fork: its name (default: made up)"),
	CLI_OPTION(idle, "idle", 0, CLI_TEXT, "SECONDS", "create, fork: unused for so long, it is removed (default: 3600)"),
	CLI_OPTION(from, "from", 0, CLI_TEXT, "box|snapshot", "fork: what ID|NAME is, where both are there"),
	CLI_OPTION(rootfs, "rootfs", 0, CLI_TEXT, "NAME|DIR", "create: the root filesystem (default: the language's, or the host's /usr)"),
	CLI_OPTION(volumes, "volume", 'v', CLI_LIST, "SOURCE:TARGET[:ro]", "create: show a directory or file of the host in the box"),
	CLI_OPTION(user, "user", 'u', CLI_TEXT, "UID[:GID]", "create: who programs are inside (default: 65534)"),
	CLI_OPTION(preset, "preset", 0, CLI_TEXT, "NAME", "create: limits of another system: default, judge, harombe, openmanus, lesson, research"),
	CLI_OPTION(memory, "memory", 'm', CLI_TEXT, "SIZE", "create: memory, without swap (default: 512m)"),
	CLI_OPTION(cpus, "cpus", 0, CLI_TEXT, "NUMBER", "create: processors (default: 1)"),
	CLI_OPTION(pids_limit, "pids-limit", 0, CLI_TEXT, "NUMBER", "create: processes and threads (default: 64)"),
	CLI_OPTION(disk, "disk", 0, CLI_TEXT, "SIZE", "create: of /workspace, on disk if more than half of the memory (default: that, at most 256m)"),
	CLI_OPTION(tmpfs, "tmpfs", 0, CLI_TEXT, "SIZE", "create: of /tmp (default: 64m)"),
	CLI_OPTION(writable_root, "writable-root", 0, CLI_TEXT, "SIZE", "create: the root can be written to, so much of it"),
	CLI_OPTION(file_size, "file-size", 0, CLI_TEXT, "SIZE", "create: of a file that is written"),
	CLI_OPTION(ulimits, "ulimit", 0, CLI_LIST, "NAME=SOFT[:HARD]", "create: another resource limit"),
	CLI_OPTION(strict_limits, "strict-limits", 0, CLI_FLAG, NULL, "create: fail if a limit can't be held on this host"),
	CLI_OPTION(allow, "allow", 0, CLI_LIST, "HOST[:PORT]", "create, fork: a host that it may reach: a name, *.NAME, an address, a range; @pypi, @npm, @debian"),
	CLI_OPTION(deny, "deny", 0, CLI_LIST, "HOST[:PORT]", "create, fork: one that it may not reach, whatever is allowed"),
	CLI_OPTION(net_limit, "net-limit", 0, CLI_TEXT, "SIZE", "create: bytes that its connections carry, in all"),
	CLI_OPTION(net_rate, "net-rate", 0, CLI_TEXT, "SIZE", "create: bytes in a second"),
	CLI_OPTION(remove, "remove", 0, CLI_FLAG, NULL, "allow, deny: take these rules away; snapshots: remove the one of that name"),
	CLI_OPTION(timeout, "timeout", 't', CLI_TEXT, "SECONDS", "of a call, by the clock; create: of those that don't say (default: 30)"),
	CLI_OPTION(cpu_time, "cpu-time", 0, CLI_TEXT, "SECONDS", "a call's time on processors"),
	CLI_OPTION(output_limit, "output-limit", 0, CLI_TEXT, "SIZE", "of each output stream of a call (default: 1m)"),
	CLI_OPTION(env, "env", 'e', CLI_LIST, "NAME[=VALUE]", "a variable of the environment; create: of all calls"),
	CLI_OPTION(env_file, "env-file", 0, CLI_TEXT, "FILE", "variables, one a line"),
	CLI_OPTION(cwd, "workdir", 'w', CLI_TEXT, "DIR", "exec, run: where it runs (default: /workspace)"),
	CLI_OPTION(stdin_file, "stdin", 0, CLI_TEXT, "FILE", "exec, run: its input (default: ours)"),
	CLI_OPTION(no_stdin, "no-stdin", 0, CLI_FLAG, NULL, "exec, run: it has no input"),
	CLI_OPTION(denials, "denials", 0, CLI_TEXT, "full|calls|none", "exec, run: which refusals to watch for (default: full)"),
	CLI_OPTION(redact, "redact", 0, CLI_FLAG, NULL, "exec, run: take secrets out of the output"),
	CLI_OPTION(redact_rules, "redact-rules", 0, CLI_TEXT, "FILE", "exec, run: further rules for that, as JSON"),
	CLI_OPTION(audit, "audit", 0, CLI_TEXT, "FILE", "append a line about it to a chained file"),
	CLI_OPTION(is_code, "code", 'c', CLI_FLAG, NULL, "run: the word behind the language is code, whatever it looks like"),
	CLI_OPTION(is_file, "file", 0, CLI_FLAG, NULL, "run: that word is a file (default: guessed; with --session, code)"),
	CLI_OPTION(session, "session", 0, CLI_MAYBE, "[=NAME]", "run: in an interpreter that stays, with its variables (default: \"default\")"),
	CLI_OPTION(restart, "restart", 0, CLI_FLAG, NULL, "run: end the session that is there, and begin it anew"),
	CLI_OPTION(json, "json", 0, CLI_FLAG, NULL, "print JSON, and nothing else"),
	CLI_OPTION(stream, "stream", 0, CLI_FLAG, NULL, "exec, run: print events as they happen, a JSON object a line"),
};
/* clang-format on */

static bool option_is_given(const struct cli *c, const struct cli_option *o)
{
	const void *field = (const char *)c + o->offset;

	switch (o->kind) {
	case CLI_FLAG:
		return *(const bool *)field;
	case CLI_TEXT:
	case CLI_MAYBE:
		return *(char *const *)field != NULL;
	case CLI_NUMBER:
		return *(const unsigned int *)field != 0;
	case CLI_LIST:
		return ((const struct strings *)field)->n > 0;
	}
	return false;
}

static bool verb_takes(const struct box_verb *v, const char *option)
{
	size_t i;

	if (str_eq(option, "audit") || str_eq(option, "json"))
		return true;
	for (i = 0; i < OPTIONS_MAX && v->options[i]; i++)
		if (str_eq(v->options[i], option))
			return true;
	return false;
}

static int box_check_options(const struct cli *c, const struct box_verb *v, struct error *e)
{
	const struct cli_option *o;

	for (o = verb_options; o < verb_options + ARRAY_SIZE(verb_options); o++)
		if (option_is_given(c, o) && !verb_takes(v, o->name))
			return err_set(e, ERR_USAGE, "box %s has no --%s", v->name, o->name);
	return 0;
}

/* The object that was asked for, in place of that of the deed. A call's is a result. */
static int box_show_failure(struct cli *c, const struct box_verb *v, const struct error *why,
			    struct error *e)
{
	const char *id = c->deed && c->deed->id ? c->deed->id : "";
	struct box_result *r = arena_new(c->arena, struct box_result);
	struct buf b = buf_new(c->arena, OUTPUT_MAX);

	c->status = c->failure;
	if (!v || !verb_takes(v, "stream")) {
		box_failure_write(c, why, &b);
		return cli_print(&b, e);
	}
	r->limits = box_presets[0].limits;
	box_call_explain(r, id, why, c->arena);
	return do_show(c, r, e);
}

static const struct box_verb *box_find_verb(const struct cli *c)
{
	size_t i;

	for (i = 0; c->n_args && i < ARRAY_SIZE(verbs); i++)
		if (str_eq(verbs[i].name, c->args[0]))
			return &verbs[i];
	return NULL;
}

/* Also where the command line was not understood. */
static void box_fail(struct cli *c, const struct error *e)
{
	struct error ignored;

	c->json = c->json || do_says(c, "--json");
	c->stream = !c->json && (c->stream || do_says(c, "--stream"));
	if (c->json || c->stream)
		(void)!box_show_failure(c, box_find_verb(c), e, &ignored);
}

/* The first word behind it is the id of a box. */
static bool verb_has_box(const struct box_verb *v)
{
	return str_eq(v->synopsis, "ID") || str_after(v->synopsis, "ID ");
}

static int box_run_on(struct cli *c, const struct box_verb *v, struct error *e)
{
	const char *first = c->n_args > 1 ? c->args[1] : NULL;

	if (v->run(c, first, e) == 0)
		return 0;
	/* For others a box is gone when destroy has begun, and why that has failed is its own. */
	if (verb_has_box(v) && v->run != box_destroy)
		box_tell_gone(c, first, e);
	return -1;
}

static int box_do_verb(struct cli *c, const struct box_verb *v, struct error *e)
{
	struct error why;
	int result = box_deed_begin(c, v->name, verb_has_box(v), verb_options,
				    ARRAY_SIZE(verb_options), e);

	if (result == 0)
		result = box_deed_end(c, box_run_on(c, v, e), e);
	c->fails = NULL;
	if (result < 0 && (c->json || c->stream) && !c->deed->is_shown) {
		why = *e;
		return box_show_failure(c, v, &why, e);
	}
	if (result < 0)
		return -1;
	return c->deed->has_answer ? cli_print(&c->deed->answer, e) : 0;
}

static int box_run_verb(struct cli *c, struct error *e)
{
	const struct box_verb *v = box_find_verb(c);
	const char *here = foreign_verb(c->args[0]);
	struct buf all = buf_new(c->arena, sizeof(e->text));
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		buf_printf(&all, "%s%s", i ? ", " : "", verbs[i].name);
	if (!v && here)
		return err_set(e, ERR_USAGE, "box: there is no verb \"%s\" (that is: box %s)",
			       c->args[0], here);
	if (!v)
		return err_set(e, ERR_USAGE, "box: there is no verb \"%s\" (there are %s)",
			       c->args[0], all.data);
	if (c->n_args - 1 < v->least || c->n_args - 1 > v->most)
		return err_set(e, ERR_USAGE, "usage: sbxrun box %s [OPTION…]%s%s", v->name,
			       *v->synopsis ? " " : "", v->synopsis);
	if (box_check_options(c, v, e) < 0)
		return -1;
	return box_do_verb(c, v, e);
}

const struct cli_command cli_box = {
	"box",
	"create [LANGUAGE] | exec ID -- COMMAND [ARG…] | run ID LANGUAGE CODE|FILE|- [-- ARG…] | "
	"install ID pypi|npm NAME[==VERSION] | allow ID HOST[:PORT]… | deny ID HOST[:PORT]… | "
	"rules ID | write ID PATH [FILE|-] | read ID PATH | ls ID [PATH] | stat ID PATH | rm-file ID PATH | "
	"diff ID | snapshot ID NAME | snapshots [NAME] | fork ID|NAME | "
	"sessions ID | end-session ID [NAME] | list | logs ID | pause ID | resume ID | destroy ID | gc",
	"keep a box between calls, and run code in it", verb_options, ARRAY_SIZE(verb_options), 1,
	SIZE_MAX, true, box_run_verb, .failure = DO_FAILURE, .fails = box_fail};
