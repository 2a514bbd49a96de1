/* The pure parts of `sbxrun install`: what becomes of config files as texts. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "setup/containerd_toml.h"
#include "setup/daemon_json.h"
#include "setup/diff.h"
#include "setup/json_text.h"
#include "setup/toml_scan.h"
#include "unit.h"

static struct arena arena;
static struct error e;

static const char program[] = "/usr/local/bin/sbxrun";

static struct splice add(const char *text)
{
	struct splice s;

	arena_free(&arena);
	e = (struct error){0};
	if (daemon_json_add("F", text, strlen(text), program, false, &arena, &s, &e) < 0)
		FAIL("%s: %s", text, e.text);
	return s;
}

/* Into what add() has made. */
static struct splice take_out(const struct splice *s, bool keep_empty)
{
	struct splice out;

	if (daemon_json_remove("F", s->text, s->len, false, keep_empty, &arena, &out, &e) < 0)
		FAIL("%s: %s", s->text, e.text);
	return out;
}

/* ---- docker: the layout that is there stays ---- */

TEST(the_entry_is_laid_out_like_its_neighbours)
{
	static const struct {
		const char *before, *after;
	} cases[] = {
		{"", "{\n  \"runtimes\": {\n    \"sbxrun\": {\n      \"path\": "
		     "\"/usr/local/bin/sbxrun\"\n    }\n  }\n}\n"},
		{" \n", "{\n  \"runtimes\": {\n    \"sbxrun\": {\n      \"path\": "
			"\"/usr/local/bin/sbxrun\"\n    }\n  }\n}\n"},
		{"{}", "{\n  \"runtimes\": {\n    \"sbxrun\": {\n      \"path\": "
		       "\"/usr/local/bin/sbxrun\"\n    }\n  }\n}"},
		{"{\"a\":1}", "{\"a\":1,\"runtimes\":{\"sbxrun\":{\"path\":"
			      "\"/usr/local/bin/sbxrun\"}}}"},
		{"{\"a\": 1, \"b\": 2}\n", "{\"a\": 1, \"b\": 2, \"runtimes\": {\"sbxrun\": "
					   "{\"path\": \"/usr/local/bin/sbxrun\"}}}\n"},
		{"{\n\t\"a\": 1\n}\n",
		 "{\n\t\"a\": 1,\n\t\"runtimes\": {\n\t\t\"sbxrun\": {\n\t\t\t"
		 "\"path\": \"/usr/local/bin/sbxrun\"\n\t\t}\n\t}\n}\n"},
		{"{\r\n  \"a\" : 1\r\n}", "{\r\n  \"a\" : 1,\r\n  \"runtimes\" : {\r\n    "
					  "\"sbxrun\" : {\r\n      \"path\" : "
					  "\"/usr/local/bin/sbxrun\"\r\n    }\r\n  }\r\n}"},
		{"{\n    \"runtimes\": {},\n    \"z\": 0\n}",
		 "{\n    \"runtimes\": {\n        \"sbxrun\": {\n            \"path\": "
		 "\"/usr/local/bin/sbxrun\"\n        }\n    },\n    \"z\": 0\n}"},
		{"{\n  \"runtimes\": {\n    \"runsc\": {\"path\": \"/r\"}\n  },\n  \"z\": 0\n}",
		 "{\n  \"runtimes\": {\n    \"runsc\": {\"path\": \"/r\"},\n    \"sbxrun\": {\n      "
		 "\"path\": \"/usr/local/bin/sbxrun\"\n    }\n  },\n  \"z\": 0\n}"},
		{"{\n  \"runtimes\": {\"runsc\": {\"path\": \"/r\"}}\n}",
		 "{\n  \"runtimes\": {\"runsc\": {\"path\": \"/r\"}, \"sbxrun\": {\"path\": "
		 "\"/usr/local/bin/sbxrun\"}}\n}"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK_STR(add(cases[i].before).text, cases[i].after);
}

TEST(numbers_and_spellings_stay_as_they_are)
{
	struct splice s = add("{\"a\": [1e400, 18446744073709551615, 1.10, -0], \"\\u0062\": "
			      "\"\\/\\u00e9\"}");

	CHECK(str_after(s.text, "{\"a\": [1e400, 18446744073709551615, 1.10, -0], \"\\u0062\": "
				"\"\\/\\u00e9\", "));
}

TEST(an_entry_that_is_the_same_is_left_alone)
{
	struct splice s = add("{}"), again;

	CHECK(daemon_json_add("F", s.text, s.len, program, false, &arena, &again, &e) == 0);
	CHECK(!again.changes && again.text == s.text);
	/* also if it is spelled otherwise */
	CHECK(!add("{\"runtimes\":{\"sbxr\\u0075n\":{\"path\":\"\\/usr/local/bin/sbxrun\"}}}")
		       .changes);
}

TEST(another_entry_is_named_and_replaced_by_force_alone)
{
	static const char text[] = "{\n \"runtimes\": {\n  \"sbxrun\": {\"path\": \"/other\", "
				   "\"runtimeArgs\": []},\n  \"b\": {}\n }\n}";
	struct splice s;

	e = (struct error){0};
	CHECK(daemon_json_add("F", text, strlen(text), program, false, &arena, &s, &e) < 0);
	CHECK_STR(e.text, "F:3:13: there is another runtime \"sbxrun\": \"{\\\"path\\\": "
			  "\\\"/other\\\", \\\"runtimeArgs\\\": []}\"; --force replaces it");
	CHECK(daemon_json_add("F", text, strlen(text), program, true, &arena, &s, &e) == 0);
	CHECK_STR(s.text, "{\n \"runtimes\": {\n  \"sbxrun\": {\n   \"path\": "
			  "\"/usr/local/bin/sbxrun\"\n  },\n  \"b\": {}\n }\n}");
	CHECK(daemon_json_remove("F", text, strlen(text), false, false, &arena, &s, &e) < 0);
	CHECK(strstr(e.text, "--force removes it"));
	CHECK(daemon_json_remove("F", text, strlen(text), true, false, &arena, &s, &e) == 0);
	CHECK_STR(s.text, "{\n \"runtimes\": {\n  \"b\": {}\n }\n}");
}

TEST(what_docker_would_read_otherwise_is_refused_with_its_place)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"{", "F:1:2: a string in quotes is missing"},
		{"{\"a\":1,}", "F:1:8: a comma before }"},
		{"{\"a\" 1}", "F:1:6: a colon is missing"},
		{"{\"a\":}", "F:1:6: a value is missing"},
		{"{\n\"a\":01}", "F:2:7: not a number"},
		{"{\"a\":1.}", "F:1:8: a number without digits behind its point"},
		{"{\"a\":1e}", "F:1:8: a number without digits in its exponent"},
		{"{\"a\":+1}", "F:1:6: a value is missing"},
		{"{\"a\":tru}", "F:1:6: a value is missing"},
		{"{\"a\":1 \"b\":2}", "F:1:8: a comma or } is missing"},
		{"{\"a\":[1 2]}", "F:1:9: a comma or ] is missing"},
		{"{\"a\":[1,]}", "F:1:9: a value is missing"},
		{"{\"a\":\"x}", "F:1:6: a string without its closing quote"},
		{"{\"a\":\"\\x\"}", "F:1:8: an escape that JSON does not know"},
		{"{\"a\":\"\\u12\"}", "F:1:11: an escape \\u without four"},
		{"{\"a\":\"\\ud800\"}", "F:1:7: a string contains a lone surrogate"},
		{"{\"a\":\"\\u0000\"}", "F:1:7: a string contains NUL"},
		{"{\"\xc3\xa9\":\"\t\"}", "F:1:7: a control character in a string"},
		{"{\"a\":\"\xff\"}", "F:1:7: not UTF-8"},
		{"\xef\xbb\xbf{}", "F:1:1: begins with a byte order mark"},
		{"{} x", "F:1:4: more follows"},
		{"// c\n{}", "F:1:1: a value is missing"},
		{"[]", "F:1:1: not an object"},
		{"null", "F:1:1: not an object"},
		{"\n \"x\"", "F:2:2: not an object"},
		{"{\"runtimes\": []}", "F:1:14: \"runtimes\" is not an object"},
		{"{\"runtimes\": null}", "F:1:14: \"runtimes\" is not an object"},
		{"{\"Runtimes\": {}}", "F:1:2: \"Runtimes\": docker calls it \"runtimes\""},
		{"{\"a\":1,\n\"b\":2,\n\"a\":3}",
		 "F:3:1: the key \"a\" stands there already, in line 1"},
		{"{\"a\":1,\"\\u0061\":3}", "F:1:8: the key \"a\" stands there already"},
		{"{\"x\":[{\"k\":1,\"k\":1}]}", "F:1:14: the key \"k\" stands there already"},
		{"{\"runtimes\":{},\"runtimes\":{}}", "F:1:16: the key \"runtimes\""},
	};
	struct splice s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *text = cases[i].text;

		e = (struct error){0};
		if (daemon_json_add("F", text, strlen(text), program, true, &arena, &s, &e) == 0)
			FAIL("%s is taken", text);
		if (!str_after(e.text, cases[i].why))
			FAIL("%s: \"%s\", want \"%s\"", text, e.text, cases[i].why);
		if (daemon_json_remove("F", text, strlen(text), true, false, &arena, &s, &e) == 0)
			FAIL("%s is taken by remove", text);
	}
}

