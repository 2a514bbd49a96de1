/* Reading and writing by rows, with a table of our own that has every type. */
#include "unit.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/str.h"
#include "json/json.h"
#include "json/rows.h"
#include "json/scan.h"

enum colour { RED, GREEN };

struct leaf {
	char *key;
	int32_t x;
};

struct box {
	bool set;
	uint32_t a;
};

struct every {
	char *str, *must;
	bool flag;
	int32_t i32;
	uint32_t u32;
	int64_t i64;
	uint64_t u64;
	struct opt_bool opt_flag;
	struct opt_i32 opt_i32;
	struct opt_u32 opt_u32;
	struct opt_i64 opt_i64;
	struct opt_u64 opt_u64;
	enum colour colour;
	struct box box;
	struct opt_i64 deep;
	struct strings words;
	struct ids ids;
	struct pairs pairs;
	LIST(struct leaf) list;
	LIST(struct leaf) map;
};

static const struct json_word colours[] = {{"red", RED}, {"green", GREEN}, {NULL, 0}};

/* clang-format off */
static const struct json_row leaf_rows[] = {
	F(leaf, "x", I32, x, REQUIRED),
};
KEYED_TABLE(leaf, key);

static const struct json_row box_rows[] = {
	F(box, "a", U32, a),
};
TABLE(box);

static const struct json_row flat_rows[] = {
	F(every, "deep", OPT_I64, deep),
};
static const struct json_table flat_table = {
	.name = "flat", .size = sizeof(struct every), .rows = flat_rows, .count = 1};

static const struct json_row every_rows[] = {
	F(every, "str", STR, str),
	F(every, "must", STR, must, REQUIRED),
	F(every, "flag", BOOL, flag, OMIT),
	F(every, "i32", I32, i32, OMIT),
	F(every, "u32", U32, u32, OMIT),
	F(every, "i64", I64, i64, OMIT),
	F(every, "u64", U64, u64, OMIT),
	F(every, "optFlag", OPT_BOOL, opt_flag),
	F(every, "optI32", OPT_I32, opt_i32),
	F(every, "optU32", OPT_U32, opt_u32),
	F(every, "optI64", OPT_I64, opt_i64),
	F(every, "optU64", OPT_U64, opt_u64),
	W(every, "colour", colour, colour, colours),
	O(every, "box", box, box, SETS),
	{.key = "flat", .type = JSON_OBJECT, .flags = JSON_FLAT | JSON_OMIT, .table = &flat_table},
	F(every, "words", STRINGS, words, OMIT),
	F(every, "ids", IDS, ids, OMIT),
	F(every, "pairs", PAIRS, pairs, OMIT),
	N(every, "list", LIST, list, leaf, 3, OMIT),
	N(every, "map", MAP, map, leaf, 3, OMIT),
};
static const struct json_table every_table = ROWS(every);
/* clang-format on */

static struct arena arena;
static struct error error;
static struct every got;

static int read_n(const char *text, size_t len)
{
	arena_free(&arena);
	memset(&got, 0, sizeof(got));
	memset(&error, 0, sizeof(error));
	return json_read("doc", text, len, &every_table, &json_default_limits, &got, &arena,
			 &error);
}

static int read_s(const char *text)
{
	return read_n(text, strlen(text));
}

struct refused {
	const char *text;
	const char *why;
};

static void check_refused(const struct refused *r, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (read_s(r[i].text) == 0)
			FAIL("accepted: %s", r[i].text);
		if (strcmp(error.text, r[i].why) != 0)
			FAIL("%s: got \"%s\", want \"%s\"", r[i].text, error.text, r[i].why);
		CHECK_INT(error.class, ERR_CONFIG);
	}
}

