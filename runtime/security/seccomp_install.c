#include "security/seccomp_install.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

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