TEST(deep_nesting_is_refused_and_costs_no_stack)
{
	struct buf b = buf_new(&arena, 1 << 20);
	struct splice s;
	size_t i;

	buf_str(&b, "{\"a\":");
	for (i = 0; i < 100000; i++)
		buf_char(&b, '[');
	CHECK(daemon_json_add("F", b.data, b.len, program, false, &arena, &s, &e) < 0);
	CHECK(strstr(e.text, "nested deeper than 64 levels"));
}

TEST(the_default_runtime_is_not_taken_away)
{
	static const char text[] = "{\"default-runtime\": \"sbxrun\", \"runtimes\": {\"sbxrun\": "
				   "{\"path\": \"/p\"}}}";
	struct splice s;

	CHECK(daemon_json_remove("F", text, strlen(text), true, false, &arena, &s, &e) < 0);
	CHECK(str_after(e.text, "F:1:21: sbxrun is docker's default runtime"));
}

/* ---- docker: random documents ---- */

static uint64_t seed;

static uint32_t dice(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static const char *pick(const char *const *words, uint32_t n)
{
	return words[dice(n)];
}

static void random_space(struct buf *b)
{
	static const char *const spaces[] = {"", "", "", " ", "\n", "\t", "\r\n", "  \n\t"};

	buf_str(b, pick(spaces, ARRAY_SIZE(spaces)));
}

static void random_key(struct buf *b, size_t number)
{
	static const char *const keys[] = {"debug", "log-driver",    "k\\u00e9y",	 "\xc3\xa9",
					   "\\n",   "\\\"q\\\"",     "\xf0\x9f\x98\x80", "sbxrun",
					   "path",  "\\ud83d\\ude00"};

	/* Numbers keep them apart. */
	buf_char(b, '"');
	buf_str(b, pick(keys, ARRAY_SIZE(keys)));
	buf_printf(b, "%zu\"", number);
}

static void random_value(struct buf *b, size_t depth);

static void random_members(struct buf *b, size_t depth, size_t n, bool runtimes, bool first)
{
	size_t i, where = n ? dice((uint32_t)n + 1) : 0;

	for (i = 0; i < n + runtimes; i++) {
		if (i || !first)
			buf_char(b, ',');
		random_space(b);
		if (runtimes && i == where)
			buf_str(b, dice(4) ? "\"runtimes\"" : "\"runtim\\u0065s\"");
		else
			random_key(b, i);
		random_space(b);
		buf_char(b, ':');
		random_space(b);
		if (runtimes && i == where) {
			buf_char(b, '{');
			random_members(b, depth + 1, dice(3), false, true);
			random_space(b);
			buf_char(b, '}');
		} else {
			random_value(b, depth + 1);
		}
		random_space(b);
	}
}

static void random_value(struct buf *b, size_t depth)
{
	static const char *const plain[] = {"null",
					    "true",
					    "false",
					    "0",
					    "-0",
					    "1e400",
					    "1E-9999",
					    "1.10",
					    "18446744073709551615",
					    "-9223372036854775809",
					    "123456789012345678901234567890",
					    "\"\"",
					    "\"\\/\\b\"",
					    "\"unix:///run/docker.sock\"",
					    "\"\\ud83d\\ude00\"",
					    "\"{}[],:\"",
					    "[]",
					    "{}"};
	size_t n, i;

	if (depth > 5 || dice(3)) {
		buf_str(b, pick(plain, ARRAY_SIZE(plain)));
		return;
	}
	n = dice(4);
	if (dice(2)) {
		buf_char(b, '{');
		random_members(b, depth, n, false, true);
		random_space(b);
		buf_char(b, '}');
		return;
	}
	buf_char(b, '[');
	for (i = 0; i < n; i++) {
		if (i)
			buf_char(b, ',');
		random_space(b);
		random_value(b, depth + 1);
		random_space(b);
	}
	buf_char(b, ']');
}

static struct buf random_document(bool *ret_runtimes)
{
	struct buf b = buf_new(&arena, 1 << 20);

	*ret_runtimes = dice(2);
	random_space(&b);
	buf_char(&b, '{');
	random_members(&b, 0, dice(5), *ret_runtimes, true);
	random_space(&b);
	buf_char(&b, '}');
	random_space(&b);
	return b;
}

static struct json_node *parsed(const char *text, size_t len)
{
	struct json_node *top;

	if (json_text_read("F", text, len, &arena, &top, &e) < 0)
		FAIL("%.*s: %s", (int)len, text, e.text);
	return top;
}

static void check_outside(const struct buf *b, const struct splice *s)
{
	size_t tail = b->len - s->at - s->cut;

	CHECK(s->at + s->cut <= b->len && s->len == s->at + strlen(s->insert) + tail);
	CHECK(memcmp(s->text, b->data, s->at) == 0);
	CHECK(memcmp(s->text + s->len - tail, b->data + s->at + s->cut, tail) == 0);
	/* What is cut out was space. */
	CHECK(strspn(b->data + s->at, " \t\r\n") >= s->cut);
}

/* Everything but ours is what and where it was. */
static void check_others(const struct json_node *before, const struct json_node *after)
{
	const struct json_node *x, *y = after->first, *in, *out;

	for (x = before->first; x; x = x->next, y = y->next) {
		CHECK(y && str_eq(x->key, y->key));
		if (!str_eq(x->key, "runtimes")) {
			CHECK(json_text_equal(x, y));
			continue;
		}
		for (in = x->first, out = y->first; in; in = in->next, out = out->next)
			CHECK(out && str_eq(in->key, out->key) && json_text_equal(in, out));
		CHECK(out && str_eq(out->key, "sbxrun") && !out->next);
	}
	CHECK(!y || (str_eq(y->key, "runtimes") && y->n == 1 && !y->next));
	x = json_text_get(json_text_get(json_text_get(after, "runtimes"), "sbxrun"), "path");
	CHECK(x && str_eq(x->word, program));
}

TEST(ten_thousand_documents_keep_all_that_is_theirs)
{
	const size_t n = unit_rounds(10000);
	struct splice s, out;
	bool runtimes;
	struct buf b;
	size_t i;

	for (i = 0; i < n; i++) {
		arena_free(&arena);
		seed = i;
		b = random_document(&runtimes);
		if (daemon_json_add("F", b.data, b.len, program, false, &arena, &s, &e) < 0)
			FAIL("seed %zu: %s: %s", i, b.data, e.text);
		check_outside(&b, &s);
		check_others(parsed(b.data, b.len), parsed(s.text, s.len));
		out = take_out(&s, runtimes);
		if (!json_text_equal(parsed(b.data, b.len), parsed(out.text, out.len)))
			FAIL("seed %zu: %s became %s", i, b.data, out.text);
		CHECK(daemon_json_equal(b.data, b.len, out.text, out.len, &arena));
		/* where there was something to stand behind, the very bytes come back */
		if (!s.cut && !str_eq(out.text, b.data))
			FAIL("seed %zu: %s became %s", i, b.data, out.text);
	}
	arena_free(&arena);
}

TEST(ten_thousand_broken_documents_are_refused_or_kept)
{
	const size_t n = unit_rounds(10000);
	struct splice s;
	bool runtimes;
	struct buf b;
	size_t i, taken = 0;

	for (i = 0; i < n; i++) {
		arena_free(&arena);
		seed = i + 1000000;
		b = random_document(&runtimes);
		switch (dice(3)) {
		case 0:
			b.len = dice((uint32_t)b.len);
			b.data[b.len] = '\0';
			break;
		case 1:
			b.data[dice((uint32_t)b.len)] = "{}[]\",:1x\n\xff"[dice(11)];
			break;
		default:
			memmove(b.data, b.data + 1, b.len--);
			break;
		}
		e = (struct error){0};
		if (daemon_json_add("F", b.data, b.len, program, false, &arena, &s, &e) < 0) {
			CHECK(str_after(e.text, "F:") && e.class == ERR_CONFIG);
			continue;
		}
		taken++;
		check_outside(&b, &s);
		if (strspn(b.data, " \t\r\n") != b.len)
			check_others(parsed(b.data, b.len), parsed(s.text, s.len));
	}
	arena_free(&arena);
	/* some damage does none */
	CHECK(taken > n / 100 && taken < n / 2);
}

/* ---- diff ---- */

static const char *diff(const char *before, const char *after)
{
	struct buf b = buf_new(&arena, 1 << 20);
	const struct diff_side x = {before ? "x" : NULL, before ? before : "",
				    before ? strlen(before) : 0},
			       y = {after ? "y" : NULL, after ? after : "",
				    after ? strlen(after) : 0};

	diff_write(&b, &x, &y);
	return b.len ? b.data : "";
}

TEST(a_diff_is_one_hunk_with_three_lines_around_it)
{
	CHECK_STR(diff("a\n", "a\n"), "");
	CHECK_STR(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n"),
		  "--- x\n+++ y\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n");
	CHECK_STR(diff("a\n", "a\nb"), "--- x\n+++ y\n@@ -1,1 +1,2 @@\n a\n+b\n\\ No newline at "
				       "end of file\n");
	CHECK_STR(diff(NULL, "a\n"), "--- /dev/null\n+++ y\n@@ -0,0 +1,1 @@\n+a\n");
	CHECK_STR(diff("a\n", NULL), "--- x\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n");
}

TEST(a_diff_has_nothing_that_a_terminal_obeys)
{
	CHECK_STR(diff(NULL, "a\tb\r\nc\rd \x1b]0;x\a\x7f\n"),
		  "--- /dev/null\n+++ y\n@@ -0,0 +1,2 @@\n+a\tb\r\n+c\\x0dd "
		  "\\x1b]0;x\\x07\\x7f\n");
	/* C1 in UTF-8 and by itself, an order turned around, half a character; letters stay */
	CHECK_STR(diff(NULL, "\xc2\x9b"
			     "1 \x9b"
			     "2 \xe2\x80\xae \xe2\x81\xa6 \xc3\xa9 \xe2\x82\xac \xe2\x82"),
		  "--- /dev/null\n+++ y\n@@ -0,0 +1,1 @@\n+\\xc2\\x9b"
		  "1 \\x9b"
		  "2 \\xe2\\x80\\xae \\xe2\\x81\\xa6 "
		  "\xc3\xa9 \xe2\x82\xac \\xe2\\x82\n\\ No newline at end of file\n");
	CHECK_STR(diff("\x1b[2J\n", NULL), "--- x\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-\\x1b[2J\n");
}

/* ---- TOML ---- */

static struct toml_scan scanned(const char *text)
{
	struct toml_scan scan;

	if (toml_scan("F", text, strlen(text), &arena, &scan, &e) < 0)
		FAIL("%s: %s", text, e.text);
	return scan;
}

static const char *path_of(const struct toml_statement *t)
{
	struct buf b = buf_new(&arena, 4096);
	size_t i;

	for (i = 0; i < t->path.n; i++)
		buf_printf(&b, "%s%s", i ? "|" : "", t->path.v[i]);
	return b.data;
}

TEST(statements_of_toml_have_paths_lines_and_values)
{
	struct toml_scan s =
		scanned("# c\nversion = 2 # two\r\nimports = [\n \"a\", # x ]\n 'b',\n]\n"
			"[a.\"b.c\" . 'd']\nx.y = { z = [1, {}], \"]\" = '}' }\n"
			"t = \"\"\"\n[no]\n\\\"\"\" \\\n   end\"\"\"\n"
			"d = 1979-05-27 07:32:00Z\n[[l]]\n k='''\na'''");

	CHECK_INT(s.n, 8);
	CHECK_STR(path_of(&s.v[0]), "version");
	CHECK_STR(s.v[0].word, "2");
	CHECK_INT(s.v[0].line, 2);
	CHECK_INT(s.v[1].items.n, 2);
	CHECK_STR(s.v[1].items.v[1], "b");
	CHECK_STR(path_of(&s.v[2]), "a|b.c|d");
	CHECK_STR(path_of(&s.v[3]), "a|b.c|d|x|y");
	CHECK_INT(s.v[3].table, 3);
	CHECK_INT(s.v[3].value, TOML_INLINE);
	CHECK_STR(s.v[4].word, "[no]\n\"\"\" end");
	CHECK_STR(s.v[5].word, "1979-05-27 07:32:00Z");
	CHECK_INT(s.v[6].kind, TOML_ARRAY_TABLE);
	CHECK_INT(s.v[6].line, 14);
	CHECK_STR(path_of(&s.v[7]), "l|k");
	CHECK_STR(s.v[7].word, "a");
}

TEST(what_is_no_toml_is_refused_with_its_line)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"a", "F:1: = is missing"},
		{"\na =", "F:2: a value is missing"},
		{"a = 1 b", "F:1: something follows"},
		{"a = [1 2]", "F:1: a comma or ] is missing"},
		{"a = [1,\n2", "F:2: a comma or ] is missing"},
		{"a = \"x", "F:1: a string without its closing quote"},
		{"a = '''x\n\n", "F:1: a string without its closing quote"},
		{"a = \"\\q\"", "F:1: an escape"},
		{"[a", "F:1: ] is missing"},
		{"[[a]", "F:1: ] is missing"},
		{"[]", "F:1: a key is missing"},
		{"a = { b = 1\n }", "F:1: a comma or } is missing"},
		{"a = \"\x01\"", "F:1: a control character"},
		{"\n# \xff", "F:2: not UTF-8"},
		{"a = 1\rb = 2", "F:1: a carriage return"},
	};
	struct toml_scan s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (toml_scan("F", cases[i].text, strlen(cases[i].text), &arena, &s, &e) == 0)
			FAIL("%s is taken", cases[i].text);
		if (!str_after(e.text, cases[i].why))
			FAIL("%s: \"%s\", want \"%s\"", cases[i].text, e.text, cases[i].why);
	}
}

