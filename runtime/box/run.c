/*
 * From a request to a result. One process, one loop: the program's output, its input, its end, our
 * own signals, the moments at which its time is up. Everything that the loop waits for can be
 * waited for together, so that nothing which the box does or leaves undone holds up its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "base/timing.h"
#include "box/box.h"
#include "box/denials.h"
#include "box/disk.h"
#include "box/network.h"
#include "box/profiles.h"
#include "box/resolver.h"
#include "box/sandbox.h"
#include "box/stream.h"
#include "box/workspace.h"
#include "life/life.h"
#include "reaper/order.h"
#include "sys/proc.h"
#include "sys/relay.h"
#include "sys/sys.h"
#include "sys/terminal.h"

enum { CONFIG_MAX = 4 << 20, CPU_LOOK_MS = 10, INPUT_END_MS = 100, DRAIN_MS = 2000 };

enum phase {
	RUNS,
	TOLD,	/* to end, by a signal that it may handle */
	KILLED,
};

/* What one run has in its hands. */
struct running {
	const struct box_request *q;
	struct arena *a;
	struct box_result *r;
	struct box_root root;
	struct cgroup_boxes boxes;
	struct created box;
	bool is_made;
	int pipes[3][2]; /* of the program's three streams: its end, ours */
	int control[2];	 /* of the reaper: its end, ours */
	struct loop loop;
	struct loop_signals signals;
	struct outlet outlets[2], orders;
	struct denials denials;
	struct resolver resolver;
	struct network network;
	struct stream streams[2];
	struct relay input;
	struct terminal terminal;
	int console[2]; /* where its master comes from: init's end, ours */
	struct redact *redact;
	struct workspace workspace;
	struct disk disk;
	struct reaper_word last; /* how the program ended, or why it never began */
	enum phase phase;
	int64_t begun, started, kill_at, cpu_look;
	bool has_ended;
	bool is_collected;
	struct life_end end;
};

/* ---- before ---- */

/* It names the process that looks after the box, by pid and start, so that others can tell whether
 * anybody still does (box_sweep()). */
static const char *run_new_id(struct arena *a)
{
	struct proc_stat stat = {0};
	uint32_t number = 0;

	proc_stat_read(getpid(), &stat);
	/* Without it, a second box of this process would be refused: the id is taken. */
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = (uint32_t)loop_now();
	return arena_printf(a, BOX_ID_PREFIX "%d-%llu-%08x", getpid(),
			    (unsigned long long)stat.start, number);
}

static bool run_is_null(int fd)
{
	struct stat st;

	return fd < 0 || (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
			  st.st_rdev == makedev(1, 3));
}

/* The program's input comes through a pipe: a file of the caller's in its hands could be written,
 * truncated, locked. */
static int run_open_pipes(struct running *x, struct error *e)
{
	size_t i;
	int *p;

	if (x->q->terminal && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, x->console) < 0)
		return err_sys(e, "make a socket");
	for (i = 0; i < 3 && !x->q->terminal; i++) {
		p = x->pipes[i];
		if (i == 0 && run_is_null(x->q->stdin_fd))
			p[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		else if (pipe2(p, O_CLOEXEC) < 0)
			return err_sys(e, "make a pipe");
		if (p[0] < 0)
			return err_sys(e, "open /dev/null");
		if (i > 0) {
			int other = p[0];

			p[0] = p[1]; /* it writes, and we read */
			p[1] = other;
		}
		if (p[1] >= 0 && fcntl(p[1], F_SETFL, O_NONBLOCK) < 0)
			return err_sys(e, "set up a pipe");
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, x->control) < 0)
		return err_sys(e, "make a socket");
	return 0;
}

