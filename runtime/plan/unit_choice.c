/*
 * Properties of its unit that a config chooses by annotations: org.systemd.property.NAME, whose
 * value is a GVariant as text, as runc and crun have it. Pure.
 *
 * A list of what may be chosen, and not of what may not: systemd has hundreds of properties, and
 * more with each release. Those here order the unit among others, and say how and when it is
 * stopped. None of them starts, stops or holds back anything of the host's, as Requires, Conflicts
 * or SuccessAction=reboot do, runs a program (Exec*), takes a limit back (MemoryMax, Delegate,
 * DevicePolicy, Slice), or leaves processes behind (KillMode). What holds processes of the
 * container's back from being stopped is no concern of `delete`, which kills them itself.
 *
 * Trust: names and values come from config.json, and annotations often from the user of an engine.
 */
#include <string.h>

#include "base/str.h"
#include "json/json.h"
#include "plan/unit.h"

#define KEY "org.systemd.property."

enum { TEXT_MAX = 4096, ELEMENTS_MAX = 64, SIGNAL_MAX = 64, USEC_A_SECOND = 1000000 };

enum choice_kind { CHOICE_YES, CHOICE_WORD, CHOICE_TIME, CHOICE_SIGNAL, CHOICE_UNITS };

static const struct choice {
	const char *name;
	enum choice_kind kind;
	const char *words[4]; /* that CHOICE_WORD may be */
} choices[] = {
	{"After", CHOICE_UNITS, {NULL}},
	{"CollectMode", CHOICE_WORD, {"inactive", "inactive-or-failed", NULL}},
	{"DefaultDependencies", CHOICE_YES, {NULL}},
	{"KillSignal", CHOICE_SIGNAL, {NULL}},
	{"OOMPolicy", CHOICE_WORD, {"continue", "stop", "kill", NULL}},
	{"PartOf", CHOICE_UNITS, {NULL}},
	{"RuntimeMaxUSec", CHOICE_TIME, {NULL}},
	{"TimeoutStopUSec", CHOICE_TIME, {NULL}},
};

/* An example of each kind, for errors. */
static const char *const examples[] = {[CHOICE_YES] = "true or false",
				       [CHOICE_WORD] = "a word, as 'inactive'",
				       [CHOICE_TIME] = "uint64 5000000",
				       [CHOICE_SIGNAL] = "the number of a signal, as 15",
				       [CHOICE_UNITS] = "['docker.service']"};

/* ---- names ---- */

/* "TimeoutStopSec" is TimeoutStopUSec in seconds. */
static bool is_in_seconds(const char *name, const struct choice *c)
{
	const size_t len = strlen(c->name), stem = len - strlen("USec");

	return c->kind == CHOICE_TIME && strlen(name) == len - 1 &&
	       strncmp(name, c->name, stem) == 0 && str_eq(name + stem, "Sec");
}

static const struct choice *choice_find(const char *name, bool *ret_seconds)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(choices); i++) {
		*ret_seconds = is_in_seconds(name, &choices[i]);
		if (*ret_seconds || str_eq(choices[i].name, name))
			return &choices[i];
	}
	return NULL;
}

bool unit_choice_is_one(const char *key)
{
	return str_after(key, KEY) != NULL;
}

const char *unit_choice_name(const char *key)
{
	const char *name = str_after(key, KEY);
	const struct choice *c;
	bool seconds;

	c = name ? choice_find(name, &seconds) : NULL;
	return c ? c->name : NULL;
}

bool unit_choice_knows(const char *name)
{
	bool seconds;

	return choice_find(name, &seconds) && !seconds;
}

/* ---- texts ---- */

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t\n");
}

static bool is_over(const char *s)
{
	return !*skip_blanks(s);
}

/* A number behind the word of its type; without one it is an int32. */
static bool read_number(const char *s, bool *ret_unsigned, uint64_t *ret)
{
	static const struct {
		const char *word;
		uint64_t most;
		bool is_unsigned;
	} types[] = {{"uint64", UINT64_MAX, true},
		     {"uint32", UINT32_MAX, true},
		     {"int64", INT64_MAX, false},
		     {"int32", INT32_MAX, false},
		     {"", INT32_MAX, false}};
	const char *digits = NULL;
	char number[24];
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		digits = str_after(s, types[i].word);
		if (digits && (!*types[i].word || *digits == ' '))
			break;
	}
	digits = skip_blanks(digits);
	len = strspn(digits, "0123456789");
	if (!len || len >= sizeof(number) || !is_over(digits + len))
		return false;
	memcpy(number, digits, len);
	number[len] = '\0';
	*ret_unsigned = types[i].is_unsigned;
	return str_to_u64(number, types[i].most, ret);
}

