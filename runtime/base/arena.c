#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Blocks hang on the arena's list, behind its head, where gcc's analyser loses sight of them. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

enum { BLOCK_SIZE = 32 * 1024, ALIGNMENT = 16 };

struct arena_block {
	struct arena_block *next;
	size_t size;
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

static struct arena_block *arena_check_block(struct arena_block *b)
{
	return b ? b : arena_refuse();
}

static void arena_add_block(struct arena *a)
{
	struct arena_block *b = arena_check_block(malloc(sizeof(*b) + BLOCK_SIZE));

	b->next = a->head;
	b->size = BLOCK_SIZE;
	a->head = b;
	a->used = 0;
	a->size = BLOCK_SIZE;
}

/* Large ones have a block of their own, behind the one that is being filled. */
static void *arena_alloc_alone(struct arena *a, size_t bytes)
{
	struct arena_block *b = arena_check_block(calloc(1, sizeof(*b) + bytes));

	if (!a->head)
		arena_add_block(a);
	b->next = a->head->next;
	b->size = bytes;
	a->head->next = b;
	return b->data;
}

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
	size_t bytes;
	char *p;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
		return arena_refuse();
	bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (bytes > BLOCK_SIZE / 4)
		return arena_alloc_alone(a, bytes);
	if (!a->head || a->size - a->used < bytes)
		arena_add_block(a);
	p = a->head->data + a->used;
	a->used += bytes;
	/* Not the whole block at once: most verbs never touch most of its pages. */
	return memset(p, 0, bytes);
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

/* Whole pages are given back, which costs less than to write them: after a fork they would be
 * copied first. */
static void arena_wipe_block(char *data, size_t size)
{
	uintptr_t from = (uintptr_t)data, to = from + size, page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = (from + page - 1) & ~(page - 1), last = to & ~(page - 1);

	if (first >= last || madvise((void *)first, last - first, MADV_DONTNEED) < 0) {
		explicit_bzero(data, size);
		return;
	}
	explicit_bzero(data, first - from);
	explicit_bzero((void *)last, to - last);
}

void arena_wipe(struct arena *a)
{
	struct arena_block *b;

	for (b = a->head; b; b = b->next)
		arena_wipe_block(b->data, b->size);
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
