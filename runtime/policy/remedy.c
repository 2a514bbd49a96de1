#include "policy/remedy.h"

#include <string.h>

#include "base/buf.h"
#include "base/str.h"

enum { ROWS_MAX = 64 << 10 };

/* Between the two; NULL: it does not have both. */
static char *text_between(const char *text, const char *before, const char *behind, struct arena *a)
{
	const char *from = strstr(text, before), *to;

	from = from ? from + strlen(before) : NULL;
	to = from ? strstr(from, behind) : NULL;
	return to ? arena_strndup(a, from, (size_t)(to - from)) : NULL;
}

static bool strings_have(const struct strings *l, const char *word)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (str_eq(l->v[i], word))
			return true;
	return false;
}

/* "PATH" and "PATH:rw" stand for the source, and NAME for what only a person knows. */
static const char *word_meant(const char *word, const char *path, struct arena *a)
{
	const char *rest = strncmp(word, "PATH", 4) == 0 ? word + 4 : NULL;

	if (rest && (!*rest || str_eq(rest, ":rw")))
		return path && path[0] == '/' ? arena_printf(a, "%s%s", path, rest) : NULL;
	return str_eq(word, "/dev/NAME") ? NULL : word;
}

static bool words_add(struct strings *to, const struct strings *from, const char *path,
		      struct arena *a)
{
	struct strings all = {.v = arena_array(a, to->n + from->n + 1, char *)};
	size_t i;

	for (i = 0; i < to->n; i++)
		all.v[all.n++] = to->v[i];
	for (i = 0; i < from->n; i++) {
		const char *word = word_meant(from->v[i], path, a);

		if (word && !strings_have(&all, word))
			all.v[all.n++] = arena_strdup(a, word);
	}
	if (all.n == to->n)
		return false;
	*to = all;
	return true;
}

bool policy_remedy_add(const char *refusal, const char *path, struct arena *a,
		       struct policy_text *t)
{
	static const struct json_limits limits = {
		.bytes = 4096, .depth = 8, .elements = 256, .string = 4096};
	const char *how = text_between(refusal, "administrator gives ", " to a policy in ", a);
	struct policy_text given = {0};
	struct error ignored;
	bool added = false;
	size_t i;

	if (!how)
		return false;
	how = arena_printf(a, "{%s}", how);
	if (json_read("remedy", how, strlen(how), &policy_text_table, &limits, &given, a,
		      &ignored) < 0)
		return false;
	for (i = 0; i < LEVEL_COUNT; i++) {
		if (!given.level[i] || given.level[i] == t->level[i])
			continue;
		t->level[i] = given.level[i];
		added = true;
	}
	for (i = 0; i < LIST_COUNT; i++)
		added |= words_add(&t->list[i].allow, &given.list[i].allow, path, a);
	return added;
}

char *policy_remedy_row(const char *refusal, struct arena *a)
{
	const char *end = strstr(refusal, "]; to allow it"), *begin = end;

	/* Words besides may stand behind the row. */
	end = end ? end : strstr(refusal, "]; reading alone");
	for (begin = end; begin && begin > refusal && *begin != '[';)
		begin--;
	return begin && *begin == '[' ? arena_strndup(a, begin + 1, (size_t)(end - begin - 1)) :
					arena_strdup(a, "");
}

static void list_write(const struct strings *words, struct buf *b)
{
	size_t i;

	buf_str(b, "{\"allow\": [");
	for (i = 0; i < words->n; i++) {
		buf_str(b, i ? ", " : "");
		json_write_string(b, words->v[i]);
	}
	buf_str(b, "]}");
}

const char *policy_remedy_rows(const struct policy_text *t, struct arena *a)
{
	struct buf b = buf_new(a, ROWS_MAX);
	size_t i;

	for (i = 0; i < POLICY_ROWS; i++) {
		const bool is_list = i >= LEVEL_COUNT;

		if (is_list ? !t->list[i - LEVEL_COUNT].allow.n : !t->level[i])
			continue;
		buf_printf(&b, "%s\"%s\": ", b.len ? ", " : "", policy_rows[i].id);
		if (is_list)
			list_write(&t->list[i - LEVEL_COUNT].allow, &b);
		else
			buf_printf(&b, "\"%s\"",
				   policy_level_word((enum policy_level)i, t->level[i]));
	}
	return b.len ? b.data : "";
}
