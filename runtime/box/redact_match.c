/*
 * One attempt of PCRE2: anchored, on bytes (never UTF), interpreted (its JIT would want memory that
 * is written and executed), with limits on steps, depth and memory.
 *
 * An attempt on a text that goes on is a "hard partial" one: it ends the moment it would look at
 * what isn't there yet. So one that comes to a verdict has taken the very way that it takes when
 * the rest is there, and has used the same number of steps. That needs a pattern compiled without
 * PCRE2's own shortcuts (NO_START_OPTIMIZE), which depend on the length of the text; struct
 * redact_start has ours.
 */
#include "box/redact_match.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "box/redact.h"

enum {
	CHEAP_STEPS = 250,
	DEAR_STEPS = 20000,
	DEPTH_MAX = 2000,
	HEAP_KIB = 1024,
	PARENS_MAX = 50,
	OPTIONS = PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_DOLLAR_ENDONLY,
};

struct redact_matcher {
	struct arena *arena;
	pcre2_general_context *general;
	pcre2_compile_context *compile;
	pcre2_match_context *cheap, *dear;
	pcre2_match_data *data;
};

/* Not the arena's: a PCRE2 before 10.41 allocates and frees in every match. */
static void *pcre_alloc(size_t size, void *arg)
{
	void *p = malloc(size);

	(void)arg;
	if (!p)
		arena_out_of_memory();
	return p;
}

static void pcre_free(void *p, void *arg)
{
	(void)arg;
	free(p);
}

static pcre2_match_context *limits_new(pcre2_general_context *general, uint32_t steps)
{
	pcre2_match_context *c = pcre2_match_context_create(general);

	pcre2_set_match_limit(c, steps);
	pcre2_set_depth_limit(c, DEPTH_MAX);
	pcre2_set_heap_limit(c, HEAP_KIB);
	return c;
}

struct redact_matcher *redact_matcher_new(struct arena *a)
{
	struct redact_matcher *m = arena_new(a, struct redact_matcher);

	m->arena = a;
	m->general = pcre2_general_context_create(pcre_alloc, pcre_free, NULL);
	m->compile = pcre2_compile_context_create(m->general);
	pcre2_set_parens_nest_limit(m->compile, PARENS_MAX);
	m->cheap = limits_new(m->general, CHEAP_STEPS);
	m->dear = limits_new(m->general, DEAR_STEPS);
	m->data = pcre2_match_data_create(1, m->general);
	return m;
}

void redact_matcher_free(struct redact_matcher *m)
{
	pcre2_match_data_free(m->data);
	pcre2_match_context_free(m->cheap);
	pcre2_match_context_free(m->dear);
	pcre2_compile_context_free(m->compile);
	pcre2_general_context_free(m->general);
}

void redact_code_free(struct redact_code *c)
{
	pcre2_code_free(c->code);
	c->code = NULL;
}

static pcre2_code *code_compile(struct redact_matcher *m, const char *pattern, uint32_t options,
				struct error *e)
{
	unsigned char why[128] = "";
	PCRE2_SIZE at = 0;
	int error;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
					 OPTIONS | options, &error, &at, m->compile);

	if (!code) {
		pcre2_get_error_message(error, why, sizeof(why));
		err_set(e, ERR_CONFIG, "the pattern is wrong at character %zu: %s", (size_t)at + 1,
			(const char *)why);
	}
	return code;
}

enum redact_verdict redact_match(struct redact_matcher *m, struct redact_code *c,
				 const struct redact_view *view, bool dear, size_t *ret_from,
				 size_t *ret_to)
{
	uint32_t options = PCRE2_ANCHORED | PCRE2_NOTEMPTY | (view->from_start ? 0 : PCRE2_NOTBOL) |
			   (view->complete ? 0 : PCRE2_PARTIAL_HARD) |
			   (view->to_end ? 0 : PCRE2_NOTEOL);
	struct error bug;
	const PCRE2_SIZE *found;
	int rc;

	/* It compiled when it was checked, or is one of ours. */
	if (!c->code)
		c->code = code_compile(m, c->pattern, PCRE2_NO_START_OPTIMIZE, &bug);
	if (!c->code)
		return REDACT_TOO_DEAR;
	rc = pcre2_match(c->code, (PCRE2_SPTR)view->text, view->len, view->at, options, m->data,
			 dear ? m->dear : m->cheap);
	if (rc == PCRE2_ERROR_NOMATCH)
		return REDACT_NONE;
	if (rc == PCRE2_ERROR_PARTIAL)
		return REDACT_MORE;
	if (rc < 0)
		return REDACT_TOO_DEAR;
	found = pcre2_get_ovector_pointer(m->data);
	/* \K can put the begin anywhere. */
	if (found[0] < view->at || found[1] <= found[0])
		return REDACT_NONE;
	*ret_from = found[0];
	*ret_to = found[1];
	return REDACT_FOUND;
}

/* ---- is a user's pattern fit to be used ---- */

static void first_add(struct redact_start *s, unsigned char c)
{
	s->first[c / 8] |= (unsigned char)(1 << c % 8);
}

