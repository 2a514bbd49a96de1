/*
 * Where a value stands in a document, for who passes values on as they are, or reads a document by
 * parts: ids, arguments, results of others. Safe on any bytes, and right on what json_read() takes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct json_span {
	const char *text; /* NULL: there is none */
	size_t len;
};

/* The value of a key (of plain ASCII) in the object that the text is. */
struct json_span json_span_member(const char *text, size_t len, const char *key);

/* As above, in a span and in a string that ends. */
struct json_span json_span_in(struct json_span s, const char *key);

/* The element of a list behind `before`, or the first one if that is none. */
struct json_span json_span_element(struct json_span list, struct json_span before);

bool json_span_is_object(struct json_span s);
