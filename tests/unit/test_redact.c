/* Redaction: what each rule takes out and leaves, that borders of pieces make no difference, and
 * that neither texts nor rules can make it expensive or let anything through unread. */
#include "box/redact.h"
#include "box/redact_match.h"
#include "box/redact_rules.h"
#include "base/str.h"
#include "unit.h"

struct out {
	char *text;
	size_t len, cap;
};

static void out_put(void *to, const char *p, size_t len)
{
	struct out *o = to;

	if (o->len + len + 1 > o->cap) {
		o->cap = 2 * (o->len + len + 1);
		o->text = realloc(o->text, o->cap);
	}
	memcpy(o->text + o->len, p, len);
	o->len += len;
	o->text[o->len] = '\0';
}

/* The text in pieces of n bytes, the first one of `head`. The caller frees what comes back. */
static char *redact_pieces(const struct redact_rules *user, const char *text, size_t len,
			   size_t head, size_t n, uint64_t *ret_unchecked)
{
	struct arena a = {0};
	struct out o = {0};
	const struct redact_sink sink = {out_put, &o};
	struct redact *r = redact_new(user, &a);
	size_t at, piece, i;

	out_put(&o, "", 0);
	for (at = 0; at < len; at += piece) {
		piece = at == 0 && head ? head : n;
		piece = piece < len - at ? piece : len - at;
		redact_feed(r, REDACT_STDOUT, text + at, piece, &sink);
	}
	redact_finish(r, REDACT_STDOUT, &sink);
	for (i = 0; ret_unchecked && i < redact_rules_n(r); i++)
		*ret_unchecked += redact_count_of(r, i, REDACT_STDOUT).unchecked;
	redact_free(r);
	arena_free(&a);
	return o.text;
}

/* Of the latest text; every way to cut it in two, and pieces of 1 to 9 bytes, must give the
 * same. */
static const char *redacted(const struct redact_rules *user, const char *text)
{
	static char *last;
	size_t len = strlen(text), i;
	char *other;

	free(last);
	last = redact_pieces(user, text, len, 0, len ? len : 1, NULL);
	for (i = 1; i < len + 9; i++) {
		other = i < len ? redact_pieces(user, text, len, i, len, NULL) :
				  redact_pieces(user, text, len, 0, i - len + 1, NULL);
		if (!str_eq(other, last))
			FAIL("cut %zu of \"%.60s\": got \"%s\", want \"%s\"", i, text, other, last);
		free(other);
	}
	return last;
}

#define REDACTS(text, want) CHECK_STR(redacted(NULL, text), want)
#define KEEPS(text) REDACTS(text, text)

TEST(connection_strings)
{
	REDACTS("db=postgresql://admin:s3cret@db.internal:5432/prod ok",
		"db=[REDACTED_CONNECTION_STRING] ok");
	REDACTS("mongodb+srv://u:p@cluster0.x.mongodb.net/?retry=1",
		"[REDACTED_CONNECTION_STRING]");
	REDACTS("\"redis://:pw@10.0.0.1:6379/0\"", "\"[REDACTED_CONNECTION_STRING]\"");
	REDACTS("jdbc:mysql://h/db MYSQL://a", "[REDACTED_CONNECTION_STRING] [REDACTED_CONNECTION_STRING]");
	REDACTS("postgresql+psycopg2://u:p@h/d", "[REDACTED_CONNECTION_STRING]");
	/* A path in front must not eat its scheme. */
	REDACTS("/home/xpostgres://u:p@h", "[REDACTED_SYSTEM_PATH][REDACTED_CONNECTION_STRING]");
	KEEPS("https://example.com/a postgres: //x redis:/ mysql");
}

TEST(private_keys)
{
	REDACTS("a\n-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEow+/=\n"
		"-----END RSA PRIVATE KEY-----\nb",
		"a\n[REDACTED_PRIVATE_KEY]\nb");
	REDACTS("{\"k\":\"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n\"}",
		"{\"k\":\"[REDACTED_PRIVATE_KEY]\\n\"}");
	REDACTS("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz", "[REDACTED_PRIVATE_KEY]");
	KEEPS("-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----");
	KEEPS("-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----");
}

TEST(api_and_aws_keys)
{
	REDACTS("key sk-abcdefghijklmnopqrstuvwx.", "key [REDACTED_API_KEY].");
	REDACTS("key=sk-proj-abc123_DEF-456ghi789", "key=[REDACTED_API_KEY]");
	REDACTS("sk-ant-api03-AbCdEfGh-12", "[REDACTED_API_KEY]");
	REDACTS("AKIAIOSFODNN7EXAMPLE,ASIAIOSFODNN7EXAMPLE", "[REDACTED_AWS_KEY],[REDACTED_AWS_KEY]");
	KEEPS("risk-adjustedreturnsoncapital task-proj-abc123456 sk-learn-estimator sk-short AKIA AKIAabc");
}

