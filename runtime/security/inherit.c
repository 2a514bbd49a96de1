/*
 * Signals and scheduling: what a process takes along through fork and execve without being asked.
 * The headers of the C library and the kernel can't both be included for sched_setattr and
 * rt_sigaction, so their structs are written out here.
 */
#include "security/identity.h"

#include <errno.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIGNAL_LAST = 64, CPU_MASK_BYTES = 1024 };

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

int identity_reset_signals(struct error *e)
{
	const struct kernel_sigaction to_default = {{0}};
	const uint64_t none = 0;
	int n;

	/* The C library keeps two numbers to itself, but what they were set to passes execve all the
	 * same. */
	for (n = 1; n <= SIGNAL_LAST; n++)
		if (n != SIGKILL && n != SIGSTOP &&
		    syscall(SYS_rt_sigaction, n, &to_default, NULL, sizeof(none)) < 0)
			return err_sys(e, "reset signal %d", n);
	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none)) < 0)
		return err_sys(e, "unblock signals");
	return 0;
}

static int sched_set(const struct kernel_sched_attr *attr)
{
	return (int)syscall(SYS_sched_setattr, 0, attr, 0);
}

/* Only what would raise a priority can be refused to us; all else is a failure. */
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

	if (sched_set(&attr) < 0 && !(errno == EPERM && sched_is_lowered()))
		return err_sys(e, "reset scheduling policy");
	if (io_priority_set(0) < 0 && errno != EPERM && errno != ENOSYS)
		return err_sys(e, "reset I/O priority");
	if (affinity_reset() < 0 && errno != EPERM)
		return err_sys(e, "reset CPU affinity");
	return 0;
}

int identity_set_scheduler(const struct scheduler_plan *s, struct error *e)
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

	if (s->set && sched_set(&attr) < 0)
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
