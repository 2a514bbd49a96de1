#include "base/str.h"

const char *str_after(const char *s, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(s, prefix, len) == 0 ? s + len : NULL;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t len = strlen(s), end = strlen(suffix);

	return len >= end && str_eq(s + len - end, suffix);
}

static bool str_to_number(const char *s, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;
	unsigned int digit;

	if (!*s)
		return false;
	for (; *s; s++) {
		digit = (unsigned int)(unsigned char)*s - '0';
		if (digit > 9 || __builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit, &v) || v > max)
			return false;
	}
	*ret = v;
	return true;
}

bool str_to_u64(const char *s, uint64_t max, uint64_t *ret)
{
	return str_to_number(s, max, ret);
}

bool str_to_u32(const char *s, uint32_t *ret)
{
	uint64_t v;

	if (!str_to_number(s, UINT32_MAX, &v))
		return false;
	*ret = (uint32_t)v;
	return true;
}

bool str_to_i64(const char *s, int64_t *ret)
{
	bool negative = *s == '-';
	uint64_t v;

	if (!str_to_number(s + negative, (uint64_t)INT64_MAX + negative, &v))
		return false;
	*ret = negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

size_t str_utf8_len(const unsigned char *s, size_t len)
{
	unsigned char lead = s[0], low = 0x80, high = 0xbf;
	size_t n, i;

	if (lead < 0x80)
		return 1;
	if (lead < 0xc2 || lead > 0xf4)
		return 0;
	n = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	if (lead == 0xe0)
		low = 0xa0;
	else if (lead == 0xed)
		high = 0x9f;
	else if (lead == 0xf0)
		low = 0x90;
	else if (lead == 0xf4)
		high = 0x8f;
	if (len < n || s[1] < low || s[1] > high)
		return 0;
	for (i = 2; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

bool str_is_utf8(const char *s)
{
	size_t len = strlen(s), k;

	for (; len; s += k, len -= k)
		if (!(k = str_utf8_len((const unsigned char *)s, len)))
			return false;
	return true;
}
