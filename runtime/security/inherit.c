/*
 * Signals, scheduling, memory: what a process takes along through fork and execve without being
 * asked. The headers of the C library and the kernel can't both be included for sched_setattr and
 * rt_sigaction, so their structs are written out here.
 */
#include "security/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#ifndef PR_SET_MEMORY_MERGE
#define PR_SET_MEMORY_MERGE 67
#endif

/* The kernel's own, as most are configured. */
#define CORE_FILTER "0x33"

enum { SIGNAL_LAST = 64, CPU_MASK_BYTES = 1024, TIMER_SLACK_NS = 50000 };

/* All of it zero: SIG_DFL, no flags, no mask. Larger than any architecture's. */
struct kernel_sigaction {
	unsigned long word[8];
};

struct kernel_sched_attr {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
	uint32_t util_min;
	uint32_t util_max;
};

/* As a process has them that nobody has set anything for. */
static const struct {
	int option;
	unsigned long value;
	const char *what;
} plain_settings[] = {
	{PR_SET_THP_DISABLE, 0, "huge pages"},
	/* 0 would be what the caller's own was when we were born. */
	{PR_SET_TIMERSLACK, TIMER_SLACK_NS, "timer slack"},
	{PR_MCE_KILL, PR_MCE_KILL_CLEAR, "what happens when memory fails"},
	{PR_SET_MEMORY_MERGE, 0, "merging of equal memory"}, /* Linux 6.4 */
	{PR_SET_IO_FLUSHER, 0, "reserves for flushing"},     /* a right that few have */
};

/* No file: a kernel without cores. Not ours: of a program that can't be read, and that dumps no
 * core either. */
static int core_filter_reset(struct error *e)
{
	if (fd_write_at(AT_FDCWD, "/proc/self/coredump_filter", CORE_FILTER) < 0 &&
	    errno != ENOENT && errno != EACCES && errno != EPERM)
		return err_sys(e, "reset what a core has in it");
	return 0;
}

int identity_reset_settings(struct error *e)
{
	size_t i;

	/* EINVAL: this kernel has nothing of the kind. EPERM: only others could have set it. */
	for (i = 0; i < ARRAY_SIZE(plain_settings); i++)
		if (prctl(plain_settings[i].option, plain_settings[i].value, 0, 0, 0) < 0 &&
		    errno != EINVAL && errno != EPERM)
			return err_sys(e, "reset %s", plain_settings[i].what);
	if (syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0) < 0 && errno != ENOSYS &&
	    errno != EPERM)
		return err_sys(e, "reset the memory policy");
	return core_filter_reset(e);
}

bool identity_is_protected_from_oom(void)
{
	char text[16];

	return fd_read_at(AT_FDCWD, "/proc/self/oom_score_adj", text, sizeof(text)) > 0 &&
	       text[0] == '-';
}

int identity_reset_signals(struct error *e)
{
	const struct kernel_sigaction to_default = {{0}};
	const uint64_t none = 0;
	int n;

	/* The C library keeps two numbers to itself, but what they were set to passes execve all
	 * the same. */
	for (n = 1; n <= SIGNAL_LAST; n++)
		if (n != SIGKILL && n != SIGSTOP &&
		    syscall(SYS_rt_sigaction, n, &to_default, NULL, sizeof(none)) < 0)
			return err_sys(e, "reset signal %d", n);
	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none)) < 0)
		return err_sys(e, "unblock signals");
	return 0;
}

static int sched_set(pid_t pid, const struct kernel_sched_attr *attr)
{
	return (int)syscall(SYS_sched_setattr, pid, attr, 0);
}

/* The kernel may refuse only to raise a priority; any other refusal is a failure. */
static bool sched_is_lowered(void)
{
	struct kernel_sched_attr now = {.size = sizeof(now)};

	return syscall(SYS_sched_getattr, 0, &now, sizeof(now), 0) < 0 || now.nice > 0 ||
	       now.policy == SCHED_IDLE;
}

static int io_priority_set(int value)
{
	return (int)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, value);
}

/* Every CPU there may be: the kernel cuts it down to what the cpuset allows. */
static int affinity_reset(void)
{
	unsigned char all[CPU_MASK_BYTES];

	memset(all, 0xff, sizeof(all));
	return (int)syscall(SYS_sched_setaffinity, 0, sizeof(all), all);
}

int identity_reset_scheduler(struct error *e)
{
	const struct kernel_sched_attr attr = {.size = sizeof(attr)};

	if (sched_set(0, &attr) < 0 && !(errno == EPERM && sched_is_lowered()))
		return err_sys(e, "reset scheduling policy");
	if (io_priority_set(0) < 0 && errno != EPERM && errno != ENOSYS)
		return err_sys(e, "reset I/O priority");
	if (affinity_reset() < 0 && errno != EPERM)
		return err_sys(e, "reset CPU affinity");
	return 0;
}

int identity_lift_scheduler(pid_t pid, struct error *e)
{
	const struct kernel_sched_attr attr = {.size = sizeof(attr)};

	if (sched_set(pid, &attr) < 0 && errno != EPERM)
		return err_sys(e, "reset scheduling policy of init");
	return 0;
}

int identity_set_scheduler(pid_t pid, const struct scheduler_plan *s, struct error *e)
{
	const struct kernel_sched_attr attr = {
		.size = sizeof(attr),
		.policy = s->policy,
		.flags = s->flags,
		.nice = s->nice,
		.priority = s->priority,
		.runtime = s->runtime,
		.deadline = s->deadline,
		.period = s->period,
	};

	if (s->set && sched_set(pid, &attr) < 0)
		return err_sys(e, "process.scheduler");
	return 0;
}

int identity_set_io_priority(const struct io_priority_plan *p, struct error *e)
{
	if (p->set && io_priority_set(p->value) < 0)
		return err_sys(e, "process.ioPriority");
	return 0;
}

int identity_set_memory_policy(const struct memory_policy_plan *p, struct error *e)
{
	/* The kernel takes one bit less than it is told. */
	unsigned long bits = p->node_count ? p->node_count + 1 : 0;

	if (p->set && syscall(SYS_set_mempolicy, p->mode, bits ? p->nodes : NULL, bits) < 0)
		return err_sys(e, "linux.memoryPolicy");
	return 0;
}
