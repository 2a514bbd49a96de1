/* A plan as facts, for plan/print.c: one object a fact, as a line of text or as JSON. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "json/types.h"

struct facts {
	struct buf *b;
	bool json;
	size_t n; /* said so far */
};

/* Before the first and after the last. */
void facts_begin(struct facts *f);
void facts_end(struct facts *f);

/* A fact of this kind, with what fact_* add, up to the next one. */
void fact(struct facts *f, const char *kind);

/* NULL is left out. A word with blanks or odd characters is quoted. */
void fact_str(struct facts *f, const char *key, const char *value);
void fact_number(struct facts *f, const char *key, uint64_t value);
void fact_octal(struct facts *f, const char *key, unsigned int value);
void fact_hex(struct facts *f, const char *key, uint64_t value);
/* Left out unless it is so. */
void fact_is(struct facts *f, const char *key, bool so);
/* An empty list is left out. */
void fact_list(struct facts *f, const char *key, char *const *v, size_t n);
