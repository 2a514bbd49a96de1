/* Processes, threads, signals, timers and clocks. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static volatile sig_atomic_t alarms;

static void *work(void *x)
{
	pthread_mutex_lock(&lock), pthread_cond_signal(&cond), pthread_mutex_unlock(&lock), sem_post(&sem);
	pthread_setname_np(pthread_self(), "work");
	return x;
}

static void handler(int sig)
{
	(void)sig;
	alarms++;
}

int main(void)
{
	struct itimerval it = {{0, 10000}, {0, 10000}};
	struct timespec soon = {0, 1000000}, at;
	struct sigevent ev = {.sigev_notify = SIGEV_NONE};
	struct itimerspec its = {{0, 0}, {0, 1000000}};
	stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	struct rusage ru;
	struct rlimit rl;
	struct utsname un;
	struct sysinfo si;
	struct tms tms;
	pthread_t t[4];
	cpu_set_t set;
	sigset_t s, old;
	timer_t timer;
	char text[64];
	int i, fds[2], status;
	pid_t pid;

	sem_init(&sem, 0, 0);
	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, NULL);
	clock_gettime(CLOCK_REALTIME, &at), at.tv_nsec += 1000000;
	pthread_mutex_lock(&lock), pthread_cond_timedwait(&cond, &lock, &at), pthread_mutex_unlock(&lock);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL), sem_wait(&sem);
	pthread_getaffinity_np(pthread_self(), sizeof(set), &set), pthread_setaffinity_np(pthread_self(), sizeof(set), &set), sched_yield(), sched_getcpu();
	sched_getscheduler(0), sched_get_priority_max(SCHED_OTHER), sched_get_priority_min(SCHED_OTHER), sched_getparam(0, &(struct sched_param){0});
	signal(SIGALRM, handler), setitimer(ITIMER_REAL, &it, NULL);
	while (alarms < 2)
		pause();
	it = (struct itimerval){0}, setitimer(ITIMER_REAL, &it, NULL), getitimer(ITIMER_REAL, &it), alarm(0), sigaltstack(&stack, NULL);
	sigemptyset(&s), sigaddset(&s, SIGUSR1), sigprocmask(SIG_BLOCK, &s, &old), raise(SIGUSR1), sigpending(&s), sigtimedwait(&s, NULL, &soon), kill(getpid(), SIGUSR1), sigwaitinfo(&s, NULL);
	i = signalfd(-1, &s, SFD_CLOEXEC), kill(getpid(), SIGUSR1), read(i, (char[256]){0}, 128), sigqueue(getpid(), 0, (union sigval){0}), pthread_kill(pthread_self(), 0);
	timer_create(CLOCK_MONOTONIC, &ev, &timer), timer_settime(timer, 0, &its, NULL), timer_gettime(timer, &its), timer_getoverrun(timer), timer_delete(timer);
	i = timerfd_create(CLOCK_MONOTONIC, 0), its = (struct itimerspec){{0, 0}, {0, 1000}}, timerfd_settime(i, 0, &its, NULL), timerfd_gettime(i, &its), read(i, text, 8), i = eventfd(1, 0), read(i, text, 8);
	nanosleep(&soon, NULL), clock_nanosleep(CLOCK_MONOTONIC, 0, &soon, NULL), usleep(10), sleep(0), time(NULL), clock_getres(CLOCK_MONOTONIC, &at);
	pipe(fds), pipe2(fds, O_NONBLOCK), poll(&(struct pollfd){fds[0], POLLIN, 0}, 1, 1), ppoll(NULL, 0, &soon, NULL), select(0, NULL, NULL, NULL, &(struct timeval){0, 10}), pselect(0, NULL, NULL, NULL, &soon, NULL);
	i = epoll_create1(0), epoll_ctl(i, EPOLL_CTL_ADD, fds[0], &(struct epoll_event){EPOLLIN, {0}}), epoll_wait(i, &(struct epoll_event){0}, 1, 1), epoll_pwait(i, &(struct epoll_event){0}, 1, 1, NULL);
	pid = fork();
	if (!pid)
		setpgid(0, 0), setsid(), _exit(3);
	waitpid(pid, &status, 0), pid = vfork();
	if (!pid)
		execl("/bin/true", "true", NULL), _exit(1);
	wait4(pid, &status, 0, &ru), posix_spawn(&pid, "/bin/true", NULL, NULL, (char *[]){"true", NULL}, NULL), waitid(P_PID, pid, &(siginfo_t){0}, WEXITED);
	system("echo system >/dev/null"), pclose(popen("cat >/dev/null", "w")), getpgid(0), getpgrp(), getsid(0), getppid(), getuid(), geteuid(), getgid(), getegid(), getgroups(0, NULL);
	getresuid(&(uid_t){0}, &(uid_t){0}, &(uid_t){0}), getresgid(&(gid_t){0}, &(gid_t){0}, &(gid_t){0}), getpriority(PRIO_PROCESS, 0), setpriority(PRIO_PROCESS, 0, 1), nice(0);
	getrusage(RUSAGE_SELF, &ru), getrlimit(RLIMIT_STACK, &rl), setrlimit(RLIMIT_STACK, &rl), uname(&un), sysinfo(&si), times(&tms), gethostname(text, sizeof(text)), getrandom(text, 8, 0), prctl(PR_SET_NAME, "c"), getentropy(text, 8), sysconf(_SC_NPROCESSORS_ONLN), isatty(0), ttyname(0);
	puts("ok");
	return 0;
}
