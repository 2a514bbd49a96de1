/*
 * A holder (pool.h): one process, one box, one call. It is to its box what `do` is to one of its
 * own, but for the time in which the program runs: that is the caller's.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/pool.h"
#include "box/running.h"
#include "sys/unix.h"

enum { READY_MS = 60000 };

struct hold {
	struct running x;
	struct box_request own;
	struct box_result result;
	struct arena memory;
	int keeper_fd, caller_fd;
	size_t notes_known; /* of the result: the caller makes these himself */
	bool is_ready;
};

/* ---- a box that waits ---- */

static int hold_make(struct hold *h, struct error *e)
{
	struct running *x = &h->x;

	if (run_find_root(x, &h->own, e) < 0)
		return -1;
	h->notes_known = h->result.notes.notes.n;
	return run_open_pipes(x, e) < 0 ? -1 : run_create(x, e);
}

/* Trust: as of run_serve_control() (attend.c). */
static int hold_serve_reaper(void *context, short events)
{
	struct hold *h = context;
	struct pool_word word = {0};
	struct reaper_word w;

	(void)events;
	while (recv(h->x.control[1], &w, sizeof(w), MSG_DONTWAIT) == (ssize_t)sizeof(w)) {
		if (w.kind == REAPER_RUNS)
			h->result.mdwe = w.value != 0;
		if (w.kind == REAPER_FAILED || w.kind == REAPER_ENDED) {
			h->x.last = w;
			return 1;
		}
		if (w.kind != REAPER_READY)
			continue;
		h->is_ready = true;
		word.room = (uint32_t)w.value;
		if (send(h->keeper_fd, &word, sizeof(word), MSG_NOSIGNAL) < 0)
			return 1;
	}
	return 0;
}

/* A caller, or the keeper's end: then there is none to come. */
static int hold_serve_keeper(void *context, short events)
{
	struct hold *h = context;
	char byte;
	size_t n = 0;

	(void)events;
	if (unix_recv_fds(h->keeper_fd, &byte, 1, &h->caller_fd, 1, &n) != 1 || n != 1)
		h->caller_fd = -1;
	return 1;
}

static int hold_serve_end(void *context, short events)
{
	(void)context;
	(void)events;
	return 1;
}

/* Until somebody wants the box, or there is none any more. */
static void hold_attend(struct hold *h)
{
	struct running *x = &h->x;
	const int64_t until = loop_now() + READY_MS * LOOP_MS;
	int done;

	outlet_add(&x->orders, x->control[1], sizeof(struct reaper_order) + REAPER_NAME_MAX,
		   &x->loop);
	denials_add(&x->denials, &x->loop);
	resolver_add(&x->resolver, &x->loop);
	loop_add(&x->loop, x->control[1], POLLIN, hold_serve_reaper, h);
	loop_add(&x->loop, h->keeper_fd, POLLIN, hold_serve_keeper, h);
	loop_add(&x->loop, x->box.pidfd, POLLIN, hold_serve_end, h);
	run_send_order(x);
	do {
		denials_settle(&x->denials);
		resolver_settle(&x->resolver);
		done = loop_round(&x->loop, x->denials.pause_until ? x->denials.pause_until :
					    h->is_ready		   ? LOOP_NEVER :
								     until);
	} while (done == 0 && (h->is_ready || loop_now() < until));
}

/* ---- lending it ---- */

static int hold_judge_file(const struct seccomp_program *p)
{
	const size_t size = p->len * sizeof(*p->filter);
	int fd = memfd_create("judge", MFD_CLOEXEC);

	if (fd >= 0 && size && fd_write_all(fd, p->filter, size) < 0)
		fd_close(&fd);
	return fd;
}

static void hold_write_notes(const struct notes *notes, size_t from, char *to, size_t size)
{
	size_t at = 0, i;
	int n;

	to[0] = '\0';
	for (i = from; i < notes->n && at < size; i++) {
		n = snprintf(to + at, size - at, "%s%s", i > from ? "\n" : "", notes->v[i]);
		at += n > 0 ? (size_t)n : 0;
	}
}

/* The caller has all of it then, and we nothing that would keep the box alive: if he dies, it ends.
 */
