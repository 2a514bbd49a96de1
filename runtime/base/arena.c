#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 32 * 1024, ALIGNMENT = 16 };

struct arena_block {
	struct arena_block *next;
	_Alignas(ALIGNMENT) char data[];
};

static void arena_abort(void)
{
	abort();
}

void (*arena_out_of_memory)(void) = arena_abort;

static void *arena_refuse(void)
{
	arena_out_of_memory();
	abort();
}

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
	size_t bytes, want;
	struct arena_block *b;
	char *p;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
		return arena_refuse();
	bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (!a->head || a->size - a->used < bytes) {
		want = bytes > BLOCK_SIZE ? bytes : BLOCK_SIZE;
		b = calloc(1, sizeof(*b) + want);
		if (!b)
			return arena_refuse();
		b->next = a->head;
		a->head = b;
		a->used = 0;
		a->size = want;
	}
	p = a->head->data + a->used;
	a->used += bytes;
	return p;
}

void *arena_grow(struct arena *a, void *old, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap ? *cap : 8;
	void *p;

	if (need <= *cap)
		return old;
	while (n < need)
		if (__builtin_mul_overflow(n, (size_t)2, &n))
			return arena_refuse();
	p = arena_alloc(a, n, size);
	if (*cap)
		memcpy(p, old, *cap * size);
	*cap = n;
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	char *p = arena_alloc(a, len + 1, 1);

	memcpy(p, s, len);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	int len;
	char *p;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		return arena_refuse();
	p = arena_alloc(a, (size_t)len + 1, 1);
	va_start(ap, fmt);
	vsnprintf(p, (size_t)len + 1, fmt, ap);
	va_end(ap);
	return p;
}

void arena_free(struct arena *a)
{
	struct arena_block *b, *next;

	for (b = a->head; b; b = next) {
		next = b->next;
		free(b);
	}
	memset(a, 0, sizeof(*a));
}
