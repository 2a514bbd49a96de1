/*
 * The keeper of a session (session.h): it starts the interpreter, holds what that is reached by,
 * lends it to calls, and ends with it. It runs outside of the box, with its caller's rights, and
 * reads nothing that comes from the box but questions of the filter.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "box/denials.h"
#include "box/sandbox.h"
#include "box/session.h"
#include "reaper/order.h"
#include "sys/loop.h"
#include "sys/self.h"
#include "sys/unix.h"

enum { END_MS = 2000, SEND_MS = 2000, NAME_SIZE = 8 };

struct keeper {
	struct box_request q;
	struct sandbox box; /* of its own descriptors, the directory alone */
	const char *name;
	struct arena memory;
	struct created call; /* its reaper: a child of ours */
	int lock_fd, listen_fd, judge_fd;
	int driver_fd, out_fd, err_fd, control_fd;
	struct denials denials;
	struct arena noted; /* what is denied between calls, which nobody asks for */
	struct loop loop;
	struct loop_source *client, *guests;
	struct session_hello hello;
	bool is_taken;
	bool is_over;
	bool is_stale; /* its socket is gone from the directory */
};

/* ---- the interpreter ---- */

static int keeper_open_pipes(struct keeper *k, int theirs[4], struct error *e)
{
	int pair[2], *ours[] = {&k->out_fd, &k->err_fd};
	size_t i;

	/* Both ways in one descriptor: it has three, and two of them are its output. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "make a socket");
	k->driver_fd = pair[0];
	theirs[0] = pair[1];
	for (i = 0; i < 2; i++) {
		if (pipe2(pair, O_CLOEXEC) < 0)
			return err_sys(e, "make a pipe");
		*ours[i] = pair[0];
		theirs[i + 1] = pair[1];
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "make a socket");
	k->control_fd = pair[0];
	theirs[3] = pair[1];
	if (fcntl(k->driver_fd, F_SETFL, O_NONBLOCK) < 0 ||
	    fcntl(k->out_fd, F_SETFL, O_NONBLOCK) < 0 || fcntl(k->err_fd, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(e, "set up a pipe");
	return 0;
}

static struct strings keeper_words(const struct keeper *k, struct arena *a)
{
	const struct session_driver *d = session_driver_find(k->q.language);
	struct strings args = {.v = arena_array(a, ARRAY_SIZE(d->words) + 1, char *)};

	while (args.n < ARRAY_SIZE(d->words) && d->words[args.n]) {
		args.v[args.n] = arena_strdup(a, d->words[args.n]);
		args.n++;
	}
	return args;
}

/* Nobody reads yet; the socket has room for it. */
static int keeper_send_driver(struct keeper *k, struct error *e)
{
	const char *text = session_driver_find(k->q.language)->text;
	const char *whole = arena_printf(&k->memory, "%07zu\n%s", strlen(text), text);

	return fd_write_all(k->driver_fd, whole, strlen(whole)) < 0 ?
		       err_sys(e, "give the session its driver") :
		       0;
}

static int keeper_start(struct keeper *k, struct error *e)
{
	const struct reaper_order order = {.beside = true};
	int theirs[4] = {-1, -1, -1, -1}, listener_fd = -1, result;
	const char *note; /* the result of a call says that denials are not known */
	size_t i;

	if (denials_settle_request(&k->q, &note, e) < 0)
		return -1;
	k->hello.denials = k->q.denials;
	result = keeper_open_pipes(k, theirs, e);
	k->q.args = keeper_words(k, &k->memory);
	k->q.session = true;
	if (result == 0)
		result = sandbox_join(&k->q, k->q.limits.network, theirs, theirs[3], &k->memory,
				      &k->call, &listener_fd, e);
	for (i = 0; i < ARRAY_SIZE(theirs); i++)
		fd_close(&theirs[i]);
	if (result < 0)
		return -1;
	denials_open(&k->denials, &k->q, &k->call.judge, listener_fd, &k->noted);
	k->denials.reaper = k->call.pid;
	if (fd_write_all(k->control_fd, &order, sizeof(order)) < 0)
		return err_sys(e, "give the session's reaper its orders");
	return keeper_send_driver(k, e);
}

/* ---- the place where calls find it ---- */

static int keeper_listen(struct keeper *k, struct error *e)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	const char *file = session_file(k->name, &k->memory);

	unlinkat(k->box.dfd, file, 0);
	k->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%s", k->box.dfd, file);
	if (k->listen_fd < 0 || bind(k->listen_fd, (const struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(k->listen_fd, 8) < 0)
		return err_sys(e, "make the socket of a session");
	k->lock_fd = openat(k->box.dfd, SESSION_LOCK,
			    O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (k->lock_fd < 0 || flock(k->lock_fd, LOCK_SH | LOCK_NB) < 0)
		return err_sys(e, "note that the box has a session");
	return 0;
}

static int keeper_keep_judge(struct keeper *k, struct error *e)
{
	const struct seccomp_program *p = &k->call.judge;
	const size_t size = p->len * sizeof(*p->filter);

	k->judge_fd = memfd_create("judge", MFD_CLOEXEC);
	if (k->judge_fd < 0 || (size && fd_write_all(k->judge_fd, p->filter, size) < 0))
		return err_sys(e, "keep the filter of a session");
	k->hello.judge_len = p->len;
	return 0;
}

/* ---- calls ---- */

static void keeper_send_away(struct keeper *k)
{
	fd_close(&k->client->fd);
	k->is_taken = false;
}

/* Two messages, for there are more descriptors than go with one. */
static int keeper_lend(struct keeper *k)
{
	const int first[] = {k->driver_fd, k->out_fd, k->err_fd, k->control_fd};
	const int second[] = {k->judge_fd, k->call.pidfd, k->denials.listener_fd};
	const size_t n = k->denials.listener_fd < 0 ? 2 : 3;
	struct error ignored;

	k->hello.answered = (uint32_t)k->denials.n;
	k->denials.n = 0;
	arena_free(&k->noted);
	k->is_taken = true;
	return unix_send_fds(k->client->fd, &k->hello, sizeof(k->hello), first, 4, &ignored) < 0 ?
		       -1 :
		       unix_send_fds(k->client->fd, "", 1, second, n, &ignored);
}

/* It ends by the end of the reaper's socket; the loop sees that it has. */
static void keeper_end_session(struct keeper *k)
{
	fd_close(&k->control_fd);
	k->is_over = true;
}

static int keeper_serve_client(void *context, short events)
{
	struct keeper *k = context;
	struct error ignored;
	char ask = 0;
	ssize_t n = recv(k->client->fd, &ask, 1, MSG_DONTWAIT);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		/* A call that is not heard of any more: nobody knows what it was doing. */
		if (k->is_taken)
			keeper_end_session(k);
		keeper_send_away(k);
		return 0;
	}
	switch (ask) {
	case SESSION_TAKE:
		if (!k->is_taken && keeper_lend(k) < 0)
			keeper_end_session(k);
		break;
	case SESSION_LEFT:
		k->hello.cells++;
		k->is_taken = false;
		break;
	case SESSION_BACK:
		k->is_taken = false;
		break;
	case SESSION_LOOK:
		(void)unix_send_fds(k->client->fd, &k->hello, sizeof(k->hello), NULL, 0, &ignored);
		break;
	case SESSION_END:
		keeper_end_session(k);
		break;
	default:
		keeper_send_away(k);
	}
	return 0;
}

/* Trust: the directory is its owner's, but who is root in there may have looked. */
static bool keeper_is_ours(int fd)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 && who.uid == geteuid();
}

static int keeper_serve_guests(void *context, short events)
{
	struct keeper *k = context;
	int fd = accept4(k->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	(void)events;
	if (fd < 0)
		return 0;
	if (k->client->fd >= 0 || !keeper_is_ours(fd)) {
		fd_close(&fd);
		return 0;
	}
	k->client->fd = fd;
	return 0;
}

static int keeper_serve_end(void *context, short events)
{
	(void)context;
	(void)events;
	return 1;
}

/* ---- its life ---- */

static void keeper_tell_failure(struct keeper *k, int sock, const struct error *e)
{
	struct error ignored;

	k->hello.failed = e->class;
	snprintf(k->hello.text, sizeof(k->hello.text), "%s", e->text);
	(void)unix_send_fds(sock, &k->hello, sizeof(k->hello), NULL, 0, &ignored);
}

/* A call that waits is told what became of the session. */
static void keeper_finish(struct keeper *k)
{
	struct session_end end = {0};
	struct error ignored;

	unlinkat(k->box.dfd, session_file(k->name, &k->memory), 0);
	fd_close(&k->listen_fd);
	end.collected = life_wait(&k->call, loop_now() + END_MS * LOOP_MS, &end.end,
				  &ignored) > 0;
	if (!end.collected)
		life_leave(&k->call); /* SIGKILL: what is left is for the call to end */
	fd_close(&k->lock_fd);
	if (k->client->fd >= 0)
		(void)unix_send_fds(k->client->fd, &end, sizeof(end), NULL, 0, &ignored);
}

static void keeper_attend(struct keeper *k)
{
	int64_t until = LOOP_NEVER;

	for (;;) {
		denials_settle(&k->denials);
		if (k->is_taken) /* the call answers */
			k->denials.source->fd = -1;
		k->guests->fd = k->client->fd < 0 ? k->listen_fd : -1;
		if (k->is_over && until == LOOP_NEVER)
			until = loop_now() + END_MS * LOOP_MS;
		if (loop_round(&k->loop, k->denials.pause_until && !k->is_over ?
						 k->denials.pause_until :
						 until) ||
		    (k->is_over && loop_now() >= until))
			return;
	}
}

/* Nothing of the caller's is left: its terminal and directory are none of the session's business,
 * and its locks would stay. */
static void keeper_let_go(struct keeper *k, int sock)
{
	const int keep[] = {sock, k->box.dfd};
	sigset_t none;
	int fd;

	setsid();
	log_close();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	fd_close_all_but(3, keep, ARRAY_SIZE(keep));
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd >= 0 && dup2(fd, 0) == 0 && dup2(fd, 1) == 1 && dup2(fd, 2) == 2)
		fd_close(&fd);
	prctl(PR_SET_NAME, "sbxrun-session");
}

__attribute__((noreturn)) void session_keep(const struct box_request *q, const char *name, int sock)
{
	struct keeper k = {.q = *q,
			   .box = *q->sandbox,
			   .name = name,
			   .lock_fd = -1,
			   .listen_fd = -1,
			   .judge_fd = -1,
			   .driver_fd = -1,
			   .out_fd = -1,
			   .err_fd = -1,
			   .control_fd = -1,
			   .denials = DENIALS_CLOSED,
			   .hello = {.version = SESSION_VERSION, .begun = sandbox_now()}};
	struct error e = {0};

	keeper_let_go(&k, sock);
	k.q.sandbox = &k.box;
	k.q.learning = NULL;
	snprintf(k.hello.language, sizeof(k.hello.language), "%s", q->language->name);
	if (keeper_start(&k, &e) < 0 || keeper_listen(&k, &e) < 0 ||
	    keeper_keep_judge(&k, &e) < 0) {
		keeper_tell_failure(&k, sock, &e);
		_exit(1); /* the end of the reaper's socket ends what there is */
	}
	/* It stays, and `ps` shows everybody how it was called: with the code of the first call,
	 * and what --env gave. */
	self_forget_words();
	k.hello.pid = k.call.pid;
	(void)!chdir("/"); /* before, the state's directory may be a relative one */
	denials_add(&k.denials, &k.loop);
	loop_add(&k.loop, k.call.pidfd, POLLIN, keeper_serve_end, &k);
	k.client = loop_add(&k.loop, sock, POLLIN, keeper_serve_client, &k);
	k.guests = loop_add(&k.loop, -1, POLLIN, keeper_serve_guests, &k);
	keeper_attend(&k);
	keeper_finish(&k);
	_exit(0);
}
