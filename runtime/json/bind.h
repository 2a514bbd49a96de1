/*
 * Between parse.c and bind.c: the events of a document, in order. Each returns false when the
 * document is refused; the error is then set and no further event may follow.
 */
#pragma once

#include "json/json.h"

struct json_bind;

/* The text is only looked at to tell which strings outlive their event. */
struct json_bind *json_bind_new(const char *what, const char *text, size_t len,
				const struct json_table *table, const struct json_limits *limits,
				void *object, struct arena *a, struct error *e);

bool json_bind_null(struct json_bind *b);
bool json_bind_bool(struct json_bind *b, bool v);
bool json_bind_number(struct json_bind *b, const char *digits, size_t len);
bool json_bind_string(struct json_bind *b, const char *s, size_t len);
bool json_bind_key(struct json_bind *b, const char *s, size_t len);
bool json_bind_start_object(struct json_bind *b);
bool json_bind_end_object(struct json_bind *b);
bool json_bind_start_array(struct json_bind *b);
bool json_bind_end_array(struct json_bind *b);

/* Reading stands at what follows the last event, rather than there: before a json_bind_fail(). */
void json_bind_at_next(struct json_bind *b);

/* Refuses the document at the place where reading stands. Always false. */
bool json_bind_fail(struct json_bind *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), cold));
