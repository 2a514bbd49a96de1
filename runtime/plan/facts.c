#include "plan/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json/json.h"

void facts_begin(struct facts *f)
{
	buf_str(f->b, f->json ? "[" : "");
}

static void facts_close_one(struct facts *f)
{
	if (f->n)
		buf_str(f->b, f->json ? "}" : "\n");
}

void facts_end(struct facts *f)
{
	facts_close_one(f);
	buf_str(f->b, f->json ? "\n]\n" : "");
}

void fact(struct facts *f, const char *kind)
{
	facts_close_one(f);
	if (f->json) {
		buf_str(f->b, f->n ? ",\n  {\"fact\": " : "\n  {\"fact\": ");
		json_write_string(f->b, kind);
	} else {
		buf_str(f->b, kind);
	}
	f->n++;
}

static void fact_key(struct facts *f, const char *key)
{
	if (f->json) {
		buf_str(f->b, ", ");
		json_write_string(f->b, key);
		buf_str(f->b, ": ");
	} else {
		buf_printf(f->b, " %s=", key);
	}
}

static bool word_is_plain(const char *s)
{
	return *s && !s[strcspn(s, " \"\\,\n\t\r")];
}

/* Trust: the text comes from the config. */
static void fact_word(struct facts *f, const char *s)
{
	if (f->json || !word_is_plain(s))
		json_write_string(f->b, s);
	else
		buf_str(f->b, s);
}

void fact_str(struct facts *f, const char *key, const char *value)
{
	if (!value)
		return;
	fact_key(f, key);
	fact_word(f, value);
}

void fact_number(struct facts *f, const char *key, uint64_t value)
{
	fact_key(f, key);
	buf_printf(f->b, "%" PRIu64, value);
}

void fact_octal(struct facts *f, const char *key, unsigned int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%o", value);
	fact_str(f, key, text);
}

void fact_hex(struct facts *f, const char *key, uint64_t value)
{
	char text[20];

	snprintf(text, sizeof(text), "%" PRIx64, value);
	fact_str(f, key, text);
}

void fact_is(struct facts *f, const char *key, bool so)
{
	if (!so)
		return;
	if (!f->json) {
		buf_printf(f->b, " %s", key);
		return;
	}
	fact_key(f, key);
	buf_str(f->b, "true");
}

void fact_list(struct facts *f, const char *key, char *const *v, size_t n)
{
	size_t i;

	if (!n)
		return;
	fact_key(f, key);
	buf_str(f->b, f->json ? "[" : "");
	for (i = 0; i < n; i++) {
		buf_str(f->b, i == 0 ? "" : f->json ? ", " : ",");
		fact_word(f, v[i]);
	}
	buf_str(f->b, f->json ? "]" : "");
}
