/*
 * A target is a file that defines fuzz_one(). fuzz.c calls it with each input: a copy that ends in
 * a NUL, is the target's to change, and has nothing behind it that the sanitizer would not see.
 * What a target takes from the arena is gone when it returns.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

void fuzz_one(char *text, size_t len, struct arena *a);

/* A finding that is no crash: something that must be so is not. */
#define DEMAND(what)                                                                               \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);         \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* An error says what is wrong, on one line. */
void fuzz_check_error(const struct error *e);

/* Bytes of the input as numbers, for targets whose input is no text; 0 when there are no more. */
struct bytes {
	const char *p;
	size_t left;
};
uint32_t bytes_take(struct bytes *b, size_t n);
/* Of n choices one. */
static inline uint32_t bytes_choose(struct bytes *b, uint32_t n)
{
	return bytes_take(b, 1) % n;
}
/* A string up to the next NUL or line, in the arena. */
char *bytes_string(struct bytes *b, struct arena *a);