/* What can't be had is said before the program runs, to whoever reads along. */
static void run_take_note(void *context, const char *text)
{
	struct running *x = context;
	struct noted *notes = &x->r->notes;
	struct buf b = buf_new(x->a, CONFIG_MAX);

	noted_take(notes, box_words(text, x->a));
	if (x->q->output == OUTPUT_KEEP)
		return;
	box_tell_note(notes->notes.v[notes->notes.n - 1], x->q->output == OUTPUT_EVENTS, &b);
	x->r->notes_told = notes->notes.n;
	(void)!fd_write_all(x->q->output == OUTPUT_EVENTS ? STDOUT_FILENO : STDERR_FILENO, b.data,
			    b.len);
}

struct create_options box_options(const struct box_request *q, const struct box_root *root)
{
	return (struct create_options){
		.root = q->state_root,
		.bundle = root->path,
		.console_fd = -1,
		.policy = q->policy ? q->policy : "code",
		.strict = q->strict_limits,
		.ids_if_possible = !q->policy,
		.limits_if_possible = true,
		.no_cgroups = q->no_cgroups,
		.systemd = q->systemd,
		.systemd_timeout_s = q->systemd_timeout_s,
		.reaped = true,
		.keep_root = true,
		.program_comes = q->language && q->language->compile[0] && !q->compiles,
		.pure = q->pure,
		.learning = q->learning,
		.take_listener = q->denials != DENIALS_NONE,
		.observe = q->denials == DENIALS_FULL  ? OBSERVE_FULL :
			   q->denials == DENIALS_CALLS ? OBSERVE_CALLS :
							 OBSERVE_NOTHING,
	};
}

/* What is the box's alone. */
static void run_close_theirs(struct running *x)
{
	size_t i;

	fd_close(&x->control[0]);
	fd_close(&x->console[0]);
	for (i = 0; i < 3; i++)
		fd_close(&x->pipes[i][0]);
}

/* In a box that is there already. */
static int run_join(struct running *x, struct error *e)
{
	const int streams[3] = {x->pipes[0][0], x->pipes[1][0], x->pipes[2][0]};
	int listener_fd = -1;

	if (sandbox_join(x->q, streams, x->control[0], x->a, &x->box, &listener_fd, e) < 0)
		return -1;
	x->is_made = true;
	run_close_theirs(x);
	denials_open(&x->denials, x->q, &x->box.judge, listener_fd, x->a);
	x->denials.reaper = x->box.pid;
	if (x->q->denials == DENIALS_FULL)
		resolver_open(&x->resolver, x->box.pidfd, &x->denials);
	return 0;
}

static int run_make_disk(struct running *x, struct box_request *own, struct error *e)
{
	if (disk_make(own, x->r->id, x->a, &x->disk, e) < 0)
		return -1;
	own->workspace_dir = x->disk.path;
	x->r->disk_backing = "disk";
	if (x->disk.note)
		run_take_note(x, x->disk.note);
	timing_mark("disk made");
	return 0;
}

int box_cgroup_open(const struct box_request *q, bool start, const char *id, struct arena *a,
		    struct cgroup_boxes *ret, struct box_root *root, struct error *e)
{
	if (q->no_cgroups || q->own_cgroups || q->systemd)
		return 0;
	if (life_open_boxes(start, a, ret, e) < 0)
		return -1;
	if (ret->path)
		root->cgroup = arena_printf(a, "%s/%s", ret->path, id);
	return 0;
}

/* Names are asked of it then, and what is seen of connections it is told. */
static int run_open_network(struct running *x, struct error *e)
{
	if (network_open(&x->network, &x->q->allow, &x->q->deny, x->box.pidfd, e) < 0)
		return -1;
	x->denials.network = &x->network;
	timing_mark("network of the box open");
	return 0;
}

