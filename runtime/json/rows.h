/*
 * How rows are written. The macros check at compile time that a field has the type its row names.
 * Included by files that define tables, and by nothing else: the names are short.
 */
#pragma once

#include <stddef.h>

#include "base/str.h"
#include "json/json.h"

#define C_STR char *
#define C_BOOL bool
#define C_I32 int32_t
#define C_U32 uint32_t
#define C_I64 int64_t
#define C_U64 uint64_t
#define C_OPT_BOOL struct opt_bool
#define C_OPT_I32 struct opt_i32
#define C_OPT_U32 struct opt_u32
#define C_OPT_I64 struct opt_i64
#define C_OPT_U64 struct opt_u64
#define C_STRINGS struct strings
#define C_IDS struct ids
#define C_PAIRS struct pairs

/* The offset of a field; the second term is zero, or does not compile. */
#define FIELD(s, f, type)                                                                          \
	(offsetof(struct s, f) + 0 * sizeof(_Generic(((struct s *)0)->f, type: 0)))

/* One value: struct, key, type, field, flags. */
#define F(s, k, t, f, ...)                                                                         \
	{.key = (k), .type = JSON_##t, .offset = FIELD(s, f, C_##t), .flags = 0 __VA_ARGS__}
/* A word of a closed set. */
#define W(s, k, f, e, w, ...)                                                                      \
	{.key = (k), .type = JSON_ENUM, .offset = FIELD(s, f, enum e), .words = (w),      \
	 .flags = 0 __VA_ARGS__}
/* An object in place, by the table of its struct. */
#define O(s, k, f, inner, ...)                                                                     \
	{.key = (k), .type = JSON_OBJECT, .offset = FIELD(s, f, struct inner),                     \
	 .table = &inner##_table, .flags = 0 __VA_ARGS__}
/* A list of plain values: struct, key, type, field, the most that are taken, flags. */
#define L(s, k, t, f, most, ...)                                                                   \
	{.key = (k), .type = JSON_##t, .offset = FIELD(s, f, C_##t), .max = (most),      \
	 .flags = 0 __VA_ARGS__}
/* A list or map of objects, with the most that are taken. */
#define N(s, k, t, f, inner, most, ...)                                                            \
	{.key = (k), .type = JSON_##t, .offset = offsetof(struct s, f) +                           \
	 0 * sizeof(_Generic(((struct s *)0)->f.v, struct inner *: 0)),                            \
	 .table = &inner##_table, .max = (most), .flags = 0 __VA_ARGS__}

#define TABLE(s) static const struct json_table s##_table = ROWS(s)
#define ROWS(s)                                                                                    \
	{.name = #s, .size = sizeof(struct s), .rows = s##_rows, .count = ARRAY_SIZE(s##_rows)}
#define KEYED_TABLE(s, f)                                                                          \
	static const struct json_table s##_table = {.name = #s, .size = sizeof(struct s),          \
						    .key_offset = FIELD(s, f, char *),             \
						    .rows = s##_rows,                              \
						    .count = ARRAY_SIZE(s##_rows)}

#define REQUIRED | JSON_REQUIRED
#define OMIT | JSON_OMIT
#define SETS | JSON_SETS
#define FLAT | JSON_FLAT
#define NOT_NULL | JSON_NOT_NULL
