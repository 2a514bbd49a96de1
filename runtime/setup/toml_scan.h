/*
 * TOML, read far enough to know which tables and keys a file has and where: statements with their
 * paths. What a value means is told for strings, words and lists of strings only. Pure.
 *
 * This is no judge of TOML: what it can't take apart is an error, and the caller then leaves the
 * file alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "json/types.h"

enum toml_kind {
	TOML_TABLE,	  /* [a.b] */
	TOML_ARRAY_TABLE, /* [[a.b]] */
	TOML_KEY,	  /* a.b = … */
};

enum toml_value {
	TOML_NONE,   /* tables */
	TOML_STRING, /* word is what it means */
	TOML_WORD,   /* a number, a date, true, false: word is as it stands there */
	TOML_ARRAY,  /* items are those of its elements that are strings */
	TOML_INLINE, /* {…} */
};

struct toml_statement {
	enum toml_kind kind;
	struct strings path; /* from the top; of a key with its table's */
	size_t table;	     /* how many of them are the table's */
	size_t line;	     /* from 1 */
	size_t at, end;	     /* its bytes, from the line's begin to behind the line's end */
	enum toml_value value;
	const char *word;
	struct strings items;
};

struct toml_scan {
	size_t n;
	struct toml_statement *v;
};

enum { TOML_DEPTH = 32 };

/* Errors say "what:line: …". Trust: none in the text. */
int toml_scan(const char *what, const char *text, size_t len, struct arena *a,
	      struct toml_scan *ret, struct error *e);

/* Whether the path has, or is, these n words at its begin. */
bool toml_begins(const struct strings *path, const char *const *words, size_t n);
bool toml_is(const struct strings *path, const char *const *words, size_t n);
