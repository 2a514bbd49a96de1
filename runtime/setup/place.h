/* Places in a text, as an editor shows them. */
#pragma once

#include <stddef.h>

struct place {
	size_t line;   /* from 1 */
	size_t column; /* from 1, in characters */
};

/* The place of a byte; at may be len. */
struct place place_of(const char *text, size_t len, size_t at);
