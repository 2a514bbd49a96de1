/* bench.h: the jobs of a benchmark, as bench.c runs them. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>

enum { JOBS = 96, STEPS = 16, WORDS = 32, WIDTHS = 64 };

struct step {
	const char *label; /* NULL: undo */
	char *argv[WORDS + 1];
	unsigned long count; /* of a rate; 0: a single run */
	unsigned long width;
};

struct job {
	const char *name;
	int ns_fd;
	struct step step[STEPS];
	size_t nsteps;
};

struct jobs {
	struct job job[JOBS];
	size_t n;
};

/* Prints the message to stderr and ends the program. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Reads the file of jobs (its form: head of bench.c). */
void jobs_read(struct jobs *jobs, const char *path);

#endif
