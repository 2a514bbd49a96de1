/*
 * probe [--list] [PART…]: what a program in a sandbox reaches of the kernel.
 *
 * PART: calls foreign features sockets files mounts leaks self; all of them without one. --list
 * adds a line for each system call, path and mount that is behind the counts. Static, so that it
 * runs where nothing else is; x86-64.
 */
#define _GNU_SOURCE
#include "probe.h"

#include <stdio.h>
#include <string.h>

bool list_names;

static const struct part {
	const char *name;
	void (*run)(void);
} parts[] = {
	{"self", probe_self},	    {"mounts", probe_mounts},	  {"files", probe_files},
	{"leaks", probe_leaks},	    {"calls", probe_calls},	  {"foreign", probe_foreign},
	{"sockets", probe_sockets}, {"features", probe_features},
};

static const struct part *part_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strcmp(parts[i].name, name) == 0)
			return &parts[i];
	return NULL;
}

int main(int argc, char **argv)
{
	int first = 1;

	if (argc == 2 && strcmp(argv[1], "--am-i-setuid") == 0)
		return self_is_setuid();
	/* Attempts inherit what was not written yet. */
	setvbuf(stdout, NULL, _IONBF, 0);
	if (first < argc && strcmp(argv[first], "--list") == 0) {
		list_names = true;
		first++;
	}
	for (int i = first; i < argc; i++)
		if (!part_find(argv[i])) {
			fprintf(stderr, "probe: no part is called %s\n", argv[i]);
			return 2;
		}
	for (size_t i = 0; first == argc && i < ARRAY_SIZE(parts); i++)
		parts[i].run();
	for (int i = first; i < argc; i++) {
		const struct part *p = part_find(argv[i]);

		if (p)
			p->run();
	}
	puts("end 1");
	return 0;
}