/* ---- containerd ---- */

static struct containerd_toml config(const char *text)
{
	struct containerd_toml c;

	e = (struct error){0};
	if (containerd_toml_read("F", text, strlen(text), &arena, &c, &e) < 0)
		FAIL("%s: %s", text, e.text);
	return c;
}

#define CRI "plugins.\"io.containerd.grpc.v1.cri\""
#define CRI3 "plugins.'io.containerd.cri.v1.runtime'"

TEST(the_handler_is_added_and_taken_out_byte_for_byte)
{
	static const char *const texts[] = {
		"version = 2\n",
		"version = 2\n[" CRI ".cni]\nbin_dir = \"x\"\n",
		"version = 2\n[" CRI ".containerd.runtimes.runc]\nruntime_type = \"r\"\n",
		"version = 3\n[" CRI3 ".containerd]\nsnapshotter = \"x\"\n\n\n",
		"version = 4\r\n",
	};
	size_t i, len, len2;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		struct containerd_toml c = config(texts[i]), with;
		const char *text = containerd_toml_add(&c, program, &arena, &len);

		CHECK(str_after(text, texts[i]));
		with = config(text);
		CHECK(with.block_end == len && !with.foreign_line && with.version == c.version);
		CHECK(with.has_runtimes == c.has_runtimes);
		/* once more changes nothing */
		CHECK_STR(containerd_toml_add(&with, program, &arena, &len2), text);
		CHECK_STR(containerd_toml_remove(&with, &arena, &len), texts[i]);
	}
}

