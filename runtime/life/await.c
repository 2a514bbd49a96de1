/*
 * From "go" to a running program, as start and exec see it. Init says "executing" and then either
 * fails, with a reason, or is gone from the socket: execve has closed it. An end without
 * "executing" is a death. In between, the listener of a filter with notifications is taken and sent
 * on.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>

#include "base/fd.h"
#include "init/listener.h"
#include "init/stage.h"
#include "life/internal.h"
#include "life/policy.h"
#include "sys/loop.h"
#include "sys/msg.h"
#include "sys/patience.h"
#include "sys/proc.h"
#include "sys/unix.h"

enum { LOOK_MS = 200 };

static int await_connect_agent(const struct record *r, struct error *e)
{
	int sock;

	if (!r->listener_path)
		return err_set(e, ERR_CONFIG, "linux.seccomp.listenerPath: missing");
	sock = unix_connect(r->listener_path, e);
	return sock < 0 ? err_wrap(e, "linux.seccomp.listenerPath") : sock;
}

static int await_tell_agent(int sock, int listener_fd, pid_t pid, const struct record *r,
			    struct arena *a, struct error *e)
{
	struct buf b = buf_new(a, (size_t)2 * RECORD_MAX);

	record_write_process_state(r, pid, a, &b);
	if (b.overflow)
		return err_set(e, ERR_CONFIG,
			       "annotations: too large for linux.seccomp.listenerPath");
	if (unix_send_fds(sock, b.data, b.len, &listener_fd, 1, e) < 0)
		return err_wrap(e, "linux.seccomp.listenerPath: %s", r->listener_path);
	return 0;
}

int life_serve_listener(int *listener_fd, pid_t pid, const struct record *r, int *take_fd,
			struct arena *a, struct error *e)
{
	autoclose int sock = -1;

	if (listener_check(*listener_fd, e) < 0)
		return -1;
	if (take_fd) {
		*take_fd = fd_steal(listener_fd);
		return 0;
	}
	sock = await_connect_agent(r, e);
	return sock < 0 ? -1 : await_tell_agent(sock, *listener_fd, pid, r, a, e);
}

/* While the program is not there yet, whoever asks is init: about its last call, which a filter of
 * a program that executes nothing does not give. */
static void await_let_pass(int listener_fd)
{
	struct seccomp_notif ask = {0};
	struct seccomp_notif_resp r = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

	if (!loop_is_ready(listener_fd, POLLIN, loop_now()) ||
	    ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_RECV, &ask) < 0)
		return;
	r.id = ask.id;
	ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_SEND, &r);
}

static int await_served(void *context, short events)
{
	(void)context;
	(void)events;
	return 1;
}

/* Until one of them has something to say, or for a moment. */
static bool await_either(int sock, int listener_fd)
{
	struct loop l = {0};

	loop_add(&l, sock, POLLIN, await_served, NULL);
	loop_add(&l, listener_fd, POLLIN, await_served, NULL);
	loop_round(&l, loop_now() + LOOK_MS * LOOP_MS);
	return loop_is_ready(sock, POLLIN, loop_now());
}

static const char died[] = "init died before it executed the program";

/* The number alone does not tell: somebody else may have it by now. */
static bool await_has_executed(pid_t pid, int pidfd)
{
	struct proc_stat stat;

	return proc_stat_read(pid, &stat) == 0 && stat.executed && store_is_alive(pidfd);
}

/*
 * Until the process says something, or its socket has ended. Who can trace it may hold a copy of
 * that, which then never ends; so the kernel is asked, too. *ret_gone: nothing will be said any
 * more, for the process has ended or (after STAGE_EXECUTING) executed its program. listener_fd: of
 * its filter, if it is ours to answer for, or -1.
 */
static int await_word(int sock, pid_t pid, int pidfd, bool executing, int listener_fd,
		      bool *ret_gone, struct error *e)
{
	*ret_gone = false;
	while (!await_either(sock, listener_fd)) {
		if (listener_fd >= 0)
			await_let_pass(listener_fd);
		if (!store_is_alive(pidfd) || (executing && await_has_executed(pid, pidfd))) {
			*ret_gone = !loop_is_ready(sock, POLLIN, loop_now()); /* its last word */
			return 0;
		}
		if (patience_check(e) < 0)
			return -1;
	}
	return 0;
}

