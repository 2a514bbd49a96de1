/*
 * caller WHAT…: makes system calls in numbers that are known, so that whoever counts them can be
 * held to that.
 *
 *	own N		getppid, N times
 *	thread N	the same in a thread
 *	child N		the same in a child of fork, which executes this program again
 *	vchild N	the same in a child of vfork
 *	refused N	chroot("/"), N times; prints how it ended
 *	socket FAMILY	one, and prints how it ended
 *	timerfd CLOCK	one, and prints how it ended
 *	ppid32		i386's getppid, by its own gate (x86-64)
 *	signals N	a timer interrupts N calls at least, with a handler after which calls are
 *			not begun anew; prints what failed
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t came;

static void own(long n)
{
	while (n-- > 0)
		syscall(SYS_getppid);
}

static void *thread(void *n)
{
	own(*(long *)n);
	return NULL;
}

__attribute__((noinline)) static void child(bool by_vfork, char *number)
{
	pid_t pid = by_vfork ? vfork() : fork();
	int status;

	if (pid == 0) {
		execl("/proc/self/exe", "caller", "own", number, NULL);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		exit(1);
}

static void refused(long n)
{
	int result = 0;

	while (n-- > 0)
		result = chroot("/");
	printf("chroot %s\n", result < 0 ? strerrorname_np(errno) : "done");
}

static void handler(int sig)
{
	(void)sig;
	came++;
}

static void signals(long n)
{
	struct sigaction act = {.sa_handler = handler};
	struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	long failed = 0;

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (came < n) {
		int fd = dup(0);

		failed += fd < 0;
		close(fd);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("failed %ld\n", failed);
}

static void ppid32(void)
{
#ifdef __x86_64__
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(64L) : "memory");
	printf("i386 %ld\n", result < 0 ? result : 0);
#endif
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		char *what = argv[i], *word = i + 1 < argc ? argv[i + 1] : "0";
		long n = strtol(word, NULL, 10);
		pthread_t t;

		if (strcmp(what, "ppid32") == 0) {
			ppid32();
			continue;
		}
		i++;
		if (strcmp(what, "own") == 0)
			own(n);
		else if (strcmp(what, "thread") == 0 && pthread_create(&t, NULL, thread, &n) == 0)
			pthread_join(t, NULL);
		else if (strcmp(what, "child") == 0)
			child(false, word);
		else if (strcmp(what, "vchild") == 0)
			child(true, word);
		else if (strcmp(what, "refused") == 0)
			refused(n);
		else if (strcmp(what, "signals") == 0)
			signals(n);
		else if (strcmp(what, "timerfd") == 0)
			printf("timerfd %s\n", timerfd_create((int)n, 0) < 0 ? strerrorname_np(errno) : "done");
		else if (strcmp(what, "socket") == 0)
			printf("socket %s\n", socket((int)n, SOCK_RAW, 0) < 0 ? strerrorname_np(errno) : "done");
		else
			return 2;
	}
	return 0;
}
