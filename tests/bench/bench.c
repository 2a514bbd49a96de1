/*
 * bench.c: times commands beside each other: interleaved, in a random but repeatable order, with a
 * gap between runs, each in the mount namespace that it belongs to.
 *
 *	bench [--n RUNS] [--gap MS] [--seed S] [--log FILE] [--against A,B] JOBS
 *
 * JOBS is a text file. `job NAME PID` begins a job of the contestant NAME in PID's mount namespace
 * (0: ours); `step LABEL ARGV…` is a command of it, timed under LABEL; `undo ARGV…` runs only when
 * a step fails. A step may hold @ID@, new for each run of the job. The table has a block for each
 * label, with ratios to the contestants named by --against.
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
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOBS = 64, STEPS = 8, WORDS = 24, ROWS = 256, RUNS = 2000, AGAINST = 4, LABELS = 64 };

struct step {
	const char *label; /* NULL: undo */
	char *argv[WORDS + 1];
	size_t row;
};

struct job {
	const char *name;
	int ns_fd;
	bool broken; /* failed in the warm-up: left out */
	struct step step[STEPS];
	size_t nsteps;
};

/* The samples of one contestant under one label. */
struct row {
	const char *name;
	const char *label;
	size_t n;
	size_t failed;
	double *wall; /* ms */
	double cpu;   /* ms, sum */
	long rss;     /* KB, maximum */
};

struct bench {
	struct job job[JOBS];
	size_t njobs;
	struct row row[ROWS];
	size_t nrows;
	const char *against[AGAINST];
	size_t nagainst;
	unsigned long runs;
	unsigned long gap_ms;
	uint64_t seed;
	int log_fd;
	int null_fd;
	unsigned serial;
	long own_rss; /* KB, when the first job starts */
};

static volatile sig_atomic_t stop_asked;

/* A job that has begun is finished, so that no container stays. */
static void on_signal(int sig)
{
	(void)sig;
	stop_asked = 1;
}

static void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

static void die(const char *fmt, ...)
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

static char *copy(const char *s)
{
	char *c = strdup(s);

	if (!c)
		die("out of memory");
	return c;
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

static size_t row_find(struct bench *b, const char *name, const char *label)
{
	struct row *r;

	for (size_t i = 0; i < b->nrows; i++)
		if (strcmp(b->row[i].name, name) == 0 && strcmp(b->row[i].label, label) == 0)
			return i;
	if (b->nrows == ROWS)
		die("more than %d rows", ROWS);
	r = &b->row[b->nrows];
	r->name = name;
	r->label = label;
	r->wall = calloc(b->runs, sizeof(*r->wall));
	if (!r->wall)
		die("out of memory");
	return b->nrows++;
}

static void add_job(struct bench *b, char **save)
{
	const char *name = strtok_r(NULL, " \t\n", save), *pid = strtok_r(NULL, " \t\n", save);
	struct job *j = &b->job[b->njobs];
	char path[64];

	if (!name || !pid || b->njobs == JOBS)
		die("job wants a name and a pid, at most %d times", JOBS);
	j->name = copy(name);
	j->ns_fd = -1;
	b->njobs++;
	if (strcmp(pid, "0") == 0)
		return;
	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
	j->ns_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (j->ns_fd < 0)
		die("%s: %s", path, strerror(errno));
}

static void add_step(struct bench *b, char **save, bool undo)
{
	struct job *j = &b->job[b->njobs - 1];
	struct step *s = &j->step[j->nsteps];
	const char *word;
	size_t n = 0;

	if (b->njobs == 0 || j->nsteps == STEPS)
		die("a step without a job, or more than %d of them", STEPS);
	if (!undo) {
		word = strtok_r(NULL, " \t\n", save);
		if (!word)
			die("a step without a label");
		s->label = copy(word);
		s->row = row_find(b, j->name, s->label);
	}
	while ((word = strtok_r(NULL, " \t\n", save))) {
		if (n == WORDS)
			die("more than %d words", WORDS);
		s->argv[n++] = copy(word);
	}
	if (n == 0)
		die("a step without a command");
	j->nsteps++;
}

static void jobs_read(struct bench *b, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[4096];

	if (!f)
		die("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		char *save = NULL, *word = strtok_r(line, " \t\n", &save);

		if (!word || *word == '#')
			continue;
		if (strcmp(word, "job") == 0)
			add_job(b, &save);
		else if (strcmp(word, "step") == 0)
			add_step(b, &save, false);
		else if (strcmp(word, "undo") == 0)
			add_step(b, &save, true);
		else
			die("%s: %s is none of job, step, undo", path, word);
	}
	fclose(f);
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

	for (size_t i = 0; i <= WORDS; i++)
		argv[i] = s->argv[i] && strcmp(s->argv[i], "@ID@") == 0 ? id : s->argv[i];
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

	snprintf(id, sizeof(id), "bench-%d-%u", getpid(), ++b->serial);
	for (size_t i = 0; i < j->nsteps; i++) {
		if ((j->step[i].label != NULL) != good)
			continue;
		good = step_run(b, j, &j->step[i], id, timed) && good;
		gap(b);
	}
	return good;
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

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double p10(const struct row *r)
{
	return r->wall[r->n / 10];
}

static double median(const struct row *r)
{
	return r->n % 2 ? r->wall[r->n / 2] : (r->wall[r->n / 2 - 1] + r->wall[r->n / 2]) / 2;
}

static const struct row *row_of(const struct bench *b, const char *name, const char *label)
{
	for (size_t i = 0; i < b->nrows; i++)
		if (b->row[i].n && strcmp(b->row[i].name, name) == 0 &&
		    strcmp(b->row[i].label, label) == 0)
			return &b->row[i];
	return NULL;
}

static void row_print(const struct bench *b, const struct row *r)
{
	printf("  %-14s", r->name);
	if (r->n == 0) {
		puts("  no run succeeded");
		return;
	}
	printf(" %8.2f %8.2f %8.2f %8.2f", p10(r), median(r), r->cpu / (double)r->n,
	       (double)r->rss / 1024);
	for (size_t i = 0; i < b->nagainst; i++) {
		const struct row *o = row_of(b, b->against[i], r->label);

		if (o)
			printf("   %6.2f %6.2f", p10(r) / p10(o), median(r) / median(o));
		else
			printf("   %6s %6s", "-", "-");
	}
	if (r->failed)
		printf("   %zu failed", r->failed);
	putchar('\n');
}

static void block_print(const struct bench *b, const char *label)
{
	printf("\n%-16s %8s %8s %8s %8s", label, "p10 ms", "median", "cpu ms", "rss MB");
	for (size_t i = 0; i < b->nagainst; i++)
		printf("   x %-11s", b->against[i]);
	printf("\n");
	for (size_t i = 0; i < b->nrows; i++)
		if (strcmp(b->row[i].label, label) == 0)
			row_print(b, &b->row[i]);
}

static void report(struct bench *b)
{
	for (size_t i = 0; i < b->nrows; i++)
		qsort(b->row[i].wall, b->row[i].n, sizeof(double), by_size);
	printf("%lu runs each, %lu ms gap, random order; ratios are p10 and median, below 1 is "
	       "faster;"
	       " sizes under %.2f MB can't be seen\n",
	       b->runs, b->gap_ms, (double)b->own_rss / 1024);
	for (size_t i = 0; i < b->nrows; i++) {
		size_t k = 0;

		while (strcmp(b->row[k].label, b->row[i].label) != 0)
			k++;
		if (k == i)
			block_print(b, b->row[i].label);
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
	report(&b);
	return stop_asked ? 1 : 0;
}
