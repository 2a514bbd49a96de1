/* report.h: what bench.c measured, as rows of samples. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { ROWS = 512, NAMES = 16, LABELS = 64, SAMPLES = 2000, WORD = 48 };

/* The samples of one contestant under one label. */
struct row {
	char name[WORD];
	char label[WORD];
	bool rate;    /* runs a second; otherwise ms */
	double *v;    /* sorted */
	size_t n;
	size_t failed;
	double cpu;   /* ms, sum */
	double rss;   /* KB, maximum */
};

struct report {
	struct row row[ROWS];
	size_t nrows;
	char name[NAMES][WORD]; /* in the order of their appearance */
	size_t nnames;
	char label[LABELS][WORD];
	size_t nlabels;
	char facts[1024]; /* on machine and method */
	/* What goals are set against: the first crun (the newest) and the last runc (Debian's). */
	char crun[WORD];
	char runc[WORD];
};

double p10(const struct row *r);
double median(const struct row *r);

/* NULL: it has no samples there. */
const struct row *row_of(const struct report *r, const char *name, const char *label);

/* Labels are single words in the raw data: "run_docker" is "run docker" for people. */
const char *label_text(const char *label);

void table_write(const struct report *r, FILE *out);
void svg_write(const struct report *r, FILE *out);

#endif
