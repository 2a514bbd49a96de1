/* Policies among each other: what a text adds to its base, and which of two is the stricter. */
#include <string.h>

#include "base/str.h"
#include "policy/policy.h"

enum { BASES_MAX = 8 };

static bool strings_have(const struct strings *words, const char *word)
{
	size_t i;

	for (i = 0; i < words->n; i++)
		if (str_eq(words->v[i], word))
			return true;
	return false;
}

static bool words_have(const struct policy_words *words, const char *word)
{
	size_t i;

	for (i = 0; i < words->n; i++)
		if (str_eq(words->v[i], word))
			return true;
	return false;
}

/* "memory.*" stands for all that begins so, and "*" for all; "/path:rw" for "/path" too. */
static bool word_covers(const char *have, const char *word)
{
	size_t len = strlen(have);

	if (str_eq(have, word) || str_eq(have, POLICY_ALL))
		return true;
	if (len > 1 && have[len - 1] == '*')
		return strncmp(have, word, len - 1) == 0;
	return str_ends(have, ":rw") && strncmp(have, word, len - 3) == 0 && !word[len - 3];
}

static bool words_cover(const struct policy_words *words, const char *word)
{
	size_t i;

	for (i = 0; i < words->n; i++)
		if (word_covers(words->v[i], word))
			return true;
	return false;
}

bool policy_gives(const struct policy *p, enum policy_list list, const char *word)
{
	return words_cover(&p->list[list], word);
}

/* The base without what the text denies ("*" is all of it), and what the text allows. */
static struct policy_words list_change(const struct policy_words *base,
				       const struct policy_change *c, struct arena *a)
{
	const char **v = arena_array(a, base->n + c->allow.n + 1, const char *);
	size_t n = 0, i;

	for (i = 0; i < base->n && !strings_have(&c->deny, POLICY_ALL); i++)
		if (!strings_have(&c->deny, base->v[i]))
			v[n++] = base->v[i];
	for (i = 0; i < c->allow.n; i++)
		if (str_eq(c->allow.v[i], POLICY_ALL) || !strings_have(&c->deny, c->allow.v[i]))
			v[n++] = c->allow.v[i];
	return (struct policy_words){n, v};
}

void policy_apply(const struct policy_text *t, struct arena *a, struct policy *p)
{
	size_t i;

	for (i = 0; i < LEVEL_COUNT; i++)
		if (t->level[i])
			p->level[i] = t->level[i];
	for (i = 0; i < LIST_COUNT; i++)
		p->list[i] = list_change(&p->list[i], &t->list[i], a);
	p->name = t->name;
}

/* A word that is denied, and given all the same by one that covers it, would deny nothing. */
static int text_check_denied(const struct policy_text *t, const struct policy *p, struct error *e)
{
	size_t i, k;

	for (i = 0; i < LIST_COUNT; i++)
		for (k = 0; k < t->list[i].deny.n; k++) {
			const char *word = t->list[i].deny.v[k];

			if (str_eq(word, POLICY_ALL) || !words_cover(&p->list[i], word))
				continue;
			return err_set(e, ERR_CONFIG,
				       "policies.%s.%s.deny: %s would still be given, by a word "
				       "that covers it: deny that word (\"*\" is all), and allow "
				       "what is to be given",
				       t->name, policy_rows[LEVEL_COUNT + i].id,
				       json_show(word).text);
		}
	return 0;
}

static const struct policy_text *file_find(const struct policy_file *f, const char *name)
{
	size_t i;

	for (i = 0; f && i < f->policies.n; i++)
		if (str_eq(f->policies.v[i].name, name))
			return &f->policies.v[i];
	return NULL;
}

/* A policy of the file may have the name of a preset, and then stands on the preset itself. */
int policy_find(const struct policy_file *f, const char *name, struct arena *a, struct policy *ret,
		struct error *e)
{
	const struct policy_text *chain[BASES_MAX];
	const struct policy *preset;
	const char *at = name, *next;
	size_t n = 0;

