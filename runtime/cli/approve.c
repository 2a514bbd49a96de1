/* sbxrun approve: what waits for a person's answer, and the answer. What it changes has a line in
 * the files of the audit, those of the policy and --audit, or is not done (approve/record.c). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "approve/approve.h"
#include "base/fd.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/do.h"
#include "sys/child.h"
#include "sys/loop.h"

enum { OUTPUT_MAX = 8 << 20, SHOWN_LIST = 200, SHOWN_ALL = 2 << 20, PROMPT_SHOWN = 8000 };

/* Of this process: there is one command in it. */
static struct strings audits;

static int queue_open(struct cli *c, struct approve_queue *ret, struct error *e)
{
	return approve_queue_open(c->root, &audits, false, ret, e);
}

/* Before somebody is asked, or an answer looked at. */
static int audits_open(struct cli *c, bool changes, struct error *e)
{
	const struct box_request q = {.policy = c->policy_by_name ? NULL : c->policy};

	if (do_audit_files(c, &q, &audits, e) < 0)
		return -1;
	return changes ? do_audit_try(c, &audits, e) : 0;
}

static int64_t left_s(const struct approve_question *x)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return x->until - t.tv_sec;
}

static void question_json(struct buf *b, const struct approve_question *x)
{
	const struct {
		const char *key, *value;
	} texts[] = {
		{"tool", x->tool},   {"box", x->box},	    {"risk", approve_risk_word(x->risk)},
		{"why", x->why},     {"status", x->status}, {"by", x->by},
		{"shown", x->shown}, {"digest", x->digest}, {"scope", approve_scope_word(x->scope)},
		{"most", approve_scope_word(x->most)}};
	size_t i;

	buf_printf(b, "{\"id\":\"%s\",\"uid\":%u,\"left_s\":%lld", x->id, x->uid,
		   (long long)left_s(x));
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		buf_printf(b, ",\"%s\":", texts[i].key);
		if (texts[i].value)
			json_write_string(b, texts[i].value);
		else
			buf_str(b, "null");
	}
	buf_char(b, '}');
}

static int approve_run_list(struct cli *c, struct buf *b, struct error *e)
{
	autoqueue struct approve_queue q = APPROVE_QUEUE_NONE;
	struct approve_question *v = NULL;
	size_t i, n = 0;

	if (queue_open(c, &q, e) < 0) {
		if (e->class != ERR_NOT_FOUND)
			return -1;
	} else if (approve_list(&q, c->arena, &v, &n, e) < 0) {
		return -1;
	}
	if (c->json)
		buf_char(b, '[');
	for (i = 0; i < n; i++) {
		if (c->json) {
			buf_str(b, i ? "," : "");
			question_json(b, &v[i]);
			continue;
		}
		buf_printf(b, "%s  %-8s %-6s %4llds  %s %s\n", v[i].id,
			   approve_risk_word(v[i].risk), v[i].status, (long long)left_s(&v[i]),
			   v[i].tool, v[i].box ? v[i].box : "");
		approve_show(b, v[i].shown, SHOWN_LIST);
	}
	if (c->json)
		buf_str(b, "]\n");
	return 0;
}

static int approve_run_show(struct cli *c, const char *id, struct buf *b, struct error *e)
{
	autoqueue struct approve_queue q = APPROVE_QUEUE_NONE;
	struct approve_question x;

	if (queue_open(c, &q, e) < 0 ||
	    approve_find(&q, id, c->arena, &x, e) < 0)
		return -1;
	if (c->json) {
		question_json(b, &x);
		buf_char(b, '\n');
	} else {
		approve_prompt(&x, false, 0, SHOWN_ALL, b);
	}
	return 0;
}

/* Says what was done. */
static void answer_tell(const struct cli *c, const struct approve_question *x, struct buf *b)
{
	static const char *const goods[] = {
		[SCOPE_ONCE] = "once",
		[SCOPE_BOX] = "and this tool in this box from now on",
		[SCOPE_ALWAYS] = ("and this tool in all boxes of sbxrun mcp until "
				  "sbxrun approve revoke"),
	};

	if (c->json) {
		question_json(b, x);
		buf_char(b, '\n');
		return;
	}
	buf_printf(b, "%s: %s to %s, risk %s", x->id, x->status, x->tool,
		   approve_risk_word(x->risk));
	if (x->box)
		buf_printf(b, ", in box %s", x->box);
	if (str_eq(x->status, "yes"))
		buf_printf(b, ", %s; it has to run within %d seconds", goods[x->scope],
			   APPROVE_GOOD_S);
	buf_char(b, '\n');
}