TEST(every_type_is_read)
{
	CHECK_INT(read_s("{\"str\":\"s\",\"must\":\"m\",\"flag\":true,\"i32\":-2147483648,"
			 "\"u32\":4294967295,\"i64\":-9223372036854775808,"
			 "\"u64\":18446744073709551615,\"optFlag\":false,\"optI32\":0,\"optU32\":0,"
			 "\"optI64\":-1,\"optU64\":0,\"colour\":\"green\",\"box\":{\"a\":7},"
			 "\"flat\":{\"deep\":3},\"words\":[\"a\",\"\"],\"ids\":[1,2],"
			 "\"pairs\":{\"k\":\"v\",\"\":\"\"},\"list\":[{\"x\":1},{\"x\":2}],"
			 "\"map\":{\"one\":{\"x\":1},\"two\":{\"x\":2}}}"),
		  0);
	CHECK_STR(got.str, "s");
	CHECK(got.flag);
	CHECK_INT(got.i32, INT32_MIN);
	CHECK_INT(got.u32, UINT32_MAX);
	CHECK_INT(got.i64, INT64_MIN);
	CHECK(got.u64 == UINT64_MAX);
	CHECK(got.opt_flag.set && !got.opt_flag.v);
	CHECK(got.opt_i32.set && got.opt_u32.set && got.opt_u64.set);
	CHECK(got.opt_i64.set && got.opt_i64.v == -1);
	CHECK_INT(got.colour, GREEN);
	CHECK(got.box.set && got.box.a == 7);
	CHECK(got.deep.set && got.deep.v == 3);
	CHECK_INT(got.words.n, 2);
	CHECK_STR(got.words.v[1], "");
	CHECK_INT(got.ids.v[1], 2);
	CHECK_STR(got.pairs.v[0].value, "v");
	CHECK_INT(got.pairs.n, 2);
	CHECK_INT(got.list.v[1].x, 2);
	CHECK_STR(got.map.v[1].key, "two");
	CHECK_INT(got.map.v[1].x, 2);
}

TEST(absent_and_null_and_blank_are_the_same)
{
	CHECK_INT(read_s("{\"must\":\"m\",\"str\":null,\"flag\":null,\"box\":null,\"list\":null,"
			 "\"pairs\":null,\"optI64\":null,\"colour\":null,\"words\":null}"),
		  0);
	CHECK(!got.str && !got.flag && !got.box.set && !got.list.n && !got.opt_i64.set);
	CHECK_INT(read_s("{\"must\":\"m\",\"str\":\"\"}"), 0);
	CHECK(!got.str);
	CHECK_INT(read_s("{\"must\":\"\"}"), 0);
	CHECK_STR(got.must, "");
	CHECK_INT(read_s(" {\"must\":\"m\",\"box\":{}}\n\t\r "), 0);
	CHECK(got.box.set);
}

TEST(unknown_keys_are_skipped)
{
	CHECK_INT(read_s("{\"other\":{\"a\":[1,2.5,1e400,-0.1E-5,{\"b\":null}],\"c\":\"\\u00e9\"},"
			 "\"must\":\"m\",\"x\":[],\"box\":{\"b\":[[[]]],\"a\":1}}"),
		  0);
	CHECK_INT(got.box.a, 1);
}

TEST(strings_are_unescaped)
{
	CHECK_INT(
		read_s("{\"m\\u0075st\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u20ac\\ud83d\\ude00\xc3\xa9\"}"),
		0);
	CHECK_STR(got.must, "\"\\/\b\f\n\r\t\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa9");
	CHECK_INT(read_s("{\"must\":\"\",\"pairs\":{\"\\u0061\":\"1\",\"\\u0062\":\"2\"}}"), 0);
	CHECK_STR(got.pairs.v[0].key, "a");
	CHECK_STR(got.pairs.v[1].key, "b");
}

