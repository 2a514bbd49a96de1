/*
 * The first process of a box. The program itself can't be: as pid 1 it would not end by its own
 * signals, and whatever it leaves behind would stay. So this one is: it writes the program's file,
 * starts it as its child, collects everybody's children, passes signals on, says how the program
 * ended, and takes all others along by its own end.
 *
 * A box that stays between calls (box/sandbox.h) has two of them. Its first process has no socket
 * (the argument "wait"): it collects children, and a signal from outside kills all but itself. Each
 * call is a second one, a child from outside. That one isn't first, and so sees by itself to it
 * that nothing outlives the call: the orphans of the call become its children, and calls come one
 * at a time, so all others in the pid namespace are its own. Unless there are sessions
 * (box/session.h): then it stops all others, so that nobody forks, kills its children until there
 * are none, and lets the rest go on.
 *
 * Of a warm box (box/pool.h) the program is started before anybody knows its code: it waits for its
 * file, which is a pipe until the real one comes.
 *
 * It runs with the program's rights, ids and filter, has no C library and no memory but a page or
 * two, and nobody inside can look into it (PR_SET_DUMPABLE). Arguments: the number of its socket,
 * the path to execute, and the program's own arguments.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/prctl.h>
#include <linux/signal.h>
#include <linux/signalfd.h>
#include <linux/time_types.h>
#include <stddef.h>

#include "reaper/order.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif
enum { TIOCSPGRP_CALL = 0x5410, READABLE = 1, ANY_CHILD = -1, NO_HANG = 1, PIPE = 0010600 };
enum { LOOK_NS = 500000 };

struct poll_fd {
	int fd;
	short events, got;
};

/* ---- the kernel ---- */

