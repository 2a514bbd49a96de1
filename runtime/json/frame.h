/*
 * Where reading stands: private to bind.c (the events) and frame.c (the stack, places and errors).
 */
#pragma once

#include "json/bind.h"

enum frame_kind {
	IN_OBJECT,	  /* base: the struct */
	IN_STRINGS,	  /* base: the list, from here on */
	IN_IDS,
	IN_LIST,
	IN_PAIRS,
	IN_MAP,
	IN_SKIPPED_OBJECT,
	IN_SKIPPED_ARRAY,
};

struct key {
	const char *s;
	size_t len;
};

/* Common head of LIST(…), struct strings, struct ids and struct pairs. */
struct any_list {
	size_t n;
	void *v;
} __attribute__((may_alias));

struct frame {
	enum frame_kind kind;
	const struct json_table *table; /* of the object, or of a list's elements */
	const struct json_row *row;	/* of the key just read; NULL: unknown */
	char *base;
	struct key key;	  /* the key just read, for errors */
	bool open;	  /* its value is yet to come */
	size_t count;	  /* keys or elements so far */
	size_t max;	  /* of them */
	size_t cap;	  /* room in the list */
	size_t first_key; /* where this object's keys begin in json_bind.keys */
	uint64_t seen;	  /* rows whose key was there, by index */
	uint64_t given;	  /* rows whose value was there: not null */
};

struct json_bind {
	const char *what;
	const char *text;
	size_t len;
	const struct json_table *table;
	const struct json_limits *limits;
	void *object;
	struct arena *arena;
	struct error *error;
	struct key *keys; /* those without a row, of all open objects */
	size_t key_count;
	size_t key_cap;
	size_t depth;
	struct frame frames[JSON_MAX_DEPTH];
};

/* Where a value goes. */
struct place {
	bool skip;
	enum json_type type;
	void *slot;
	const struct json_row *row; /* words, flags, table; NULL for elements of plain lists */
	const struct json_table *table;
};

/* The innermost frame; only called where one is open. */
static inline struct frame *bind_top(struct json_bind *b)
{
	return &b->frames[b->depth - 1];
}

/* Finds where the value that begins now goes, and counts it if it is an element. */
bool frame_place(struct json_bind *b, struct place *p);

bool frame_push(struct json_bind *b, enum frame_kind kind, const struct place *p);

/* A new last element of the frame's list. */
void *frame_append(struct json_bind *b, struct frame *f, size_t size);

/* Refusals: a value of the wrong type; one element or key more than may be. Always false. */
bool frame_mismatch(struct json_bind *b, const struct place *p, const char *got);
bool frame_too_many(struct json_bind *b, const struct frame *f);
