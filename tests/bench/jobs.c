/* jobs.c: reads the file of jobs; a mistake in it ends the program. */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *s)
{
	char *c = strdup(s);

	if (!c)
		die("out of memory");
	return c;
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

static void words_read(struct step *s, char **save)
{
	const char *word;
	size_t n = 0;

	while ((word = strtok_r(NULL, " \t\n", save))) {
		if (n == WORDS)
			die("more than %d words", WORDS);
		s->argv[n++] = copy(word);
	}
	if (n == 0)
		die("a step without a command");
}

static struct job *last_job(struct bench *b)
{
	if (b->njobs == 0)
		die("a step without a job");
	return &b->job[b->njobs - 1];
}

static void add_many(struct bench *b, char **save)
{
	struct job *j = last_job(b);
	const char *count = strtok_r(NULL, " \t\n", save), *width = strtok_r(NULL, " \t\n", save);

	j->count = count ? strtoul(count, NULL, 10) : 0;
	j->width = width ? strtoul(width, NULL, 10) : 0;
	if (j->count == 0 || j->width == 0 || j->width > WIDTHS)
		die("many wants a count and a width of at most %d", WIDTHS);
	words_read(&j->many, save);
}

static void add_step(struct bench *b, char **save, bool undo)
{
	struct job *j = last_job(b);
	struct step *s = &j->step[j->nsteps];
	const char *word;

	if (j->nsteps == STEPS)
		die("more than %d steps", STEPS);
	if (!undo) {
		word = strtok_r(NULL, " \t\n", save);
		if (!word)
			die("a step without a label");
		s->label = copy(word);
		s->row = row_find(b, j->name, s->label);
	}
	words_read(s, save);
	j->nsteps++;
}

void jobs_read(struct bench *b, const char *path)
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
		else if (strcmp(word, "many") == 0)
			add_many(b, &save);
		else
			die("%s: %s is none of job, step, undo, many", path, word);
	}
	fclose(f);
}
