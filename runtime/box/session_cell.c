/*
 * A call of a session: code goes to its driver, and what comes back until the driver says that it
 * is done is the result. The loop is that of any call (attend.c), of which a session lends the
 * pieces: its output, its reaper's socket, its filter's questions. Only the end is another one:
 *
 *	the driver is done	the session stays
 *	time is up		SIGINT for the interpreter's group; done within the grace, it stays.
 *				Otherwise SIGKILL
 *	the interpreter ends	it was told to by the code, or killed: the session has ended
 *	what comes is no frame	SIGKILL: whatever runs there, it is not the driver any more
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/str.h"
#include "box/running.h"
#include "box/sandbox.h"
#include "box/session.h"
#include "box/session_frame.h"
#include "json/json.h"
#include "sys/proc.h"

enum { CELL_CHUNK = 65536, BETWEEN_MAX = 1 << 20, CELL_TEXT_MAX = 64 << 20 };

struct cell {
	struct session session;
	struct session_frames frames;
	struct outlet code;
	struct loop_source *source;
	uint64_t between[2]; /* bytes that came while no call ran */
	bool is_lost;	     /* the session has ended with this call … */
	bool was_lost;	     /* … or before */
	struct error broken; /* what is wrong with what the driver says */
};

/* ---- during ---- */

static int cell_serve_driver(void *context, short events)
{
	struct running *x = context;
	struct cell *c = x->cell;
	static char data[CELL_CHUNK];
	ssize_t n = read(c->session.driver_fd, data, sizeof(data));

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		c->source->fd = -1; /* its end is told by its reaper */
		return 0;
	}
	if (session_frames_feed(&c->frames, data, (size_t)n, &c->broken) < 0)
		c->source->fd = -1;
	return 0;
}

void session_cell_add(struct running *x)
{
	struct cell *c = x->cell;

	outlet_add(&c->code, c->session.driver_fd, BOX_CODE_MAX + 64, &x->loop);
	c->source = loop_add(&x->loop, c->session.driver_fd, POLLIN, cell_serve_driver, x);
}

static void cell_send(struct running *x)
{
	struct cell *c = x->cell;
	char head[64];
	int n = snprintf(head, sizeof(head), "%u %zu\n", c->frames.id, x->q->code_len);

	outlet_put(&c->code, head, (size_t)n);
	outlet_put(&c->code, x->q->code, x->q->code_len);
}

/* Drops what threads and processes of earlier calls have printed. */
static uint64_t cell_drain(int fd)
{
	static char data[CELL_CHUNK];
	uint64_t all = 0;
	ssize_t n;

	while (all < BETWEEN_MAX && (n = read(fd, data, sizeof(data))) > 0)
		all += (uint64_t)n;
	return all;
}

static void cell_attend(struct running *x)
{
	struct cell *c = x->cell;

	while (!x->has_ended && !c->frames.is_done) {
		if (c->broken.class && x->phase < ENDING)
			run_kill(x);
		run_settle(x);
		run_look_at_clock(x);
		if (loop_round(&x->loop, run_next_moment(x)) < 0) {
			x->phase = ENDING;
			run_kill(x);
			break;
		}
	}
	/* Also of one that has spoken, and then said too much. */
	c->is_lost = x->has_ended || c->broken.class != ERR_NONE || x->phase >= ENDING;
	run_drain(x);
}

/* ---- the end ---- */

static void cell_end_session(struct running *x, struct session_end *ret)
{
	struct cell *c = x->cell;

	session_await_end(&c->session, ret);
	if (session_has_ended_all(ret))
		return;
	/* Nobody says that it has ended with all that it had started. */
	sandbox_kill(x->q->sandbox);
	x->q->sandbox->has_sessions = false;
	if (!sandbox_settle(x->q->sandbox, x->a))
		notes_add(&x->r->notes.notes,
			  arena_strdup(x->a, "what the session has started does not end"), x->a);
}

static void cell_judge_end(struct running *x, const struct session_end *end)
{
	const struct cell *c = x->cell;
	struct box_result *r = x->r;

	run_judge(x, &end->end);
	if (r->timed_out) /* it was asked by SIGINT, and not by the SIGTERM of other calls */
		run_fail(r, "TimeoutError",
			 arena_printf(x->a,
				      "interrupted after %s (SIGINT; --timeout), and killed 2 s "
				      "later, for it went on: the session has ended",
				      run_seconds(x->q->limits.timeout_ns, x->a)));
	if (r->timed_out || r->interrupted || r->status == BOX_OOM)
		return;
	if (c->broken.class) {
		r->status = BOX_SIGNAL;
		r->signal = SIGKILL;
		run_fail(r, "SessionError",
			 arena_printf(x->a,
				      "the session was ended: its interpreter does not speak as "
				      "it should (%s)",
				      c->broken.text));
		return;
	}
	run_fail(r, "SessionEnded",
		 r->signal ? arena_printf(x->a, "the interpreter was killed by %s",
					  box_signal_name(r->signal)) :
			     arena_printf(x->a, "the interpreter has ended with status %d",
					  r->exit_code));
}

