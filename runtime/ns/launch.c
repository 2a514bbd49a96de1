#include "ns/launch.h"

#include <errno.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "sys/child.h"
#include "sys/loop.h"
#include "sys/msg.h"
#include "sys/patience.h"
#include "sys/proc.h"
#include "sys/sys.h"

enum {
	SAY_MAP_ME, /* child → parent: I am in the new user namespace */
	SAY_MAPPED, /* parent → child: the maps are written */
	SAY_BORN, /* launcher → parent: this is the child (its pidfd; none if it is the launcher) */
	SAY_FAILED, /* launcher → parent, with the error, and a child that must not be there */
};

int launch_ask_for_maps(int sock, struct error *e)
{
	struct error from;
	int kind;

	if (msg_send(sock, SAY_MAP_ME, NULL, -1) < 0)
		return err_sys(e, "ask for the id maps");
	if (msg_await(sock, &kind, &from, NULL, "the parent ended before the id maps were written",
		      e) < 0)
		return -1;
	return kind == SAY_MAPPED ?
		       0 :
		       err_set(e, ERR_BUG, "message %d came instead of the id maps", kind);
}

static int launch_map(const struct launch *l, pid_t pid, int sock, struct error *e)
{
	if (!l->write_maps)
		return err_set(e, ERR_BUG, "id maps asked for where there are none");
	if (l->write_maps(l->context, pid, e) < 0)
		return -1;
	if (msg_send(sock, SAY_MAPPED, NULL, -1) < 0)
		return err_sys(e, "tell the child that its id maps are written");
	return 0;
}

int launch_answer_maps(const struct launch *l, pid_t pid, int sock, struct error *e)
{
	struct error from;
	int kind;

	if (msg_wait(sock, e) < 0 ||
	    msg_await(sock, &kind, &from, NULL, "init died before its id maps were written", e) < 0)
		return -1;
	return launch_map(l, pid, sock, e);
}

__attribute__((noreturn)) static void launcher_main(const struct launch *l, int sock)
{
	struct error e;
	int pidfd = -1;
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (l->enter(l->context, sock, &e) < 0)
		goto fail;
	if (l->launcher_runs_main) {
		if (unshare((int)l->clone_flags) < 0) {
			err_sys(&e, "make the namespaces");
			goto fail;
		}
		if (msg_send(sock, SAY_BORN, NULL, -1) < 0) {
			err_sys(&e, "tell the parent that all is joined");
			goto fail;
		}
		fd_close(&sock);
		l->main(l->context);
	}
	pid = sys_clone_sibling(l->clone_flags, &pidfd);
	if (pid == 0) {
		fd_close(&sock);
		l->main(l->context);
	}
	if (pid < 0) {
		err_sys(&e, "clone into the namespaces");
		goto fail;
	}
	if (msg_send(sock, SAY_BORN, NULL, pidfd) == 0)
		_exit(0);
	/* Nobody would know of the child, so there must be none; it is the parent's to collect. */
	err_sys(&e, "tell the parent who its child is");
	pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
fail:
	_exit(msg_send(sock, SAY_FAILED, &e, pidfd) < 0 ? 2 : 1);
}

/* A child that nobody can name must not run. */
static void launch_end_child(int pidfd)
{
	pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
	waitid(P_PIDFD, (id_t)pidfd, &(siginfo_t){0},
	       WEXITED | __WALL); /* it may have no number here */
}

/* Until the launcher has said who its child is, or why there is none. */
static pid_t launch_attend(const struct launch *l, pid_t launcher, int sock, int *ret_pidfd,
			   struct error *e)
{
	struct error from;
	int kind, pidfd;
	pid_t pid;

	for (;;) {
		if (msg_wait(sock, e) < 0 ||
		    msg_await(sock, &kind, &from, &pidfd, "the launcher died before it had a child",
			      e) < 0)
			return -1;
		if (kind == SAY_MAP_ME && launch_map(l, launcher, sock, e) < 0)
			return -1;
		if (kind == SAY_FAILED) {
			*e = from;
			if (pidfd >= 0)
				launch_end_child(pidfd);
			fd_close(&pidfd);
			return -1;
		}
		if (kind == SAY_BORN)
			break;
	}
	if (l->launcher_runs_main)
		return launcher;
	pid = proc_pid_of_child(pidfd);
	if (pid > 0) {
		*ret_pidfd = pidfd;
		return pid;
	}
	err_sys(e, "find the pid of the container's process");
	/* A process whose pid we can't tell anybody must not run. Somebody else's process we leave
	 * alone. */
	if (e->sys != ECHILD)
		launch_end_child(pidfd);
	fd_close(&pidfd);
	return -1;
}

/* The launcher has ended, and we have not understood it: it may have told of a child, which is ours
 * then. */
static void launch_give_up(int sock)
{
	const int64_t until = loop_now() + PATIENCE_PEER_MS * LOOP_MS;
	struct error ignored;
	int kind, pidfd;

	while (loop_is_ready(sock, POLLIN, until) && msg_recv(sock, &kind, &ignored, &pidfd) > 0) {
		if (kind == SAY_BORN && pidfd >= 0)
			launch_end_child(pidfd);
		fd_close(&pidfd);
	}
}

pid_t launch(const struct launch *l, int *ret_pidfd, struct error *e)
{
	int socks[2];
	pid_t launcher, pid = -1;

	if (msg_pair(socks, e) < 0)
		return -1;
	/* The launcher enters the cgroup and its child is born there: from inside a new user
	 * namespace, whose ids are not those of the cgroup's owner, the kernel would refuse. */
	launcher = sys_clone3(0, l->unified_dfd, l->launcher_runs_main ? ret_pidfd : NULL);
	if (launcher == 0) {
		fd_close(&socks[0]);
		launcher_main(l, socks[1]);
	}
	fd_close(&socks[1]);
	if (launcher < 0) {
		err_sys(e, "clone the launcher");
	} else {
		pid = launch_attend(l, launcher, socks[0], ret_pidfd, e);
		if (pid < 0)
			kill(launcher, SIGKILL);
		if (pid > 0 && launcher != pid && l->ret_ended)
			*l->ret_ended = launcher;
		else if (launcher != pid)
			child_collect(launcher);
		if (pid < 0)
			launch_give_up(socks[0]);
	}
	fd_close(&socks[0]);
	return pid;
}
