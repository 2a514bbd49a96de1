/*
 * Between redact.c and redact_rules.c: one rule, compiled when it is first needed, and tried at one
 * place of a text under limits. PCRE2 is known to redact_match.c alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct pcre2_real_code_8;

/* Where a match can begin at all, told cheaply. */
struct redact_start {
	const char *needle; /* every match has it, NULL: nothing is known … */
	size_t before;	    /* … and it begins at most this many bytes after the match does */
	bool by_byte;	    /* a match begins with a byte of first[] */
	unsigned char first[32];
};

struct redact_code {
	const char *pattern;
	size_t longest;
	struct redact_start start;
	struct pcre2_real_code_8 *code; /* NULL: not needed so far */
};

enum redact_verdict {
	REDACT_NONE, /* no match begins here */
	REDACT_FOUND,
	REDACT_MORE,	 /* only what follows can tell */
	REDACT_TOO_DEAR, /* not within the limits */
};

/* The text at the place where a rule is tried. */
struct redact_view {
	const char *text; /* from what the rule may look back at */
	size_t len;
	size_t at;	 /* where a match would begin */
	bool from_start; /* the text's begin is the stream's */
	bool complete;	 /* what follows is the end of the stream, or not the rule's business … */
	bool to_end;	 /* … and it is the end */
};

struct redact_matcher;

struct redact_matcher *redact_matcher_new(struct arena *a);
void redact_matcher_free(struct redact_matcher *m);
void redact_code_free(struct redact_code *c);

/* Tries the rule at view->at; *ret_from and *ret_to bound what it found. `dear`: with more steps.
 */
enum redact_verdict redact_match(struct redact_matcher *m, struct redact_code *c,
				 const struct redact_view *view, bool dear, size_t *ret_from,
				 size_t *ret_to);

/* Finds out where matches of a user's pattern can begin: c->start. */
void redact_code_prepare(struct redact_matcher *m, struct redact_code *c);

/* Judges a user's pattern: may it be used? */
int redact_code_check(struct redact_matcher *m, struct redact_code *c, struct error *e);
