/* table.c: the benchmark's output: a block for each label, then the rates. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static double rate_of(const struct bench *b, const char *name)
{
	for (size_t i = 0; i < b->njobs; i++)
		if (b->job[i].rate > 0 && strcmp(b->job[i].name, name) == 0)
			return b->job[i].rate;
	return 0;
}

static void many_print(const struct bench *b)
{
	bool first = true;

	for (size_t i = 0; i < b->njobs; i++) {
		const struct job *j = &b->job[i];

		if (!j->count || j->rate <= 0)
			continue;
		if (first)
			printf("\n%lu runs, %lu at once: runs a second (best of %d) and ratios, "
			       "above 1 is"
			       " faster\n",
			       j->count, j->width, RATE_ROUNDS);
		first = false;
		printf("  %-14s %8.1f", j->name, j->rate);
		for (size_t k = 0; k < b->nagainst; k++)
			if (rate_of(b, b->against[k]) > 0)
				printf("   x %s %.2f", b->against[k],
				       j->rate / rate_of(b, b->against[k]));
		putchar('\n');
	}
}

void table_print(struct bench *b)
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
	many_print(b);
}
