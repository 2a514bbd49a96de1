/*
 * A chain of stages, one a rule, for each stream. A stage has a buffer: what it may look back at,
 * and behind `at` what it has not decided on. Deciding is redact_match() at one place; what is
 * decided goes to the next stage, and from the last one to the sink.
 */
#include "box/redact.h"

#include <stdbool.h>
#include <string.h>

#include "base/str.h"
#include "box/redact_match.h"
#include "box/redact_rules.h"
#include "json/json.h"

enum {
	ROOM = 4096, /* beyond the longest match, so that pieces needn't be small */
	/* Bytes of text that pay for one dear attempt, and how many can be saved up. */
	PRICE = 1024,
	CREDIT_MAX = 32 * PRICE,
	/* An undecided text that is this long is tried anew only when an eighth more is there. */
	EAGER = 1024,
};

struct rule {
	const char *name;
	const char *replacement;
	struct redact_code code;
};

struct stage {
	struct redact *owner;
	struct rule *rule;
	struct stage *next; /* NULL: the sink */
	char *text;
	size_t len, cap;
	size_t at;   /* up to here it is decided, and given on */
	size_t wait; /* bytes behind `at` without which trying is of no use */
	size_t credit;
	bool begun; /* the begin of the stream is no longer in the buffer */
	bool ended;
	uint64_t found, unchecked;
};

struct redact {
	struct redact_matcher *matcher;
	struct rule *rules;
	size_t n;
	struct stage *stages[REDACT_STREAMS];
};

/* ---- where a match can begin ---- */

static bool starts_with_any(const struct redact_start *s, char c)
{
	unsigned char u = (unsigned char)c;

	return !s->by_byte || s->first[u / 8] & 1 << u % 8;
}

/* The first place from q on where the rule has to be tried; s->len: none. */
static size_t next_place(const struct stage *s, size_t q)
{
	const struct redact_start *start = &s->rule->code.start;
	size_t n = start->needle ? strlen(start->needle) : 0;
	const char *found;

	while (q < s->len) {
		if (n) {
			found = memmem(s->text + q, s->len - q, start->needle, n);
			/* It may begin in what is there and end in what is not. */
			if (!found && s->ended)
				return s->len;
			found = found ? found :
					s->text + s->len - (s->len - q < n ? s->len - q : n - 1);
			if ((size_t)(found - s->text) > q + start->before)
				q = (size_t)(found - s->text) - start->before;
			/* All places up to the needle's, as far as they fit. */
			for (; q < s->len && s->text + q <= found; q++)
				if (starts_with_any(start, s->text[q]))
					return q;
			continue;
		}
		if (starts_with_any(start, s->text[q]))
			return q;
		q++;
	}
	return s->len;
}

/* ---- a stage ---- */

static void stage_feed(struct stage *s, const char *p, size_t len, const struct redact_sink *sink);

static void give(struct stage *s, const char *p, size_t len, const struct redact_sink *sink)
{
	if (!len)
		return;
	if (s->next)
		stage_feed(s->next, p, len, sink);
	else
		sink->put(sink->to, p, len);
}

/* Everything up to `to` is decided; it earns credit. */
static void decide(struct stage *s, size_t to)
{
	s->credit += to - s->at;
	if (s->credit > CREDIT_MAX)
		s->credit = CREDIT_MAX;
	s->at = to;
	s->wait = 0;
}

static enum redact_verdict try_at(struct stage *s, size_t q, size_t *ret_from, size_t *ret_to)
{
	struct redact_code *code = &s->rule->code;
	size_t back = q < REDACT_LOOK_BACK ? q : REDACT_LOOK_BACK;
	size_t ahead = s->len - q < code->longest ? s->len - q : code->longest;
	struct redact_view view = {
		.text = s->text + q - back,
		.len = back + ahead,
		.at = back,
		.from_start = !s->begun && back == q,
		.complete = s->ended || ahead == code->longest,
		.to_end = s->ended && ahead == s->len - q,
	};
	struct redact_matcher *m = s->owner->matcher;
	enum redact_verdict v = redact_match(m, code, &view, false, ret_from, ret_to);

	if (v == REDACT_TOO_DEAR && s->credit >= PRICE) {
		v = redact_match(m, code, &view, true, ret_from, ret_to);
		/* Paid for once: an attempt that is made again is not decided yet. */
		if (v != REDACT_MORE && (v != REDACT_TOO_DEAR || view.complete))
			s->credit -= PRICE;
	}
	if (v == REDACT_TOO_DEAR && !view.complete) {
		s->wait = code->longest;
		return REDACT_MORE;
	}
	if (v == REDACT_MORE)
		s->wait = ahead < EAGER ? ahead + 1 : ahead + ahead / 8;
	*ret_from += q - back;
	*ret_to += q - back;
	return v;
}

/* Decides as far as it can be told by now. */
static void stage_work(struct stage *s, const struct redact_sink *sink)
{
	size_t given = s->at, q = given, from = 0, to = 0, longest = s->rule->code.longest;
	enum redact_verdict v;
	bool more = false;

	if (!s->ended && s->len - s->at < s->wait && s->len - s->at < longest)
		return;
	while (!more && (q = next_place(s, q)) < s->len) {
		decide(s, q);
		v = try_at(s, q, &from, &to);
		more = v == REDACT_MORE;
		if (v == REDACT_NONE)
			q++;
		if (v != REDACT_FOUND && v != REDACT_TOO_DEAR)
			continue;
		if (v == REDACT_TOO_DEAR) {
			from = q;
			to = s->len - q < longest ? s->len : q + longest;
		}
		give(s, s->text + given, from - given, sink);
		if (v == REDACT_FOUND)
			give(s, s->rule->replacement, strlen(s->rule->replacement), sink);
		else
			give(s, REDACT_UNCHECKED, strlen(REDACT_UNCHECKED), sink);
		s->found += v == REDACT_FOUND;
		s->unchecked += v == REDACT_TOO_DEAR;
		decide(s, to);
		given = q = to;
	}
	if (!more)
		decide(s, s->len);
	give(s, s->text + given, s->at - given, sink);
}

