/*
 * A file of policies: JSON by rows that are closed, so that a misspelt key is an error and not a
 * row less. Trust: the file is the administrator's; its text is still judged as if it were not.
 */
#include <string.h>

#include "base/str.h"
#include "json/rows.h"
#include "policy/policy.h"

enum { WORDS_MAX = 1024, POLICIES_MAX = 256 };

/* clang-format off */
static const struct json_row policy_change_rows[] = {
	L(policy_change, "allow", STRINGS, allow, WORDS_MAX, OMIT),
	L(policy_change, "deny", STRINGS, deny, WORDS_MAX, OMIT),
};
static const struct json_table policy_change_table = {
	.name = "policy_change", .size = sizeof(struct policy_change), .rows = policy_change_rows,
	.count = ARRAY_SIZE(policy_change_rows), .closed = true};

static const struct json_row policy_text_rows[] = {
	F(policy_text, "base", STR, base),
	F(policy_text, "description", STR, description, OMIT),
#define LEVEL(name, id, since, what, ...) \
	{.key = id, .type = JSON_ENUM, .offset = offsetof(struct policy_text, level) + LEVEL_##name * sizeof(int), .flags = JSON_OMIT, \
	 .words = (const struct json_word[]){{"as-asked", AS_ASKED}, __VA_ARGS__, {NULL, 0}}},
#define LIST_ROW(name, id, since, what, knows) \
	{.key = id, .type = JSON_OBJECT, .offset = offsetof(struct policy_text, list) + LIST_##name * sizeof(struct policy_change), .flags = JSON_OMIT, \
	 .table = &policy_change_table},
#include "policy/rows.def"
#undef LEVEL
#undef LIST_ROW
};
const struct json_table policy_text_table = {
	.name = "policy_text", .size = sizeof(struct policy_text), .key_offset = offsetof(struct policy_text, name),
	.rows = policy_text_rows, .count = ARRAY_SIZE(policy_text_rows), .closed = true};

static const struct json_row policy_file_rows[] = {
	F(policy_file, "version", U32, version, REQUIRED),
	F(policy_file, "default", STR, fallback),
	L(policy_file, "choices", STRINGS, choices, POLICIES_MAX, OMIT),
	F(policy_file, "audit", STR, audit, OMIT),
	N(policy_file, "policies", MAP, policies, policy_text, POLICIES_MAX, OMIT),
};
/* clang-format on */
static const struct json_table policy_file_table = {.name = "policy_file",
						    .size = sizeof(struct policy_file),
						    .rows = policy_file_rows,
						    .count = ARRAY_SIZE(policy_file_rows),
						    .closed = true};

static int words_check(const struct policy_text *t, enum policy_list list, const char *verb,
		       const struct strings *words, struct error *e)
{
	const struct policy_row *row = &policy_rows[LEVEL_COUNT + list];
	size_t i;

	for (i = 0; i < words->n; i++)
		if (!str_eq(words->v[i], POLICY_ALL) && !row->knows(words->v[i]))
			return err_set(e, ERR_CONFIG, "policies.%s.%s.%s: unknown value %s",
				       t->name, row->id, verb, json_show(words->v[i]).text);
	return 0;
}

static bool text_has(const struct policy_text *t, size_t row)
{
	const struct policy_change *c;

	if (row < LEVEL_COUNT)
		return t->level[row] != 0;
	c = &t->list[row - LEVEL_COUNT];
	return c->allow.n || c->deny.n;
}

/* Or `policy check` would call a row new that the file has, and an older sbxrun refuse the file
 * without saying why. */
static int text_check_version(const struct policy_text *t, uint32_t version, struct error *e)
{
	size_t i;

	for (i = 0; i < POLICY_ROWS; i++)
		if (text_has(t, i) && policy_rows[i].since > version)
			return err_set(e, ERR_CONFIG,
				       "policies.%s.%s: a row of version %u, and the file says "
				       "\"version\": %u",
				       t->name, policy_rows[i].id, policy_rows[i].since, version);
	return 0;
}

static int text_check(const struct policy_text *t, uint32_t version, struct error *e)
{
	enum policy_list i;

	if (text_check_version(t, version, e) < 0)
		return -1;
	for (i = 0; i < LIST_COUNT; i++)
		if (words_check(t, i, "allow", &t->list[i].allow, e) < 0 ||
		    words_check(t, i, "deny", &t->list[i].deny, e) < 0)
			return -1;
	return 0;
}

/* A name is also a part of a program's name. */
static bool name_is_plain(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-_", name[i]))
			return false;
	return i > 0 && i < 64;
}

static int file_check(const struct policy_file *f, struct arena *a, struct error *e)
{
	struct policy ignored;
	size_t i;

	if (f->version < 1 || f->version > POLICY_VERSION)
		return err_set(e, ERR_CONFIG,
			       "version: this sbxrun knows 1 to %d, and not %u", POLICY_VERSION,
			       f->version);
	if (f->audit && f->audit[0] != '/')
		return err_set(e, ERR_CONFIG, "audit: %s is not an absolute path",
			       json_show(f->audit).text);
	for (i = 0; i < f->policies.n; i++) {
		const struct policy_text *t = &f->policies.v[i];

		if (!name_is_plain(t->name))
			return err_set(e, ERR_CONFIG,
				       "policies: %s: a name is of a-z, 0-9, - and _, and short",
				       json_show(t->name).text);
		if (text_check(t, f->version, e) < 0 || policy_find(f, t->name, a, &ignored, e) < 0)
			return -1;
	}
	for (i = 0; i < f->choices.n; i++)
		if (policy_find(f, f->choices.v[i], a, &ignored, e) < 0)
			return err_wrap(e, "choices[%zu]", i);
	if (f->fallback && policy_find(f, f->fallback, a, &ignored, e) < 0)
		return err_wrap(e, "default");
	return 0;
}

int policy_file_read(const char *text, size_t len, struct arena *a, struct policy_file *ret,
		     struct error *e)
{
	static const struct json_limits limits = {
		.bytes = 1 << 20, .depth = 8, .elements = 4096, .string = 4096, .lines = true};
	struct policy_file f = {0};

	if (json_read("policy", text, len, &policy_file_table, &limits, &f, a, e) < 0 ||
	    file_check(&f, a, e) < 0)
		return -1;
	*ret = f;
	return 0;
}
