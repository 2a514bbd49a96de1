/* Redaction: the first line is a user's pattern, the second is read as a file of rules if it looks
 * like one, the rest is what a program prints. However it is cut, the same comes out, and nothing
 * is lost but what was counted. */
#include "box/redact.h"
#include "fuzz.h"

struct out {
	char *text;
	size_t len, cap;
	struct arena *arena;
};

static void put(void *to, const char *p, size_t len)
{
	struct out *o = to;

	if (o->len + len > o->cap)
		o->text = arena_grow(o->arena, o->text, &o->cap, o->len + len, 1);
	memcpy(o->text + o->len, p, len);
	o->len += len;
}

static struct out redacted(const struct redact_rules *rules, const char *text, size_t len,
			   size_t piece, uint64_t *ret_events, struct arena *a)
{
	struct out o = {.arena = a};
	const struct redact_sink sink = {put, &o};
	struct redact *r = redact_new(rules, a);
	size_t at, n, i;

	for (at = 0; at < len; at += n) {
		n = piece < len - at ? piece : len - at;
		redact_feed(r, REDACT_STDOUT, text + at, n, &sink);
	}
	redact_finish(r, REDACT_STDOUT, &sink);
	*ret_events = 0;
	for (i = 0; i < redact_rules_n(r); i++) {
		struct redact_count c = redact_count_of(r, i, REDACT_STDOUT);

		*ret_events += c.found + c.unchecked;
	}
	redact_free(r);
	return o;
}

static void check_file(const char *text, size_t len, struct arena *a)
{
	struct redact_rules rules;
	struct error e = {0};

	if (redact_read_rules(text, len, a, &rules, &e) < 0)
		fuzz_check_error(&e);
	else
		DEMAND(rules.n <= REDACT_USER_MAX);
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	static const size_t pieces[] = {1, 2, 3, 7, 64};
	struct bytes b = {text, len};
	struct redact_rule rule = {.name = arena_strdup(a, "fuzz"),
				   .longest = 1 + bytes_take(&b, 1)};
	struct redact_rules rules = {1, &rule};
	struct out whole, other;
	uint64_t events, again;
	struct error e = {0};
	size_t i;

	if (text[0] == '{')
		check_file(text, len, a);
	rule.pattern = bytes_string(&b, a);
	if (redact_check_rule(&rule, &e) < 0) {
		fuzz_check_error(&e);
		rules.n = 0;
	}
	whole = redacted(&rules, b.p, b.left, b.left + 1, &events, a);
	DEMAND(events ||
	       (whole.len == b.left && (!b.left || memcmp(whole.text, b.p, b.left) == 0)));
	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		other = redacted(&rules, b.p, b.left, pieces[i], &again, a);
		DEMAND(other.len == whole.len && again == events);
		DEMAND(!whole.len || memcmp(other.text, whole.text, whole.len) == 0);
	}
}
