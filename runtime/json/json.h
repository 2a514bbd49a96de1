/*
 * JSON in and out by rows. A row says how one key of an object lands in one field of a struct; the
 * same rows read and write. There is no tree: parse.c feeds yajl's callbacks to bind.c, which fills
 * the structs as the bytes come.
 *
 * Reading is strict: size, depth and counts are capped; duplicate keys (also of unknown ones),
 * trailing bytes, NUL (also as \u0000), lone surrogates, bad UTF-8, a byte order mark, numbers with
 * a fraction or exponent (where a row wants a number) and numbers out of range are refused. Unknown
 * keys are skipped, as the runtime specification demands. A null stands for an absent value (where
 * a row doesn't forbid it), and so does an empty string in an optional field (writers in Go don't
 * tell them apart). Errors name the place: linux.namespaces[1].type: unknown value "x".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "json/types.h"

enum json_type {
	JSON_STR,  /* char * */
	JSON_BOOL, /* bool */
	JSON_I32,
	JSON_U32,
	JSON_I64,
	JSON_U64,
	JSON_OPT_BOOL, /* struct opt_bool … */
	JSON_OPT_I32,
	JSON_OPT_U32,
	JSON_OPT_I64,
	JSON_OPT_U64,
	JSON_ENUM,    /* an enum of int's size, from a table of words */
	JSON_OBJECT,  /* a struct, in place; a leading `bool set` if SETS */
	JSON_STRINGS, /* struct strings */
	JSON_IDS,     /* struct ids */
	JSON_PAIRS,   /* struct pairs: an object of strings */
	JSON_LIST,    /* LIST(struct …): an array of objects */
	JSON_MAP, /* LIST(struct …): an object of objects; the key goes to the row's key field */
};

/* A larger document is refused. */
enum { JSON_BYTES_MAX = 16 << 20 };

enum json_flag {
	JSON_REQUIRED = 1,  /* absent is an error */
	JSON_SETS = 2,	    /* the object's struct begins with `bool set` */
	JSON_OMIT = 4,	    /* not written when empty, zero or false */
	JSON_NOT_EMPTY = 8, /* a string or list must not be empty */
	JSON_NOT_NULL = 32, /* absent means something weaker: who writes null there may not know */
	JSON_FLAT = 16,	    /* an object whose rows' offsets count from the enclosing struct */
};

struct json_word {
	const char *word;
	int value;
};

struct json_table;

struct json_row {
	const char *key;
	enum json_type type;
	unsigned int flags;
	size_t offset;			/* of the field in its struct */
	const struct json_table *table; /* OBJECT, LIST, MAP: the rows of the inner struct */
	const struct json_word *words;	/* ENUM: ended by {NULL, 0} */
	size_t max;			/* most elements or pairs; 0: the document's limit */
};

struct json_table {
	const char *name;  /* of the struct, for documentation */
	size_t size;	   /* of one element */
	size_t key_offset; /* MAP: where the key goes (a char *) */
	const struct json_row *rows;
	size_t count; /* at most JSON_MAX_ROWS */
	bool closed;  /* a key without a row is an error, and not skipped */
};

enum { JSON_MAX_ROWS = 64, JSON_MAX_DEPTH = 64 };

struct json_limits {
	size_t bytes;	 /* of the document */
	size_t depth;	 /* of nesting, at most JSON_MAX_DEPTH */
	size_t elements; /* of one array or object */
	size_t string;	 /* bytes of one string */
	bool lines;	 /* errors begin with the number of the line: people wrote it */
};

/* Limits of config.json and other documents from outside. */
extern const struct json_limits json_default_limits;

/* Reads text (len bytes, untrusted) into *object, which is zeroed memory of table->size. `what`
 * names the document in errors. */
int json_read(const char *what, const char *text, size_t len, const struct json_table *table,
	      const struct json_limits *limits, void *object, struct arena *a, struct error *e);

/* Writes object by its rows; indent 0 is one line. */
void json_write(struct buf *b, const struct json_table *table, const void *object,
		unsigned int indent);

/* Writes one string with quotes and escapes; bytes that aren't UTF-8 become U+FFFD. */
void json_write_string(struct buf *b, const char *s);

/* A string from outside, fit for a line of text: quoted, escaped, shortened. Used in place:
 * err_set(e, ERR_CONFIG, "root.path: %s", json_show(path).text) */
struct json_shown {
	char text[96];
};
struct json_shown json_show(const char *s);
struct json_shown json_show_n(const char *s, size_t len);