static void cell_judge(struct running *x)
{
	const struct cell *c = x->cell;
	struct box_result *r = x->r;

	r->exit_code = c->frames.exit_code;
	r->status = c->frames.ok ? BOX_OK : BOX_ERROR;
	if (r->interrupted) {
		run_fail(r, "Interrupted",
			 arena_printf(x->a, "interrupted, for sbxrun got %s",
				      box_signal_name(r->interrupted)));
		r->status = BOX_ERROR;
	}
	if (!r->timed_out)
		return;
	r->status = BOX_TIMEOUT;
	r->exit_code = -1;
	run_fail(r, "TimeoutError",
		 arena_printf(x->a, "interrupted after %s (SIGINT; --timeout): the session stays",
			      run_seconds(x->q->limits.timeout_ns, x->a)));
}

static void cell_tell(struct running *x)
{
	const struct cell *c = x->cell;
	struct buf b = buf_new(x->a, CELL_TEXT_MAX), value = buf_new(x->a, CELL_TEXT_MAX);
	size_t i;

	buf_str(&b, "\"session\":{\"name\":");
	json_write_string(&b, c->session.name);
	buf_printf(&b,
		   ",\"cell\":%u,\"began\":%s,\"lost\":%s,\"lost_before\":%s,"
		   "\"bytes_between\":{\"stdout\":%llu,\"stderr\":%llu}},",
		   c->frames.id, c->session.is_new ? "true" : "false",
		   c->is_lost ? "true" : "false", c->was_lost ? "true" : "false",
		   (unsigned long long)c->between[0], (unsigned long long)c->between[1]);
	session_frames_write(&c->frames, &b);
	for (i = 0; i < c->frames.n_displays; i++)
		session_value_tell(&c->frames.displays[i], &value);
	if (c->frames.has_result)
		session_value_tell(&c->frames.result, &value);
	x->r->session = b.data;
	x->r->value = value.len ? value.data : NULL;
	x->r->value_len = value.len;
	if (c->is_lost)
		notes_add(&x->r->notes.notes,
			  arena_strdup(x->a, "the session has ended with this call, and its "
					     "variables are gone: the next call begins anew"),
			  x->a);
	if (c->was_lost)
		notes_add(&x->r->notes.notes,
			  arena_strdup(x->a, "the session that was there had ended: this one "
					     "began without its variables"),
			  x->a);
	if (c->between[0] || c->between[1])
		notes_add(&x->r->notes.notes,
			  arena_strdup(x->a, "something that an earlier call has left running "
					     "printed between the calls; it is left out"),
			  x->a);
}

static int cell_finish(struct running *x, const struct created *counted, struct error *e)
{
	struct cell *c = x->cell;
	struct session_end end = {0};
	uint64_t cpu_ns;

	x->r->wall_ns = loop_now() - x->started;
	if (life_cpu_time(counted, &cpu_ns))
		x->r->cpu_ns = cpu_ns;
	life_peaks(counted, &x->r->memory_peak, &x->r->pids_peak);
	workspace_measure(&x->workspace, x->q, x->r);
	run_keep_output(x);
	run_note_lost(x);
	run_tell_network(x);
	later_tell(x->q, &x->later, x->a, &x->r->notes.notes);
	denials_tell(&x->denials, x->r);
	if (c->is_lost)
		cell_end_session(x, &end);
	if (c->is_lost && x->last.kind == REAPER_FAILED)
		return run_explain_start(x, e);
	/* A driver that breaks the rules has no values. */
	if (c->broken.class) {
		session_frames_end(&c->frames);
		session_frames_begin(&c->frames, c->frames.id, x->a);
	}
	if (c->is_lost)
		cell_judge_end(x, &end);
	else
		cell_judge(x);
	if (x->redact)
		session_frames_redact(&c->frames, x->redact);
	run_count_redactions(x);
	cell_tell(x);
	return 0;
}

/* ---- the begin ---- */

/* Each has a process outside of the box, which no limit of the box counts. */
static int cell_check_number(const struct box_request *q, struct arena *a, struct error *e)
{
	struct session_view *v;
	size_t n;

	if (session_list(q->sandbox, a, &v, &n, e) < 0)
		return -1;
	if (n >= SESSION_MOST)
		return err_set(e, ERR_HOST,
			       "box \"%s\" has %zu sessions, which is the most that there may be: "
			       "box end-session %s NAME (box sessions %s shows them)",
			       q->sandbox->id, n, q->sandbox->id, q->sandbox->id);
	return 0;
}

static int cell_open(struct running *x, const char *name, bool restart, struct error *e)
{
	const struct box_request *q = x->q;
	struct cell *c = x->cell;
	int result = 0;

	if (restart && session_stop(q->sandbox, name, x->a, e) < 0)
		return -1;
	result = session_take(q->sandbox, name, x->a, &c->session, &c->was_lost, e);
	if (result < 0)
		return -1;
	if (result == 0) {
		if (cell_check_number(q, x->a, e) < 0)
			return -1;
		if (!q->sandbox->has_sessions) {
			q->sandbox->has_sessions = true;
			sandbox_enter(q->sandbox);
		}
		return session_start(q, name, x->a, &c->session, e);
	}
	if (!str_eq(c->session.hello.language, q->language->name))
		return err_set(e, ERR_USAGE,
			       "session \"%s\" is one of %s: another --session, or --restart, is "
			       "one of %s",
			       name, c->session.hello.language, q->language->name);
	if (q->session_begins)
		return err_set(
			e, ERR_USAGE,
			"session \"%s\" has begun: --env, --workdir and --denials are for the "
			"call that begins it (--restart begins it anew)",
			name);
	return 0;
}

