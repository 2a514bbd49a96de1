/*
 * Lines from the client and to it. Both are bounded: a line that is too long is dropped up to its
 * end, and who doesn't read is not read from.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sys/crowd.h"

enum { LINES_PENDING_MAX = 8 << 20 };

struct line_in {
	int fd;
	char *text; /* of its own: it lives as long as the server */
	size_t len, cap, at;
	bool dropping; /* the rest of a line that is too long */
	bool ended;
};

struct line_out {
	int fd;
	char *text;
	size_t len, cap, at;
	bool broken;
};

/* Reads what there is. -1: nothing more will come. */
int line_in_fill(struct line_in *in);

enum line_verdict { LINE_NONE, LINE_FOUND, LINE_TOO_LONG };
/* The next line without its line feed; it holds until the next fill. */
enum line_verdict line_in_next(struct line_in *in, const char **ret, size_t *ret_len);

/* A message and a line feed, to be written when there is room. */
void line_out_put(struct line_out *out, const char *text, size_t len);

/* Writes what can be written without waiting. */
void line_out_flush(struct line_out *out);
static inline size_t line_out_pending(const struct line_out *out)
{
	return out->len - out->at;
}
void line_free(struct line_in *in, struct line_out *out);
