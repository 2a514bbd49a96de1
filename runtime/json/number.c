/* Whole numbers only: a fraction or an exponent is refused even where its value is whole, as Go
 * does. */
#include "json/number.h"


struct bounds {
	int64_t low;
	uint64_t high;
	const char *why;
};

static const struct bounds bounds[] = {
	[JSON_I32] = {INT32_MIN, INT32_MAX, "is out of range (-2^31 to 2^31-1)"},
	[JSON_U32] = {0, UINT32_MAX, "is out of range (0 to 2^32-1)"},
	[JSON_I64] = {INT64_MIN, INT64_MAX, "is out of range (-2^63 to 2^63-1)"},
	[JSON_U64] = {0, UINT64_MAX, "is out of range (0 to 2^64-1)"},
};

/* The type that an optional one holds. */
static enum json_type number_base(enum json_type type)
{
	switch (type) {
	case JSON_OPT_I32:
		return JSON_I32;
	case JSON_OPT_U32:
		return JSON_U32;
	case JSON_OPT_I64:
		return JSON_I64;
	case JSON_OPT_U64:
		return JSON_U64;
	default:
		return type;
	}
}

bool json_number_type(enum json_type type)
{
	enum json_type base = number_base(type);

	return base == JSON_I32 || base == JSON_U32 || base == JSON_I64 || base == JSON_U64;
}

/* The grammar is already checked: an optional minus and digits, or else a fraction or exponent. */
static const char *number_parse(const char *s, size_t len, const struct bounds *in, uint64_t *ret)
{
	bool negative = s[0] == '-';
	uint64_t v = 0, most = negative ? 0 - (uint64_t)in->low : in->high;
	bool fits = true;
	size_t i;

	for (i = negative; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return "is not a whole number";
		fits = fits && !__builtin_mul_overflow(v, (uint64_t)10, &v) &&
		       !__builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v) && v <= most;
	}
	*ret = negative ? 0 - v : v;
	return fits ? NULL : in->why;
}

const char *json_number_store(enum json_type type, const char *digits, size_t len, void *slot)
{
	const char *why;
	uint64_t v;

	why = number_parse(digits, len, &bounds[number_base(type)], &v);
	if (why)
		return why;
	switch (type) {
	case JSON_I32:
		*(int32_t *)slot = (int32_t)v;
		break;
	case JSON_U32:
		*(uint32_t *)slot = (uint32_t)v;
		break;
	case JSON_I64:
		*(int64_t *)slot = (int64_t)v;
		break;
	case JSON_U64:
		*(uint64_t *)slot = v;
		break;
	case JSON_OPT_I32:
		*(struct opt_i32 *)slot = (struct opt_i32){true, (int32_t)v};
		break;
	case JSON_OPT_U32:
		*(struct opt_u32 *)slot = (struct opt_u32){true, (uint32_t)v};
		break;
	case JSON_OPT_I64:
		*(struct opt_i64 *)slot = (struct opt_i64){true, (int64_t)v};
		break;
	case JSON_OPT_U64:
		*(struct opt_u64 *)slot = (struct opt_u64){true, v};
		break;
	default:
		return "has no place here";
	}
	return NULL;
}
