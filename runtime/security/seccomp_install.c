#include "security/seccomp_install.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "sys/child.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* The kernel looks at the flags before the program: EFAULT means that it knows them. */
static bool seccomp_knows(unsigned int flags)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, NULL) < 0 && errno == EFAULT;
}

unsigned int seccomp_waits_killable(void)
{
	const unsigned int flags =
		SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;

	return seccomp_knows(flags) ? SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV : 0;
}

/* Of a child, which it ends with. */
__attribute__((noreturn)) static void seccomp_try_listener(void)
{
	struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	const struct sock_fprog prog = {.len = ARRAY_SIZE(allow), .filter = allow};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	_exit(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		      &prog) < 0);
}

bool seccomp_may_listen(void)
{
	pid_t pid;
	int status;

	/* A filter that has one is inherited, and no process can be given one by another. */
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER)
		return true;
	pid = fork();
	if (pid == 0)
		seccomp_try_listener();
	if (pid < 0)
		return true; /* the start of the box has the same difficulty, and says so */
	status = child_collect(pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int seccomp_check_host(const struct seccomp_program *p, struct error *e)
{
	if (!p->filter || !(p->flags & SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) ||
	    seccomp_knows(p->flags))
		return 0;
	return err_set(
		e, ERR_HOST,
		"linux.seccomp.flags: this kernel lacks SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV");
}

int seccomp_install(const struct seccomp_program *p, int *ret_listener_fd, struct error *e)
{
	const struct sock_fprog prog = {.len = p->len, .filter = p->filter};
	bool listens = p->flags & SECCOMP_FILTER_FLAG_NEW_LISTENER;
	long rc = 0;

	if (p->filter)
		rc = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, p->flags, &prog);
	if (rc < 0)
		return err_sys(e, "linux.seccomp: load the filter");
	if (rc > 0 && !listens)
		return err_set(e, ERR_SYSTEM, "linux.seccomp: thread %ld can't take the filter",
			       rc);
	*ret_listener_fd = listens ? (int)rc : -1;
	return 0;
}