TEST(grammar_is_strict)
{
	/* The words are yajl's, and where it counts its bytes; the place is ours. */
	static const struct refused cases[] = {
		{"", "doc: byte "},
		{" ", "doc: byte "},
		{"{\"must\":\"m\"", "doc: byte "},
		{"{\"must\":\"m\"} {}", "doc: byte "},
		{"{\"must\":\"m\"}x", "doc: byte "},
		{"{\"must\":\"m\",}", "doc: byte "},
		{"{must:1}", "doc: byte "},
		{"{'must':1}", "doc: byte "},
		{"{\"x\":NaN}", "doc: x: byte "},
		{"{\"x\":.5}", "doc: x: byte "},
		{"{\"x\":{\"y\":1 2}}", "doc: x: byte "},
		{"{\"list\":[{\"x\":1},]}", "doc: list[1]: byte "},
		{"{\"str\":\"a\nb\"}", "doc: str: byte "},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		CHECK(read_s(cases[i].text) < 0);
		if (!str_after(error.text, cases[i].why))
			FAIL("%s: %s", cases[i].text, error.text);
	}
	CHECK(read_s("{\"x\":01}") < 0);
	CHECK(read_s("{\"x\":+1}") < 0);
	CHECK(read_s("{\"x\":1.}") < 0);
	CHECK(read_s("{\"x\":- 1}") < 0);
	CHECK(read_s("{\"x\":0x10}") < 0);
	CHECK(read_s("{\"x\":\"\\v\"}") < 0);
	CHECK(read_s("{\"x\":\"\\u12g4\"}") < 0);
	CHECK(read_s("{\"x\":\"\\") < 0);
	CHECK(read_s("{\"x\":\"\\u") < 0);
	CHECK(read_s("{\"x\":\"\\ud800\\u") < 0);
	CHECK(read_s("{\"x\" 1}") < 0);
	CHECK(read_s("{\"x\":1 \"y\":2}") < 0);
	CHECK(read_s("{\"x\":/* c */1}") < 0);
	CHECK(read_s("{\"x\":tru}") < 0);
	CHECK(read_s("{\"x\":TRUE}") < 0);
	CHECK(read_s("]") < 0);
	CHECK(read_s("{]") < 0);
	CHECK(read_s("{\"x\":[}") < 0);
}

TEST(nothing_follows_the_document)
{
	CHECK_INT(read_s("{\"must\":\"x\"} \n\t\r"), 0);
	CHECK(read_s("{\"must\":\"x\"}\"y\"") < 0);
	CHECK(read_s("{\"must\":\"x\"}\"y") < 0);
	CHECK(read_s("{\"must\":\"x\"}\"") < 0);
	CHECK(read_s("{\"must\":\"x\"} \"y\\") < 0);
	CHECK(read_s("{\"must\":\"x\"} \"y\\u12") < 0);
	CHECK(read_s("{\"must\":\"x\"}tru") < 0);
	CHECK(read_s("{\"must\":\"x\"}-") < 0);
	CHECK(read_s("{\"must\":\"x\"}}") < 0);
}

TEST(spaces_are_those_of_json)
{
	CHECK_INT(read_s(" \t\r\n{ \"must\" : \"x\" }"), 0);
	CHECK(read_s("{\v\"must\":\"x\"}") < 0);
	CHECK(strstr(error.text, "vertical tab"));
	CHECK(read_s("{\"must\":\"x\"}\f") < 0);
	CHECK(read_s("{\"must\":\"\v\"}") < 0);
}

TEST(the_document_is_an_object)
{
	static const struct refused cases[] = {
		{"null", "doc: must be an object, not null"},
		{"[]", "doc: must be an object, not an array"},
		{"1", "doc: must be an object, not a number"},
		{"\"s\"", "doc: must be an object, not a string"},
		{"true", "doc: must be an object, not true"},
	};

	check_refused(cases, ARRAY_SIZE(cases));
}

