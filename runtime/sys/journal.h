/* A line in the journal, or else in the older log of the system. A convenience: nobody waits for
 * it, and whether it arrives is not known. */
#pragma once

#include <stddef.h>

struct journal_field {
	const char *name; /* capital letters, digits and _ */
	const char *value;
};

/* At most 512 bytes of message; what is no printable character becomes a question mark. The fields
 * go to the journal alone. */
void journal_say(const char *message, const struct journal_field *fields, size_t n);
