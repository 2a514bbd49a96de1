/* The mounts of this process's namespace, as far as they lie below its root: all of them, so rarely
 * asked. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct mountinfo_line {
	uint64_t id;
	uint64_t parent;
	char *point; /* decoded */
	bool shared;
	char *type; /* of the file system */
	char *options; /* of the file system, not decoded; or NULL */
};

/* Calls visit for each, in the kernel's order, until it returns something else than 0. That, or 0;
 * -1 is an error, of visit's or ours. */
int mountinfo_each(int (*visit)(const struct mountinfo_line *line, void *context, struct error *e),
		   void *context, struct error *e);

/* mountinfo writes space, tab, newline and backslash as \ooo. */
void mountinfo_decode(char *s);