/* PCRE2 knows how a match begins. It doesn't say whether case counts. */
static void start_ask(const pcre2_code *code, struct redact_code *c, struct arena *a)
{
	uint32_t type = 0, unit = 0;
	const unsigned char *bits = NULL;

	if (pcre2_pattern_info(code, PCRE2_INFO_FIRSTCODETYPE, &type) == 0 && type == 1 &&
	    pcre2_pattern_info(code, PCRE2_INFO_FIRSTCODEUNIT, &unit) == 0) {
		c->start.by_byte = true;
		first_add(&c->start, (unsigned char)unit);
		if ((unit | 32) >= 'a' && (unit | 32) <= 'z')
			first_add(&c->start, (unsigned char)(unit ^ 32));
	} else if (pcre2_pattern_info(code, PCRE2_INFO_FIRSTBITMAP, &bits) == 0 && bits) {
		c->start.by_byte = true;
		memcpy(c->start.first, bits, sizeof(c->start.first));
	}
	if (pcre2_pattern_info(code, PCRE2_INFO_LASTCODETYPE, &type) == 0 && type == 1 &&
	    pcre2_pattern_info(code, PCRE2_INFO_LASTCODEUNIT, &unit) == 0 && unit &&
	    !((unit | 32) >= 'a' && (unit | 32) <= 'z')) {
		c->start.needle = arena_printf(a, "%c", (int)unit);
		c->start.before = c->longest - 1;
	}
}

static int pattern_judge(const pcre2_code *code, const struct redact_code *c, struct error *e)
{
	uint32_t empty = 0, back = 0, shortest = 0;

	pcre2_pattern_info(code, PCRE2_INFO_MATCHEMPTY, &empty);
	pcre2_pattern_info(code, PCRE2_INFO_MAXLOOKBEHIND, &back);
	pcre2_pattern_info(code, PCRE2_INFO_MINLENGTH, &shortest);
	if (empty)
		return err_set(e, ERR_CONFIG, "the pattern matches the empty text");
	if (back > REDACT_LOOK_BACK)
		return err_set(e, ERR_CONFIG, "the pattern looks back %u bytes, more than %d", back,
			       REDACT_LOOK_BACK);
	if (shortest > c->longest)
		return err_set(e, ERR_CONFIG,
			       "a match has %u bytes at least, and \"longest\" is %zu", shortest,
			       c->longest);
	return 0;
}

/* Whether the rule comes to a verdict on a text of `unit` again and again with a last byte that
 * fits nothing. */
static bool probe(struct redact_matcher *m, struct redact_code *c, char *text, const char *unit,
		  char last)
{
	struct redact_view view = {.text = text,
				   .len = c->longest,
				   .from_start = true,
				   .complete = true,
				   .to_end = true};
	size_t i, n = strlen(unit), from, to;

	for (i = 0; i < c->longest; i++)
		text[i] = unit[i % n];
	if (last)
		text[c->longest - 1] = last;
	return redact_match(m, c, &view, true, &from, &to) != REDACT_TOO_DEAR;
}

/* Patterns that explode do so on long rows of what they repeat: of bytes that they name themselves,
 * or of members of the usual classes. */
static int pattern_try(struct redact_matcher *m, struct redact_code *c, struct error *e)
{
	static const char *const usual[] = {"a", "A",  "0",  " ",  "_",	 ".",  "-",  "/",
					    "=", "a ", "a.", "a0", "aA", "a-", "a@", "\n"};
	char *text = arena_alloc(m->arena, 1, c->longest + 1), unit[2] = "";
	const char *p;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(usual); i++)
		if (!probe(m, c, text, usual[i], 0) || !probe(m, c, text, usual[i], '\1'))
			return err_set(e, ERR_CONFIG,
				       "the pattern is dangerous: it takes more than %d steps on "
				       "%zu bytes of \"%s\"",
				       DEAR_STEPS, c->longest,
				       *usual[i] == '\n' ? "\\n" : usual[i]);
	for (p = c->pattern; *p; p++) {
		if (memchr(c->pattern, *p, (size_t)(p - c->pattern)))
			continue;
		unit[0] = *p;
		if (!probe(m, c, text, unit, 0) || !probe(m, c, text, unit, '\1'))
			return err_set(e, ERR_CONFIG,
				       "the pattern is dangerous: it takes more than %d steps on "
				       "%zu times the byte 0x%02x",
				       DEAR_STEPS, c->longest, (unsigned char)*p);
	}
	return 0;
}

int redact_code_check(struct redact_matcher *m, struct redact_code *c, struct error *e)
{
	pcre2_code *code = code_compile(m, c->pattern, 0, e);
	int rc = code ? pattern_judge(code, c, e) : -1;

	pcre2_code_free(code);
	return rc < 0 ? -1 : pattern_try(m, c, e);
}

void redact_code_prepare(struct redact_matcher *m, struct redact_code *c)
{
	struct error ignored;
	pcre2_code *code = code_compile(m, c->pattern, 0, &ignored);

	if (code)
		start_ask(code, c, m->arena);
	pcre2_code_free(code);
}
