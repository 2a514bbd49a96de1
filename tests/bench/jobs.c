/* jobs.c: reads the file of jobs; a mistake in it ends the program. */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *word_next(char **save)
{
	return strtok_r(NULL, " \t\n", save);
}

/* The next word, as part of the line. */
static const char *word_needed(char **save, const char *what)
{
	const char *word = word_next(save);

	if (!word)
		die("%s is missing", what);
	return word;
}

static char *word_copy(char **save, const char *what)
{
	char *copy = strdup(word_needed(save, what));

	if (!copy)
		die("out of memory");
	return copy;
}

static void job_add(struct jobs *jobs, char **save)
{
	struct job *j = &jobs->job[jobs->n];
	const char *pid;
	char path[64];

	if (jobs->n == JOBS)
		die("more than %d jobs", JOBS);
	j->name = word_copy(save, "the name of a job");
	pid = word_needed(save, "the pid of a job");
	j->ns_fd = -1;
	jobs->n++;
	if (strcmp(pid, "0") == 0)
		return;
	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
	j->ns_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (j->ns_fd < 0)
		die("%s: %s", path, strerror(errno));
}

static struct step *step_new(struct jobs *jobs)
{
	struct job *j = jobs->n ? &jobs->job[jobs->n - 1] : NULL;

	if (!j || j->nsteps == STEPS)
		die("a step without a job, or more than %d", STEPS);
	return &j->step[j->nsteps++];
}

static void words_read(struct step *s, char **save)
{
	size_t n = 0;

	s->argv[n++] = word_copy(save, "a command");
	for (char *word; (word = word_next(save)); n++) {
		if (n == WORDS)
			die("more than %d words", WORDS);
		s->argv[n] = strdup(word);
		if (!s->argv[n])
			die("out of memory");
	}
}

static void step_add(struct jobs *jobs, char **save)
{
	struct step *s = step_new(jobs);

	s->label = word_copy(save, "the label of a step");
	words_read(s, save);
}

static void undo_add(struct jobs *jobs, char **save)
{
	words_read(step_new(jobs), save);
}

static void rate_add(struct jobs *jobs, char **save)
{
	struct step *s = step_new(jobs);

	s->label = word_copy(save, "the label of a rate");
	s->count = strtoul(word_needed(save, "the count of a rate"), NULL, 10);
	s->width = strtoul(word_needed(save, "the width of a rate"), NULL, 10);
	if (s->count == 0 || s->width == 0 || s->width > WIDTHS)
		die("a rate wants a count and a width of at most %d", WIDTHS);
	words_read(s, save);
}

static const struct {
	const char *word;
	void (*add)(struct jobs *jobs, char **save);
} kinds[] = {{"job", job_add}, {"step", step_add}, {"undo", undo_add}, {"rate", rate_add}};

void jobs_read(struct jobs *jobs, const char *path)
{
	enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };
	FILE *f = fopen(path, "re");
	char line[4096];

	if (!f)
		die("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		char *save = NULL, *word = strtok_r(line, " \t\n", &save);
		size_t i = 0;

		if (!word || *word == '#')
			continue;
		while (i < KINDS && strcmp(word, kinds[i].word) != 0)
			i++;
		if (i == KINDS)
			die("%s: %s is none of job, step, undo, rate", path, word);
		kinds[i].add(jobs, &save);
	}
	fclose(f);
}