TEST(bytes_are_utf8_without_nul)
{
	static const struct refused cases[] = {
		{"\xef\xbb\xbf{\"must\":\"m\"}", "doc: byte 0: begins with a byte order mark"},
		{"{\"str\":\"\xff\"}", "doc: str: byte 8: not UTF-8"},
		{"{\"str\":\"a\",\"\xff\":1}", "doc: byte 12: not UTF-8"},
		{"{\"str\":\"a\xc3\"}", "doc: str: byte 9: not UTF-8"},
		{"{\"str\":\"\xc0\xaf\"}", "doc: str: byte 8: not UTF-8"},
		{"{\"str\":\"\xe0\x9f\xbf\"}", "doc: str: byte 8: not UTF-8"},
		{"{\"str\":\"\xed\xa0\x80\"}", "doc: str: byte 8: not UTF-8"},
		{"{\"str\":\"\xf0\x8f\xbf\xbf\"}", "doc: str: byte 8: not UTF-8"},
		{"{\"str\":\"\xf4\x90\x80\x80\"}", "doc: str: byte 8: not UTF-8"},
		{"{\"str\":\"\xf5\x80\x80\x80\"}", "doc: str: byte 8: not UTF-8"},
		{"{\"str\":\"\x80\"}", "doc: str: byte 8: not UTF-8"},
		{"{\"other\":[\"\xff\"]}", "doc: other[0]: byte 11: not UTF-8"},
		{"{\"str\":\"a\\u0000b\"}", "doc: str: byte 9: a string contains NUL"},
		{"{\"box\":{\"\\u0000\":1}}", "doc: box: byte 9: a string contains NUL"},
		{"{\"str\":\"\\ud800\"}", "doc: str: byte 8: a string contains a lone surrogate"},
		{"{\"str\":\"\\ud800\\ud800\"}",
		 "doc: str: byte 8: a string contains a lone surrogate"},
		{"{\"str\":\"\\udc00\"}", "doc: str: byte 8: a string contains a lone surrogate"},
		{"{\"str\":\"\\uDBFFx\"}", "doc: str: byte 8: a string contains a lone surrogate"},
		{"{\"words\":[\"a\",\"\\udfff\"]}",
		 "doc: words[1]: byte 15: a string contains a lone surrogate"},
	};
	static const char nul[] = "{\"must\":\"m\"}\0";

	check_refused(cases, ARRAY_SIZE(cases));
	CHECK(read_n(nul, sizeof(nul)) < 0);
	CHECK_STR(error.text, "doc: byte 12: contains NUL");
	CHECK_INT(
		read_s("{\"must\":\"\xef\xbb\xbf \xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\xc2\x80\xe0\xa0\x80\"}"),
		0);
	/* A backslash before the u is no escape of it. */
	CHECK_INT(read_s("{\"must\":\"\\\\u0000\\\\ud800\"}"), 0);
	CHECK_STR(got.must, "\\u0000\\ud800");
}

TEST(scan_finds_a_bad_byte_at_every_offset)
{
	char text[64];
	size_t len, at;

	for (len = 1; len <= sizeof(text); len++) {
		for (at = 0; at < len; at++) {
			memset(text, 'a', sizeof(text));
			CHECK(!json_scan(text, len).why);
			text[at] = '\0';
			CHECK(json_scan(text, len).why && json_scan(text, len).at == at);
			text[at] = (char)0xff;
			CHECK(json_scan(text, len).why && json_scan(text, len).at == at);
			if (len - at < 6)
				continue;
			memcpy(text + at, "\\u0000", 6);
			CHECK(json_scan(text, len).why && json_scan(text, len).at == at);
		}
	}
}

TEST(duplicate_keys_are_refused)
{
	static const struct refused cases[] = {
		{"{\"must\":\"a\",\"must\":\"b\"}", "doc: duplicate key \"must\""},
		{"{\"must\":null,\"must\":\"b\"}", "doc: duplicate key \"must\""},
		{"{\"must\":\"a\",\"m\\u0075st\":\"b\"}", "doc: duplicate key \"must\""},
		{"{\"must\":\"a\",\"x\":1,\"y\":2,\"x\":3}", "doc: duplicate key \"x\""},
		{"{\"x\":1,\"\\u0078\":3}", "doc: duplicate key \"x\""},
		{"{\"\":1,\"\":3}", "doc: duplicate key \"\""},
		{"{\"box\":{\"a\":1,\"a\":2}}", "doc: box: duplicate key \"a\""},
		{"{\"o\":[{\"p\":{\"q\":1,\"q\":1}}]}", "doc: o[0].p: duplicate key \"q\""},
		{"{\"pairs\":{\"k\":\"1\",\"l\":\"2\",\"k\":\"3\"}}",
		 "doc: pairs: duplicate key \"k\""},
		{"{\"map\":{\"k\":{\"x\":1},\"k\":{\"x\":1}}}", "doc: map: duplicate key \"k\""},
		{"{\"list\":[{\"x\":1},{\"x\":1,\"x\":1}]}", "doc: list[1]: duplicate key \"x\""},
	};

	check_refused(cases, ARRAY_SIZE(cases));
	CHECK_INT(read_s("{\"must\":\"\",\"a\":{\"k\":1},\"b\":{\"k\":1},\"k\":[{\"k\":2}]}"), 0);
}