static int approve_run_answer(struct cli *c, const char *id, bool yes, const char *how,
			      struct buf *b, struct error *e)
{
	autoqueue struct approve_queue q = APPROVE_QUEUE_NONE;
	struct approve_question x;
	enum approve_scope scope;
	const char *who;

	if ((c->for_box || c->always) && !yes)
		return err_set(e, ERR_USAGE, "--%s: it goes with yes",
			       c->for_box ? "for-box" : "always");
	if (c->for_box && c->always)
		return err_set(e, ERR_USAGE, "--for-box, --always: one of them");
	who = arena_printf(c->arena, "%s, uid %u", how, getuid());
	scope = c->always ? SCOPE_ALWAYS : c->for_box ? SCOPE_BOX : SCOPE_ONCE;
	if (queue_open(c, &q, e) < 0 ||
	    approve_answer(&q, id, yes, scope, who, c->arena, &x, e) < 0)
		return -1;
	answer_tell(c, &x, b);
	return 0;
}

/* ---- answers that stay ---- */

static void grant_json(struct buf *b, const struct approve_grant *g)
{
	buf_printf(b, "{\"id\":\"%s\",\"tool\":", g->id);
	json_write_string(b, g->tool);
	buf_str(b, ",\"box\":");
	if (g->box)
		json_write_string(b, g->box);
	else
		buf_str(b, "null");
	buf_printf(b, ",\"risk\":\"%s\",\"by\":", approve_risk_word(g->risk));
	json_write_string(b, g->by);
	buf_str(b, ",\"since\":");
	json_write_string(b, g->since);
	buf_char(b, '}');
}

static int approve_run_grants(struct cli *c, struct buf *b, struct error *e)
{
	autoqueue struct approve_queue q = APPROVE_QUEUE_NONE;
	struct approve_grant *v = NULL;
	size_t i, n = 0;

	if (queue_open(c, &q, e) < 0) {
		if (e->class != ERR_NOT_FOUND)
			return -1;
	} else if (approve_grants(&q, c->arena, &v, &n, e) < 0) {
		return -1;
	}
	buf_str(b, c->json ? "[" : "");
	for (i = 0; i < n; i++) {
		if (c->json) {
			buf_str(b, i ? "," : "");
			grant_json(b, &v[i]);
		} else {
			buf_printf(b, "%s  up to %-8s %s %s, since %s, by %s\n", v[i].id,
				   approve_risk_word(v[i].risk), v[i].tool,
				   v[i].box ? v[i].box : "in all boxes of sbxrun mcp", v[i].since,
				   json_show(v[i].by).text);
		}
	}
	buf_str(b, c->json ? "]\n" : "");
	return 0;
}

static int approve_run_revoke(struct cli *c, const char *id, struct buf *b, struct error *e)
{
	autoqueue struct approve_queue q = APPROVE_QUEUE_NONE;

	if (queue_open(c, &q, e) < 0 || approve_take_back(&q, id, c->arena, e) < 0)
		return -1;
	buf_printf(b, c->json ? "{\"id\":\"%s\"}\n" : "%s: taken back\n", id);
	return 0;
}

/* ---- asking ---- */

static int ask_line(int fd, const struct approve_question *x, char *ret, size_t size)
{
	int64_t until = loop_now() + left_s(x) * LOOP_SECOND;
	ssize_t n;

	while (loop_now() < until)
		if (loop_is_ready(fd, POLLIN, until)) {
			n = read(fd, ret, size - 1);
			if (n <= 0)
				return -1;
			ret[n] = '\0';
			ret[strcspn(ret, "\r\n")] = '\0';
			return 0;
		}
	return -1;
}

static int ask_terminal(struct cli *c, const struct approve_question *x, struct buf *said,
			struct error *e)
{
	autoclose int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	struct winsize size = {0};
	char line[64] = "";

	if (fd < 0)
		return err_sys(e, "there is no terminal to ask at: /dev/tty");
	if (ioctl(fd, TIOCGWINSZ, &size) < 0)
		size.ws_row = 0;
	approve_prompt(x, true, size.ws_row, PROMPT_SHOWN, &b);
	/* Words typed before are no answer to this. */
	tcflush(fd, TCIFLUSH);
	if (fd_write_all(fd, b.data, b.len) < 0)
		return err_sys(e, "write to the terminal");
	if (ask_line(fd, x, line, sizeof(line)) < 0)
		return err_set(e, ERR_USAGE, "nobody answered");
	c->for_box = str_eq(line, "box");
	c->always = str_eq(line, "always");
	return approve_run_answer(
		c, x->id, c->for_box || c->always || str_eq(line, "yes") || str_eq(line, "y"),
		"terminal", said, e);
}

