/*
 * tool.c: strings, files and time for the crash-point harness.
 *
 * It is a test program that runs alone, so there is no error type here: what must not fail ends it.
 */
#define _GNU_SOURCE
#include "tool.h"

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void (*die_cleanup)(void);

void die(const char *fmt, ...)
{
	void (*cleanup)(void) = die_cleanup;
	va_list ap;

	fflush(stdout);
	fputs("crash: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	die_cleanup = NULL;
	if (cleanup)
		cleanup();
	exit(2);
}

char *text(const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		die("out of memory");
	va_end(ap);
	return s;
}

void names_add(struct names *l, const char *s)
{
	char **v = reallocarray(l->v, l->n + 1, sizeof(*v));

	if (!v)
		die("out of memory");
	l->v = v;
	l->v[l->n++] = text("%s", s);
}

bool names_have(const struct names *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], s) == 0)
			return true;
	return false;
}

void names_free(struct names *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	l->v = NULL;
	l->n = 0;
}

/* Everything that f still has, with a NUL behind it. */
static char *stream_read(FILE *f, size_t *ret_len)
{
	size_t len = 0, room = 4096, got;
	char *s = malloc(room);

	if (!s)
		die("out of memory");
	while ((got = fread(s + len, 1, room - len - 1, f))) {
		len += got;
		if (room - len < 2) {
			room *= 2;
			s = realloc(s, room);
			if (!s)
				die("out of memory");
		}
	}
	s[len] = '\0';
	if (ret_len)
		*ret_len = len;
	return s;
}

char *file_read(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "re");
	char *s;

	if (!f)
		return NULL;
	s = stream_read(f, ret_len);
	fclose(f);
	return s;
}

char *command_read(const char *command)
{
	FILE *f = popen(command, "re");
	char *s;
	int status;

	if (!f)
		die("%s: %s", command, strerror(errno));
	s = stream_read(f, NULL);
	status = pclose(f);
	if (status != 0)
		die("%s: status %#x", command, (unsigned)status);
	return s;
}

void file_write(const char *path, const char *s)
{
	FILE *f = fopen(path, "we");

	if (!f || fputs(s, f) < 0 || fclose(f) != 0)
		die("%s: %s", path, strerror(errno));
}

char *text_replace(const char *s, const char *from, const char *to)
{
	char *out = text("%s", "");
	const char *hit;

	while ((hit = strstr(s, from))) {
		char *more = text("%s%.*s%s", out, (int)(hit - s), s, to);

		free(out);
		out = more;
		s = hit + strlen(from);
	}
	hit = out;
	out = text("%s%s", hit, s);
	free((void *)(size_t)hit);
	return out;
}

/* nftw has no argument for its callback. */
static struct names *walk_names;
static size_t walk_skip;

static int walk_note(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	if (ftw->level > 0)
		names_add(walk_names, path + walk_skip + 1);
	return 0;
}

void tree_list(const char *dir, struct names *l)
{
	walk_names = l;
	walk_skip = strlen(dir);
	(void)nftw(dir, walk_note, 32, FTW_PHYS | FTW_MOUNT);
}

static int walk_remove(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	if (ftw->level > 0)
		(void)remove(path);
	return 0;
}

void tree_empty(const char *dir)
{
	(void)nftw(dir, walk_remove, 32, FTW_PHYS | FTW_DEPTH | FTW_MOUNT);
}

long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void sleep_ms(int ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}