/* Drops what nobody looks back at. */
static void stage_compact(struct stage *s)
{
	size_t drop = s->at > REDACT_LOOK_BACK ? s->at - REDACT_LOOK_BACK : 0;

	if (!drop)
		return;
	memmove(s->text, s->text + drop, s->len - drop);
	s->len -= drop;
	s->at -= drop;
	s->begun = true;
}

static void stage_feed(struct stage *s, const char *p, size_t len, const struct redact_sink *sink)
{
	size_t n;

	while (len) {
		n = s->cap - s->len < len ? s->cap - s->len : len;
		memcpy(s->text + s->len, p, n);
		s->len += n;
		p += n;
		len -= n;
		stage_work(s, sink);
		stage_compact(s);
	}
}

/* ---- all of them ---- */

static struct stage *stages_new(struct redact *r, struct arena *a)
{
	struct stage *s = arena_array(a, r->n, struct stage);
	size_t i;

	for (i = 0; i < r->n; i++) {
		s[i].owner = r;
		s[i].rule = &r->rules[i];
		s[i].next = i + 1 < r->n ? &s[i + 1] : NULL;
		s[i].cap = REDACT_LOOK_BACK + r->rules[i].code.longest + ROOM;
		s[i].text = arena_alloc(a, 1, s[i].cap);
		s[i].credit = CREDIT_MAX;
	}
	return s;
}

static void rule_from_table(struct rule *ret, const struct redact_builtin *b)
{
	const char *c;

	*ret = (struct rule){.name = b->name,
			     .replacement = b->replacement,
			     .code = {.pattern = b->pattern,
				      .longest = b->longest,
				      .start = {.needle = b->needle,
						.before = b->before,
						.by_byte = b->first != NULL}}};
	for (c = b->first; c && *c; c++)
		ret->code.start.first[(unsigned char)*c / 8] |=
			(unsigned char)(1 << (unsigned char)*c % 8);
}

static void rule_from_user(struct redact *r, struct rule *ret, const struct redact_rule *u)
{
	*ret = (struct rule){.name = u->name,
			     .replacement = u->replacement ? u->replacement : "[REDACTED]",
			     .code = {.pattern = u->pattern, .longest = u->longest}};
	redact_code_prepare(r->matcher, &ret->code);
}

struct redact *redact_new(const struct redact_rules *user, struct arena *a)
{
	struct redact *r = arena_new(a, struct redact);
	size_t i;

	r->n = redact_n_builtins + (user ? user->n : 0);
	r->rules = arena_array(a, r->n, struct rule);
	r->matcher = redact_matcher_new(a);
	for (i = 0; i < redact_n_builtins; i++)
		rule_from_table(&r->rules[i], &redact_builtins[i]);
	for (; i < r->n; i++)
		rule_from_user(r, &r->rules[i], &user->v[i - redact_n_builtins]);
	for (i = 0; i < REDACT_STREAMS; i++)
		r->stages[i] = stages_new(r, a);
	return r;
}

void redact_free(struct redact *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		redact_code_free(&r->rules[i].code);
	redact_matcher_free(r->matcher);
}

void redact_begin(struct redact *r, enum redact_stream stream)
{
	struct stage *s;

	for (s = r->stages[stream]; s; s = s->next) {
		s->len = s->at = s->wait = 0;
		s->begun = s->ended = false;
	}
}

void redact_feed(struct redact *r, enum redact_stream stream, const char *p, size_t len,
		 const struct redact_sink *sink)
{
	stage_feed(r->stages[stream], p, len, sink);
}

void redact_finish(struct redact *r, enum redact_stream stream, const struct redact_sink *sink)
{
	struct stage *s;

	for (s = r->stages[stream]; s; s = s->next) {
		s->ended = true;
		stage_work(s, sink);
	}
}

size_t redact_hold(const struct redact *r)
{
	size_t i, sum = 0;

	for (i = 0; i < r->n; i++)
		sum += r->rules[i].code.longest;
	return sum;
}

size_t redact_rules_n(const struct redact *r)
{
	return r->n;
}

struct redact_count redact_count_of(const struct redact *r, size_t rule, enum redact_stream stream)
{
	const struct stage *s = &r->stages[stream][rule];

	return (struct redact_count){s->rule->name, s->found, s->unchecked};
}

void redact_write_counts(const struct redact *r, struct buf *b)
{
	static const char *const names[] = {[REDACT_STDOUT] = "stdout", [REDACT_STDERR] = "stderr"};
	enum redact_stream stream;
	bool any = false;
	size_t i;

	buf_char(b, '[');
	for (i = 0; i < r->n; i++) {
		for (stream = 0; stream < REDACT_STREAMS; stream++) {
			struct redact_count c = redact_count_of(r, i, stream);

			if (!c.found && !c.unchecked)
				continue;
			buf_str(b, any ? ",{\"rule\":" : "{\"rule\":");
			json_write_string(b, c.rule);
			buf_printf(b, ",\"stream\":\"%s\",\"count\":%ju", names[stream],
				   (uintmax_t)c.found);
			if (c.unchecked)
				buf_printf(b, ",\"unchecked\":%ju", (uintmax_t)c.unchecked);
			buf_char(b, '}');
			any = true;
		}
	}
	buf_char(b, ']');
}