TEST(numbers_are_whole_and_in_range)
{
	static const struct refused cases[] = {
		{"{\"u32\":4294967296}", "doc: u32: 4294967296 is out of range (0 to 2^32-1)"},
		{"{\"u32\":-1}", "doc: u32: -1 is out of range (0 to 2^32-1)"},
		{"{\"u32\":1.5}", "doc: u32: 1.5 is not a whole number"},
		{"{\"u32\":1.0}", "doc: u32: 1.0 is not a whole number"},
		{"{\"u32\":1e3}", "doc: u32: 1e3 is not a whole number"},
		{"{\"u32\":1e309}", "doc: u32: 1e309 is not a whole number"},
		{"{\"u32\":\"0\"}", "doc: u32: must be a whole number, not a string"},
		{"{\"u32\":true}", "doc: u32: must be a whole number, not true"},
		{"{\"u32\":[]}", "doc: u32: must be a whole number, not an array"},
		{"{\"u32\":{}}", "doc: u32: must be a whole number, not an object"},
		{"{\"i32\":2147483648}", "doc: i32: 2147483648 is out of range (-2^31 to 2^31-1)"},
		{"{\"i32\":-2147483649}",
		 "doc: i32: -2147483649 is out of range (-2^31 to 2^31-1)"},
		{"{\"i64\":9223372036854775808}",
		 "doc: i64: 9223372036854775808 is out of range (-2^63 to 2^63-1)"},
		{"{\"i64\":-9223372036854775809}",
		 "doc: i64: -9223372036854775809 is out of range (-2^63 to 2^63-1)"},
		{"{\"u64\":18446744073709551616}",
		 "doc: u64: 18446744073709551616 is out of range (0 to 2^64-1)"},
		{"{\"u64\":184467440737095516150}",
		 "doc: u64: 184467440737095516150 is out of range (0 to 2^64-1)"},
		{"{\"optU64\":-1}", "doc: optU64: -1 is out of range (0 to 2^64-1)"},
		{"{\"optU32\":4294967296}",
		 "doc: optU32: 4294967296 is out of range (0 to 2^32-1)"},
		{"{\"optI32\":-2147483649}",
		 "doc: optI32: -2147483649 is out of range (-2^31 to 2^31-1)"},
		{"{\"optI64\":1.5}", "doc: optI64: 1.5 is not a whole number"},
		{"{\"ids\":[0,4294967296]}",
		 "doc: ids[1]: 4294967296 is out of range (0 to 2^32-1)"},
		{"{\"u64\":1111111111111111111111111111111111111111111}",
		 "doc: u64: 1111111111111111111111111111111111111111… is out of range (0 to 2^64-1)"},
	};

	check_refused(cases, ARRAY_SIZE(cases));
	CHECK_INT(
		read_s("{\"must\":\"\",\"u32\":-0,\"i64\":9223372036854775807,\"i32\":2147483647}"),
		0);
	CHECK_INT(got.u32, 0);
	CHECK_INT(got.i64, INT64_MAX);
}

