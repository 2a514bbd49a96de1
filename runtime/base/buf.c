#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct buf buf_new(struct arena *a, size_t max)
{
	return (struct buf){.arena = a, .max = max};
}

void buf_add(struct buf *b, const void *p, size_t len)
{
	if (b->overflow || len > b->max - b->len) {
		b->overflow = true;
		return;
	}
	if (b->len + len + 1 > b->cap)
		b->data = arena_grow(b->arena, b->data, &b->cap, b->len + len + 1, 1);
	memcpy(b->data + b->len, p, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_char(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	char text[512];
	va_list ap, again;
	int len;

	va_start(ap, fmt);
	va_copy(again, ap);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len < 0) {
		b->overflow = true;
	} else if ((size_t)len < sizeof(text)) {
		buf_add(b, text, (size_t)len);
	} else if (b->overflow || (size_t)len > b->max - b->len) {
		b->overflow = true;
	} else {
		b->data = arena_grow(b->arena, b->data, &b->cap, b->len + (size_t)len + 1, 1);
		vsnprintf(b->data + b->len, (size_t)len + 1, fmt, again);
		b->len += (size_t)len;
	}
	va_end(again);
}
