#include "sys/child.h"

#include <errno.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "sys/loop.h"

int child_collect_usage(pid_t pid, struct rusage *ret)
{
	int status = 0;
	pid_t got;

	/* __WALL: a child of clone() may end without SIGCHLD. */
	do
		got = wait4(pid, &status, __WALL, ret);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -1 : status;
}

int child_collect(pid_t pid)
{
	struct rusage ignored;

	return child_collect_usage(pid, &ignored);
}

int child_stopped(pid_t pid, int *ret_status)
{
	pid_t got;

	do
		got = waitpid(pid, ret_status, __WALL);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -1 : 0;
}

pid_t child_next(int *ret_status)
{
	pid_t got;

	do
		got = waitpid(-1, ret_status, __WALL);
	while (got < 0 && errno == EINTR);
	return got;
}

void child_end(pid_t pid)
{
	if (pid <= 0) /* to kill() that would be a group, or everybody */
		return;
	if (kill(pid, SIGKILL) == 0)
		child_collect(pid);
}

int child_collect_within(pid_t pid, int ms, int *ret_status, struct error *e)
{
	autoclose int pidfd = pidfd_open(pid, 0);
	const int64_t until = loop_now() + ms * LOOP_MS;
	int status;

	/* Without a pidfd (no descriptor is left) it is waited for without a deadline. */
	while (pidfd >= 0 && !loop_is_ready(pidfd, POLLIN, until))
		if (loop_now() >= until)
			return err_set(e, ERR_SYSTEM, "process %d did not end within %d s", pid,
				       ms / 1000);
	status = child_collect(pid);
	if (status < 0)
		return err_sys(e, "wait for process %d", pid);
	if (ret_status)
		*ret_status = status;
	return 0;
}

int child_exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