TEST(email_addresses)
{
	REDACTS("mail bob.smith+x@sub.example.co.uk, now", "mail [REDACTED_EMAIL], now");
	REDACTS("<a@b.io>", "<[REDACTED_EMAIL]>");
	REDACTS("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx@b.io",
		"xxxxxxxxxxxxxx[REDACTED_EMAIL]");
	KEEPS("a@b @decorator x @ y.z user@localhost a@@b.c1");
}

TEST(private_addresses)
{
	REDACTS("at 10.0.0.1, 192.168.1.254. and 172.16.0.9:80",
		"at [REDACTED_INTERNAL_IP], [REDACTED_INTERNAL_IP]. and [REDACTED_INTERNAL_IP]:80");
	REDACTS("172.31.255.255/12", "[REDACTED_INTERNAL_IP]/12");
	KEEPS("8.8.8.8 172.15.0.1 172.32.0.1 110.0.0.1 10.0.0.256 10.0.0.1.2 1.10.0.0.1 192.169.0.1");
}

TEST(system_paths)
{
	REDACTS("open /etc/passwd: no", "open [REDACTED_SYSTEM_PATH]: no");
	REDACTS("/root /home/alice/.ssh/id_rsa ../../etc/shadow file:///etc/hosts",
		"[REDACTED_SYSTEM_PATH] [REDACTED_SYSTEM_PATH] ../..[REDACTED_SYSTEM_PATH] "
		"file://[REDACTED_SYSTEM_PATH]");
	KEEPS("/etcetera /rooted /home /home/ /workspace/etc https://x.org/etc/y /usr/lib");
}

/* What the field shows its sanitizers with. */
TEST(the_demo_text_is_clean)
{
	REDACTS("Connected to postgresql://admin:secret123@10.0.1.50:5432/production\n"
		"Loading /etc/app/config.yaml for admin@company.com\n"
		"Using API key sk-proj-abc123def456ghi789jkl012mno345pqr678\n"
		"Internal server at 192.168.1.100, AKIAIOSFODNN7EXAMPLE\n"
		"mean 5.0, deviation 2.0\n",
		"Connected to [REDACTED_CONNECTION_STRING]\n"
		"Loading [REDACTED_SYSTEM_PATH] for [REDACTED_EMAIL]\n"
		"Using API key [REDACTED_API_KEY]\n"
		"Internal server at [REDACTED_INTERNAL_IP], [REDACTED_AWS_KEY]\n"
		"mean 5.0, deviation 2.0\n");
}

TEST(bytes_of_any_kind_pass)
{
	char text[256];
	size_t i;
	char *got;

	for (i = 0; i < sizeof(text); i++)
		text[i] = (char)i;
	got = redact_pieces(NULL, text, sizeof(text), 0, 7, NULL);
	CHECK(memcmp(got, text, sizeof(text)) == 0);
	free(got);
}

static uint32_t dice(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % n;
}

/* Words of secrets in any order, so that beginnings of matches lie in each other. */
static char *mixed_text(uint32_t *seed)
{
	static const char *const words[] = {
		"a", "@", "b.io", "10.", "0.0.1", "192.168", "sk-", "sk-proj-", "abcdefghijklmnopqrst", "AKIA",
		"IOSFODNN7EXAMPLE", "/", "etc", "/home/", "postgres", "://", "u:p@h", "-----BEGIN ", "PRIVATE KEY-----",
		"-----END ", "\n", " ", "-", "password=", "hunter2", "xx", ":", "."};
	struct out o = {0};
	uint32_t n = 1 + dice(seed, 40);
	const char *word;

	out_put(&o, "", 0);
	while (n--) {
		word = words[dice(seed, ARRAY_SIZE(words))];
		out_put(&o, word, strlen(word));
	}
	return o.text;
}

static struct redact_rule user_v[] = {
	{(char[]){"password"}, (char[]){"(?<=password=)\\S+"}, (char[]){"***"}, 32},
	{(char[]){"nested"}, (char[]){"(?:x+x+)+y"}, NULL, 16},
	{(char[]){"line"}, (char[]){"(?m)^[a-z]+$"}, NULL, 24},
	{(char[]){"kept"}, (char[]){"u:\\Kp"}, (char[]){"P"}, 8},
};
static const struct redact_rules user = {ARRAY_SIZE(user_v), user_v};

TEST(pieces_make_no_difference)
{
	uint32_t seed = 1, round;
	char *text;

	for (round = 0; round < unit_rounds(300); round++) {
		text = mixed_text(&seed);
		redacted(&user, text);
		free(text);
	}
}

