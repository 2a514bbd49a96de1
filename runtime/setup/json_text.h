/*
 * JSON as a text that is to be edited: a tree whose nodes know where they stand. Numbers stay the
 * bytes that they are, so that 1e400, 1.10 and 18446744073709551615 are what they were.
 *
 * Reading is strict (RFC 8259, and what json/scan.h refuses). A key that stands twice in an object
 * is refused, for readers differ in which one they take.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

enum json_kind {
	JSON_TEXT_NULL,
	JSON_TEXT_TRUE,
	JSON_TEXT_FALSE,
	JSON_TEXT_NUMBER,
	JSON_TEXT_STRING,
	JSON_TEXT_ARRAY,
	JSON_TEXT_OBJECT,
};

struct json_node {
	enum json_kind kind;
	size_t at, end;		/* of the value: its first byte, and the one behind it */
	size_t key_at, key_end; /* of a member's key, with its quotes */
	const char *key;	/* a member's, decoded; NULL in arrays and at the top */
	const char *word;	/* a string decoded, or a number's bytes */
	struct json_node *first, *last, *next;
	size_t n; /* of an array or object */
};

enum { JSON_TEXT_DEPTH = 64 };

/* Reads one document. `what` names it in errors, which say line and column. Trust: none in the
 * text. */
int json_text_read(const char *what, const char *text, size_t len, struct arena *a,
		   struct json_node **ret, struct error *e);

/* The member of an object, or NULL: also if the node is no object, or NULL. */
struct json_node *json_text_get(const struct json_node *object, const char *key);

/* Equal values, their keys in one order, their numbers byte by byte. The nodes' own keys don't
 * count. */
bool json_text_equal(const struct json_node *a, const struct json_node *b);

/* Sets *e to "what:line:column: …". Returns -1. */
int json_text_fail(const char *what, const char *text, size_t len, size_t at, struct error *e,
		   const char *fmt, ...) __attribute__((format(printf, 6, 7)));
