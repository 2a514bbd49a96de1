/*
 * Small string helpers. Numbers are parsed strictly and whole: no sign, space, or rest is taken.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Most words in a table differ in their first letter, and are not worth a call. */
static inline bool str_eq(const char *a, const char *b)
{
	return a[0] == b[0] && strcmp(a, b) == 0;
}

/* The rest of s behind prefix, or NULL. */
const char *str_after(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

/* Whole decimal numbers, with a largest value. false when s is anything else. */
bool str_to_u64(const char *s, uint64_t max, uint64_t *ret);
bool str_to_u32(const char *s, uint32_t *ret);
bool str_to_i64(const char *s, int64_t *ret);

/* The length of the UTF-8 character at s, 1 to 4; 0 if there is none within len bytes. */
/* Whether all of it is UTF-8. */
bool str_is_utf8(const char *s);

size_t str_utf8_len(const unsigned char *s, size_t len);
