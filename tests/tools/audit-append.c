/* audit-append FILE HEAD|- ID…: appends a line for each ID, as `sbxrun do --audit` does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box/audit.h"

static void out_of_memory(void)
{
	_exit(9);
}

int main(int argc, char **argv)
{
	struct audit_place place = {0};
	struct audit_entry entry = {.uid = getuid(),
				    .verb = "do",
				    .language = "python",
				    .code_sha256 = "00",
				    .rootfs = "python",
				    .limits = "{}",
				    .status = "ok",
				    .denials = "[]"};
	struct arena a = {0};
	struct error e = {0};
	const char *note;
	int i;

	arena_out_of_memory = out_of_memory;
	if (argc < 4)
		return 2;
	place.path = argv[1];
	place.head = strcmp(argv[2], "-") == 0 ? NULL : argv[2];
	for (i = 3; i < argc; i++) {
		entry.id = argv[i];
		if (audit_append(&place, &entry, &a, &note, &e) < 0) {
			fprintf(stderr, "%s\n", e.text);
			return 1;
		}
		if (note)
			printf("note: %s\n", note);
	}
	arena_free(&a);
	return 0;
}
