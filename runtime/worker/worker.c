#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "sys/child.h"
#include "sys/loop.h"
#include "sys/msg.h"
#include "worker/wire.h"

/* ---- a worker begins and ends ---- */

/* Descriptors: /dev/null three times, the socket, and nothing that anybody in this process has
 * opened, now or meanwhile. */
static int worker_set_fds(posix_spawn_file_actions_t *actions, int sock)
{
	int fd, result = 0;

	result = posix_spawn_file_actions_adddup2(actions, sock, WIRE_SOCK);
	for (fd = 0; result == 0 && fd < WIRE_SOCK; fd++)
		result = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
	return result ? result : posix_spawn_file_actions_addclosefrom_np(actions, WIRE_SOCK + 1);
}

/* No signal of the server's, and none of its terminal's. */
static int worker_set_signals(posix_spawnattr_t *attributes)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &all);
	return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
							    POSIX_SPAWN_SETSID);
}

/* By posix_spawn(), which is fit for a process with threads. */
static int worker_spawn(const char *program, int sock, pid_t *ret, struct error *e)
{
	static char name[] = "sbxrun", command[] = "worker";
	static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	char *argv[] = {name, command, NULL}, *env[] = {path, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int result;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	result = worker_set_fds(&actions, sock);
	if (!result)
		result = worker_set_signals(&attributes);
	if (!result)
		result = posix_spawn(ret, program, &actions, &attributes, argv, env);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	errno = result;
	return result ? err_sys(e, "start the worker %s", program) : 0;
}

static int worker_begin(const struct worker_options *o, struct worker *ret, struct error *e)
{
	struct worker w = WORKER_NONE;
	int socks[2], result;

	if (strlen(o->id) >= sizeof(w.id))
		return err_set(e, ERR_USAGE, "the container id is longer than %zu bytes",
			       sizeof(w.id) - 1);
	strcpy(w.id, o->id);
	w.noter = o->noter;
	if (msg_pair(socks, e) < 0)
		return -1;
	w.sock = socks[0];
	/* Out of the way of the numbers that the worker gets. */
	result = fd_move_above(&socks[1], WIRE_SOCK + 1) < 0 ?
			 err_sys(e, "move the socket") :
			 worker_spawn(o->program, socks[1], &w.pid, e);
	fd_close(&socks[1]);
	if (result < 0) {
		fd_close(&w.sock);
		return -1;
	}
	*ret = w;
	return 0;
}

void worker_close(struct worker *w)
{
	struct error ignored;

	fd_close(&w->sock);
	fd_close(&w->init_pidfd);
	if (w->pid > 0 && child_collect_within(w->pid, WORKER_END_MS, NULL, &ignored) < 0)
		child_end(w->pid);
	w->pid = -1;
}

/* ---- a conversation ---- */

static int worker_is_gone(const struct worker *w, struct error *e)
{
	return err_set(e, ERR_SYSTEM,
		       "the worker of container \"%s\" has ended: what is left of it is for delete "
		       "--force",
		       w->id);
}

static int worker_fail(const struct wire_answer *r, struct error *e)
{
	err_set(e, (enum err_class)r->class, "%s", r->text ? r->text : "failed without a word");
	e->sys = r->sys;
	return -1;
}

/* The next thing that it says. */
static int worker_hear(const struct worker *w, int64_t until, struct arena *a,
		       struct wire_answer *ret, struct error *e)
{
	int got;

	while (!loop_is_ready(w->sock, POLLIN, until))
		if (loop_now() >= until)
			return err_set(e, ERR_SYSTEM,
				       "the worker of container \"%s\" did not answer in time",
				       w->id);
	got = wire_recv_answer(w->sock, a, ret, e);
	if (got < 0)
		return err_wrap(e, "the worker of container \"%s\"", w->id);
	return got ? 0 : worker_is_gone(w, e);
}

/* Asks, passes notes on, and has the answer: 1, or 0 where it is "not yet". Its descriptors are the
 * caller's then. */
static int worker_ask(struct worker *w, const struct wire_request *r, int64_t until,
		      struct arena *a, struct wire_answer *ret, struct error *e)
{
	struct wire_answer answer;

	if (w->sock < 0)
		return err_set(e, ERR_WRONG_STATE,
			       "the worker of container \"%s\" was given up: it can only be closed",
			       w->id);
	if (wire_send_request(w->sock, r, e) < 0) {
		if (e->sys == EPIPE || e->sys == ECONNRESET)
			worker_is_gone(w, e);
		fd_close(&w->sock);
		return -1;
	}
	for (;;) {
		/* A late answer would be taken for that to the next request. */
		if (worker_hear(w, until, a, &answer, e) < 0) {
			fd_close(&w->sock);
			return -1;
		}
		if (answer.kind != WIRE_NOTE)
			break;
		note(w->noter, "%s", answer.text ? answer.text : "");
		wire_fds_close(&answer.fds);
	}
	if (answer.kind == WIRE_FAILED) {
		wire_fds_close(&answer.fds);
		return worker_fail(&answer, e);
	}
	*ret = answer;
	return answer.kind == WIRE_DONE;
}

/* A request that is answered by nothing but success. */
static int worker_tell(struct worker *w, const struct wire_request *r, int64_t until,
		       struct error *e)
{
	struct arena a = {0};
	struct wire_answer answer;
	int result = worker_ask(w, r, until, &a, &answer, e);

	if (result >= 0)
		wire_fds_close(&answer.fds);
	arena_free(&a);
	return result < 0 ? -1 : 0;
}

/* ---- what can be asked ---- */

/* The config may be larger than a message. */
static int worker_write_config(const struct worker_options *o, struct error *e)
{
	autoclose int fd = memfd_create("config.json", MFD_CLOEXEC);

	if (fd < 0 || fd_write_all(fd, o->config_text, o->config_len) < 0 ||
	    lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(e, "hand over the config");
	return fd_steal(&fd);
}

/* Takes a created pid and its descriptor. */
static int worker_take_made(struct worker *w, struct wire_answer *r, struct worker_made *ret,
			    struct error *e)
{
	if (r->pid <= 0 || r->fds.v[WIRE_PIDFD] < 0)
		return err_set(e, ERR_BUG, "the worker of container \"%s\" made nothing", w->id);
	w->init_pidfd = fcntl(r->fds.v[WIRE_PIDFD], F_DUPFD_CLOEXEC, 0);
	if (w->init_pidfd < 0)
		return err_sys(e, "copy the descriptor of init");
	*ret = (struct worker_made){.pid = r->pid,
				    .pidfd = fd_steal(&r->fds.v[WIRE_PIDFD]),
				    .terminal_fd = fd_steal(&r->fds.v[WIRE_TERMINAL])};
	return 0;
}

static int worker_ask_create(struct worker *w, const struct worker_options *o, int config_fd,
			     int64_t until, struct worker_made *ret, struct error *e)
{
	struct arena a = {0};
	struct wire_request r = {
		.ask = WIRE_CREATE,
		.root = arena_strdup(&a, o->root),
		.id = arena_strdup(&a, o->id),
		.bundle = arena_strdup(&a, o->bundle),
		.policy = o->policy ? arena_strdup(&a, o->policy) : NULL,
		.no_pivot = o->no_pivot,
		.no_new_keyring = o->no_new_keyring,
		.no_cgroups = o->no_cgroups,
		.strict = o->strict,
		.take_listener = o->take_listener,
		.survives = o->survives,
		.fds = WIRE_FDS_NONE,
	};
	struct wire_answer answer;
	int result;

	r.fds.v[WIRE_CONFIG] = config_fd;
	if (o->streams)
		memcpy(&r.fds.v[WIRE_STDIN], o->streams, 3 * sizeof(int));
	result = worker_ask(w, &r, until, &a, &answer, e);
	if (result >= 0) {
		result = worker_take_made(w, &answer, ret, e);
		wire_fds_close(&answer.fds);
	}
	arena_free(&a);
	return result < 0 ? -1 : 0;
}

int worker_create(const struct worker_options *o, int64_t until, struct worker *ret,
		  struct worker_made *ret_made, struct error *e)
{
	autoclose int config_fd = -1;
	struct worker w;

	if (o->config_text && (config_fd = worker_write_config(o, e)) < 0)
		return -1;
	if (worker_begin(o, &w, e) < 0)
		return -1;
	if (worker_ask_create(&w, o, config_fd, until, ret_made, e) < 0) {
		worker_close(&w);
		return -1;
	}
	*ret = w;
	return 0;
}

int worker_start(struct worker *w, int64_t until, int *ret_listener_fd, struct error *e)
{
	const struct wire_request r = {.ask = WIRE_START, .fds = WIRE_FDS_NONE};
	struct arena a = {0};
	struct wire_answer answer;
	int result = worker_ask(w, &r, until, &a, &answer, e);

	if (result >= 0) {
		if (ret_listener_fd)
			*ret_listener_fd = fd_steal(&answer.fds.v[WIRE_LISTENER]);
		wire_fds_close(&answer.fds);
	}
	arena_free(&a);
	return result < 0 ? -1 : 0;
}

static int worker_see_end(void *context, short events)
{
	(void)context;
	(void)events;
	return 1;
}

/* Until init has ended (1), or the moment has come (0). A worker that ends meanwhile is noticed. */
static int worker_await_end(const struct worker *w, int64_t until, struct error *e)
{
	struct loop l = {0};
	int result;

	loop_add(&l, w->init_pidfd, POLLIN, worker_see_end, NULL);
	loop_add(&l, w->sock, 0, worker_see_end, NULL);
	result = loop_run(&l, until);
	if (result > 0 && !loop_is_ready(w->init_pidfd, POLLIN, 0))
		return worker_is_gone(w, e);
	return result;
}

int worker_wait(struct worker *w, int64_t until, struct life_end *ret, struct error *e)
{
	const struct wire_request r = {.ask = WIRE_WAIT, .fds = WIRE_FDS_NONE};
	struct arena a = {0};
	struct wire_answer answer;
	int result;

	if (!w->ended) {
		result = worker_await_end(w, until, e);
		if (result <= 0)
			return result;
		/* How it ended, and what it took, is the worker's to tell. */
		result = worker_ask(w, &r, loop_now() + WORKER_END_MS * LOOP_MS, &a, &answer, e);
		if (result >= 0)
			wire_fds_close(&answer.fds);
		if (result > 0)
			w->end = answer.end;
		arena_free(&a);
		if (result <= 0)
			return result;
		w->ended = true;
	}
	*ret = w->end;
	return 1;
}

int worker_kill(struct worker *w, int sig, bool all, int64_t until, struct error *e)
{
	const struct wire_request r = {
		.ask = WIRE_KILL, .signal = sig, .all = all, .fds = WIRE_FDS_NONE};

	return worker_tell(w, &r, until, e);
}

int worker_remove(struct worker *w, int64_t until, struct error *e)
{
	const struct wire_request r = {.ask = WIRE_REMOVE, .fds = WIRE_FDS_NONE};

	return worker_tell(w, &r, until, e);
}

int worker_let_go(struct worker *w, int64_t until, struct error *e)
{
	const struct wire_request r = {.ask = WIRE_LET_GO, .fds = WIRE_FDS_NONE};

	return worker_tell(w, &r, until, e);
}
