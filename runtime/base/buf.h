/*
 * A growing byte buffer with a hard maximum, for documents that are written out. Appending past
 * the maximum sets .overflow instead of growing; whoever sends the buffer checks it once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct buf {
	struct arena *arena;
	char *data; /* always terminated once something was appended */
	size_t len;
	size_t cap;
	size_t max;
	bool overflow;
};

/* A buffer whose memory comes from the arena; max is in bytes. */
struct buf buf_new(struct arena *a, size_t max);
void buf_add(struct buf *b, const void *p, size_t len);
void buf_str(struct buf *b, const char *s);
void buf_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
