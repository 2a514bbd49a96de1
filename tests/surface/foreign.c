/* Calls of the other two interfaces of x86-64: a sample that needs no pointers, and changes
 * nothing. */
#define _GNU_SOURCE
#include "probe.h"

#include <stdio.h>

struct foreign {
	unsigned int nr;
	long args[3];
};

enum { LIMIT = 10, X32_BIT = 0x40000000 };

/* clang-format off */
static const struct foreign i386[] = {
	{6, {-1}},		/* close */
	{20, {0}},		/* getpid */
	{24, {0}},		/* getuid16 */
	{27, {0}},		/* alarm */
	{41, {-1}},		/* dup */
	{47, {0}},		/* getgid16 */
	{54, {-1, 0x5413, 0}},	/* ioctl */
	{60, {022}},		/* umask */
	{64, {0}},		/* getppid */
	{65, {0}},		/* getpgrp */
	{66, {0}},		/* setsid */
	{118, {-1}},		/* fsync */
	{133, {-1}},		/* fchdir */
	{136, {0xffffffff}},	/* personality */
	{153, {0}},		/* munlockall */
	{158, {0}},		/* sched_yield */
	{199, {0}},		/* getuid */
	{201, {0}},		/* geteuid */
	{224, {0}},		/* gettid */
	{254, {1}},		/* epoll_create */
	{291, {0}},		/* inotify_init */
	{323, {0}},		/* eventfd */
	{359, {1, 1, 0}},	/* socket */
	{425, {-1, 0}},		/* io_uring_setup */
};

static const struct foreign x32[] = {
	{3, {-1}}, {24, {0}}, {32, {-1}}, {37, {0}}, {39, {0}}, {41, {1, 1, 0}}, {74, {-1}}, {81, {-1}}, {95, {022}},
	{102, {0}}, {104, {0}}, {107, {0}}, {108, {0}}, {110, {0}}, {111, {0}}, {112, {0}}, {135, {0xffffffff}}, {152, {0}},
	{186, {0}}, {213, {1}}, {284, {0}}, {291, {0}}, {294, {0}}, {425, {-1, 0}},
};
/* clang-format on */

static long call_i386(const void *arg)
{
	const struct foreign *f = arg;
	int ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(f->nr), "b"(f->args[0]), "c"(f->args[1]), "d"(f->args[2])
			 : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

static long call_x32(const void *arg)
{
	const struct foreign *f = arg;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"((long)f->nr | X32_BIT), "D"(f->args[0]), "S"(f->args[1]),
			   "d"(f->args[2])
			 : "rcx", "r11", "memory");
	return ret;
}

static void count(const char *name, long (*call)(const void *arg), const struct foreign *v,
		  size_t n)
{
	unsigned int reached = 0;

	for (size_t i = 0; i < n; i++) {
		struct outcome o = attempt(call, &v[i], LIMIT);
		bool hit = o.returned && o.value != -EPERM && o.value != -ENOSYS;

		reached += hit;
		if (list_names)
			printf("%s-call %u %s %s\n", name, v[i].nr, hit ? "reached" : "denied",
			       outcome_word(&o));
	}
	printf("%s_reached %u\n%s_tried %zu\n", name, reached, name, n);
}

void probe_foreign(void)
{
	count("i386", call_i386, i386, ARRAY_SIZE(i386));
	count("x32", call_x32, x32, ARRAY_SIZE(x32));
}
