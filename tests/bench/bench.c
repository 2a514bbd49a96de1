/*
 * bench.c: times commands beside each other: interleaved, in a random but repeatable order, with a
 * gap between runs, each in the mount namespace that it belongs to.
 *
 *	bench [--n RUNS] [--rounds N] [--gap MS] [--seed S] [--log FILE] [--prefix ID] JOBS
 *
 * JOBS is a text file. `job NAME PID` begins a job of the contestant NAME in PID's mount namespace
 * (0: ours); `step LABEL ARGV…` is a command of it, timed under LABEL; `undo ARGV…` runs only when
 * a step fails. A step may hold @ID@, new for each run of the job. `rate LABEL COUNT WIDTH ARGV…`
 * is COUNT runs of a command, WIDTH at a time; rates come last, --rounds times.
 *
 * What was measured goes to stdout at once, a line each, fields apart by tabs:
 *
 *	plan	LABEL	NAME		first of all, in the order of the file
 *	run	LABEL	NAME	wall ms	CPU ms	resident KB
 *	rate	LABEL	NAME	runs a second
 *	fail	LABEL	NAME
 *
 * Why a program: ru_maxrss of a child starts at the size of whoever made it, so a shell or an
 * interpreter would hide a small runtime. This one is linked statically, keeps its memory small and
 * says its own size, below which nothing can be seen. Why a gap: back-to-back runs
 * share the kernel's RCU grace periods, which a user who starts one container has to wait for.
 *
 * Caveat: CPU time is that of the command and of the children it waited for; what a detached
 * container uses after `create` has returned is not in it.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 2000, ROUNDS = 20, GAP_MS = 900, WARM_UPS = 3 };

struct bench {
	struct jobs jobs;
	unsigned long runs;
	unsigned long rounds;
	unsigned long gap_ms;
	uint64_t seed;
	const char *prefix;
	int log_fd;
	int null_fd;
	unsigned serial;
};

static volatile sig_atomic_t stop_asked;

/* A job that has begun is finished, so that no container stays. */
static void on_signal(int sig)
{
	(void)sig;
	stop_asked = 1;
}

