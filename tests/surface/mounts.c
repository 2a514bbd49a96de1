/* The mount table: how many mounts there are, and how many lack a flag. */
#define _GNU_SOURCE
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_flag(const char *options, const char *flag)
{
	size_t len = strlen(flag);

	for (const char *at = options; *at; at += strcspn(at, ",")) {
		at += *at == ',';
		if (strncmp(at, flag, len) == 0 && (at[len] == ',' || at[len] == 0))
			return true;
	}
	return false;
}

static const struct {
	const char *flag, *key;
	bool wanted;
} rows[] = {
	{"nosuid", "mounts_without_nosuid", false},
	{"nodev", "mounts_without_nodev", false},
	{"noexec", "mounts_without_noexec", false},
	{"rw", "mounts_writable", true},
};

static void count_line(char *line, unsigned int *counts)
{
	char *save = NULL, *word = strtok_r(line, " ", &save), *place = NULL, *options = NULL;

	for (int i = 0; word && i <= 5; i++, word = strtok_r(NULL, " ", &save)) {
		if (i == 4)
			place = word;
		if (i == 5)
			options = word;
	}
	if (!place || !options)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		counts[i] += has_flag(options, rows[i].flag) == rows[i].wanted;
	if (list_names)
		printf("mount %s %s\n", place, options);
}

void probe_mounts(void)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	unsigned int n = 0, counts[ARRAY_SIZE(rows)] = {0};
	char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		n++;
		count_line(line, counts);
	}
	free(line);
	if (f)
		fclose(f);
	printf("mounts %u\n", n);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		printf("%s %u\n", rows[i].key, counts[i]);
}