static int hold_lend(struct hold *h)
{
	struct running *x = &h->x;
	struct warm_hello hello = {
		.version = POOL_VERSION,
		.pid = x->box.pid,
		.mdwe = h->result.mdwe,
		.judge_len = x->box.judge.len,
		.has_listener = x->denials.listener_fd >= 0,
		.has_resolver = x->resolver.fd >= 0,
	};
	int fds[WARM_FDS] = {
		[WARM_STDIN] = x->pipes[0][1],
		[WARM_STDIN_READ] = x->input_at,
		[WARM_STDOUT] = x->pipes[1][1],
		[WARM_STDERR] = x->pipes[2][1],
		[WARM_CONTROL] = x->control[1],
		[WARM_PIDFD] = x->box.pidfd,
		[WARM_JUDGE] = hold_judge_file(&x->box.judge),
	};
	size_t n = WARM_LISTENER;
	struct error ignored;
	int result = -1;

	snprintf(hello.id, sizeof(hello.id), "%s", h->result.id);
	hold_write_notes(&h->result.notes.notes, h->notes_known, hello.notes, sizeof(hello.notes));
	if (hello.has_listener)
		fds[n++] = x->denials.listener_fd;
	if (hello.has_resolver)
		fds[n++] = x->resolver.fd;
	if (fds[WARM_JUDGE] >= 0)
		result = unix_send_fds(h->caller_fd, &hello, sizeof(hello), fds, n, &ignored);
	fd_close(&fds[WARM_JUDGE]);
	denials_close(&x->denials);
	resolver_close(&x->resolver);
	fd_close(&x->input_at);
	fd_close(&x->control[1]);
	fd_close(&x->pipes[0][1]);
	fd_close(&x->pipes[1][1]);
	fd_close(&x->pipes[2][1]);
	return result;
}

/* The box ends with its program, or with its caller. What it took is counted once it is gone, and
 * he may look at its files until he lets go. */
static void hold_await_end(struct hold *h)
{
	struct running *x = &h->x;
	struct loop l = {0};
	struct error ignored;

	loop_add(&l, x->box.pidfd, POLLIN, hold_serve_end, h);
	loop_add(&l, h->caller_fd, 0, hold_serve_end, h); /* its hang-up */
	while (loop_round(&l, LOOP_NEVER) == 0)
		;
	if (!loop_is_ready(x->box.pidfd, POLLIN, loop_now()))
		pidfd_send_signal(x->box.pidfd, SIGKILL, NULL, 0);
	if (life_wait(&x->box, LOOP_NEVER, &x->end, &ignored) > 0)
		(void)!send(h->caller_fd, &x->end, sizeof(x->end), MSG_NOSIGNAL);
	while (!loop_is_ready(h->caller_fd, POLLIN, LOOP_NEVER))
		;
}

/* ---- its life ---- */

/* Also if something is missing: whoever holds what is left of the box has it removed. */
static void hold_remove(struct hold *h)
{
	struct error ignored;

	fd_close(&h->x.control[1]);
	if (h->x.is_made)
		life_remove(&h->x.box, &h->memory, &ignored);
	box_root_close(&h->x.root);
}

static void hold_tell_failure(struct hold *h, const struct error *e)
{
	struct pool_word word = {0};

	snprintf(word.failure, sizeof(word.failure), "%s", box_words(e->text, &h->memory));
	(void)!send(h->keeper_fd, &word, sizeof(word), MSG_NOSIGNAL);
}

__attribute__((noreturn)) void pool_hold(const struct box_request *q, int keeper_sock)
{
	struct hold h = {.own = *q, .keeper_fd = keeper_sock, .caller_fd = -1};
	struct error e = {0};
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_IGN); /* of a terminal: the keeper ends us */
	prctl(PR_SET_NAME, "sbxrun-warm");
	h.own.waits = true;
	h.own.output = OUTPUT_KEEP;
	h.own.stdin_fd = -1;
	run_begin(&h.x, &h.own, &h.memory, &h.result);
	if (hold_make(&h, &e) < 0) {
		hold_remove(&h);
		hold_tell_failure(&h, &e);
		_exit(1);
	}
	hold_attend(&h);
	if (h.caller_fd >= 0 && hold_lend(&h) == 0) {
		hold_await_end(&h);
	} else if (!h.is_ready) {
		if (h.x.last.kind == REAPER_FAILED)
			run_explain_start(&h.x, &e);
		else
			err_set(&e, ERR_HOST, "the interpreter did not come to wait for its code");
		hold_tell_failure(&h, &e);
	}
	hold_remove(&h);
	_exit(0);
}
