/*
 * alloc.c: linked into a runtime with --wrap, so that its n-th allocation of memory fails.
 * FAIL_ALLOCATION says which one, 0 or nothing: none. A child counts on from where its parent was;
 * a new image counts anew, and not before the C library is ready: without memory that one ends as
 * it likes, before main.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool ready;

__attribute__((constructor)) static void begin_counting(void)
{
	ready = true;
}

/* The harness looks for this line to know that the point was reached. */
static bool fails(void)
{
	static const char note[] = "allocation failed\n";
	static unsigned long count;
	const char *which = ready ? getenv("FAIL_ALLOCATION") : NULL;

	if (!which || ++count != strtoul(which, NULL, 10))
		return false;
	if (write(STDERR_FILENO, note, sizeof(note) - 1) < 0)
		_exit(125);
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}