TEST(runc_is_repeated_where_the_table_would_replace_it)
{
	struct containerd_toml c = config("version = 2\n");
	size_t len;

	CHECK(strstr(containerd_toml_add(&c, program, &arena, &len), "runtimes.runc]"));
	c = config("version = 2\n[" CRI ".containerd.runtimes.kata]\n");
	CHECK(!strstr(containerd_toml_add(&c, program, &arena, &len), "runtimes.runc]"));
	c = config("version = 3\n");
	CHECK(!strstr(containerd_toml_add(&c, program, &arena, &len), "runtimes.runc]"));
}

TEST(the_cgroup_driver_is_that_of_the_default_runtime)
{
	static const struct {
		const char *text;
		bool systemd;
	} cases[] = {
		{"version = 2\n[" CRI ".containerd.runtimes.runc.options]\nSystemdCgroup = true\n",
		 true},
		{"version = 3\n[" CRI3 ".containerd.runtimes.runc.options]\nSystemdCgroup = true\n",
		 true},
		{"version = 2\n[" CRI ".containerd.runtimes.runc.options]\nSystemdCgroup = false\n",
		 false},
		{"version = 2\n[" CRI ".containerd.runtimes.x.options]\nSystemdCgroup = true\n",
		 false},
		{"version = 2\n[" CRI ".containerd]\ndefault_runtime_name = \"x\"\n[" CRI
		 ".containerd.runtimes.x.options]\nSystemdCgroup = true\n",
		 true},
	};
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct containerd_toml c = config(cases[i].text);

		CHECK(c.systemd == cases[i].systemd);
		CHECK(strstr(containerd_toml_add(&c, program, &arena, &len) + c.len,
			     cases[i].systemd ? "SystemdCgroup = true" : "SystemdCgroup = false"));
	}
}

