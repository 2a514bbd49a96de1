/*
 * Secrets are taken out of what a program prints: a rule is a regular expression (PCRE2) and what
 * is put in the place of what it finds. Rules work one after the other, in the order of the table
 * and then of the user's file: each reads what the one before it has left.
 *
 * Exactness: a rule is tried at each byte, from left to right. It sees at most `longest` bytes
 * from there on, and REDACT_LOOK_BACK bytes before. So the result is a function of the text alone,
 * however the text was cut into pieces.
 *
 * Held back is a byte, as long as a match that begins at or before it may still come. That is
 * nothing for most text, and at most redact_hold() bytes.
 *
 * Cost: a rule gets a number of steps at a place, and now and then a larger number.
 * Where that isn't enough, nobody knows whether there is a secret; then the `longest` bytes from
 * there on become REDACT_UNCHECKED, and that is counted. Nothing passes unread.
 *
 * Trust: the text comes from the box. The rules are the operator's; they are still tried on texts
 * that make bad ones explode, and refused then.
 *
 * Caveat: this is for secrets that are printed by mistake. A program that wants to get a secret out
 * writes it backwards.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define REDACT_UNCHECKED "[REDACTED_UNCHECKED]"

enum {
	REDACT_LOOK_BACK = 64,
	REDACT_LONGEST = 256,	   /* of a user's rule that doesn't say */
	REDACT_LONGEST_MAX = 4096, /* that it may say */
	REDACT_USER_MAX = 64,
	REDACT_TEXT_MAX = 1024, /* of a pattern or a replacement */
	REDACT_FILE_MAX = 1 << 20,
};

enum redact_stream { REDACT_STDOUT, REDACT_STDERR, REDACT_STREAMS };

struct redact_rule {
	char *name;
	char *pattern;
	char *replacement; /* as it is; NULL: [REDACTED] */
	uint32_t longest;  /* bytes of a match */
};

struct redact_rules {
	size_t n;
	struct redact_rule *v;
};

/* Where what may be given out goes. */
struct redact_sink {
	void (*put)(void *to, const char *p, size_t len);
	void *to;
};

struct redact;

/* A file of rules, as JSON. A bad or dangerous rule is refused; the error names line and rule. */
int redact_read_rules(const char *text, size_t len, struct arena *a, struct redact_rules *ret,
		      struct error *e);

/* The built-in rules, and after them the user's (may be NULL), which redact_read_rules() or
 * redact_check_rule() has found good. Nothing is compiled before a text needs it. The memory is the
 * arena's, a fixed amount for each rule, but for PCRE2's own, which redact_free() gives back. */
struct redact *redact_new(const struct redact_rules *user, struct arena *a);
void redact_free(struct redact *r);

/* A text that has nothing to do with what was fed before; what that had found stays counted. */
void redact_begin(struct redact *r, enum redact_stream stream);

/* Takes the next bytes of stream. */
void redact_feed(struct redact *r, enum redact_stream stream, const char *p, size_t len,
		 const struct redact_sink *sink);

/* It prints no more: what was held back comes out. */
void redact_finish(struct redact *r, enum redact_stream stream, const struct redact_sink *sink);

/* The most bytes of one stream that are held back. */
size_t redact_hold(const struct redact *r);

/* How often a rule has replaced something, or could not tell (unchecked). */
struct redact_count {
	const char *rule;
	uint64_t found;
	uint64_t unchecked;
};
size_t redact_rules_n(const struct redact *r);
struct redact_count redact_count_of(const struct redact *r, size_t rule, enum redact_stream stream);

/* Writes the counts as a JSON array, of rules that have found something:
 * [{"rule":"email","stream":"stdout","count":2}], with "unchecked" where that is not 0. */
void redact_write_counts(const struct redact *r, struct buf *b);

/* Whether a rule can be used. */
int redact_check_rule(const struct redact_rule *rule, struct error *e);
