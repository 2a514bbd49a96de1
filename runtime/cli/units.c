#include "cli/units.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/str.h"

/* A decimal number times scale, without floating point: 1.5 of 1024 is 1536. */
static bool decimal_scaled(const char *digits, size_t whole_len, const char *fraction,
			   size_t fraction_len, int64_t scale, int64_t *ret)
{
	int64_t whole = 0, part = 0, power = 1;
	size_t i;

	for (i = 0; i < whole_len; i++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, digits[i] - '0', &whole))
			return false;
	/* Digits that could not change the result are dropped. */
	for (i = 0; i < fraction_len && power <= INT64_MAX / 10 / scale; i++) {
		part = part * 10 + (fraction[i] - '0');
		power *= 10;
	}
	return !__builtin_mul_overflow(whole, scale, &whole) &&
	       !__builtin_add_overflow(whole, part * scale / power, ret);
}

/* The spans of "12.34": at least one digit on either side of the point. Their end, or NULL. */
static const char *decimal_span(const char *s, size_t *ret_whole, const char **ret_fraction,
				size_t *ret_fraction_len)
{
	size_t whole = strspn(s, "0123456789"), fraction = 0;
	const char *end = s + whole;

	*ret_fraction = end;
	if (*end == '.') {
		*ret_fraction = end + 1;
		fraction = strspn(end + 1, "0123456789");
		end += 1 + fraction;
	}
	*ret_whole = whole;
	*ret_fraction_len = fraction;
	return whole || fraction ? end : NULL;
}

static const struct {
	const char *name;
	int64_t ns;
} duration_units[] = {
	{"ns", 1},	     {"us", 1000},	{"\xc2\xb5s", 1000}, /* micro sign */
	{"\xce\xbcs", 1000},					     /* Greek mu */
	{"ms", 1000000},     {"s", 1000000000}, {"m", 60000000000},  {"h", 3600000000000},
};

static bool duration_unit(const char *s, int64_t *ret_ns, size_t *ret_len)
{
	size_t i, len = strcspn(s, ".0123456789");

	for (i = 0; i < ARRAY_SIZE(duration_units); i++) {
		if (strlen(duration_units[i].name) == len &&
		    strncmp(s, duration_units[i].name, len) == 0) {
			*ret_ns = duration_units[i].ns;
			*ret_len = len;
			return true;
		}
	}
	return false;
}

bool units_duration(const char *s, int64_t *ret_ns)
{
	size_t whole, fraction_len, unit_len;
	const char *fraction, *end;
	int64_t sum = 0, unit, part;

	if (str_eq(s, "0")) {
		*ret_ns = 0;
		return true;
	}
	if (!*s)
		return false;
	while (*s) {
		end = decimal_span(s, &whole, &fraction, &fraction_len);
		if (!end || !duration_unit(end, &unit, &unit_len) ||
		    !decimal_scaled(s, whole, fraction, fraction_len, unit, &part) ||
		    __builtin_add_overflow(sum, part, &sum))
			return false;
		s = end + unit_len;
	}
	*ret_ns = sum;
	return true;
}

/* "", "b", "k", "kb", "kib" … in either case. */
static bool size_unit(const char *s, int64_t *ret)
{
	static const char letters[] = "kmgtp";
	const char *found = *s ? strchr(letters, tolower((unsigned char)*s)) : NULL;

	*ret = 1;
	if (!found)
		return !*s || (tolower((unsigned char)*s) == 'b' && !s[1]);
	*ret = (int64_t)1 << (10 * (found - letters + 1));
	s++;
	if (tolower((unsigned char)*s) == 'i')
		s++;
	if (tolower((unsigned char)*s) == 'b')
		return !s[1];
	return !*s && tolower((unsigned char)s[-1]) != 'i';
}

bool units_size(const char *s, int64_t *ret)
{
	size_t whole, fraction_len;
	const char *fraction, *end;
	int64_t unit;

	if (str_eq(s, "-1")) {
		*ret = -1;
		return true;
	}
	end = decimal_span(s, &whole, &fraction, &fraction_len);
	if (!end)
		return false;
	if (*end == ' ' && end[1])
		end++;
	return size_unit(end, &unit) && decimal_scaled(s, whole, fraction, fraction_len, unit, ret);
}
