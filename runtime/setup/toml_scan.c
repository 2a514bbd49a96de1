#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "setup/toml_scan.h"

struct scanner {
	const char *what;
	const char *text;
	size_t len;
	size_t at;
	size_t line;
	struct arena *arena;
	struct error *e;
	struct strings table; /* the statements to come are in it */
};

static int scan_fail(const struct scanner *s, const char *why)
{
	return err_set(s->e, ERR_CONFIG, "%s:%zu: %s", s->what, s->line, why);
}

/* 0 at the end: the text has none. */
static char scan_peek(const struct scanner *s)
{
	return s->at < s->len ? s->text[s->at] : '\0';
}

static bool scan_take(struct scanner *s, char c)
{
	if (scan_peek(s) != c)
		return false;
	s->at++;
	return true;
}

static bool scan_sees(const struct scanner *s, const char *word)
{
	size_t len = strlen(word);

	return s->len - s->at >= len && memcmp(s->text + s->at, word, len) == 0;
}

static void scan_blanks(struct scanner *s)
{
	while (scan_peek(s) == ' ' || scan_peek(s) == '\t')
		s->at++;
}

static bool scan_newline(struct scanner *s)
{
	if (!scan_sees(s, "\r\n") && !scan_sees(s, "\n"))
		return false;
	s->at += s->text[s->at] == '\r' ? 2 : 1;
	s->line++;
	return true;
}

static void scan_comment(struct scanner *s)
{
	if (scan_peek(s) == '#')
		while (s->at < s->len && scan_peek(s) != '\n' && !scan_sees(s, "\r\n"))
			s->at++;
}

/* Blanks, comments and ends of lines, between the elements of an array. */
static void scan_space(struct scanner *s)
{
	do {
		scan_blanks(s);
		scan_comment(s);
	} while (scan_newline(s));
}

