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
#include "sys/unix.h"

static int await_send_listener(struct listener_page *page, int listener_sock, pid_t pid, int pidfd,
			       const struct record *r, struct arena *a, struct error *e)
{
	struct buf b = buf_new(a, (size_t)2 * RECORD_MAX);
	autoclose int fd = listener_take(page, pidfd, e);

	if (fd < 0)
		return -1;
	record_write_process_state(r, pid, a, &b);
	if (b.overflow || unix_send_fds(listener_sock, b.data, b.len, &fd, 1) < 0)
		return err_sys(e, "linux.seccomp.listenerPath: send to %s", r->listener_path);
	return 0;
}

/* Whoever listens must be there before the filter is: afterwards calls would wait for nobody. */
static int await_with_listener(int sock, int page_fd, pid_t pid, int pidfd, const struct record *r,
			       struct arena *a, struct error *e)
{
	struct listener_page *page = listener_map(page_fd, e);
	autoclose int listener_sock = -1;
	int result;

	if (!page)
		return -1;
	if (!r->listener_path)
		return err_set(e, ERR_CONFIG, "linux.seccomp.listenerPath: missing");
	listener_sock = unix_connect(r->listener_path, e);
	if (listener_sock < 0)
		return err_wrap(e, "linux.seccomp.listenerPath");
	if (stage_say(sock, STAGE_START, e) < 0 || msg_wait(sock, e) < 0 ||
	    stage_await(sock, STAGE_EXECUTING, e) < 0)
		return -1;
	result = await_send_listener(page, listener_sock, pid, pidfd, r, a, e);
	listener_release(page);
	return result;
}

int life_await_program(int sock, pid_t pid, int pidfd, const struct record *r, struct arena *a,
		       struct error *e)
{
	autoclose int page_fd = -1;
	struct error why;
	int kind, got;

	if (msg_wait(sock, e) < 0 ||
	    msg_await(sock, &kind, &why, &page_fd, "init died before it executed the program", e) < 0)
		return -1;
	if (kind == STAGE_LISTENER) {
		if (await_with_listener(sock, page_fd, pid, pidfd, r, a, e) < 0)
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
	return 0;
}
