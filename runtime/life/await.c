/*
 * From "go" to a running program, as start and exec see it. Init says "executing" and then either
 * fails, with a reason, or is gone from the socket: execve has closed it. An end without "executing"
 * is a death. In between, the listener of a filter with notifications is taken and sent on.
 */
#include <errno.h>

#include "base/fd.h"
#include "init/listener.h"
#include "init/stage.h"
#include "life/life.h"
#include "sys/msg.h"
#include "sys/proc.h"
#include "sys/unix.h"

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
		return err_set(e, ERR_CONFIG, "annotations: too large for linux.seccomp.listenerPath");
	if (unix_send_fds(sock, b.data, b.len, &listener_fd, 1, e) < 0)
		return err_wrap(e, "linux.seccomp.listenerPath: %s", r->listener_path);
	return 0;
}

int life_serve_listener(int listener_fd, pid_t pid, const struct record *r, struct arena *a,
			struct error *e)
{
	autoclose int sock = -1;

	if (listener_check(listener_fd, e) < 0)
		return -1;
	sock = await_connect_agent(r, e);
	return sock < 0 ? -1 : await_tell_agent(sock, listener_fd, pid, r, a, e);
}

/* Whoever listens must be there before the filter is: afterwards calls would wait for nobody. */
static int await_with_page(int sock, int page_fd, pid_t pid, int pidfd, const struct record *r,
			   struct arena *a, struct error *e)
{
	struct listener_page *page = listener_map(page_fd, e);
	autoclose int agent_sock = -1, fd = -1;
	int result;

	if (!page)
		return -1;
	agent_sock = await_connect_agent(r, e);
	if (agent_sock < 0 || stage_say(sock, STAGE_START, e) < 0 || msg_wait(sock, e) < 0 ||
	    stage_await(sock, STAGE_EXECUTING, e) < 0)
		return -1;
	fd = listener_take(page, pidfd, e);
	result = fd < 0 ? -1 : await_tell_agent(agent_sock, fd, pid, r, a, e);
	listener_release(page);
	return result;
}

/* A process that ends closes the socket, too. Once it is reaped by its parent nothing can be told: then
 * `state` says that it has stopped. */
static bool await_never_executed(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat_read(pid, &stat) == 0 && !stat.executed;
}

int life_await_program(int sock, pid_t pid, int pidfd, const struct record *r, struct arena *a,
		       struct error *e)
{
	static const char died[] = "init died before it executed the program";
	autoclose int came_fd = -1;
	struct error why;
	int kind, got;

	if (msg_wait(sock, e) < 0 || msg_await(sock, &kind, &why, &came_fd, died, e) < 0)
		return -1;
	if (kind == STAGE_LISTENER) {
		if (life_serve_listener(came_fd, pid, r, a, e) < 0 || stage_say(sock, STAGE_START, e) < 0 ||
		    msg_wait(sock, e) < 0 || stage_await(sock, STAGE_EXECUTING, e) < 0)
			return -1;
	} else if (kind == STAGE_PAGE) {
		if (await_with_page(sock, came_fd, pid, pidfd, r, a, e) < 0)
			return -1;
	} else if (kind == STAGE_FAILED) {
		*e = why;
		return -1;
	} else if (kind != STAGE_EXECUTING) {
		return err_set(e, ERR_BUG, "message %d came before the program was executed", kind);
	}
	if (msg_wait(sock, e) < 0)
		return -1;
	got = msg_recv(sock, &kind, &why, NULL);
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