static int scan_unicode(struct scanner *s, size_t digits, struct buf *b)
{
	uint32_t v = 0;
	char c;

	while (digits--) {
		c = scan_peek(s);
		if (c >= '0' && c <= '9')
			v = v * 16 + (uint32_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			v = v * 16 + (uint32_t)((c | 0x20) - 'a' + 10);
		else
			return scan_fail(s, "an escape without its hexadecimal digits");
		s->at++;
	}
	/* No name that is looked for has others. */
	buf_char(b, v >= 0x20 && v < 0x7f ? (char)v : '?');
	return 0;
}

static int scan_escape(struct scanner *s, bool lines, struct buf *b)
{
	static const char letters[] = "\"\\btnfr", meaning[] = "\"\\\b\t\n\f\r";
	char c = scan_peek(s);
	const char *letter = c ? strchr(letters, c) : NULL;

	if (letter) {
		s->at++;
		buf_char(b, meaning[letter - letters]);
		return 0;
	}
	if (scan_take(s, 'u'))
		return scan_unicode(s, 4, b);
	if (scan_take(s, 'U'))
		return scan_unicode(s, 8, b);
	if (!lines)
		return scan_fail(s, "an escape that TOML does not know");
	scan_blanks(s);
	if (!scan_newline(s))
		return scan_fail(s, "an escape that TOML does not know");
	do
		scan_blanks(s);
	while (scan_newline(s));
	return 0;
}

/* Strings of all four kinds; the quote is ' or ". */
static int scan_string(struct scanner *s, char quote, const char **ret)
{
	const char three[] = {quote, quote, quote, '\0'};
	bool lines = scan_sees(s, three);
	struct buf b = buf_new(s->arena, s->len + 1);
	size_t line = s->line, more;

	s->at += lines ? 3 : 1;
	if (lines)
		scan_newline(s);
	while (lines ? !scan_sees(s, three) : scan_peek(s) != quote) {
		if (s->at >= s->len || (!lines && (scan_sees(s, "\n") || scan_sees(s, "\r\n")))) {
			s->line = line;
			return scan_fail(s, "a string without its closing quote");
		}
		if (quote == '"' && scan_take(s, '\\')) {
			if (scan_escape(s, lines, &b) < 0)
				return -1;
		} else if (scan_newline(s)) {
			buf_char(&b, '\n');
		} else {
			buf_char(&b, s->text[s->at++]);
		}
	}
	s->at += lines ? 3 : 1;
	/* Up to two more quotes belong to the string. */
	for (more = 0; lines && more < 2 && scan_take(s, quote); more++)
		buf_char(&b, quote);
	*ret = b.len ? b.data : "";
	return 0;
}

static bool is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

static void strings_add(struct arena *a, struct strings *list, const char *word)
{
	char **v = arena_array(a, list->n + 2, char *);

	if (list->n)
		memcpy(v, list->v, list->n * sizeof(*v));
	v[list->n++] = arena_strdup(a, word);
	list->v = v;
}

/* a."b".c, added to the path. */
static int scan_key(struct scanner *s, struct strings *path)
{
	const char *word;
	size_t from;

	do {
		scan_blanks(s);
		from = s->at;
		if (scan_peek(s) == '"' || scan_peek(s) == '\'') {
			if (scan_sees(s, "\"\"\"") || scan_sees(s, "'''"))
				return scan_fail(s, "a key with three quotes");
			if (scan_string(s, scan_peek(s), &word) < 0)
				return -1;
		} else {
			while (is_bare(scan_peek(s)))
				s->at++;
			if (s->at == from)
				return scan_fail(s, "a key is missing");
			word = arena_strndup(s->arena, s->text + from, s->at - from);
		}
		if (path->n >= TOML_DEPTH)
			return scan_fail(s, "keys are nested too deep");
		strings_add(s->arena, path, word);
		scan_blanks(s);
	} while (scan_take(s, '.'));
	return 0;
}

static int scan_value(struct scanner *s, size_t depth, struct toml_statement *t);

static int scan_array(struct scanner *s, size_t depth, struct toml_statement *t)
{
	struct toml_statement item;

	t->value = TOML_ARRAY;
	s->at++;
	for (;;) {
		scan_space(s);
		if (scan_take(s, ']'))
			return 0;
		item = (struct toml_statement){0};
		if (scan_value(s, depth, &item) < 0)
			return -1;
		if (item.value == TOML_STRING)
			strings_add(s->arena, &t->items, item.word);
		scan_space(s);
		if (!scan_take(s, ',') && scan_peek(s) != ']')
			return scan_fail(s, "a comma or ] is missing");
	}
}

static int scan_inline(struct scanner *s, size_t depth, struct toml_statement *t)
{
	struct toml_statement member;
	struct strings key;

	t->value = TOML_INLINE;
	s->at++;
	scan_blanks(s);
	while (!scan_take(s, '}')) {
		member = (struct toml_statement){0};
		key = (struct strings){0};
		if (scan_key(s, &key) < 0)
			return -1;
		if (!scan_take(s, '='))
			return scan_fail(s, "= is missing");
		scan_blanks(s);
		if (scan_value(s, depth, &member) < 0)
			return -1;
		scan_blanks(s);
		if (scan_take(s, ','))
			scan_blanks(s);
		else if (scan_peek(s) != '}')
			return scan_fail(s, "a comma or } is missing");
	}
	return 0;
}

static int scan_word(struct scanner *s, struct toml_statement *t)
{
	size_t from = s->at;
	char c;

	for (;;) {
		c = scan_peek(s);
		/* A date may have a blank before its time of day. */
		if (!is_bare(c) && (!c || !strchr("+.:", c)) &&
		    (c != ' ' || s->at - from != strlen("2026-11-18") || s->text[from + 4] != '-' ||
		     s->at + 1 == s->len || s->text[s->at + 1] < '0' || s->text[s->at + 1] > '2'))
			break;
		s->at++;
	}
	if (s->at == from)
		return scan_fail(s, "a value is missing");
	t->value = TOML_WORD;
	t->word = arena_strndup(s->arena, s->text + from, s->at - from);
	return 0;
}

static int scan_value(struct scanner *s, size_t depth, struct toml_statement *t)
{
	char c = scan_peek(s);

	if (depth > TOML_DEPTH)
		return scan_fail(s, "values are nested too deep");
	if (c == '"' || c == '\'') {
		t->value = TOML_STRING;
		return scan_string(s, c, &t->word);
	}
	if (c == '[')
		return scan_array(s, depth + 1, t);
	if (c == '{')
		return scan_inline(s, depth + 1, t);
	return scan_word(s, t);
}

static int scan_header(struct scanner *s, struct toml_statement *t)
{
	bool twice;

	s->at++;
	twice = scan_take(s, '[');
	t->kind = twice ? TOML_ARRAY_TABLE : TOML_TABLE;
	if (scan_key(s, &t->path) < 0)
		return -1;
	if (!scan_take(s, ']') || (twice && !scan_take(s, ']')))
		return scan_fail(s, "] is missing");
	t->table = t->path.n;
	s->table = t->path;
	return 0;
}

static int scan_assignment(struct scanner *s, struct toml_statement *t)
{
	t->kind = TOML_KEY;
	t->path = s->table;
	t->table = s->table.n;
	if (scan_key(s, &t->path) < 0)
		return -1;
	if (!scan_take(s, '='))
		return scan_fail(s, "= is missing");
	scan_blanks(s);
	return scan_value(s, 0, t);
}

/* Bytes that TOML has no use for, also not in strings and comments. */
static int scan_check_bytes(struct scanner *s)
{
	size_t i, n;

	for (i = 0; i < s->len; i += n) {
		unsigned char c = (unsigned char)s->text[i];

		n = str_utf8_len((const unsigned char *)s->text + i, s->len - i);
		if (!n)
			return scan_fail(s, "not UTF-8");
		if (c == '\r' && (i + 1 == s->len || s->text[i + 1] != '\n'))
			return scan_fail(s, "a carriage return without a line feed");
		if ((c < 0x20 && !strchr("\t\r\n", c)) || c == 0 || c == 0x7f)
			return scan_fail(s, "a control character");
		if (c == '\n')
			s->line++;
	}
	s->line = 1;
	return 0;
}

int toml_scan(const char *what, const char *text, size_t len, struct arena *a,
	      struct toml_scan *ret, struct error *e)
{
	struct scanner s = {.what = what, .text = text, .len = len, .line = 1, .arena = a, .e = e};
	struct toml_scan out = {0};
	struct toml_statement t;
	size_t cap = 0;

	if (scan_check_bytes(&s) < 0)
		return -1;
	while (s.at < len) {
		t = (struct toml_statement){.at = s.at, .line = s.line};
		scan_blanks(&s);
		scan_comment(&s);
		if (scan_newline(&s) || s.at >= len)
			continue;
		if (scan_peek(&s) == '[' ? scan_header(&s, &t) < 0 : scan_assignment(&s, &t) < 0)
			return -1;
		scan_blanks(&s);
		scan_comment(&s);
		if (s.at < len && !scan_newline(&s))
			return scan_fail(&s, "something follows where the line should end");
		t.end = s.at;
		out.v = arena_grow(a, out.v, &cap, out.n + 1, sizeof(*out.v));
		out.v[out.n++] = t;
	}
	*ret = out;
	return 0;
}

bool toml_begins(const struct strings *path, const char *const *words, size_t n)
{
	size_t i;

	if (path->n < n)
		return false;
	for (i = 0; i < n; i++)
		if (!str_eq(path->v[i], words[i]))
			return false;
	return true;
}

bool toml_is(const struct strings *path, const char *const *words, size_t n)
{
	return path->n == n && toml_begins(path, words, n);
}