static int run_create(struct running *x, struct error *e)
{
	const struct box_request *q = x->q;
	const int streams[3] = {x->pipes[0][0], x->pipes[1][0], x->pipes[2][0]};
	const struct noter noter = {.take = run_take_note, .context = x};
	struct buf config = buf_new(x->a, CONFIG_MAX);
	const struct given_tree given = {BOX_WORKSPACE, x->disk.tree_fd};
	struct create_options o = box_options(q, &x->root);
	int listener_fd = -1;

	o.id = x->r->id;
	o.console_fd = x->console[0];
	o.streams = q->terminal ? NULL : streams;
	o.control_fd = x->control[0];
	o.given = given.tree_fd >= 0 ? &given : NULL;
	o.noter = &noter;
	if (box_cgroup_open(q, true, x->r->id, x->a, &x->boxes, &x->root, e) < 0 ||
	    box_config_write(q, &x->root, x->a, &config, e) < 0)
		return -1;
	o.config_text = config.data;
	o.config_len = config.len;
	if (life_create(&o, x->a, &x->box, e) < 0)
		return -1;
	x->is_made = true;
	cgroup_boxes_close(&x->boxes);
	x->box.noter = NULL; /* what comes now is no longer about limits */
	run_close_theirs(x);
	if (q->terminal && terminal_take(&x->terminal, x->console[1], e) < 0)
		return -1;
	if (life_launch(&x->box, &listener_fd, x->a, e) < 0)
		return -1;
	denials_open(&x->denials, q, &x->box.judge, listener_fd, x->a);
	x->denials.reaper = x->box.pid;
	if (q->limits.network)
		return run_open_network(x, e);
	if (q->denials == DENIALS_FULL)
		resolver_open(&x->resolver, x->box.pidfd, &x->denials);
	return 0;
}

/* ---- orders ---- */

/* As many of our own processors as the box may use; else programs start a thread for each of the
 * machine's. Which ones is drawn, so that boxes don't crowd together. */
static void run_choose_cpus(const struct running *x, uint64_t cpus[REAPER_CPU_WORDS])
{
	unsigned int want = (x->q->limits.cpus + 999) / 1000, all = 0, at, i;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return;
	for (i = 0; i < CPU_SETSIZE; i++)
		all += CPU_ISSET(i, &set) ? 1 : 0;
	if (want >= all)
		return;
	for (at = (unsigned int)x->box.pid % CPU_SETSIZE; want; at = (at + 1) % CPU_SETSIZE)
		if (CPU_ISSET(at, &set)) {
			cpus[at / 64] |= UINT64_C(1) << at % 64;
			want--;
		}
}

/* By the loop: the reaper may have to wait for an answer of ours before it reads on. */
static void run_send_order(struct running *x)
{
	const struct box_language *l = x->q->language;
	const bool compiled = l && l->compile[0] && !x->q->compiles;
	const char *file = l ? box_code_path(x->q, x->a) : "";
	struct reaper_order order = {
		.name_size = l ? (uint32_t)strlen(file) + 1 : 0,
		.file_mode = compiled ? 0700 : 0600,
		.file_size = x->q->code_len,
		.deny_write_execute = l && !l->just_in_time,
	};

	run_choose_cpus(x, order.cpus);
	outlet_put(&x->orders, &order, sizeof(order));
	if (l) {
		outlet_put(&x->orders, file, order.name_size);
		outlet_put(&x->orders, x->q->code, x->q->code_len);
	}
}

/* The reaper of a call in a box that stays is not the first process there, which has to kill the
 * rest. */
static void run_kill(struct running *x)
{
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
	run_signal_all(x, sig);
}

/* ---- what the loop serves ---- */

static int run_serve_signals(void *context, short events)
{
	struct running *x = context;
	struct signalfd_siginfo info;

	(void)events;
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
	x->input = (struct relay){.from = x->pipes[0][1] < 0 ? -1 : x->q->stdin_fd,
				  .to = x->pipes[0][1]};
	if (terminal)
		x->input = (struct relay){.from = STDIN_FILENO,
					  .to = x->terminal.master_fd,
					  .is_input = true,
					  .last = '\n'};
	relay_add(&x->input, &x->loop);
}