static int await_stage(int sock, enum stage stage, pid_t pid, int pidfd, struct error *e)
{
	bool gone;

	if (await_word(sock, pid, pidfd, false, -1, &gone, e) < 0)
		return -1;
	return gone ? err_set(e, ERR_SYSTEM, "%s", died) : stage_await(sock, stage, e);
}

/* The agent must be there before the filter is: afterwards calls would wait for nobody. */
static int await_with_page(int sock, int page_fd, pid_t pid, int pidfd, const struct record *r,
			   int *take_fd, struct arena *a, struct error *e)
{
	struct listener_page *page = listener_map(page_fd, e);
	autoclose int agent_sock = -1, fd = -1;
	int result;

	if (!page)
		return -1;
	if (!take_fd)
		agent_sock = await_connect_agent(r, e);
	if ((!take_fd && agent_sock < 0) || stage_say(sock, STAGE_START, e) < 0 ||
	    await_stage(sock, STAGE_EXECUTING, pid, pidfd, e) < 0) {
		listener_unmap(page);
		return -1;
	}
	fd = listener_take(page, pidfd, e);
	if (fd >= 0 && take_fd)
		result = (*take_fd = fd_steal(&fd)) < 0 ? -1 : 0;
	else
		result = fd < 0 ? -1 : await_tell_agent(agent_sock, fd, pid, r, a, e);
	listener_release(page);
	return result;
}

/* A process that ends closes the socket, too. Once it is reaped by its parent nothing can be told:
 * then `state` says that it has stopped. */
static bool await_never_executed(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat_read(pid, &stat) == 0 && !stat.executed;
}

/* Init has startContainer hooks to run before. */
int life_await_watched(int sock, struct created *c, struct arena *a, struct error *e)
{
	struct learning *l = c->learning;

	if (await_stage(sock, STAGE_WATCH, c->pid, c->pidfd, e) < 0)
		return -1;
	l->judge = c->judge;
	if (life_policy_of(&c->record, a, &l->policy, e) < 0 ||
	    learn_begin(l, c->pid, c->reaped, e) < 0)
		return -1;
	return stage_say(sock, STAGE_START, e);
}

int life_await_program(int sock, pid_t pid, int pidfd, const struct record *r, int *take_fd,
		       struct arena *a, struct error *e)
{
	autoclose int came_fd = -1;
	struct error why;
	int kind, got;
	bool gone;

	if (await_word(sock, pid, pidfd, false, -1, &gone, e) < 0)
		return -1;
	if (gone)
		return err_set(e, ERR_SYSTEM, "%s", died);
	if (msg_await(sock, &kind, &why, &came_fd, died, e) < 0)
		return -1;
	if (kind == STAGE_LISTENER) {
		if (life_serve_listener(&came_fd, pid, r, take_fd, a, e) < 0 ||
		    stage_say(sock, STAGE_START, e) < 0 ||
		    await_stage(sock, STAGE_EXECUTING, pid, pidfd, e) < 0)
			return -1;
	} else if (kind == STAGE_PAGE) {
		if (await_with_page(sock, came_fd, pid, pidfd, r, take_fd, a, e) < 0)
			return -1;
	} else if (kind == STAGE_FAILED) {
		*e = why;
		return -1;
	} else if (kind != STAGE_EXECUTING) {
		return err_set(e, ERR_BUG, "message %d came before the program was executed", kind);
	}
	if (await_word(sock, pid, pidfd, true, take_fd ? *take_fd : -1, &gone, e) < 0)
		return -1;
	got = gone ? 0 : msg_recv(sock, &kind, &why, NULL);
	if (got < 0)
		return err_sys(e, "wait for the program to start");
	if (got > 0) {
		*e = why;
		return -1;
	}
	if (await_never_executed(pid))
		return err_set(e, ERR_SYSTEM, "%s (does linux.seccomp let it?)", died);
	return 0;
}