TEST(types_must_match)
{
	static const struct refused cases[] = {
		{"{\"str\":1}", "doc: str: must be a string, not a number"},
		{"{\"str\":false}", "doc: str: must be a string, not false"},
		{"{\"str\":[\"a\"]}", "doc: str: must be a string, not an array"},
		{"{\"flag\":\"true\"}", "doc: flag: must be true or false, not a string"},
		{"{\"flag\":1}", "doc: flag: must be true or false, not a number"},
		{"{\"optFlag\":{}}", "doc: optFlag: must be true or false, not an object"},
		{"{\"box\":[]}", "doc: box: must be an object, not an array"},
		{"{\"box\":true}", "doc: box: must be an object, not true"},
		{"{\"words\":\"a\"}", "doc: words: must be an array, not a string"},
		{"{\"words\":{}}", "doc: words: must be an array, not an object"},
		{"{\"words\":[1]}", "doc: words[0]: must be a string, not a number"},
		{"{\"words\":[\"a\",null]}", "doc: words[1]: must be a string, not null"},
		{"{\"words\":[[\"a\"]]}", "doc: words[0]: must be a string, not an array"},
		{"{\"ids\":[null]}", "doc: ids[0]: must be a whole number, not null"},
		{"{\"pairs\":[]}", "doc: pairs: must be an object, not an array"},
		{"{\"pairs\":{\"k\":1}}", "doc: pairs.k: must be a string, not a number"},
		{"{\"pairs\":{\"a.b\":null}}", "doc: pairs[\"a.b\"]: must be a string, not null"},
		{"{\"pairs\":{\"\":{}}}", "doc: pairs[\"\"]: must be a string, not an object"},
		{"{\"list\":{}}", "doc: list: must be an array, not an object"},
		{"{\"list\":[1]}", "doc: list[0]: must be an object, not a number"},
		{"{\"list\":[null]}", "doc: list[0]: must be an object, not null"},
		{"{\"list\":[[]]}", "doc: list[0]: must be an object, not an array"},
		{"{\"map\":[]}", "doc: map: must be an object, not an array"},
		{"{\"map\":{\"k\":null}}", "doc: map.k: must be an object, not null"},
		{"{\"map\":{\"k\":\"v\"}}", "doc: map.k: must be an object, not a string"},
		{"{\"colour\":1}", "doc: colour: must be a string, not a number"},
		{"{\"colour\":\"blue\"}", "doc: colour: unknown value \"blue\""},
		{"{\"colour\":\"re\"}", "doc: colour: unknown value \"re\""},
		{"{\"colour\":\"redd\"}", "doc: colour: unknown value \"redd\""},
		{"{\"colour\":\"\"}", "doc: colour: unknown value \"\""},
		{"{\"colour\":\"a\\u001b[1m\\n\\\"\"}",
		 "doc: colour: unknown value \"a\\x1b[1m\\x0a\\\"\""},
	};

	check_refused(cases, ARRAY_SIZE(cases));
}

TEST(required_means_there_and_not_null)
{
	static const struct refused cases[] = {
		{"{}", "doc: must: required, but missing"},
		{"{\"must\":null}", "doc: must: required, but missing"},
		{"{\"list\":[{\"x\":1},{}]}", "doc: list[1].x: required, but missing"},
		{"{\"map\":{\"k\":{}}}", "doc: map.k.x: required, but missing"},
		{"{\"map\":{\"k/l\":{\"x\":null}}}", "doc: map[\"k/l\"].x: required, but missing"},
	};

	check_refused(cases, ARRAY_SIZE(cases));
}

TEST(counts_are_capped)
{
	static const struct refused cases[] = {
		{"{\"list\":[{\"x\":1},{\"x\":1},{\"x\":1},{\"x\":1}]}",
		 "doc: list[3]: more than 3 elements"},
		{"{\"map\":{\"a\":{\"x\":1},\"b\":{\"x\":1},\"c\":{\"x\":1},\"d\":{\"x\":1}}}",
		 "doc: map: more than 3 keys"},
	};
	static const struct json_limits small = {
		.bytes = 100, .depth = 3, .elements = 2, .string = 5};
	static const struct refused tight[] = {
		{"{\"must\":\"m\",\"words\":[\"a\",\"b\",\"c\"]}",
		 "doc: words[2]: more than 2 elements"},
		{"{\"x\":[1,2,3]}", "doc: x[2]: more than 2 elements"},
		{"{\"x\":1,\"y\":1,\"z\":1}", "doc: more than 2 keys"},
		{"{\"x\":{\"x\":1,\"y\":1,\"z\":1}}", "doc: x: more than 2 keys"},
		{"{\"pairs\":{\"x\":\"\",\"y\":\"\",\"z\":\"\"}}", "doc: pairs: more than 2 keys"},
		{"{\"str\":\"123456\"}", "doc: str: longer than 5 bytes"},
		{"{\"x\":\"123456\"}", "doc: x: longer than 5 bytes"},
		{"{\"123456\":1}", "doc: a key is longer than 5 bytes"},
		{"{\"x\":[[[]]]}", "doc: x[0][0]: nested deeper than 3"},
		{"{\"x\":{\"y\":{\"z\":{}}}}", "doc: x.y.z: nested deeper than 3"},
	};
	char text[101];
	size_t i;

	check_refused(cases, ARRAY_SIZE(cases));
	for (i = 0; i < ARRAY_SIZE(tight); i++) {
		arena_free(&arena);
		memset(&got, 0, sizeof(got));
		CHECK(json_read("doc", tight[i].text, strlen(tight[i].text), &every_table, &small,
				&got, &arena, &error) < 0);
		CHECK_STR(error.text, tight[i].why);
	}
	memset(text, ' ', sizeof(text));
	CHECK(json_read("doc", text, sizeof(text), &every_table, &small, &got, &arena, &error) < 0);
	CHECK_STR(error.text, "doc: larger than 100 bytes");
	CHECK_INT(json_default_limits.bytes, 16 << 20);
	CHECK_INT(json_default_limits.depth, 64);
}

