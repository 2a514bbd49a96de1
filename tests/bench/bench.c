/*
 * bench.c: times commands beside each other: interleaved, in a random but repeatable order, with a
 * gap between runs, each in the mount namespace that it belongs to.
 *
 *	bench [--n RUNS] [--gap MS] [--seed S] [--log FILE] [--against A,B] JOBS
 *
 * JOBS is a text file. `job NAME PID` begins a job of the contestant NAME in PID's mount namespace
 * (0: ours); `step LABEL ARGV…` is a command of it, timed under LABEL; `undo ARGV…` runs only when
 * a step fails. A step may hold @ID@, new for each run of the job. The table has a block for each
 * label, with ratios to the contestants named by --against. `many COUNT WIDTH ARGV…` adds to a last
 * block: COUNT runs of a command, WIDTH at a time, as runs a second.
 *
 * Why a program: ru_maxrss of a child starts at the size of whoever made it, so a shell or an
 * interpreter would hide a small runtime. This one is linked statically, keeps its memory small and
 * says its own size, below which nothing can be seen. Why a gap: back-to-back runs share the
 * kernel's RCU grace periods, which a user who starts one container has to wait for.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
	pid_t pid = vfork();

	if (pid != 0)
		return pid;
	if (ns_fd >= 0 && setns(ns_fd, CLONE_NEWNS) < 0)
		_exit(125);
	if (dup2(b->null_fd, 0) < 0 || dup2(out_fd, 1) < 0 || dup2(out_fd, 2) < 0)
		_exit(125);
	execv(argv[0], argv);
	_exit(127);
}

static void fill_id(char **argv, char *const *from, char *id)
{
	for (size_t i = 0; i <= WORDS; i++)
		argv[i] = from[i] && strcmp(from[i], "@ID@") == 0 ? id : from[i];
}

static void new_id(struct bench *b, char *id, size_t size)
{
	snprintf(id, size, "bench-%d-%u", getpid(), ++b->serial);
}

/* Runs one step; true if it succeeded. */
static bool step_run(struct bench *b, const struct job *j, const struct step *s, char *id,
		     bool timed)
{
	char *argv[WORDS + 1];
	struct rusage ru;
	double t0, t1;
	struct row *r;
	int status;
	pid_t pid;

	fill_id(argv, s->argv, id);
	t0 = now_ms();
	pid = spawn(b, j->ns_fd, argv, timed ? b->null_fd : b->log_fd);
	if (pid < 0)
		die("vfork: %s", strerror(errno));
	while (wait4(pid, &status, 0, &ru) < 0)
		if (errno != EINTR)
			die("wait4: %s", strerror(errno));
	t1 = now_ms();
	if (!s->label || !timed)
		return status == 0;
	r = &b->row[s->row];
	if (status != 0) {
		r->failed++;
		return false;
	}
	r->wall[r->n++] = t1 - t0;
	r->cpu += tv_ms(&ru.ru_utime) + tv_ms(&ru.ru_stime);
	if (ru.ru_maxrss > r->rss)
		r->rss = ru.ru_maxrss;
	return true;
}

static bool job_run(struct bench *b, struct job *j, bool timed)
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
	return good;
}

/* j->count runs, j->width of them at any time; the rate a second, 0 if one failed. */
static double many_run(struct bench *b, const struct job *j)
{
	unsigned long begun = 0, ended = 0;
	char *argv[WORDS + 1], id[64];
	double t0 = now_ms();
	bool good = true;
	int status;

	while (ended < j->count) {
		while (begun < j->count && begun - ended < j->width) {
			new_id(b, id, sizeof(id));
			fill_id(argv, j->many.argv, id);
			if (spawn(b, j->ns_fd, argv, b->null_fd) < 0)
				die("vfork: %s", strerror(errno));
			begun++;
		}
		if (wait(&status) < 0)
			die("wait: %s", strerror(errno));
		good = good && status == 0;
		ended++;
	}
	return good ? (double)j->count * 1e3 / (now_ms() - t0) : 0;
}

static void run_many(struct bench *b)
{
	for (int n = 0; n < RATE_ROUNDS; n++) {
		for (size_t i = 0; i < b->njobs && !stop_asked; i++) {
			struct job *j = &b->job[i];
			double rate;

			if (!j->count || j->broken)
				continue;
			rate = many_run(b, j);
			if (rate > j->rate)
				j->rate = rate;
			gap(b);
		}
	}
}

static void run_all(struct bench *b)
{
	size_t order[JOBS];

	for (size_t i = 0; i < b->njobs && !stop_asked; i++) {
		order[i] = i;
		b->job[i].broken = !job_run(b, &b->job[i], false);
		if (b->job[i].broken)
			printf("%s: %s fails and is left out\n", b->job[i].name,
			       b->job[i].step[0].label);
	}
	for (unsigned long n = 0; n < b->runs && !stop_asked; n++) {
		for (size_t i = b->njobs; i > 1; i--) {
			size_t k = (size_t)(next_random(b) % i), t = order[i - 1];

			order[i - 1] = order[k];
			order[k] = t;
		}
		for (size_t i = 0; i < b->njobs && !stop_asked; i++)
			if (!b->job[order[i]].broken)
				(void)job_run(b, &b->job[order[i]], true);
	}
}

static void options_read(struct bench *b, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "n", required_argument, NULL, 'n' },
		{ "gap", required_argument, NULL, 'g' },
		{ "seed", required_argument, NULL, 's' },
		{ "log", required_argument, NULL, 'l' },
		{ "against", required_argument, NULL, 'a' },
		{ NULL, 0, NULL, 0 },
	};
	const char *log = "/dev/null";
	char *save = NULL;
	int k;

	while ((k = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (k == 'n')
			b->runs = strtoul(optarg, NULL, 10);
		else if (k == 'g')
			b->gap_ms = strtoul(optarg, NULL, 10);
		else if (k == 's')
			b->seed = strtoull(optarg, NULL, 10);
		else if (k == 'l')
			log = optarg;
		else if (k == 'a')
			for (char *w = strtok_r(optarg, ",", &save); w && b->nagainst < AGAINST;
			     w = strtok_r(NULL, ",", &save))
				b->against[b->nagainst++] = w;
		else
			die("see the head of bench.c for the options");
	}
	if (b->runs == 0 || b->runs > RUNS || b->gap_ms > 900 || b->seed == 0 || optind + 1 != argc)
		die("1 to %d runs, a gap below a second, a seed, and one file of jobs", RUNS);
	b->log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	b->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (b->log_fd < 0 || b->null_fd < 0)
		die("%s: %s", log, strerror(errno));
}

int main(int argc, char **argv)
{
	static struct bench b = { .runs = 40, .gap_ms = 40, .seed = 1 };
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct rusage self;

	options_read(&b, argc, argv);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		die("subreaper: %s", strerror(errno));
	jobs_read(&b, argv[optind]);
	getrusage(RUSAGE_SELF, &self);
	b.own_rss = self.ru_maxrss;
	run_all(&b);
	run_many(&b);
	table_print(&b);
	return stop_asked ? 1 : 0;
}
