/* Changes as people and patch(1) read them. Pure. */
#pragma once

#include <stddef.h>

#include "base/buf.h"

struct diff_side {
	const char *name; /* NULL: there is no file on this side */
	const char *text;
	size_t len;
};

/* A unified diff with one hunk, from the first line that differs to the last. Nothing if the texts
 * are the same and both are there. Lines are shown as by diff_show(). */
void diff_write(struct buf *b, const struct diff_side *before, const struct diff_side *after);

/* Adds a text as a terminal may have it: control characters, but for tabs and ends of lines, those
 * that turn the direction of text, and what is no UTF-8 are \xNN. */
void diff_show(struct buf *b, const char *text, size_t len);
