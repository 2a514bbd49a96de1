/* Checks a document's bytes before its grammar is looked at. */
#pragma once

#include <stddef.h>

struct json_scan {
	const char *why; /* NULL: nothing is wrong */
	size_t at;
};

/* Finds the first byte that is not UTF-8 (RFC 3629), a NUL, a byte order mark, a space that JSON
 * does not know, or an escape that stands for NUL or for half of a surrogate pair. */
struct json_scan json_scan(const char *text, size_t len);

