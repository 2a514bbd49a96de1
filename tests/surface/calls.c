/*
 * Every system call of x86-64, once. A call is reached if the kernel does more than to say EPERM or
 * ENOSYS, and no filter kills for it.
 *
 * Arguments are all -1, which is no descriptor, no pointer, no process and no known flag, unless a
 * row below says what else makes the call harmless, or gets it past a look at its arguments.
 *
 * uprobe and uretprobe are always reached: the kernel puts them in the place of instructions that
 * are traced, and shows them to no filter (Linux 6.14).
 */
#define _GNU_SOURCE
#include "probe.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "filter/syscalls.h"

enum { LIMIT = 10, NAMELESS = 8 };

struct call {
	const char *name;
	long nr;
	const long *args;
};

/* What no process and no object of System V IPC has for a number. */
#define NOBODY 0x3ffffff1
/* Where a call would act at once: a reader of the row knows why. */
static const struct special {
	const char *name;
	long args[6];
} specials[] = {
	{"clone", {SIGCHLD}},
	{"clone3", {-1, 8}},
	{"exit", {0}},
	{"exit_group", {0}},
	{"futex", {-1, FUTEX_WAKE}}, /* an unknown operation is ENOSYS */
	{"init_module", {-1, 0, -1}},
	{"ioctl", {-1, TIOCGWINSZ, -1}},
	{"kexec_load", {-1, -1, -1, 0}}, /* no segments would be: unload */
	{"kill", {NOBODY, 0}},
	{"modify_ldt", {0, 0, 0}}, /* an unknown function is ENOSYS */
	{"msgget", {NOBODY, 0}},
	{"personality", {0xffffffff}},
	{"reboot", {0, 0, -1, 0}},
	{"semget", {NOBODY, 0, 0}},
	{"shmget", {NOBODY, 0, 0}},
	{"socket", {AF_UNIX, SOCK_STREAM, 0}},
	{"socketpair", {AF_UNIX, SOCK_STREAM, 0, -1}},
	{"unshare", {0}},
};
static const long nothing_there[6] = {-1, -1, -1, -1, -1, -1};

/* Without a stack frame of its own: after vfork() the child has ours. */
static inline __attribute__((always_inline)) long raw_call(long nr, const long *a)
{
	long ret;

	__asm__ volatile("mov 24(%[a]), %%r10\n\t"
			 "mov 32(%[a]), %%r8\n\t"
			 "mov 40(%[a]), %%r9\n\t"
			 "syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a[0]), "S"(a[1]), "d"(a[2]), [a] "b"(a)
			 : "rcx", "r8", "r9", "r10", "r11", "memory");
	return ret;
}

static long call_plainly(const void *arg)
{
	const struct call *c = arg;

	return raw_call(c->nr, c->args);
}

/* fork() and its like: there may be two of us now. */
static long call_forking(const void *arg)
{
	static const long none[6];
	const struct call *c = arg;
	long ret = raw_call(c->nr, c->args);

	if (ret == 0)
		raw_call(SYS_exit_group, none);
	return ret;
}

static void do_nothing(int signal)
{
	(void)signal;
}

static long call_waiting(const void *arg)
{
	const struct itimerval soon = {.it_value.tv_usec = 10000, .it_interval.tv_usec = 10000};
	struct sigaction act = {.sa_handler = do_nothing};

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	return call_plainly(arg);
}

/* A session of our own has no terminal to hang up. */
static long call_in_session(const void *arg)
{
	setsid();
	return call_plainly(arg);
}

/* With a stack of zeros the kernel finds nowhere to return to. */
static long call_sigreturn(const void *arg)
{
	static char zeros[8192] __attribute__((aligned(64)));
	const struct call *c = arg;
	long ret;

	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "mov %2, %%rsp\n\t"
			 "syscall\n\t"
			 "mov %%rbx, %%rsp"
			 : "=a"(ret)
			 : "a"(c->nr), "r"(zeros + 1024)
			 : "rbx", "rcx", "r11", "memory");
	return ret;
}

/*
 * sync() has no arguments, and would keep the whole machine's disks busy. A filter of our own stops
 * it with ENOSYS, unless the sandbox's filter has said something stricter.
 */
static long call_withheld(const void *arg)
{
	const struct call *c = arg;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (__u32)c->nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {.len = ARRAY_SIZE(code), .filter = code};
	long ret;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return -ENOSYS;
	ret = call_plainly(arg);
	return ret == -ENOSYS ? 0 : ret;
}

static const struct manner {
	const char *name;
	long (*call)(const void *arg);
} manners[] = {
	{"clone", call_forking},      {"fork", call_forking},		{"vfork", call_forking},
	{"pause", call_waiting},      {"rt_sigreturn", call_sigreturn}, {"sync", call_withheld},
	{"vhangup", call_in_session},
};

static const long *args_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(specials); i++)
		if (strcmp(specials[i].name, name) == 0)
			return specials[i].args;
	return nothing_there;
}

static long (*manner_of(const char *name))(const void *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(manners); i++)
		if (strcmp(manners[i].name, name) == 0)
			return manners[i].call;
	return call_plainly;
}

enum verdict { REACHED, SAYS_EPERM, SAYS_ENOSYS, KILLED, VERDICTS };
static const char *const verdict_words[VERDICTS] = {"reached", "EPERM", "ENOSYS", "killed"};

static enum verdict judge(const struct outcome *o)
{
	if (o->signal == SIGSYS)
		return KILLED;
	if (o->returned && o->value == -EPERM)
		return SAYS_EPERM;
	if (o->returned && o->value == -ENOSYS)
		return SAYS_ENOSYS;
	return REACHED;
}

static enum verdict try_call(const char *name, long nr)
{
	const struct call c = {.name = name, .nr = nr, .args = args_of(name)};
	struct outcome o = attempt(manner_of(name), &c, LIMIT);
	enum verdict v = judge(&o);

	if (list_names)
		printf("call %s %s %s\n", name, verdict_words[v], outcome_word(&o));
	return v;
}

void probe_calls(void)
{
	unsigned int counts[VERDICTS] = {0};
	long newest = 0;
	char name[32];

	for (size_t i = 0; i < syscall_row_count; i++) {
		long nr = syscall_rows[i].nr[COLUMN_X86_64];

		if (nr == SYSCALL_NONE)
			continue;
		counts[try_call(syscall_rows[i].name, nr)]++;
		newest = nr > newest ? nr : newest;
	}
	for (long nr = newest + 1; nr <= newest + NAMELESS; nr++) {
		snprintf(name, sizeof(name), "number-%ld", nr);
		counts[try_call(name, nr)]++;
	}
	printf("calls_reached %u\ncalls_eperm %u\ncalls_enosys %u\ncalls_killed %u\n",
	       counts[REACHED], counts[SAYS_EPERM], counts[SAYS_ENOSYS], counts[KILLED]);
}
