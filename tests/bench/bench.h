/* bench.h: the data of a benchmark: jobs with their steps, and rows of samples. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RATE_ROUNDS = 3, WIDTHS = 64 };
enum { JOBS = 64, STEPS = 8, WORDS = 24, ROWS = 256, RUNS = 2000, AGAINST = 4 };

struct step {
	const char *label; /* NULL: undo or many */
	char *argv[WORDS + 1];
	size_t row;
};

struct job {
	const char *name;
	int ns_fd;
	bool broken; /* failed in the warm-up: left out */
	struct step step[STEPS];
	size_t nsteps;
	struct step many;
	unsigned long count; /* of many; 0: none */
	unsigned long width;
	double rate; /* a second, the best of all rounds */
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

/* Prints the message to stderr and ends the program. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Reads the file of jobs (its form: head of bench.c) into b. */
void jobs_read(struct bench *b, const char *path);

/* Sorts the samples and prints the tables. */
void table_print(struct bench *b);

#endif