#if defined(__x86_64__)
static long call(long n, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = 0;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
/* The stack as the kernel leaves it: argc, argv, NULL, environment, NULL. */
__asm__(".globl _start\n_start:\n\txor %ebp,%ebp\n\tmov %rsp,%rdi\n"
	"\tand $-16,%rsp\n\tcall reaper_main\n");
#elif defined(__aarch64__)
static long call(long n, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = 0;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
__asm__(".globl _start\n_start:\n\tmov x29,#0\n\tmov x0,sp\n\tbl reaper_main\n");
#else
#error "the reaper knows x86-64 and arm64"
#endif

/* The compiler makes calls of this one for what it copies and clears. */
void *memset(void *to, int byte, size_t n);
void *memset(void *to, int byte, size_t n)
{
	char *p = to;

	while (n--)
		*p++ = (char)byte;
	return to;
}

static long call3(long n, long a, long b, long c)
{
	return call(n, a, b, c, 0, 0);
}

__attribute__((noreturn)) static void end(int status)
{
	for (;;)
		call3(__NR_exit_group, status, 0, 0);
}

static int is_first(void)
{
	return call3(__NR_getpid, 0, 0, 0) == 1;
}

static int beside; /* as the order says */

/* Kills those that are its children now; 0: nobody says who they are. */
static int kill_children(void)
{
	char text[4096];
	long n, i, pid = 0;
	int fd = (int)call(__NR_openat, AT_FDCWD, (long)"/proc/thread-self/children",
			   O_RDONLY | O_CLOEXEC, 0, 0);

	if (fd < 0)
		return 0;
	n = call3(__NR_read, fd, (long)text, sizeof(text));
	call3(__NR_close, fd, 0, 0);
	for (i = 0; i < n; i++) {
		if (text[i] != ' ') {
			pid = pid * 10 + (text[i] - '0');
			continue;
		}
		if (pid > 0)
			call3(__NR_kill, pid, SIGKILL, 0);
		pid = 0;
	}
	return n >= 0; /* none at all: wait4() says so, too */
}

/* A killed process leaves us its children, so each round goes a level deeper. */
static void end_own(void)
{
	call3(__NR_kill, -1, SIGSTOP, 0);
	do {
		if (!kill_children())
			call3(__NR_kill, -1, SIGKILL, 0);
	} while (call(__NR_wait4, ANY_CHILD, 0, 0, 0, 0) != -ECHILD);
	call3(__NR_kill, -1, SIGCONT, 0);
}

/* Whether it has no child; those that have ended are collected. */
static int is_childless(void)
{
	long got;

	while ((got = call(__NR_wait4, ANY_CHILD, 0, NO_HANG, 0, 0)) > 0)
		;
	return got == -ECHILD;
}

/* The end of the reaper, and of all others. One kill() for all: nobody can fork past it. A call
 * without a process of its own leaves the others alone: they may be of the next one. */
__attribute__((noreturn)) static void end_all(int status)
{
	if (!is_first() && !is_childless()) {
		if (beside)
			end_own();
		else
			call3(__NR_kill, -1, SIGKILL, 0);
		while (call(__NR_wait4, ANY_CHILD, 0, 0, 0, 0) != -ECHILD)
			;
	}
	end(status);
}

/* ---- the socket ---- */

static void say(int sock, enum reaper_kind kind, int value)
{
	const struct reaper_word word = {.kind = kind, .value = value};

	call3(__NR_write, sock, (long)&word, sizeof(word));
}

__attribute__((noreturn)) static void fail(int sock, enum reaper_place place, long result)
{
	say(sock, REAPER_FAILED, (int)place << 16 | (int)-result);
	end_all(127);
}

/* All of it; whoever is gone has no use for a box. */
static void take(int sock, void *to, size_t n)
{
	char *p = to;
	long got;

	while (n) {
		got = call3(__NR_read, sock, (long)p, (long)n);
		if (got == -EINTR)
			continue;
		if (got <= 0)
			end_all(127);
		p += got;
		n -= (size_t)got;
	}
}

static void write_all(int sock, int fd, const char *p, size_t n)
{
	long got;

	while (n) {
		got = call3(__NR_write, fd, (long)p, (long)n);
		if (got < 0 && got != -EINTR)
			fail(sock, REAPER_AT_FILE, got);
		p += got > 0 ? got : 0;
		n -= got > 0 ? (size_t)got : 0;
	}
}

/* The name is relative to the working directory, which is the program's own. */
static void write_file(int sock, const char *name, const struct reaper_order *o)
{
	char part[4096];
	uint64_t size;
	size_t n;
	int fd = (int)call(__NR_openat, AT_FDCWD, (long)name,
			   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, o->file_mode, 0);

	if (fd < 0)
		fail(sock, REAPER_AT_FILE, fd);
	for (size = o->file_size; size; size -= n) {
		n = size < sizeof(part) ? (size_t)size : sizeof(part);
		take(sock, part, n);
		write_all(sock, fd, part, n);
	}
	call3(__NR_close, fd, 0, 0);
}

/* ---- a file that comes later ---- */

/* Where the program looks for its file, and waits. */
struct later {
	const char *name; /* NULL: the file was there from the beginning, or has come */
	int fd;		  /* of the pipe; -1: the program has not opened it yet */
};

static void make_pipe(int sock, const char *name)
{
	const long made = call(__NR_mknodat, AT_FDCWD, (long)name, PIPE, 0, 0);

	if (made < 0)
		fail(sock, REAPER_AT_FILE, made);
}

/* Nobody reads a pipe that nobody has opened: then this fails, and is tried again. */
static void look_for_reader(int sock, struct later *l)
{
	l->fd = (int)call(__NR_openat, AT_FDCWD, (long)l->name,
			  O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0, 0);
	if (l->fd >= 0)
		say(sock, REAPER_READY, (int)call3(__NR_fcntl, l->fd, F_GETPIPE_SZ, 0));
}

/* First the file, which the program may look at as soon as it runs, and then what it waits for. No
 * more comes than the pipe holds, so nothing here waits for the program. */
static void take_file(int sock, struct later *l)
{
	struct reaper_order o = {.file_mode = 0600};
	char part[4096];
	long n, from;

	take(sock, &o.file_size, sizeof(o.file_size));
	call3(__NR_unlinkat, AT_FDCWD, (long)l->name, 0);
	write_file(sock, l->name, &o);
	from = call(__NR_openat, AT_FDCWD, (long)l->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0, 0);
	if (from < 0)
		fail(sock, REAPER_AT_FILE, from);
	while ((n = call3(__NR_read, from, (long)part, sizeof(part))) > 0)
		write_all(sock, l->fd, part, (size_t)n);
	call3(__NR_close, from, 0, 0);
	call3(__NR_close, l->fd, 0, 0);
	l->name = 0;
}

/* ---- the program ---- */

static void block_all(unsigned long set)
{
	call(__NR_rt_sigprocmask, SIG_SETMASK, (long)&set, 0, sizeof(set), 0);
}

__attribute__((noreturn)) static void become(int sock, char **argv, char **env)
{
	long self, why;

	/* Where there is a terminal, the program is who it belongs to. */
	call3(__NR_setpgid, 0, 0, 0);
	self = call3(__NR_getpid, 0, 0, 0);
	call3(__NR_ioctl, 0, TIOCSPGRP_CALL, (long)&self);
	block_all(0);
	why = call3(__NR_execve, (long)argv[0], (long)(argv + 1), (long)env);
	say(sock, REAPER_FAILED, (int)REAPER_AT_PROGRAM << 16 | (int)-why);
	end(127);
}

/* The file of a call's program goes with it. */
static void remove_file(const char *file)
{
	if (*file && !is_first())
		call3(__NR_unlinkat, AT_FDCWD, (long)file, 0);
}

/* Collects whoever has ended; the end of the program is the end of all. */
static void collect(int sock, long program, const char *file)
{
	int status;
	long pid;

	for (;;) {
		status = 0;
		pid = call(__NR_wait4, ANY_CHILD, (long)&status, NO_HANG, 0, 0);
		if (pid == program) {
			remove_file(file);
			say(sock, REAPER_ENDED, status);
			end_all(0);
		}
		if (pid <= 0)
			return;
	}
}

/* Whom a signal is for. */
static long everybody(long program)
{
	return beside ? -program : -1;
}

static void pass_on(struct poll_fd *sock, long program, const char *file, struct later *l)
{
	unsigned char sig = 0;
	long got = call3(__NR_read, sock->fd, (long)&sig, 1);

	if (got == 1 && sig == REAPER_FILE_COMES && l->name && l->fd >= 0)
		take_file(sock->fd, l);
	else if (got == 1)
		call3(__NR_kill, everybody(program), sig, 0);
	if (got == 1 || got == -EINTR)
		return;
	remove_file(file);
	if (!beside)
		end_all(127);
	/* It may have left its group, or not have one yet. */
	call3(__NR_kill, -program, SIGKILL, 0);
	call3(__NR_kill, program, SIGKILL, 0);
	sock->fd = -1;
}

static struct poll_fd signals(unsigned long set)
{
	const long fd = call(__NR_signalfd4, -1, (long)&set, sizeof(set), O_CLOEXEC, 0);

	return (struct poll_fd){.fd = (int)fd, .events = READABLE};
}

__attribute__((noreturn)) static void attend(int sock, long program, const char *file,
					     struct later *l)
{
	const struct __kernel_timespec moment = {.tv_nsec = LOOK_NS};
	struct signalfd_siginfo info;
	struct poll_fd fds[2] = {signals(~0UL), {.fd = sock, .events = READABLE}};

	for (;;) {
		struct __kernel_timespec left = moment;

		collect(sock, program, file);
		if (l->name && l->fd < 0)
			look_for_reader(sock, l);
		fds[0].got = fds[1].got = 0;
		if (call(__NR_ppoll, (long)fds, 2, l->name && l->fd < 0 ? (long)&left : 0, 0,
			 0) <= 0)
			continue;
		/* A signal for the first process is one for all, if it comes from outside. */
		if (fds[0].got && call3(__NR_read, fds[0].fd, (long)&info, sizeof(info)) > 0 &&
		    info.ssi_signo != SIGCHLD && !info.ssi_pid)
			call3(__NR_kill, everybody(program), (long)info.ssi_signo, 0);
		if (fds[1].fd >= 0 && fds[1].got)
			pass_on(&fds[1], program, file, l);
	}
}

/*
 * The first process of a box that stays. It kills before it reads the signal that says so: once
 * that is no longer pending, which others can see, the next call may come. A program that sends the
 * signal has killed itself.
 */
__attribute__((noreturn)) static void wait_for_calls(void)
{
	const unsigned long end_calls = 1UL << (REAPER_END_CALLS - 1);
	struct poll_fd fds[2] = {signals(end_calls), signals(~end_calls)};
	struct signalfd_siginfo info;

	for (;;) {
		while (call(__NR_wait4, ANY_CHILD, 0, NO_HANG, 0, 0) > 0)
			;
		if (call(__NR_ppoll, (long)fds, 2, 0, 0, 0) < 0)
			continue;
		if (fds[0].got) {
			call3(__NR_kill, -1, SIGKILL, 0);
			call3(__NR_read, fds[0].fd, (long)&info, sizeof(info));
		}
		if (fds[1].got)
			call3(__NR_read, fds[1].fd, (long)&info, sizeof(info));
	}
}

static int number(const char *s)
{
	int n = 0;

	while (*s)
		n = n * 10 + (*s++ - '0');
	return n;
}

static void obey(int sock, struct reaper_order *o, char name[REAPER_NAME_MAX])
{
	size_t i;
	uint64_t any = 0;

	name[0] = '\0';

	take(sock, o, sizeof(*o));
	beside = o->beside && !is_first();
	for (i = 0; i < REAPER_CPU_WORDS; i++)
		any |= o->cpus[i];
	if (any)
		call3(__NR_sched_setaffinity, 0, sizeof(o->cpus), (long)o->cpus);
	if (o->name_size > REAPER_NAME_MAX)
		end_all(127);
	if (!o->name_size)
		return;
	take(sock, name, o->name_size);
	if (o->later)
		make_pipe(sock, name);
	else
		write_file(sock, name, o);
}

__attribute__((noreturn, used)) void reaper_main(long *stack);
__attribute__((noreturn, used)) void reaper_main(long *stack)
{
	char **argv = (char **)(stack + 1), **env = argv + stack[0] + 1;
	struct reaper_order order;
	char file[REAPER_NAME_MAX];
	struct later later = {.fd = -1};
	long program, failed = 0;
	int sock;

	if (stack[0] < 2)
		end(127);
	block_all(~0UL);
	call3(__NR_prctl, PR_SET_NAME, (long)"reaper", 0);
	call3(__NR_prctl, PR_SET_DUMPABLE, 0, 0);
	if (argv[1][0] == REAPER_WAITS[0])
		wait_for_calls();
	if (stack[0] < 4)
		end(127);
	sock = number(argv[1]);
	call3(__NR_fcntl, sock, F_SETFD, FD_CLOEXEC);
	if (!is_first())
		failed = call3(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1, 0);
	if (failed < 0)
		fail(sock, REAPER_AT_SETUP, failed);
	obey(sock, &order, file);
	later.name = order.later ? file : 0;
	if (order.deny_write_execute)
		failed = call(__NR_prctl, PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
	/* EINVAL: Linux before 6.3 has no such thing, which the result says. */
	if (failed < 0 && failed != -EINVAL)
		fail(sock, REAPER_AT_SETUP, failed);
	program = call(__NR_clone, SIGCHLD, 0, 0, 0, 0);
	if (program == 0)
		become(sock, argv + 2, env);
	if (program < 0)
		fail(sock, REAPER_AT_FORK, program);
	say(sock, REAPER_RUNS, failed ? 0 : 1);
	attend(sock, program, file, &later);
}
