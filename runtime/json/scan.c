/*
 * One pass over the raw bytes. Escapes are looked at wherever a backslash stands: outside of
 * strings it is an error of grammar anyway, which the parser finds.
 */
#include "base/str.h"
#include "json/scan.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The code unit of "\uXXXX" at s, or -1. */
static int scan_unit(const unsigned char *s, size_t len)
{
	int v = 0;
	size_t i;

	if (len < 6 || s[0] != '\\' || s[1] != 'u')
		return -1;
	for (i = 2; i < 6; i++) {
		if (s[i] >= '0' && s[i] <= '9')
			v = v * 16 + (s[i] - '0');
		else if ((s[i] | 0x20) >= 'a' && (s[i] | 0x20) <= 'f')
			v = v * 16 + ((s[i] | 0x20) - 'a' + 10);
		else
			return -1;
	}
	return v;
}

/* The length of the escape at s; 0 with *why set if it may not be. */
static size_t scan_escape(const unsigned char *s, size_t len, const char **why)
{
	int unit = scan_unit(s, len), next;

	if (unit < 0)
		return len < 2 ? 1 : 2;
	if (unit == 0)
		*why = "a string contains NUL";
	else if (unit >= 0xdc00 && unit <= 0xdfff)
		*why = "a string contains a lone surrogate";
	else if (unit >= 0xd800 && unit <= 0xdbff) {
		next = scan_unit(s + 6, len - 6);
		if (next >= 0xdc00 && next <= 0xdfff)
			return 12;
		*why = "a string contains a lone surrogate";
	} else
		return 6;
	return 0;
}

/* Are the eight bytes at s plain ASCII without NUL and backslash? */
static bool scan_plain(const unsigned char *s)
{
	const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
	uint64_t w, slash;

	memcpy(&w, s, sizeof(w));
	slash = w ^ (ones * '\\');
	return ((w | (w - ones) | (slash - ones)) & tops) == 0;
}

/* Where the first vertical tab or form feed is, which yajl takes for space; len: there is none. */
static size_t scan_odd_space(const char *text, size_t len)
{
	const char *tab = memchr(text, '\v', len);
	const char *feed = memchr(text, '\f', tab ? (size_t)(tab - text) : len);

	return feed ? (size_t)(feed - text) : tab ? (size_t)(tab - text) : len;
}

struct json_scan json_scan(const char *text, size_t whole)
{
	const unsigned char *s = (const unsigned char *)text;
	const size_t len = scan_odd_space(text, whole);
	const char *why = NULL;
	size_t i = 0, n;

	if (len >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0)
		return (struct json_scan){"begins with a byte order mark", 0};
	while (i < len) {
		if (len - i >= 8 && scan_plain(s + i)) {
			i += 8;
			continue;
		}
		if (s[i] == '\0')
			return (struct json_scan){"contains NUL", i};
		n = s[i] == '\\' ? scan_escape(s + i, len - i, &why)
				 : str_utf8_len(s + i, len - i);
		if (n == 0)
			return (struct json_scan){why ? why : "not UTF-8", i};
		i += n;
	}
	if (len < whole)
		why = "contains a vertical tab or a form feed";
	return (struct json_scan){why, len};
}
