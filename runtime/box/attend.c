/*
 * A box while its program runs. One loop: the program's output, its input, its end, our own
 * signals, the moments at which its time is up. Everything that the loop waits for can be waited
 * for together, so that nothing which the box does or leaves undone holds up its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/timing.h"
#include "box/running.h"
#include "box/sandbox.h"

enum { CPU_LOOK_MS = 10, INPUT_END_MS = 100, DRAIN_MS = 2000, ENDING_MS = 1000 };

/* The reaper of a call in a box that stays is not the first process there, which has to kill the
 * rest. Beside sessions that is left to the call's own reaper at first: if the program has stopped
 * that one, the sessions have had their time, too. */
void run_kill(struct running *x)
{
	const char sig = SIGKILL;

	/* The interpreter; its reaper takes what that has started along. */
	if (x->cell && x->phase < ENDING &&
	    send(x->control[1], &sig, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1) {
		x->phase = ENDING;
		x->kill_at = loop_now() + ENDING_MS * LOOP_MS;
		return;
	}
	if (!x->cell && x->q->sandbox && x->q->sandbox->has_sessions && x->phase < ENDING) {
		x->phase = ENDING;
		x->kill_at = loop_now() + ENDING_MS * LOOP_MS;
		outlet_cut(&x->orders);
		shutdown(x->control[1], SHUT_WR);
		return;
	}
	x->phase = KILLED;
	pidfd_send_signal(x->box.pidfd, SIGKILL, NULL, 0);
	if (x->q->sandbox)
		sandbox_kill(x->q->sandbox);
}

static void run_signal_all(struct running *x, int sig)
{
	const char byte = (char)sig;

	if (send(x->control[1], &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
		run_kill(x); /* a reaper that doesn't listen has nothing to pass on */
}

static void run_end_softly(struct running *x, int sig)
{
	const int64_t grace = sig == SIGXCPU ? BOX_CPU_GRACE_MS : BOX_GRACE_MS;

	if (x->phase != RUNS)
		return;
	x->phase = TOLD;
	x->kill_at = loop_now() + grace * LOOP_MS;
	run_signal_all(x, x->cell ? SIGINT : sig);
}

/* ---- what the loop serves ---- */

void run_take_signals(struct running *x)
{
	struct signalfd_siginfo info;

	while (read(x->signals.fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		const int sig = (int)info.ssi_signo;

		if (sig == SIGCONT)
			terminal_make_raw_again(&x->terminal);
		if (sig == SIGWINCH || sig == SIGCONT)
			terminal_resize(&x->terminal);
		if (sig != SIGINT && sig != SIGTERM && sig != SIGHUP && sig != SIGQUIT)
			continue;
		if (x->r->interrupted)
			run_kill(x);
		x->r->interrupted = sig;
		run_end_softly(x, sig);
	}
}

static int run_serve_signals(void *context, short events)
{
	(void)events;
	run_take_signals(context);
	return 0;
}

/* Trust: the socket is the reaper's, which the program can't look into; what comes is a number all
 * the same. */
static int run_serve_control(void *context, short events)
{
	struct running *x = context;
	struct reaper_word word;
	ssize_t n;

	(void)events;
	/* All that has come: the end of the box may be known already, and is served next. */
	while ((n = recv(x->control[1], &word, sizeof(word), MSG_DONTWAIT)) ==
	       (ssize_t)sizeof(word)) {
		if (word.kind != REAPER_RUNS) {
			x->last = word;
			timing_mark("program ended in the box");
			continue;
		}
		x->r->mdwe = word.value != 0;
		timing_mark("program runs in the box");
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		x->loop.v[0].fd = -1;
	return 0;
}

static int run_serve_end(void *context, short events)
{
	struct running *x = context;

	(void)events;
	x->has_ended = true;
	return 1;
}

static void run_set_up_streams(struct running *x)
{
	static const char *const names[] = {"stdout", "stderr"};
	const enum box_output how = x->q->output;
	const bool terminal = x->terminal.master_fd >= 0;
	size_t i;

	for (i = 0; i < 2; i++) {
		if (how == OUTPUT_PASS || (how == OUTPUT_EVENTS && i == 0))
			outlet_add(&x->outlets[i], (int)i + 1, OUTLET_MAX, &x->loop);
		x->streams[i] = (struct stream){
			.name = names[i],
			.from = fd_steal(&x->pipes[i + 1][1]),
			.outlet = how == OUTPUT_KEEP   ? NULL :
				  how == OUTPUT_EVENTS ? &x->outlets[0] :
							 &x->outlets[i],
			.events = how == OUTPUT_EVENTS,
			.cap = (uint64_t)x->q->limits.output,
			.arena = x->a,
			.redact = x->redact,
			.which = i == 0 ? REDACT_STDOUT : REDACT_STDERR,
		};
		if (terminal && i == 0)
			x->streams[i].from = fcntl(x->terminal.master_fd, F_DUPFD_CLOEXEC, 3);
		stream_add(&x->streams[i], &x->loop);
	}
	if (terminal)
		input_add_terminal(&x->input, STDIN_FILENO, x->terminal.master_fd, &x->loop);
	else
		input_add(&x->input, x->q->stdin_fd, x->pipes[0][1], &x->input_at, &x->loop);
	fd_close(&x->input_at);
}

void run_set_up_loop(struct running *x)
{

	loop_add(&x->loop, x->control[1], POLLIN, run_serve_control, x); /* the first: v[0] */
	loop_add(&x->loop, x->signals.fd, POLLIN, run_serve_signals, x);
	outlet_add(&x->orders, x->control[1], BOX_CODE_MAX + sizeof(struct reaper_order) + 4096,
		   &x->loop);
	denials_add(&x->denials, &x->loop);
	resolver_add(&x->resolver, &x->loop);
	run_set_up_streams(x);
	if (x->cell)
		session_cell_add(x);
	/* Last: what came before its end is served. */
	loop_add(&x->loop, x->box.pidfd, POLLIN, run_serve_end, x);
}

/* ---- time ---- */

/* The processor time that is left at least is what all processors together can use up. */
static void run_look_at_cpu(struct running *x)
{
	const int64_t limit = x->q->limits.cpu_time_ns, least = CPU_LOOK_MS * LOOP_MS;
	uint64_t used;
	int64_t left;

	if (!limit || loop_now() < x->cpu_look || x->phase != RUNS)
		return;
	if (!life_cpu_time(&x->box, &used)) {
		x->cpu_look = LOOP_NEVER; /* RLIMIT_CPU is all there is */
		return;
	}
	left = limit - (int64_t)used;
	if (left <= 0) {
		x->r->cpu_timed_out = true;
		run_end_softly(x, SIGXCPU);
	}
	left = left * 1000 / (x->q->limits.cpus ? x->q->limits.cpus : 1000);
	x->cpu_look = loop_now() + (left > least ? left : least);
}

void run_look_at_clock(struct running *x)
{
	const int64_t now = loop_now(), until = x->started + x->q->limits.timeout_ns;

	if (x->phase == RUNS && now >= until) {
		x->r->timed_out = true;
		run_end_softly(x, SIGTERM);
	} else if ((x->phase == TOLD || x->phase == ENDING) && now >= x->kill_at) {
		run_kill(x);
	}
	run_look_at_cpu(x);
}

int64_t run_next_moment(const struct running *x)
{
	int64_t next = x->phase == RUNS ? x->started + x->q->limits.timeout_ns :
		       x->phase == TOLD || x->phase == ENDING ? x->kill_at :
								LOOP_NEVER;

	if (x->phase == RUNS && x->q->limits.cpu_time_ns && x->cpu_look < next)
		next = x->cpu_look;
	if (x->denials.pause_until && x->denials.pause_until < next)
		next = x->denials.pause_until;
	if (x->input.relay.said_end && loop_now() + INPUT_END_MS * LOOP_MS < next)
		next = loop_now() + INPUT_END_MS * LOOP_MS;
	return next;
}

/* ---- during ---- */

void run_settle(struct running *x)
{
	stream_settle(&x->streams[0]);
	stream_settle(&x->streams[1]);
	denials_settle(&x->denials);
	resolver_settle(&x->resolver);
	input_settle(&x->input);
	if (x->pipes[0][1] >= 0 && input_is_done(&x->input)) {
		relay_cut(&x->input.relay);
		fd_close(&x->pipes[0][1]);
	}
}

static bool run_is_drained(const struct running *x)
{
	size_t i;

	for (i = 0; i < 2; i++)
		if (x->streams[i].from >= 0 ||
		    (x->streams[i].outlet && !outlet_is_empty(x->streams[i].outlet)))
			return false;
	return true;
}

/* All processes are gone, so what is in the pipes is all there is: who holds the other end now got
 * it from the program, by a socket in a volume, and is not waited for. */
static void run_end_empty(struct running *x, const uint64_t most[2])
{
	size_t i;

	for (i = 0; i < 2; i++) {
		struct stream *s = &x->streams[i];

		if (s->from < 0 || (s->bytes < most[i] &&
				    loop_is_ready(s->from, POLLIN, loop_now())))
			continue;
		fd_close(&s->from);
		stream_finish(s);
	}
}

/* The most that a stream can have brought when its pipe is empty. */
static uint64_t run_most(const struct stream *s)
{
	int size = s->from < 0 ? 0 : fcntl(s->from, F_GETPIPE_SZ);

	return s->bytes + (uint64_t)(size > 0 ? size : 1 << 20);
}

/* The reader of our output may
 * take his time, unless the time was up: then he has a moment for each part of it. */
void run_drain(struct running *x)
{
	const uint64_t most[2] = {run_most(&x->streams[0]), run_most(&x->streams[1])};
	int64_t until = loop_now() + DRAIN_MS * LOOP_MS;
	uint64_t written = 0, now_written;

	input_finish(&x->input);
	x->loop.v[x->loop.n - 1].fd = -1; /* the end, which has come … */
	run_serve_control(x, 0);	  /* … and what was said before it */
	for (;;) {
		run_settle(x);
		run_end_empty(x, most);
		run_settle(x);
		if (run_is_drained(x) || loop_now() >= until)
			return;
		if (loop_round(&x->loop, until) < 0)
			return;
		now_written = x->outlets[0].written + x->outlets[1].written;
		/* A signal may come as late as now. */
		if (now_written != written || !(x->r->interrupted || x->phase != RUNS))
			until = loop_now() + DRAIN_MS * LOOP_MS;
		written = now_written;
	}
}

/* The call's reaper is collected first: as long as it isn't, the first process of the box can't
 * end, should somebody destroy it. The program can have killed that reaper, which would have seen
 * to it that nothing is left. */
static void run_settle_sandbox(struct running *x)
{
	struct error ignored;
	bool killed;

	run_serve_control(x, 0);
	x->is_collected = life_wait(&x->box, LOOP_NEVER, &x->end, &ignored) > 0;
	/* It says how the program has ended before it sees to the others. */
	killed = x->is_collected && x->end.signal;
	if (killed || (x->last.kind != REAPER_ENDED &&
		       !(x->q->sandbox->has_sessions && x->last.kind == REAPER_FAILED))) {
		sandbox_kill(x->q->sandbox);
		if (x->q->sandbox->has_sessions)
			notes_add(&x->r->notes.notes,
				  arena_strdup(x->a, "the sessions of the box have ended with this "
						     "call: what looks after a call was killed"),
				  x->a);
		x->q->sandbox->has_sessions = false;
	}
	if (!sandbox_settle(x->q->sandbox, x->a))
		notes_add(&x->r->notes.notes,
			  arena_strdup(x->a, "what the call has started does not end"), x->a);
	if (!sandbox_lives(x->q->sandbox))
		notes_add(&x->r->notes.notes,
			  arena_strdup(x->a,
				       "the box has ended with this call: it was destroyed, or "
				       "the kernel has killed its first process"),
			  x->a);
}

void run_attend(struct running *x)
{
	while (!x->has_ended) {
		run_settle(x);
		run_look_at_clock(x);
		if (loop_round(&x->loop, run_next_moment(x)) < 0) {
			x->phase = ENDING;
			run_kill(x); /* nobody would watch its limits */
			break;
		}
	}
	if (x->q->sandbox)
		run_settle_sandbox(x);
	run_drain(x);
}