	while ((chain[n] = file_find(f, at))) {
		next = chain[n]->base ? chain[n]->base : "engine";
		if (n++ == BASES_MAX - 1)
			return err_set(e, ERR_CONFIG, "policies.%s.base: more than %d steps", name,
				       BASES_MAX - 2);
		if (str_eq(next, at))
			break;
		at = next;
	}
	at = n ? (chain[n - 1]->base ? chain[n - 1]->base : "engine") : name;
	preset = policy_preset_find(at);
	if (!preset && n)
		return err_set(e, ERR_CONFIG, "policies.%s.base: there is no policy %s", name,
			       json_show(at).text);
	if (!preset)
		return err_set(e, ERR_CONFIG, "there is no policy %s (`sbxrun policy list`)",
			       json_show(at).text);
	*ret = *preset;
	while (n) {
		policy_apply(chain[--n], a, ret);
		if (text_check_denied(chain[n], ret, e) < 0)
			return -1;
	}
	return 0;
}

static struct strings words_copy(const struct policy_words *words, struct arena *a)
{
	struct strings s = {.n = words->n, .v = arena_array(a, words->n + 1, char *)};
	size_t i;

	for (i = 0; i < words->n; i++)
		s.v[i] = arena_strdup(a, words->v[i]);
	return s;
}

/* Nothing of it is the base's: so it means the same whatever becomes of presets. */
void policy_to_text(const struct policy *p, struct arena *a, struct policy_text *ret)
{
	static const char *const all[] = {POLICY_ALL};
	const struct policy_words everything = {1, all};
	size_t i;

	*ret = (struct policy_text){.name = arena_strdup(a, p->name),
				    .base = arena_strdup(a, "code")};
	for (i = 0; i < LEVEL_COUNT; i++)
		ret->level[i] = p->level[i];
	for (i = 0; i < LIST_COUNT; i++)
		ret->list[i] = (struct policy_change){.allow = words_copy(&p->list[i], a),
						      .deny = words_copy(&everything, a)};
}

int policy_from_text(const struct policy_text *t, struct arena *a, struct policy *ret,
		     struct error *e)
{
	const char *base = t->base ? t->base : "engine";
	const struct policy *preset = policy_preset_find(base);

	if (!preset)
		return err_set(e, ERR_CONFIG, "base: there is no preset %s", json_show(base).text);
	*ret = *preset;
	policy_apply(t, a, ret);
	return 0;
}

static struct policy_words words_meet(const struct policy_words *x, const struct policy_words *y,
				      struct arena *a)
{
	const char **v = arena_array(a, x->n + y->n + 1, const char *);
	struct policy_words out = {0, v};
	size_t i;

	for (i = 0; i < x->n; i++)
		if (words_cover(y, x->v[i]))
			v[out.n++] = x->v[i];
	for (i = 0; i < y->n; i++)
		if (words_cover(x, y->v[i]) && !words_have(&out, y->v[i]))
			v[out.n++] = y->v[i];
	return out;
}

struct policy policy_meet(const struct policy *x, const struct policy *y, struct arena *a)
{
	struct policy p = *x;
	size_t i;

	for (i = 0; i < LEVEL_COUNT; i++)
		if (y->level[i] > p.level[i])
			p.level[i] = y->level[i];
	for (i = 0; i < LIST_COUNT; i++)
		p.list[i] = words_meet(&x->list[i], &y->list[i], a);
	return p;
}

/* Whether a missing capability is left out or refused makes nothing stricter. */
static bool list_is_within(const struct policy *x, const struct policy *y, enum policy_list list)
{
	size_t i;

	for (i = 0; list != LIST_CAPS_DROPPED && i < x->list[list].n; i++)
		if (!words_cover(&y->list[list], x->list[list].v[i]))
			return false;
	return true;
}

bool policy_is_within(const struct policy *x, const struct policy *y, const char **ret_row)
{
	size_t i;

	for (i = 0; i < POLICY_ROWS; i++) {
		*ret_row = policy_rows[i].id;
		if (i < LEVEL_COUNT ? x->level[i] < y->level[i] :
				      !list_is_within(x, y, (enum policy_list)(i - LEVEL_COUNT)))
			return false;
	}
	return true;
}