/* A text of n copies of a piece, after a head. */
static char *repeated(const char *head, const char *piece, size_t n, size_t *ret_len)
{
	size_t h = strlen(head), p = strlen(piece), i;
	char *text = malloc(h + n * p + 1);

	memcpy(text, head, h);
	for (i = 0; i < n; i++)
		memcpy(text + h + i * p, piece, p);
	*ret_len = h + n * p;
	text[*ret_len] = '\0';
	return text;
}

TEST(a_million_levels_cost_nothing)
{
	static const char *const heads[] = {"", "{\"x\":", "{\"list\":", "{\"x\":[", "{\"words\":"};
	static const char *const pieces[] = {"[", "{\"a\":", "[{\"x\":"};
	size_t i, j, len;
	char *text;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		for (j = 0; j < ARRAY_SIZE(pieces); j++) {
			text = repeated(heads[i], pieces[j], 1000000, &len);
			CHECK(read_n(text, len) < 0);
			free(text);
		}
	}
	text = repeated("{\"x\":", "[", 1000000, &len);
	CHECK(read_n(text, len) < 0);
	CHECK(strstr(error.text, ": nested deeper than 64"));
	free(text);
}

/* {"must":"m", then n keys that share a long beginning, or are all different in one object. */
static char *many_keys(const char *open, size_t n, const char *value, size_t *ret_len)
{
	char *text = malloc(strlen(open) + n * (40 + strlen(value)) + 8), *p = text;
	size_t i;

	p += sprintf(p, "%s", open);
	for (i = 0; i < n; i++)
		p += sprintf(p, "%s\"a-long-common-beginning-%zu\":%s", i ? "," : "", i, value);
	p += sprintf(p, "}}");
	*ret_len = (size_t)(p - text);
	return text;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

TEST(a_hundred_thousand_keys_are_fast)
{
	static const struct {
		const char *open, *value;
	} kinds[] = {{"{\"must\":\"m\",\"x\":{", "1"}, {"{\"must\":\"m\",\"pairs\":{", "\"v\""}};
	struct json_limits wide = json_default_limits;
	double start = seconds();
	size_t i, len;
	char *text;

	wide.elements = 1 << 20;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		text = many_keys(kinds[i].open, 100000, kinds[i].value, &len);
		arena_free(&arena);
		memset(&got, 0, sizeof(got));
		CHECK_INT(json_read("doc", text, len, &every_table, &wide, &got, &arena, &error),
			  0);
		CHECK(read_n(text, len) < 0);
		CHECK(strstr(error.text, "more than 65536 keys"));
		free(text);
	}
	/* Quadratic would be minutes; under sanitizers this takes half a second. */
	CHECK(seconds() - start < 10);
}

TEST(every_cut_of_a_document_is_refused)
{
	static const char text[] =
		"{\"must\":\"m\\u00e9\\ud83d\\ude00\",\"list\":[{\"x\":-12}],\"map\":"
		"{\"k\":{\"x\":1}},\"pairs\":{\"a\":\"b\"},\"z\":[true,null,1.5e3]}";
	char *copy;
	size_t i;

	CHECK_INT(read_n(text, sizeof(text) - 1), 0);
	for (i = 0; i < sizeof(text) - 1; i++) {
		/* A copy of the exact size, so that a sanitizer sees a read past it. */
		copy = malloc(i + 1);
		memcpy(copy, text, i);
		if (read_n(copy, i) == 0)
			FAIL("accepted %zu bytes", i);
		free(copy);
	}
}

