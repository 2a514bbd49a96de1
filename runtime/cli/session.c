/* sbxrun box: interpreters that stay in a box. */
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/hints.h"
#include "box/sandbox.h"
#include "box/session.h"
#include "cli/box.h"
#include "cli/do.h"
#include "json/json.h"
#include "sys/loop.h"

enum { SESSIONS_MAX = 1 << 20, WAIT_S = 30 };

int session_request(struct cli *c, bool is_command, struct box_request *q, struct error *e)
{
	if (!c->session)
		return err_set(e, ERR_USAGE, "--restart: of which --session?");
	if (is_command)
		return err_set(e, ERR_USAGE,
			       "--session: a command has no variables that could "
			       "stay: box run --session ID LANGUAGE CODE");
	if (session_check_name(c->session, e) < 0)
		return -1;
	if (q->args.n)
		return err_set(e, ERR_USAGE,
			       "--session: its code has no arguments; a variable "
			       "that it sets stays");
	if (c->stdin_file)
		return err_set(e, ERR_USAGE,
			       "--session: it has no standard input; box write puts a "
			       "file into the box");
	if (c->cpu_time)
		return err_set(e, ERR_USAGE,
			       "--session: --cpu-time is none of a call's; --timeout is, "
			       "and box create --cpu-time holds the whole session");
	q->stdin_fd = -1;
	q->session_begins = c->env.n || c->env_file || c->cwd || c->denials;
	return 0;
}

int session_show(const struct cli *c, const struct box_result *r, struct error *e)
{
	const char *text = r->value;
	size_t len = r->value_len;

	if (!text || c->json || c->stream)
		return 0;
	/* A terminal would obey what code has put into a value; a file gets it as it is. */
	if (isatty(STDOUT_FILENO)) {
		text = hint_clean_text(r->value, c->arena);
		len = strlen(text);
	}
	return fd_write_all(STDOUT_FILENO, text, len) < 0 ? err_sys(e, "write to standard output") :
							    0;
}

static int sessions_open(struct cli *c, const char *id, struct sandbox *s, struct error *e)
{
	if (sandbox_open(c->root, id, c->arena, s, e) < 0)
		return -1;
	return sandbox_lock(s, loop_now() + WAIT_S * LOOP_SECOND, c->arena, e);
}

static void sessions_print(const struct cli *c, const struct session_view *v, size_t n,
			   struct buf *b)
{
	size_t i;

	if (!c->json)
		buf_printf(b, "%-32s %-12s %s\n", "SESSION", "LANGUAGE", "CELLS");
	for (i = 0; i < n; i++) {
		if (c->json) {
			buf_str(b, i ? "," : "[");
			session_write(&v[i], b);
		} else {
			buf_printf(b, "%-32s %-12s %u\n", v[i].name, v[i].hello.language,
				   v[i].hello.cells);
		}
	}
	if (c->json)
		buf_str(b, n ? "]\n" : "[]\n");
}

int box_list_sessions(struct cli *c, const char *id, struct error *e)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	struct buf b = buf_new(c->arena, SESSIONS_MAX);
	struct session_view *v;
	size_t n;
	int result;

	/* A keeper talks to one at a time, and so is asked between calls. */
	if (sessions_open(c, id, &s, e) < 0)
		return -1;
	result = session_list(&s, c->arena, &v, &n, e);
	sandbox_leave(&s);
	if (result < 0)
		return -1;
	sessions_print(c, v, n, &b);
	box_answer(c, &b);
	return 0;
}

int box_end_session(struct cli *c, const char *id, struct error *e)
{
	const char *name = c->n_args > 2 ? c->args[2] : SESSION_DEFAULT;
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	struct buf b = buf_new(c->arena, SESSIONS_MAX);
	int result;

	if (session_check_name(name, e) < 0 || sessions_open(c, id, &s, e) < 0)
		return -1;
	result = session_stop(&s, name, c->arena, e);
	box_log(c, &s,
		&(struct sandbox_event){
			.verb = "end-session", .path = name, .failed = result <= 0});
	sandbox_leave(&s);
	if (result < 0)
		return -1;
	if (!result)
		return err_set(e, ERR_NOT_FOUND, "box \"%s\" has no session \"%s\"", id, name);
	buf_str(&b, c->json ? "{\"success\":true}\n" : "");
	box_answer(c, &b);
	return 0;
}