TEST(tables_that_can_not_be_added_to_are_refused)
{
	static const char *const texts[] = {
		"version = 2\nplugins = {}\n",
		"version = 2\n[plugins]\n\"io.containerd.grpc.v1.cri\" = { a = 1 }\n",
		"version = 2\n[" CRI "]\ncontainerd.snapshotter = \"x\"\n",
		"version = 2\n[" CRI ".containerd]\nruntimes = {}\n",
		"version = 2\n[" CRI ".containerd]\nruntimes.runc.runtime_type = \"x\"\n",
		"version = 2\n[[" CRI "]]\n",
		"version = 2\n" CRI ".containerd.snapshotter = \"x\"\n",
		"version = two\n",
		"version = 2\nimports = \"x\"\n",
		"version = 2\n# sbxrun: begin (sbxrun install; sbxrun uninstall removes this)\n",
	};
	struct containerd_toml c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		if (containerd_toml_read("F", texts[i], strlen(texts[i]), &arena, &c, &e) == 0)
			FAIL("%s is taken", texts[i]);
	/* and these can */
	config("version = 2\n[" CRI ".containerd.runtimes]\nrunc.runtime_type = \"x\"\n");
	config("version = 2\n[plugins]\nother = {}\n\"io.containerd.x\".a.b = 1\n");
}

TEST(a_handler_of_somebody_else_is_seen)
{
	CHECK_INT(config("version = 2\n\n[" CRI ".containerd.runtimes.sbxrun]\n").foreign_line, 3);
	CHECK_INT(config("version = 3\n[" CRI3 ".containerd.runtimes]\nsbxrun = {}\n").foreign_line,
		  3);
	CHECK_INT(config("version = 2\n[" CRI ".containerd.runtimes.sbx]\n").foreign_line, 0);
}

TEST(the_import_of_conf_d_is_seen)
{
	struct containerd_toml c =
		config("version = 3\nimports = ['/etc/containerd/conf.d/*.toml']");

	CHECK(containerd_toml_imports_conf_d(&c));
	c = config("version = 3\nimports = ['/etc/containerd/other/*.toml']");
	CHECK(!containerd_toml_imports_conf_d(&c));
	c = config("disabled_plugins = [\"cri\"]\n");
	CHECK(c.cri_is_disabled && c.version == 0 && !c.blank);
	CHECK(config("# nothing\n").blank);
}

int main(void)
{
	return unit_main();
}
