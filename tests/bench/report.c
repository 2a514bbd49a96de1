/*
 * report.c: from the raw lines of bench.c to tables and a picture.
 *
 *	report RAW TABLE.md PICTURE.svg
 */
#define _GNU_SOURCE
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double p10(const struct row *r)
{
	return r->v[r->rate ? r->n - 1 - r->n / 10 : r->n / 10];
}

double median(const struct row *r)
{
	return r->n % 2 ? r->v[r->n / 2] : (r->v[r->n / 2 - 1] + r->v[r->n / 2]) / 2;
}

const struct row *row_of(const struct report *r, const char *name, const char *label)
{
	for (size_t i = 0; i < r->nrows; i++)
		if (r->row[i].n && strcmp(r->row[i].name, name) == 0 &&
		    strcmp(r->row[i].label, label) == 0)
			return &r->row[i];
	return NULL;
}

const char *label_text(const char *label)
{
	static char text[WORD];

	snprintf(text, sizeof(text), "%s", label);
	for (char *s = text; *s; s++)
		if (*s == '_')
			*s = ' ';
	return text;
}

static void die(const char *what)
{
	fprintf(stderr, "report: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void remember(char (*list)[WORD], size_t *n, size_t max, const char *word)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(list[i], word) == 0)
			return;
	if (*n < max)
		snprintf(list[(*n)++], WORD, "%s", word);
}

static struct row *row_get(struct report *r, const char *name, const char *label)
{
	struct row *row = r->row;

	for (size_t i = 0; i < r->nrows; i++, row++)
		if (strcmp(row->name, name) == 0 && strcmp(row->label, label) == 0)
			return row;
	if (r->nrows == ROWS)
		die("too many rows");
	r->nrows++;
	remember(r->name, &r->nnames, NAMES, name);
	remember(r->label, &r->nlabels, LABELS, label);
	snprintf(row->name, WORD, "%s", name);
	snprintf(row->label, WORD, "%s", label);
	row->v = calloc(SAMPLES, sizeof(*row->v));
	if (!row->v)
		die("memory");
	return row;
}

/* kind label name value [cpu rss] */
static void line_read(struct report *r, char *line)
{
	char *word[6] = { NULL }, *save = NULL;
	struct row *row;
	size_t n = 0;

	for (char *w = strtok_r(line, "\t\n", &save); w && n < 6; w = strtok_r(NULL, "\t\n", &save))
		word[n++] = w;
	if (n == 2 && word[0][0] == '#') {
		size_t used = strlen(r->facts);

		snprintf(r->facts + used, sizeof(r->facts) - used, "%s%s %s", used ? ", " : "",
			 word[0] + 2, word[1]);
	}
	if (n < 3 || word[0][0] == '#')
		return;
	row = row_get(r, word[2], word[1]);
	if (strcmp(word[0], "fail") == 0) {
		row->failed++;
		return;
	}
	if (n < 4 || row->n == SAMPLES)
		return;
	row->rate = strcmp(word[0], "rate") == 0;
	row->v[row->n++] = strtod(word[3], NULL);
	row->cpu += n > 4 ? strtod(word[4], NULL) : 0;
	if (n > 5 && strtod(word[5], NULL) > row->rss)
		row->rss = strtod(word[5], NULL);
}

static void rivals_find(struct report *r)
{
	for (size_t i = 0; i < r->nnames; i++) {
		if (!*r->crun && strncmp(r->name[i], "crun", 4) == 0)
			memcpy(r->crun, r->name[i], WORD);
		if (strncmp(r->name[i], "runc", 4) == 0)
			memcpy(r->runc, r->name[i], WORD);
	}
}

static void write_to(const char *path, const struct report *r,
		     void (*write)(const struct report *r, FILE *out))
{
	FILE *f = fopen(path, "we");

	if (!f)
		die(path);
	write(r, f);
	if (fclose(f) != 0)
		die(path);
}

int main(int argc, char **argv)
{
	static struct report r;
	char line[512];
	FILE *f;

	if (argc != 4) {
		fputs("usage: report RAW TABLE.md PICTURE.svg\n", stderr);
		return 2;
	}
	f = fopen(argv[1], "re");
	if (!f)
		die(argv[1]);
	while (fgets(line, sizeof(line), f))
		line_read(&r, line);
	fclose(f);
	rivals_find(&r);
	for (size_t i = 0; i < r.nrows; i++)
		qsort(r.row[i].v, r.row[i].n, sizeof(double), by_size);
	write_to(argv[2], &r, table_write);
	write_to(argv[3], &r, svg_write);
	return 0;
}