/* The places that are left out can't have had a match. */
TEST(shortcuts_lose_nothing)
{
	uint32_t seed = 7, round;
	size_t i, k, from, to;

	for (round = 0; round < unit_rounds(300); round++) {
		char *text = mixed_text(&seed), *plain = text;
		struct arena a = {0};
		struct redact_matcher *m = redact_matcher_new(&a);

		for (i = 0; i < redact_n_builtins; i++) {
			const struct redact_builtin *b = &redact_builtins[i];
			struct redact_code c = {.pattern = b->pattern, .longest = b->longest};

			for (k = 0; text[k]; k++) {
				struct redact_view v = {text, strlen(text), k, true, true, true};
				const char *needle;

				if (redact_match(m, &c, &v, true, &from, &to) != REDACT_FOUND)
					continue;
				needle = strstr(plain + k, b->needle);
				CHECK(needle && (size_t)(needle - (plain + k)) <= b->before);
				CHECK(!b->first || strchr(b->first, text[k]));
				CHECK(to - from <= b->longest);
			}
			redact_code_free(&c);
		}
		redact_matcher_free(m);
		arena_free(&a);
		free(text);
	}
}

TEST(user_rules_follow_ours)
{
	CHECK_STR(redacted(&user, "password=hunter2 u:p\nabc\n"),
		  "password=*** u:P\n[REDACTED]\n");
}

TEST(what_is_no_secret_is_not_held_back)
{
	struct arena a = {0};
	struct out o = {0};
	const struct redact_sink sink = {out_put, &o};
	struct redact *r = redact_new(NULL, &a);

	redact_feed(r, REDACT_STDOUT, "Enter a number: ", 16, &sink);
	CHECK_STR(o.text, "Enter a number: ");
	redact_feed(r, REDACT_STDOUT, "line\n", 5, &sink);
	CHECK_STR(o.text, "Enter a number: line\n");
	/* An address may have begun. */
	redact_feed(r, REDACT_STDOUT, "to bob@exam", 11, &sink);
	CHECK_STR(o.text, "Enter a number: line\nto ");
	redact_feed(r, REDACT_STDOUT, "ple.org ", 8, &sink);
	CHECK_STR(o.text, "Enter a number: line\nto [REDACTED_EMAIL] ");
	redact_free(r);
	arena_free(&a);
	free(o.text);
}

/* However long it goes on, no more than redact_hold() bytes stay inside. */
TEST(what_is_held_back_is_bounded)
{
	static const char *const units[] = {
		"a",  "a@",	  "-----BEGIN PRIVATE KEY-----\nA", "/home/a/", "redis://x",
		"1.", "sk-proj-a"};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		struct arena a = {0};
		struct out o = {0};
		const struct redact_sink sink = {out_put, &o};
		struct redact *r = redact_new(&user, &a);
		size_t fed = 0, n = strlen(units[i]);
		uint64_t gone = 0;
		struct redact_count c;

		for (k = 0; k < unit_rounds(20000); k++, fed += n)
			redact_feed(r, REDACT_STDERR, units[i], n, &sink);
		for (k = 0; k < redact_rules_n(r); k++) {
			c = redact_count_of(r, k, REDACT_STDERR);
			gone += (c.found + c.unchecked) * redact_hold(r);
			CHECK_INT(redact_count_of(r, k, REDACT_STDOUT).found, 0);
		}
		CHECK(o.len + gone + redact_hold(r) >= fed);
		redact_free(r);
		arena_free(&a);
		free(o.text);
	}
}

TEST(counts_are_of_rule_and_stream)
{
	struct arena a = {0};
	struct out o = {0};
	const struct redact_sink sink = {out_put, &o};
	struct redact *r = redact_new(NULL, &a);
	struct buf b = buf_new(&a, 4096);

	redact_feed(r, REDACT_STDOUT, "a@b.io c@d.io /etc/x", 20, &sink);
	redact_feed(r, REDACT_STDERR, "10.1.2.3", 8, &sink);
	redact_finish(r, REDACT_STDOUT, &sink);
	redact_finish(r, REDACT_STDERR, &sink);
	redact_write_counts(r, &b);
	CHECK_STR(b.data, "[{\"rule\":\"email\",\"stream\":\"stdout\",\"count\":2},"
			  "{\"rule\":\"internal_ip\",\"stream\":\"stderr\",\"count\":1},"
			  "{\"rule\":\"system_path\",\"stream\":\"stdout\",\"count\":1}]");
	redact_free(r);
	arena_free(&a);
	free(o.text);
}