static void run_set_up_loop(struct running *x)
{

	loop_add(&x->loop, x->control[1], POLLIN, run_serve_control, x); /* the first: v[0] */
	loop_add(&x->loop, x->signals.fd, POLLIN, run_serve_signals, x);
	outlet_add(&x->orders, x->control[1], BOX_CODE_MAX + sizeof(struct reaper_order) + 4096,
		   &x->loop);
	denials_add(&x->denials, &x->loop);
	resolver_add(&x->resolver, &x->loop);
	run_set_up_streams(x);
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

static void run_look_at_clock(struct running *x)
{
	const int64_t now = loop_now(), until = x->started + x->q->limits.timeout_ns;

	if (x->phase == RUNS && now >= until) {
		x->r->timed_out = true;
		run_end_softly(x, SIGTERM);
	} else if (x->phase == TOLD && now >= x->kill_at) {
		run_kill(x);
	}
	run_look_at_cpu(x);
}

static int64_t run_next_moment(const struct running *x)
{
	int64_t next = x->phase == RUNS ? x->started + x->q->limits.timeout_ns :
		       x->phase == TOLD ? x->kill_at :
					  LOOP_NEVER;

	if (x->phase == RUNS && x->q->limits.cpu_time_ns && x->cpu_look < next)
		next = x->cpu_look;
	if (x->denials.pause_until && x->denials.pause_until < next)
		next = x->denials.pause_until;
	if (x->input.said_end && loop_now() + INPUT_END_MS * LOOP_MS < next)
		next = loop_now() + INPUT_END_MS * LOOP_MS;
	return next;
}

/* ---- during ---- */

static void run_settle(struct running *x)
{
	stream_settle(&x->streams[0]);
	stream_settle(&x->streams[1]);
	denials_settle(&x->denials);
	resolver_settle(&x->resolver);
	/* The end of our input is the end of the program's. */
	relay_repeat_end(&x->input);
	if (x->pipes[0][1] >= 0 && (relay_is_done(&x->input) || x->input.broken)) {
		relay_cut(&x->input);
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

/* Whoever reads our output may
 * take his time, unless the time was up: then he has a moment for each part of it. */
static void run_drain(struct running *x)
{
	const uint64_t most[2] = {run_most(&x->streams[0]), run_most(&x->streams[1])};
	int64_t until = loop_now() + DRAIN_MS * LOOP_MS;
	uint64_t written = 0, now_written;

	relay_cut(&x->input);
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

	run_serve_control(x, 0);
	x->is_collected = life_wait(&x->box, LOOP_NEVER, x->a, &x->end, &ignored) > 0;
	if (x->last.kind != REAPER_ENDED)
		sandbox_kill(x->q->sandbox);
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

static void run_attend(struct running *x)
{
	while (!x->has_ended) {
		run_settle(x);
		run_look_at_clock(x);
		if (loop_round(&x->loop, run_next_moment(x)) < 0) {
			run_kill(x); /* nobody would watch its limits */
			break;
		}
	}
	if (x->q->sandbox)
		run_settle_sandbox(x);
	run_drain(x);
}

/* ---- after ---- */

static void run_fail(struct box_result *r, const char *type, const char *text)
{
	r->error_type = type;
	r->error = text;
}

static const char *run_seconds(int64_t ns, struct arena *a)
{
	return arena_printf(a, "%lld.%lld s", (long long)(ns / LOOP_SECOND),
			    (long long)(ns % LOOP_SECOND / (LOOP_SECOND / 10)));
}

/* Of a box that never had a program: ours to explain. */
static int run_explain_start(const struct running *x, struct error *e)
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

/* What the program's own end says, and then what we know better. */
static void run_judge(struct running *x, const struct life_end *end)
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
			 arena_printf(x->a, "killed by %s", box_signal_name(r->signal)));
	/* A program can send that signal, too. */
	if (r->cpu_timed_out || (r->signal == SIGXCPU && l->cpu_time_ns &&
				 (!r->cpu_ns || r->cpu_ns >= (uint64_t)l->cpu_time_ns))) {
		r->status = BOX_TIMEOUT;
		r->cpu_timed_out = r->timed_out = true;
		run_fail(r, "CPUTimeError",
			 arena_printf(x->a, "used up its %s of processor time (--cpu-time)",
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

static void run_keep_events(struct running *x)
{
	const struct outlet *o = &x->outlets[0];

	if (x->q->output != OUTPUT_EVENTS || o->broken || outlet_is_empty(o))
		return;
	x->r->unsent_len = o->pending.len - o->at;
	x->r->unsent = arena_strndup(x->a, o->pending.data + o->at, x->r->unsent_len);
}

static void run_keep_output(struct running *x)
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
static void run_note_lost(struct running *x)
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

static void run_note_missing(struct running *x)
{
	const struct box_language *l = x->q->language;

	if (l && !l->just_in_time && !x->r->mdwe)
		notes_add(&x->r->notes.notes,
			  arena_strdup(x->a, "memory may be both written and executed: only Linux "
					     "6.3 and newer can forbid it"),
			  x->a);
}

static void run_count_redactions(struct running *x)
{
	struct buf b = buf_new(x->a, CONFIG_MAX);

	if (!x->redact)
		return;
	redact_write_counts(x->redact, &b);
	x->r->redactions = b.data;
}

/* Of a broken file of rules nobody should hear when the program has run. */
static int run_read_rules(struct running *x, struct error *e)
{
	const char *path = x->q->redact_rules;
	struct redact_rules rules = {0};
	autoclose int fd = -1;
	char *text;
	size_t len;

	if (!x->q->redact)
		return 0;
	if (path) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		text = fd < 0 ? NULL : fd_read_all(fd, REDACT_FILE_MAX, x->a, &len);
		if (!text)
			return err_sys(e, "--redact-rules: read %s", path);
		if (redact_read_rules(text, len, x->a, &rules, e) < 0)
			return err_wrap(e, "--redact-rules: %s", path);
	}
	x->redact = redact_new(path ? &rules : NULL, x->a);
	return 0;
}

static int run_finish(struct running *x, struct error *e)
{
	if (!x->is_collected && life_wait(&x->box, LOOP_NEVER, x->a, &x->end, e) < 0)
		return -1;
	timing_mark("box ended");
	x->r->cpu_ns = x->end.cpu_ns;
	x->r->memory_peak = x->end.peak_memory;
	x->r->wall_ns = loop_now() - x->started;
	run_keep_output(x);
	run_note_lost(x);
	run_count_redactions(x);
	if (x->last.kind == REAPER_FAILED)
		return run_explain_start(x, e);
	run_judge(x, &x->end);
	run_note_missing(x);
	network_tell(&x->network, &x->denials, &x->r->network);
	if (x->r->network.has && !x->r->network.known)
		notes_add(&x->r->notes.notes,
			  arena_strdup(x->a, "the process that carried the box's connections ended "
					     "before it: it had no network since"),
			  x->a);
	denials_tell(&x->denials, x->r);
	if (x->q->compiles && x->r->status == BOX_OK)
		x->r->product = workspace_take(&x->workspace, x->q->language->product,
					       BOX_CODE_MAX, x->a, &x->r->product_len);
	return workspace_finish(&x->workspace, x->q, x->a, x->r, e);
}

/* ---- all of it ---- */

static int run_in_box(struct running *x, struct error *e)
{
	const bool looks = x->q->copy_out || x->q->list_files || x->q->compiles;

	if ((x->q->sandbox ? run_join(x, e) : run_create(x, e)) < 0)
		return -1;
	if (looks && workspace_open(&x->workspace, x->box.pid, x->box.pidfd, e) < 0)
		return -1;
	run_set_up_loop(x);
	run_send_order(x);
	x->started = loop_now();
	x->r->startup_ns = x->started - x->begun;
	run_attend(x);
	return run_finish(x, e);
}

static void run_close(struct running *x)
{
	struct error ignored;
	size_t i;

	if (x->is_made && x->q->sandbox)
		life_leave(&x->box);
	else if (x->is_made && life_remove(&x->box, x->a, &ignored) < 0)
		notes_add(&x->r->notes.notes,
			  arena_printf(x->a, "the box could not be removed: %s", ignored.text),
			  x->a);
	timing_mark("box removed");
	cgroup_boxes_close(&x->boxes);
	workspace_close(&x->workspace);
	disk_remove(&x->disk);
	denials_close(&x->denials);
	resolver_close(&x->resolver);
	network_close(&x->network);
	outlet_free(&x->orders);
	for (i = 0; i < 3; i++) {
		fd_close(&x->pipes[i][0]);
		fd_close(&x->pipes[i][1]);
	}
	terminal_make_sane(&x->terminal);
	fd_close(&x->terminal.master_fd);
	if (x->redact)
		redact_free(x->redact);
	for (i = 0; i < 2; i++) {
		fd_close(&x->control[i]);
		fd_close(&x->console[i]);
		fd_close(&x->streams[i].from);
		outlet_free(&x->outlets[i]);
	}
	loop_signals_give_back(&x->signals);
	box_root_close(&x->root);
}

static bool run_is_in_volume(const struct box_request *q)
{
	return q->sandbox ? q->sandbox->facts.on_volume : box_workspace_is_volume(q);
}

int box_run(const struct box_request *q, struct arena *a, struct box_result *ret, struct error *e)
{
	static const int left_out[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGPIPE};
	struct box_request own = *q;
	struct running x = {
		.q = &own,
		.a = a,
		.r = ret,
		.pipes = {{-1, -1}, {-1, -1}, {-1, -1}},
		.control = {-1, -1},
		.console = {-1, -1},
		.terminal = TERMINAL_NONE,
		.signals = LOOP_SIGNALS_NONE,
		.streams = {{.from = -1}, {.from = -1}},
		.workspace = WORKSPACE_NONE,
		.boxes = CGROUP_BOXES_NONE,
		.denials = DENIALS_CLOSED,
		.resolver = RESOLVER_CLOSED,
		.network = NETWORK_NONE,
		.root = BOX_ROOT_NONE,
		.disk = DISK_NONE,
		.begun = loop_now(),
	};
	int result;

	*ret = (struct box_result){
		.id = run_new_id(a),
		.language = q->language,
		.status = BOX_SANDBOX_ERROR,
		.exit_code = -1,
		.limits = q->limits,
		.notes = {.arena = a},
		.rootfs = "",
		.disk_backing = run_is_in_volume(q) ? "volume" : "memory",
	};
	ret->limits.disk = box_workspace_size(&q->limits);
	ret->sandbox_id = q->sandbox ? q->sandbox->id : NULL;
	result = q->sandbox ? sandbox_root(q->sandbox, &x.root) : box_root_find(q, a, &x.root, e);
	if (result == 0) {
		ret->rootfs = x.root.name;
		if (x.root.note)
			notes_add(&ret->notes.notes, arena_strdup(a, x.root.note), a);
		/* A box that stays is not for one language alone. */
		if (!q->sandbox)
			box_choose_profile(&own, &x.root, a);
		ret->profile = own.profile;
		result = loop_signals_take(left_out, ARRAY_SIZE(left_out), &x.signals, e);
	}
	if (result == 0)
		result = workspace_check_target(q, e);
	if (result == 0)
		result = run_read_rules(&x, e);
	if (result == 0 && disk_is_wanted(q))
		result = run_make_disk(&x, &own, e);
	if (result == 0)
		result = run_open_pipes(&x, e);
	if (result == 0)
		result = run_in_box(&x, e);
	run_close(&x);
	if (result < 0) {
		ret->status = BOX_SANDBOX_ERROR;
		ret->error_class = e->class;
		err_set(e, e->class, "%s", box_words(e->text, a));
		run_fail(ret, "SandboxError", arena_strdup(a, e->text));
	}
	return result;
}
