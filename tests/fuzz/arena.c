/*
 * Takes the place of base/arena.c in the fuzzers: one region that is used again for each input,
 * with poisoned bytes before and behind every object, so that the sanitizer sees what goes past
 * one. An input that wants more than the region is a finding: no document is so dear.
 */
#include <sanitizer/asan_interface.h>
#include <stdarg.h>

#include "fuzz.h"

enum { REGION = 128 << 20, ALIGNMENT = 16, GAP = 16 };

static _Alignas(ALIGNMENT) char region[REGION];
static size_t used;

void fuzz_arena_reset(void);
void (*arena_out_of_memory)(void) = abort;

void fuzz_arena_reset(void)
{
	ASAN_UNPOISON_MEMORY_REGION(region, used);
	memset(region, 0, used);
	used = 0;
}

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
	size_t bytes, room;
	char *p;

	(void)a;
	DEMAND(!__builtin_mul_overflow(n, size, &bytes) && bytes < REGION);
	room = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	DEMAND(room + GAP <= REGION - used);
	p = region + used;
	used += room + GAP;
	ASAN_POISON_MEMORY_REGION(p + bytes, room - bytes + GAP);
	return p;
}

void *arena_grow(struct arena *a, void *old, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap ? *cap : 8;
	void *p;

	if (need <= *cap)
		return old;
	while (n < need)
		n *= 2;
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
	DEMAND(len >= 0);
	p = arena_alloc(a, (size_t)len + 1, 1);
	va_start(ap, fmt);
	vsnprintf(p, (size_t)len + 1, fmt, ap);
	va_end(ap);
	return p;
}

void arena_free(struct arena *a)
{
	*a = (struct arena){0};
}

/* Nothing that is fuzzed comes so far. */
void arena_wipe(struct arena *a)
{
	(void)a;
	abort();
}