/* A small deterministic fuzzer: flips and splices must never crash, and errors are always set. */
TEST(damaged_documents_never_crash)
{
	static const char text[] =
		"{\"must\":\"m\\u00e9\",\"list\":[{\"x\":-12},{\"x\":3,\"y\":[{}]}],\"map\":{\"k\":{\"x\":1}},"
		"\"pairs\":{\"a\":\"b\"},\"ids\":[1,2],\"words\":[\"w\"],\"flat\":{\"deep\":1},\"colour\":\"red\"}";
	static const char chars[] = "{}[]\",:0123456789-.eEtfnu\\ud8 \n\xff\xc3";
	uint64_t seed = 88172645463325252u;
	char copy[sizeof(text)];
	size_t i, j, at;

	for (i = 0; i < 30000; i++) {
		memcpy(copy, text, sizeof(text));
		for (j = 0; j < 1 + i % 4; j++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			at = (size_t)(seed % (sizeof(text) - 1));
			copy[at] = chars[(seed >> 32) % (sizeof(chars) - 1)];
		}
		if (read_n(copy, sizeof(text) - 1) < 0)
			CHECK(str_after(error.text, "doc: ") && error.text[5]);
	}
}

static const char *written(unsigned int indent)
{
	struct buf b = buf_new(&arena, 1 << 20);

	json_write(&b, &every_table, &got, indent);
	CHECK(!b.overflow);
	return b.data;
}

TEST(what_was_read_is_written)
{
	static const char text[] =
		"{\"str\":\"s\",\"must\":\"m\",\"flag\":true,\"i32\":-1,\"u32\":1,\"i64\":-9223372036854775808,"
		"\"u64\":18446744073709551615,\"optFlag\":false,\"optI32\":0,\"optU32\":0,\"optI64\":-1,"
		"\"optU64\":0,\"colour\":\"green\",\"box\":{\"a\":0},\"flat\":{\"deep\":3},\"words\":[\"a\"],"
		"\"ids\":[1,2],\"pairs\":{\"k\":\"v\"},\"list\":[{\"x\":1},{\"x\":2}],"
		"\"map\":{\"one\":{\"x\":1}}}";

	CHECK_INT(read_s(text), 0);
	CHECK_STR(written(0), text);
}

TEST(unset_and_omitted_fields_are_not_written)
{
	CHECK_INT(read_s("{\"must\":\"\"}"), 0);
	CHECK_STR(written(0), "{\"must\":\"\",\"colour\":\"red\"}");
	CHECK_INT(read_s("{\"must\":\"\",\"flat\":{},\"words\":[],\"box\":{}}"), 0);
	CHECK_STR(written(0), "{\"must\":\"\",\"colour\":\"red\",\"box\":{\"a\":0}}");
}

TEST(indentation_is_even)
{
	CHECK_INT(
		read_s("{\"must\":\"m\",\"box\":{\"a\":1},\"words\":[\"a\",\"b\"],\"list\":[{\"x\":1}]}"),
		0);
	CHECK_STR(
		written(2),
		"{\n  \"must\": \"m\",\n  \"colour\": \"red\",\n  \"box\": {\n    \"a\": 1\n  },\n"
		"  \"words\": [\n    \"a\",\n    \"b\"\n  ],\n  \"list\": [\n    {\n"
		"      \"x\": 1\n    }\n  ]\n}");
}

TEST(written_strings_are_valid_json)
{
	struct buf b = buf_new(&arena, 4096);

	arena_free(&arena);
	json_write_string(&b, "\"\\/\b\f\n\r\t\x01\x1f\x7f\xc3\xa9\xff\xe2\x82z");
	CHECK_STR(
		b.data,
		"\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\xc3\xa9\\ufffd\\ufffd\\ufffdz\"");
}

TEST(shown_strings_fit_a_line)
{
	char longest[2000];

	CHECK_STR(json_show("").text, "\"\"");
	CHECK_STR(json_show("a\nb\"c\\").text, "\"a\\x0ab\\\"c\\\\\"");
	CHECK_STR(json_show("\xff\xc3\xa9").text, "\"\\xff\xc3\xa9\"");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	CHECK_INT(strlen(json_show(longest).text), 1 + 63 + strlen("…\""));
	memset(longest, '\n', sizeof(longest) - 1);
	CHECK(strlen(json_show(longest).text) < sizeof(struct json_shown));
}

int main(void)
{
	int rc = unit_main();

	arena_free(&arena);
	return rc;
}