void die(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("bench: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double tv_ms(const struct timeval *t)
{
	return (double)t->tv_sec * 1e3 + (double)t->tv_usec / 1e3;
}

/* Waits and reaps what an earlier step left to us: we are the subreaper of detached containers. */
static void gap(const struct bench *b)
{
	struct timespec t = { 0, (long)b->gap_ms * 1000000 };

	nanosleep(&t, NULL);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* xorshift64*: the order must be the same for the same seed on every machine. */
static uint64_t next_random(struct bench *b)
{
	b->seed ^= b->seed >> 12;
	b->seed ^= b->seed << 25;
	b->seed ^= b->seed >> 27;
	return b->seed * 2685821657736338717ULL;
}

/*
 * Starts argv like posix_spawn does (the child borrows our memory until its execve), and moves it
 * into its mount namespace on the way, which posix_spawn can't.
 */
static pid_t spawn(const struct bench *b, int ns_fd, char *const *argv, int out_fd)
{
	/* NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): a fork
	 * would be timed along, and the child does nothing but system calls. */
	pid_t pid = vfork();

	if (pid < 0)
		die("vfork: %s", strerror(errno));
	if (pid > 0)
		return pid;
	if (ns_fd >= 0 && setns(ns_fd, CLONE_NEWNS) < 0)
		_exit(125);
	if (dup2(b->null_fd, 0) < 0 || dup2(out_fd, 1) < 0 || dup2(out_fd, 2) < 0)
		_exit(125);
	execv(argv[0], argv);
	_exit(127);
	/* NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */
}

static void fill_id(char **argv, char *const *from, char *id)
{
	for (size_t i = 0; i <= WORDS; i++)
		argv[i] = from[i] && strcmp(from[i], "@ID@") == 0 ? id : from[i];
}

static void new_id(struct bench *b, char *id, size_t size)
{
	snprintf(id, size, "%s-%u", b->prefix, ++b->serial);
}

/* Runs one step; true if it succeeded. */
static bool step_run(const struct bench *b, const struct job *j, const struct step *s, char *id,
		     bool timed)
{
	char *argv[WORDS + 1];
	struct rusage ru;
	double t0, t1;
	int status;
	pid_t pid;

	fill_id(argv, s->argv, id);
	t0 = now_ms();
	pid = spawn(b, j->ns_fd, argv, timed ? b->null_fd : b->log_fd);
	while (wait4(pid, &status, 0, &ru) < 0)
		if (errno != EINTR)
			die("wait4: %s", strerror(errno));
	t1 = now_ms();
	if (s->label && timed && status == 0)
		printf("run\t%s\t%s\t%.4f\t%.4f\t%ld\n", s->label, j->name, t1 - t0,
		       tv_ms(&ru.ru_utime) + tv_ms(&ru.ru_stime), ru.ru_maxrss);
	else if (s->label && timed)
		printf("fail\t%s\t%s\n", s->label, j->name);
	return status == 0;
}

static bool job_run(struct bench *b, const struct job *j, bool timed)
{
	bool good = true;
	char id[64];

	new_id(b, id, sizeof(id));
	for (size_t i = 0; i < j->nsteps; i++) {
		if ((j->step[i].label != NULL) != good)
			continue;
		good = step_run(b, j, &j->step[i], id, timed) && good;
		gap(b);
	}
	fflush(stdout);
	return good;
}

static bool job_is_rates(const struct job *j)
{
	return j->nsteps && j->step[0].count;
}

/* s->count runs, s->width of them at any time. */
static void rate_run(struct bench *b, const struct job *j, const struct step *s)
{
	unsigned long begun = 0, ended = 0;
	char *argv[WORDS + 1], id[64];
	double t0 = now_ms();
	bool good = true;
	int status;

	while (ended < s->count) {
		while (begun < s->count && begun - ended < s->width) {
			new_id(b, id, sizeof(id));
			fill_id(argv, s->argv, id);
			spawn(b, j->ns_fd, argv, b->null_fd);
			begun++;
		}
		if (wait(&status) < 0)
			die("wait: %s", strerror(errno));
		good = good && status == 0;
		ended++;
	}
	if (good)
		printf("rate\t%s\t%s\t%.2f\n", s->label, j->name,
		       (double)s->count * 1e3 / (now_ms() - t0));
	else
		printf("fail\t%s\t%s\n", s->label, j->name);
	fflush(stdout);
}

static void run_rates(struct bench *b)
{
	for (unsigned long n = 0; n < b->rounds; n++)
		for (size_t i = 0; i < b->jobs.n; i++)
			for (size_t k = 0; k < b->jobs.job[i].nsteps && !stop_asked; k++) {
				const struct job *j = &b->jobs.job[i];

				if (!job_is_rates(j))
					break;
				rate_run(b, j, &j->step[k]);
				gap(b);
			}
}

/* Several tries: on a busy machine a killed container may still be there when `delete` comes. */
static bool job_warm_up(struct bench *b, const struct job *j)
{
	for (int tries = 0; tries < WARM_UPS && !stop_asked; tries++)
		if (job_run(b, j, false))
			return true;
	printf("fail\t%s\t%s\n", j->step[0].label, j->name);
	return false;
}

static void run_all(struct bench *b)
{
	size_t order[JOBS], n = 0;

	for (size_t i = 0; i < b->jobs.n && !stop_asked; i++)
		if (!job_is_rates(&b->jobs.job[i]) && job_warm_up(b, &b->jobs.job[i]))
			order[n++] = i;
	for (unsigned long round = 0; round < b->runs && !stop_asked; round++) {
		for (size_t i = n; i > 1; i--) {
			size_t k = (size_t)(next_random(b) % i), t = order[i - 1];

			order[i - 1] = order[k];
			order[k] = t;
		}
		for (size_t i = 0; i < n && !stop_asked; i++)
			(void)job_run(b, &b->jobs.job[order[i]], true);
	}
}

/* Not ru_maxrss of our own, which may be that of the shell that started us. */
static long own_kb(void)
{
	char line[256];
	long kb = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmHWM: %ld", &kb);
	if (f)
		fclose(f);
	return kb;
}

static void plan_print(const struct bench *b)
{
	for (size_t i = 0; i < b->jobs.n; i++)
		for (size_t k = 0; k < b->jobs.job[i].nsteps; k++)
			if (b->jobs.job[i].step[k].label)
				printf("plan\t%s\t%s\n", b->jobs.job[i].step[k].label,
				       b->jobs.job[i].name);
	fflush(stdout);
}

static void options_read(struct bench *b, int argc, char **argv)
{
	static const struct option longs[] = {
		{"n", required_argument, NULL, 'n'},
		{"rounds", required_argument, NULL, 'r'},
		{"gap", required_argument, NULL, 'g'},
		{"seed", required_argument, NULL, 's'},
		{"log", required_argument, NULL, 'l'},
		{"prefix", required_argument, NULL, 'p'},
		{NULL, 0, NULL, 0},
	};
	const char *log = "/dev/null";
	int k;

	while ((k = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (k == 'n')
			b->runs = strtoul(optarg, NULL, 10);
		else if (k == 'r')
			b->rounds = strtoul(optarg, NULL, 10);
		else if (k == 'g')
			b->gap_ms = strtoul(optarg, NULL, 10);
		else if (k == 's')
			b->seed = strtoull(optarg, NULL, 10);
		else if (k == 'l')
			log = optarg;
		else if (k == 'p')
			b->prefix = optarg;
		else
			die("see the head of bench.c for the options");
	}
	if (b->runs == 0 || b->runs > RUNS || b->rounds > ROUNDS || b->gap_ms > GAP_MS ||
	    b->seed == 0 || optind + 1 != argc)
		die("1 to %d runs, up to %d rounds, a gap below a second, a seed, and one file of jobs",
		    RUNS, ROUNDS);
	b->log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	b->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (b->log_fd < 0 || b->null_fd < 0)
		die("%s: %s", log, strerror(errno));
}

int main(int argc, char **argv)
{
	static struct bench b = {
		.runs = 60, .rounds = 3, .gap_ms = 40, .seed = 1, .prefix = "bench"
	};
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	options_read(&b, argc, argv);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		die("subreaper: %s", strerror(errno));
	jobs_read(&b.jobs, argv[optind]);
	printf("# runs\t%lu\n# gap in ms\t%lu\n# smallest size that can be seen in KB\t%ld\n",
	       b.runs, b.gap_ms, own_kb());
	plan_print(&b);
	run_all(&b);
	run_rates(&b);
	if (stop_asked)
		puts("# interrupted\t1");
	return stop_asked ? 1 : 0;
}