/* 'word' or "word", of what needs no escaping; *s is moved behind it. NULL: it is none. */
static char *read_word(const char **s, struct arena *a)
{
	const char quote = **s, *begin = *s + 1, *end;
	char *word;
	size_t i;

	if (quote != '\'' && quote != '"')
		return NULL;
	end = strchr(begin, quote);
	if (!end || end == begin)
		return NULL;
	word = arena_printf(a, "%.*s", (int)(end - begin), begin);
	for (i = 0; word[i]; i++)
		if (word[i] == '\\' || word[i] <= ' ' || word[i] == 0x7f)
			return NULL;
	*s = end + 1;
	return word;
}

/* ['a', 'b'] */
static bool read_words(const char *s, struct arena *a, struct strings *ret)
{
	struct strings words = {.v = arena_array(a, ELEMENTS_MAX, char *)};

	if (*s++ != '[')
		return false;
	do {
		s = skip_blanks(s);
		if (words.n == ELEMENTS_MAX || !(words.v[words.n] = read_word(&s, a)))
			return false;
		words.n++;
		s = skip_blanks(s);
	} while (*s++ == ',');
	if (s[-1] != ']' || !is_over(s))
		return false;
	*ret = words;
	return true;
}

/* ---- values ---- */

static bool choose_yes(const char *s, struct unit_property *p)
{
	const char *rest = str_after(s, "true");

	p->type = UNIT_BOOL;
	p->yes = rest != NULL;
	if (!rest)
		rest = str_after(s, "false");
	return rest && is_over(rest);
}

static bool choose_word(const char *s, const struct choice *c, struct arena *a,
			struct unit_property *p)
{
	const char *word = read_word(&s, a);
	size_t i;

	p->type = UNIT_TEXT;
	p->text = word;
	for (i = 0; word && is_over(s) && c->words[i]; i++)
		if (str_eq(c->words[i], word))
			return true;
	return false;
}

/* systemd takes times as uint64 alone; runc makes them of any number where the name says Sec. */
static bool choose_time(const char *s, bool seconds, struct unit_property *p)
{
	bool is_unsigned;
	uint64_t n;

	if (!read_number(s, &is_unsigned, &n) || (!seconds && !is_unsigned) ||
	    (seconds && n > UINT64_MAX / USEC_A_SECOND - 1))
		return false;
	p->type = UNIT_NUMBER;
	p->number = seconds ? n * USEC_A_SECOND : n;
	return true;
}

static bool choose_signal(const char *s, struct unit_property *p)
{
	bool is_unsigned;

	p->type = UNIT_SIGNED;
	return read_number(s, &is_unsigned, &p->number) && p->number >= 1 &&
	       p->number <= SIGNAL_MAX;
}

static bool choose_units(const char *s, struct arena *a, struct unit_property *p)
{
	size_t i;

	p->type = UNIT_TEXTS;
	if (!read_words(s, a, &p->texts))
		return false;
	for (i = 0; i < p->texts.n; i++)
		if (!unit_name_is_good(p->texts.v[i]) || !strchr(p->texts.v[i], '.'))
			return false;
	return true;
}

int unit_choice_read(const char *key, const char *text, struct arena *a, struct unit_property *ret,
		     struct error *e)
{
	struct unit_property p = {.field = "annotations", .chosen = true};
	const struct choice *c;
	const char *s = skip_blanks(text);
	bool seconds, good = false;

	c = choice_find(str_after(key, KEY), &seconds);
	if (!c)
		return err_set(e, ERR_CONFIG,
			       "annotations[%s]: this property of the unit can't be chosen by an "
			       "annotation: drop it, or use linux.resources",
			       json_show(key).text);
	p.name = c->name;
	if (strlen(text) > TEXT_MAX)
		return err_set(e, ERR_CONFIG, "annotations[%s]: longer than %d bytes", key,
			       TEXT_MAX);
	switch (c->kind) {
	case CHOICE_YES:
		good = choose_yes(s, &p);
		break;
	case CHOICE_WORD:
		good = choose_word(s, c, a, &p);
		break;
	case CHOICE_TIME:
		good = choose_time(s, seconds, &p);
		break;
	case CHOICE_SIGNAL:
		good = choose_signal(s, &p);
		break;
	case CHOICE_UNITS:
		good = choose_units(s, a, &p);
		break;
	}
	if (!good)
		return err_set(e, ERR_CONFIG, "annotations[%s]: %s is no value of it, want %s", key,
			       json_show(text).text, seconds ? "a number" : examples[c->kind]);
	*ret = p;
	return 0;
}
