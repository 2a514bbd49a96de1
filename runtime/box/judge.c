/* A box after its program: what became of it, in words and numbers of the result. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/running.h"

void run_fail(struct box_result *r, const char *type, const char *text)
{
	r->error_type = type;
	r->error = text;
}

const char *run_seconds(int64_t ns, struct arena *a)
{
	return arena_printf(a, "%lld.%lld s", (long long)(ns / LOOP_SECOND),
			    (long long)(ns % LOOP_SECOND / (LOOP_SECOND / 10)));
}

/* Of a box that never had a program: ours to explain. */
int run_explain_start(const struct running *x, struct error *e)
{
	const int why = x->last.value & 0xffff, place = x->last.value >> 16;

	errno = why;
	switch (place) {
	case REAPER_AT_FILE:
		return err_sys(e, "write the program into the box%s",
			       why == ENOSPC ? " (--disk is too small for it)" : "");
	case REAPER_AT_PROGRAM:
		return err_sys(e, "execute the program");
	case REAPER_AT_FORK:
		return err_sys(e, "start a process in the box%s",
			       why == EAGAIN ? " (--pids-limit is too small)" : "");
	default:
		return err_sys(e, "set up the first process of the box");
	}
}

/* First the program's own end, and then what we know better. */
void run_judge(struct running *x, const struct life_end *end)
{
	const struct box_limits *l = &x->q->limits;
	const int status = x->last.value;
	struct box_result *r = x->r;
	const bool ended = x->last.kind == REAPER_ENDED;

	r->exit_code = ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	r->signal = !ended ? SIGKILL : WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	r->oom_killed = end->oom;
	r->status = r->signal ? BOX_SIGNAL : r->exit_code ? BOX_ERROR : BOX_OK;
	if (r->interrupted)
		run_fail(r, "Interrupted",
			 arena_printf(x->a, "ended by %s, which sbxrun got",
				      box_signal_name(r->interrupted)));
	if (r->signal && !r->interrupted)
		run_fail(r, "Signal",
			 arena_printf(x->a, "killed by %s%s", box_signal_name(r->signal),
				      r->signal == SIGXFSZ && l->file_size ?
					      ", for a file grew beyond --file-size" :
					      ""));
	/* A program can send that signal, too. */
	if (r->cpu_timed_out || (r->signal == SIGXCPU && l->cpu_time_ns &&
				 (!r->cpu_ns || r->cpu_ns >= (uint64_t)l->cpu_time_ns))) {
		r->status = BOX_TIMEOUT;
		r->cpu_timed_out = r->timed_out = true;
		run_fail(r, "CPUTimeError",
			 arena_printf(x->a,
				      "used up its %s of processor time (SIGXCPU, 0.2 s grace; "
				      "--cpu-time)",
				      run_seconds(l->cpu_time_ns, x->a)));
	} else if (r->timed_out) {
		r->status = BOX_TIMEOUT;
		run_fail(r, "TimeoutError",
			 arena_printf(x->a, "killed after %s (SIGTERM, 2 s grace; --timeout)",
				      run_seconds(l->timeout_ns, x->a)));
	} else if (end->oom && r->signal == SIGKILL) {
		r->status = BOX_OOM;
		run_fail(r, "MemoryError",
			 arena_printf(x->a, "killed by the limit of %lld MB (--memory)",
				      (long long)(l->memory >> 20)));
	}
}

/* Limits that did not end it, but that something of it may have failed at: the kernel's own counts,
 * and what is full in the end. */
void run_tell_limits(struct running *x)
{
	const struct box_limits *l = &x->q->limits;
	struct arena *a = x->a;

	if (x->end.pids_refused)
		denials_note_times(&x->denials,
				   (struct box_denial){
					   .kind = "limit",
					   .name = "pids",
					   .error = "EAGAIN",
					   .hint = arena_printf(a,
								"%u processes and threads are the "
								"limit; --pids-limit NUMBER "
								"changes it",
								l->pids)},
				   x->end.pids_refused);
	if (x->end.oom && x->r->status != BOX_OOM)
		denials_note(&x->denials,
			     (struct box_denial){
				     .kind = "limit",
				     .name = "memory",
				     .error = "SIGKILL",
				     .hint = arena_printf(a,
							  "a process of it was killed at %lld MB; "
							  "--memory SIZE changes the limit",
							  (long long)(l->memory >> 20))});
	workspace_tell_full(&x->workspace, x->q, &x->denials);
}

static void run_keep_events(struct running *x)
{
	const struct outlet *o = &x->outlets[0];

	if (x->q->output != OUTPUT_EVENTS || o->broken || outlet_is_empty(o))
		return;
	x->r->unsent_len = o->pending.len - o->at;
	x->r->unsent = arena_strndup(x->a, o->pending.data + o->at, x->r->unsent_len);
}

void run_keep_output(struct running *x)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		struct stream *s = &x->streams[i];

		fd_close(&s->from);
		stream_finish(s);
		x->r->out[i] = (struct box_captured){
			.data = s->outlet ? NULL : s->kept.len ? s->kept.data : "",
			.len = s->outlet ? 0 : s->kept.len,
			.bytes = s->bytes,
			.truncated = s->truncated,
		};
	}
	run_keep_events(x);
}

/* A reader that goes away knows what he does not read; a full disk has to be said. */
void run_note_lost(struct running *x)
{
	static const char *const names[] = {"output", "error"};
	size_t i;

	for (i = 0; i < 2; i++)
		if (x->outlets[i].broken && x->outlets[i].error != EPIPE)
			notes_add(&x->r->notes.notes,
				  arena_printf(x->a, "standard %s was not written in full: %s",
					       names[i], err_text(x->outlets[i].error)),
				  x->a);
}

void run_note_missing(struct running *x)
{
	if (run_denies_write_execute(x) && !x->r->mdwe)
		notes_add(&x->r->notes.notes,
			  arena_strdup(x->a, "memory may be both written and executed: only Linux "
					     "6.3 and newer can forbid it"),
			  x->a);
}

void run_count_redactions(struct running *x)
{
	struct buf b = buf_new(x->a, RUN_TEXT_MAX);

	if (!x->redact)
		return;
	redact_write_counts(x->redact, &b);
	x->r->redactions = b.data;
}
