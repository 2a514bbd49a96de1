#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/str.h"
#include "net/net.h"

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#error "no filter for this architecture"
#endif

/* All that carrying connections takes. */
static const int calls[] = {
	SYS_epoll_pwait,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
	SYS_epoll_ctl,	   SYS_read,	    SYS_write,	     SYS_recvfrom,   SYS_sendto,
	SYS_recvmsg,	   SYS_sendmsg,	    SYS_accept4,     SYS_connect,    SYS_close,
	SYS_shutdown,	   SYS_getsockname, SYS_getsockopt,  SYS_setsockopt, SYS_clock_gettime,
	SYS_getrandom,	   SYS_brk,	    SYS_munmap,	     SYS_mremap,     SYS_madvise,
	SYS_exit_group,	   SYS_rt_sigreturn, SYS_restart_syscall,
};

#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), yes, no)
#define GIVE(action) BPF_STMT(BPF_RET | BPF_K, action)

/* Sockets of the internet alone, and no memory that can be executed. Numbers of the x32 interface
 * are none of the list's. */
static int confine_calls(void)
{
	static const struct sock_filter before[] = {
		LOAD(arch),
		IS(NATIVE, 1, 0),
		GIVE(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		IS(SYS_socket, 0, 4),
		LOAD(args[0]),
		IS(AF_INET, 1, 0),
		IS(AF_INET6, 0, 5),
		GIVE(SECCOMP_RET_ALLOW),
		IS(SYS_mmap, 0, 4),
		LOAD(args[2]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
		GIVE(SECCOMP_RET_ALLOW),
		GIVE(SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_filter code[ARRAY_SIZE(before) + 2 * ARRAY_SIZE(calls) + 1];
	struct sock_fprog program = {.filter = code};
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(before); i++)
		code[n++] = before[i];
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		code[n++] = (struct sock_filter)IS(calls[i], 0, 1);
		code[n++] = (struct sock_filter)GIVE(SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter)GIVE(SECCOMP_RET_KILL_PROCESS);
	program.len = (unsigned short)n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static int confine_limits(void)
{
	static const struct {
		__rlimit_resource_t which;
		rlim_t most;
	} limits[] = {
		{RLIMIT_NOFILE, 2 * NET_LINKS_MAX + NET_LISTENERS_MAX + 2 * NET_LINKS_MAX + 16},
		{RLIMIT_AS, 512 << 20},
		{RLIMIT_CORE, 0},
		{RLIMIT_FSIZE, 0},
		{RLIMIT_NPROC, 0},
	};
	struct rlimit now;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		if (getrlimit(limits[i].which, &now) < 0)
			return -1;
		/* A lower limit stays so: then fewer connections can be had. */
		now.rlim_cur = now.rlim_max = now.rlim_max < limits[i].most ? now.rlim_max :
									      limits[i].most;
		if (setrlimit(limits[i].which, &now) < 0)
			return -1;
	}
	return 0;
}

int confine_self(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    confine_limits() < 0)
		return -1;
	return confine_calls();
}