/* It reads the prompt, and its status is the answer. */
static int ask_command(struct cli *c, const struct approve_question *x, struct buf *said,
		       struct error *e)
{
	char *argv[] = {arena_strdup(c->arena, "sh"), arena_strdup(c->arena, "-c"), c->by, NULL};
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	posix_spawn_file_actions_t actions;
	autoclose int in = memfd_create("question", MFD_CLOEXEC);
	int why, status = 1;
	pid_t pid;

	approve_prompt(x, false, 0, SHOWN_ALL, &b);
	if (in < 0 || fd_write_all(in, b.data, b.len) < 0 || lseek(in, 0, SEEK_SET) < 0)
		return err_sys(e, "make the question");
	posix_spawn_file_actions_init(&actions);
	why = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	if (!why)
		why = posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	errno = why;
	if (why)
		return err_sys(e, "--by: start it");
	if (child_collect_within(pid, (int)left_s(x) * 1000, &status, e) < 0) {
		child_end(pid);
		return -1;
	}
	return approve_run_answer(c, x->id, status == 0, "command", said, e);
}

static int approve_run_ask(struct cli *c, const char *id, struct buf *said, struct error *e)
{
	struct approve_queue q = APPROVE_QUEUE_NONE;
	struct approve_question x;
	int found;

	if (queue_open(c, &q, e) < 0)
		return -1;
	found = approve_find(&q, id, c->arena, &x, e);
	approve_queue_close(&q); /* others may answer meanwhile */
	if (found < 0)
		return -1;
	return c->by ? ask_command(c, &x, said, e) : ask_terminal(c, &x, said, e);
}

static int approve_run(struct cli *c, struct error *e)
{
	const char *verb = c->args[0], *id = c->n_args > 1 ? c->args[1] : NULL;
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	int result;

	if (audits_open(c, str_eq(verb, "yes") || str_eq(verb, "no") || str_eq(verb, "ask") ||
				   str_eq(verb, "revoke"),
			e) < 0)
		return -1;
	if (str_eq(verb, "list") && !id)
		result = approve_run_list(c, &b, e);
	else if (str_eq(verb, "show") && id)
		result = approve_run_show(c, id, &b, e);
	else if ((str_eq(verb, "yes") || str_eq(verb, "no")) && id)
		result = approve_run_answer(c, id, str_eq(verb, "yes"), "approve", &b, e);
	else if (str_eq(verb, "ask") && id)
		result = approve_run_ask(c, id, &b, e);
	else if (str_eq(verb, "grants") && !id)
		result = approve_run_grants(c, &b, e);
	else if (str_eq(verb, "revoke") && id)
		result = approve_run_revoke(c, id, &b, e);
	else
		return err_set(e, ERR_USAGE,
			       "usage: sbxrun approve [OPTION…] list | show ID | yes ID | no ID | "
			       "ask ID | grants | revoke GRANT");
	return result < 0 ? -1 : cli_print(&b, e);
}

/* clang-format off */
static const struct cli_option approve_options[] = {
	CLI_OPTION(for_box, "for-box", 0, CLI_FLAG, NULL, "yes: and to this tool in this box from now on"),
	CLI_OPTION(always, "always", 0, CLI_FLAG, NULL, "yes: and to this tool in all boxes of sbxrun mcp, until it is taken back"),
	CLI_OPTION(by, "by", 0, CLI_TEXT, "COMMAND", "ask: by a command that reads the question; status 0 is yes"),
	CLI_OPTION(audit, "audit", 0, CLI_TEXT, "FILE", "append a line about what is answered or taken back to a chained file"),
	CLI_OPTION(json, "json", 0, CLI_FLAG, NULL, "print JSON"),
};
/* clang-format on */
const struct cli_command cli_approve = {"approve",
					"list | show ID | yes ID | no ID | ask ID | grants | "
					"revoke GRANT",
					"answer what an assistant wants to do",
					approve_options,
					ARRAY_SIZE(approve_options),
					1,
					2,
					false,
					approve_run};