static int cell_check(const struct box_request *q, struct error *e)
{
	if (!session_driver_find(q->language))
		return err_set(e, ERR_USAGE, "there are no sessions of %s", q->language->name);
	if (strlen(q->code) != q->code_len || !str_is_utf8(q->code))
		return err_set(e, ERR_USAGE, "the code of a session must be UTF-8 text");
	if (sandbox_is_paused(q->sandbox->root, q->sandbox->container))
		return err_set(e, ERR_WRONG_STATE, "box \"%s\" is paused: box resume %s",
			       q->sandbox->id, q->sandbox->id);
	return 0;
}

static int cell_run(struct running *x, struct box_request *own, const char *name, bool restart,
		    struct error *e)
{
	struct created counted = {.record = x->q->sandbox->record};
	struct cell *c = x->cell;
	struct session *s = &c->session;
	struct error ignored;
	uint64_t cpu_ns;

	if (cell_check(x->q, e) < 0 || run_join_network(x, e) < 0)
		return -1;
	own->limits.network = x->r->limits.network;
	if (cell_open(x, name, restart, e) < 0)
		return -1;
	if (life_cpu_time(&counted, &cpu_ns))
		counted.cpu_before = cpu_ns;
	session_frames_begin(&c->frames, s->hello.cells + 1, x->a);
	if (loop_is_ready(s->driver_fd, POLLIN, loop_now()))
		err_set(&c->broken, ERR_CONFIG, "something was said between the calls");
	c->between[0] = cell_drain(s->out_fd);
	c->between[1] = cell_drain(s->err_fd);
	x->control[1] = fd_steal(&s->control_fd);
	x->pipes[1][1] = fd_steal(&s->out_fd);
	x->pipes[2][1] = fd_steal(&s->err_fd);
	x->box.pid = s->hello.pid;
	x->box.pidfd = s->reaper_pidfd;
	if (workspace_open(&x->workspace, x->box.pid, x->box.pidfd, &ignored) < 0)
		log_debug("%s", ignored.text);
	denials_open(&x->denials, x->q, &s->judge, fd_steal(&s->listener_fd), x->a);
	x->denials.reaper = s->hello.pid;
	if (x->network.control_fd >= 0)
		x->denials.network = &x->network;
	else if (s->hello.denials == DENIALS_FULL)
		resolver_open(&x->resolver, s->reaper_pidfd, &x->denials);
	run_set_up_loop(x);
	cell_send(x);
	x->started = loop_now();
	x->r->startup_ns = x->started - x->begun;
	cell_attend(x);
	fd_close(&x->control[1]);
	return cell_finish(x, &counted, e);
}

static void cell_close(struct running *x)
{
	struct cell *c = x->cell;
	struct session_end end;
	size_t i;

	if (c->session.sock >= 0 && !c->is_lost) {
		if (c->frames.is_done || !x->started)
			session_leave(&c->session, c->frames.is_done);
		else
			session_await_end(&c->session, &end);
	}
	session_close(&c->session);
	session_frames_end(&c->frames);
	outlet_free(&c->code);
	outlet_free(&x->orders);
	denials_close(&x->denials);
	resolver_close(&x->resolver);
	network_close(&x->network);
	workspace_close(&x->workspace);
	if (x->redact)
		redact_free(x->redact);
	fd_close(&x->control[1]);
	for (i = 0; i < 2; i++) {
		fd_close(&x->pipes[i + 1][1]);
		fd_close(&x->streams[i].from);
		outlet_free(&x->outlets[i]);
	}
	loop_signals_give_back(&x->signals);
}

int session_run(const struct box_request *q, const char *name, bool restart, struct arena *a,
		struct box_result *ret, struct error *e)
{
	static const int left_out[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGPIPE};
	struct cell cell = {.session = SESSION_NONE};
	struct box_request own = *q;
	struct running x;
	int result;

	run_begin(&x, &own, a, ret);
	x.cell = &cell;
	result = sandbox_root(q->sandbox, &x.root);
	ret->rootfs = x.root.name;
	if (result == 0)
		result = run_read_rules(&x, e);
	if (result == 0)
		result = loop_signals_take(left_out, ARRAY_SIZE(left_out), &x.signals, e);
	if (result == 0)
		result = cell_run(&x, &own, name, restart, e);
	cell_close(&x);
	sha256_hex(q->code, q->code_len, ret->code_sha256);
	if (result < 0) {
		ret->status = BOX_SANDBOX_ERROR;
		ret->error_class = e->class;
		run_fail(ret, "SandboxError", arena_strdup(a, e->text));
	}
	return result;
}