/* A rule that was never checked, as if the check had a hole: its text is replaced, not passed. */
TEST(what_is_too_dear_does_not_pass)
{
	struct redact_rule bad[] = {{(char[]){"bad"}, (char[]){"(?:a+)+b"}, NULL, 64}};
	const struct redact_rules rules = {1, bad};
	char text[6001], *one, *other;
	uint64_t unchecked = 0, again = 0;

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	one = redact_pieces(&rules, text, sizeof(text) - 1, 0, sizeof(text), &unchecked);
	CHECK(unchecked > 0);
	CHECK(strstr(one, REDACT_UNCHECKED));
	CHECK(!strstr(one, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
	other = redact_pieces(&rules, text, sizeof(text) - 1, 0, 1, &again);
	CHECK_STR(other, one);
	CHECK_INT(again, unchecked);
	free(one);
	free(other);
}

static const char *rules_error(const char *text)
{
	static struct error e;
	struct arena a = {0};
	struct redact_rules r;

	e.text[0] = '\0';
	redact_read_rules(text, strlen(text), &a, &r, &e);
	arena_free(&a);
	return e.text;
}

#define RULE(fields) "{\"version\":1,\n\"rules\":[\n{" fields "}]}"
#define REFUSES(fields, want)                                                                      \
	CHECK_STR(rules_error(RULE("\"name\":\"x\"," fields)), "rules: line 3: rule \"x\": " want)

TEST(a_file_of_rules_is_read)
{
	static const char text[] = RULE(
		"\"name\":\"ticket\",\"pattern\":\"TICKET-[0-9]{1,9}\",\"replacement\":\"[T]\",\"longest\":16},"
		"{\"name\":\"cafe\",\"pattern\":\"caf\xc3\xa9\"");
	struct redact_rules r;
	struct arena a = {0};
	struct error e;

	CHECK(redact_read_rules(text, strlen(text), &a, &r, &e) == 0);
	CHECK_INT(r.n, 2);
	CHECK_INT(r.v[1].longest, REDACT_LONGEST);
	CHECK_STR(redacted(&r, "see TICKET-123, caf\xc3\xa9"), "see [T], [REDACTED]");
	arena_free(&a);
}

TEST(bad_rules_are_refused)
{
	REFUSES("\"pattern\":\"(\"", "the pattern is wrong at character 2: missing closing parenthesis");
	REFUSES("\"pattern\":\"a*\"", "the pattern matches the empty text");
	REFUSES("\"pattern\":\"a\",\"longest\":5000", "\"longest\" is from 1 to 4096");
	REFUSES("\"pattern\":\"aaaa\",\"longest\":3", "a match has 4 bytes at least, and \"longest\" is 3");
	REFUSES("\"pattern\":\"(?<=a{100})b\"", "the pattern looks back 100 bytes, more than 64");
	REFUSES("\"pattern\":\"(*UTF)a\"", "the pattern is wrong at character 7: using UTF is disabled by the application");
	CHECK_STR(rules_error(RULE("\"name\":\"email\",\"pattern\":\"a\"")),
		  "rules: line 3: rule \"email\": there is a built-in rule of that name");
	CHECK_STR(rules_error(RULE("\"name\":\"a b\",\"pattern\":\"a\"")),
		  "rules: line 3: rule \"a b\": a name is of letters, digits, -, _ and ., and short");
	CHECK_STR(rules_error(RULE(
			  "\"name\":\"a\",\"pattern\":\"a\"},\n{\"name\":\"a\",\"pattern\":\"b\"")),
		  "rules: line 4: rule \"a\" is there twice");
	CHECK(strstr(rules_error(RULE("\"name\":\"a\",\"patern\":\"a\"")), "line 3"));
	CHECK(strstr(rules_error("{\"version\":2,\"rules\":[]}"), "version"));
}

TEST(dangerous_patterns_are_refused)
{
	static const char *const patterns[] = {"(a+)+$",	"(x+x+)+y",	"(?:[a-z]+)*!",
					       "(\\\\w+\\\\s?)+:", "(.*)*#",	"(?:a|a)+b",
					       "^(([a-z])+.)+[A-Z]([a-z])+$"};
	char text[256];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		snprintf(text, sizeof(text), RULE("\"name\":\"x\",\"pattern\":\"%s\""),
			 patterns[i]);
		if (!strstr(rules_error(text), "dangerous"))
			FAIL("%s: \"%s\"", patterns[i], rules_error(text));
	}
}

TEST(ordinary_patterns_are_not)
{
	static const char *const patterns[] = {
		"ghp_[A-Za-z0-9]{36}", "xox[baprs]-[A-Za-z0-9-]{10,}", "\\\\b[0-9]{3}-[0-9]{2}-[0-9]{4}\\\\b",
		"(?i)password\\\\s*[:=]\\\\s*\\\\S+", "eyJ[A-Za-z0-9_-]+\\\\.[A-Za-z0-9_-]+\\\\.[A-Za-z0-9_-]+"};
	char text[256];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		snprintf(text, sizeof(text), RULE("\"name\":\"x\",\"pattern\":\"%s\""),
			 patterns[i]);
		CHECK_STR(rules_error(text), "");
	}
}

int main(void)
{
	return unit_main();
}
