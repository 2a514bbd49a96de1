/*
 * alloc.c: linked into a runtime with --wrap, so that its n-th allocation of memory fails.
 * FAIL_ALLOCATION says which one, 0 or nothing: none. A child counts on from where its parent was.
 * A new image, as that of the protected copy, counts anew; FAIL_IMAGE says which of them fails: 1
 * or 2, nothing: each. None does before the C library is ready: without memory that one ends as it
 * likes, before main.
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

static unsigned long which; /* kept here: init forgets its environment */

/* The variable is changed where it lies, and passed on: 2 becomes 1, and 1 is no number any more.
 */
__attribute__((constructor)) static void begin_counting(void)
{
	const char *number = getenv("FAIL_ALLOCATION");
	char *image = getenv("FAIL_IMAGE");

	if (number && (!image || *image == '1'))
		which = strtoul(number, NULL, 10);
	if (image && *image)
		--*image;
}

/* The harness looks for this line to know that the point was reached. */
static bool fails(void)
{
	static const char note[] = "allocation failed\n";
	static unsigned long count;

	if (!which || ++count != which)
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
