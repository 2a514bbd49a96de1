/* The table of built-in rules, for redact.c. */
#pragma once

#include "box/redact.h"
#include "box/redact_match.h"

struct redact_builtin {
	const char *name;
	const char *pattern;
	const char *replacement;
	size_t longest;
	const char *needle; /* struct redact_start */
	size_t before;
	const char *first; /* bytes that a match can begin with; NULL: see the needle */
};

extern const struct redact_builtin redact_builtins[];
extern const size_t redact_n_builtins;
