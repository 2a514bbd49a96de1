/* Where to cut and what to put there, in the layout that the text has already. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"
#include "setup/daemon_json.h"
#include "setup/json_text.h"

struct doc {
	const char *what;
	const char *text;
	size_t len;
	struct arena *arena;
	struct error *e;
	struct json_node *top, *runtimes, *entry; /* the last two may be NULL */
};

/* How members of one object stand. */
struct layout {
	bool lines;	     /* one a line */
	const char *newline; /* "\n" or "\r\n" */
	const char *indent;  /* of a member */
	const char *unit;    /* what a level adds to it */
	const char *colon;   /* with the space around it */
	const char *space;   /* between a comma and the next key, if not lines */
};

static int doc_fail(const struct doc *d, size_t at, const char *why)
{
	return json_text_fail(d->what, d->text, d->len, at, d->e, "%s", why);
}

static bool text_is_blank(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!strchr(" \t\r\n", text[i]) || !text[i])
			return false;
	return true;
}

/* dockerd reads keys without regard to case, and then refuses what it does not know. */
static int doc_check_names(const struct doc *d)
{
	const struct json_node *m;

	for (m = d->top->first; m; m = m->next)
		if (strcasecmp(m->key, "runtimes") == 0 && !str_eq(m->key, "runtimes"))
			return json_text_fail(d->what, d->text, d->len, m->key_at, d->e,
					      "%s: docker calls it \"runtimes\"; rename it",
					      json_show(m->key).text);
	return 0;
}

/* Reads the text and finds what is ours. */
static int doc_read(struct doc *d)
{
	if (json_text_read(d->what, d->text, d->len, d->arena, &d->top, d->e) < 0)
		return -1;
	if (d->top->kind != JSON_TEXT_OBJECT)
		return doc_fail(d, d->top->at, "not an object: docker needs {…} here");
	if (doc_check_names(d) < 0)
		return -1;
	d->runtimes = json_text_get(d->top, "runtimes");
	if (d->runtimes && d->runtimes->kind != JSON_TEXT_OBJECT)
		return doc_fail(d, d->runtimes->at,
				"\"runtimes\" is not an object: docker needs {…} here");
	d->entry = json_text_get(d->runtimes, DAEMON_JSON_NAME);
	return 0;
}

/* The space between a member's key and the comma or brace before it. */
static const char *layout_lead(const struct doc *d, const struct json_node *m)
{
	size_t from = m->key_at;

	while (from > 0 && strchr(" \t\r\n", d->text[from - 1]))
		from--;
	return arena_strndup(d->arena, d->text + from, m->key_at - from);
}

static const char *layout_colon(const struct doc *d, const struct json_node *m)
{
	const char *colon = arena_strndup(d->arena, d->text + m->key_end, m->at - m->key_end);

	return strpbrk(colon, "\r\n") ? ": " : colon;
}

/* The part of inner that it has more than outer; a guess if there is none. */
static const char *layout_unit(const char *outer, const char *inner)
{
	const char *more = str_after(inner, outer);

	if (more && *more)
		return more;
	return *inner == '\t' ? "\t" : "  ";
}

static struct layout layout_of(const struct doc *d, const struct json_node *object,
			       const char *outer)
{
	const char *lead = layout_lead(d, object->last), *line = strrchr(lead, '\n');
	struct layout l = {.lines = line, .newline = strstr(lead, "\r\n") ? "\r\n" : "\n"};

	l.colon = layout_colon(d, object->last);
	l.space = object->n > 1 ? lead : str_ends(l.colon, " ") ? " " : "";
	l.indent = line ? line + 1 : outer;
	l.unit = layout_unit(outer, l.indent);
	return l;
}

/* Of an object in it that has no members yet. */
static struct layout layout_inner(const struct doc *d, struct layout l)
{
	l.indent = arena_printf(d->arena, "%s%s", l.indent, l.unit);
	if (!l.lines)
		l.space = str_ends(l.colon, " ") ? " " : "";
	return l;
}

static void add_break(struct buf *b, const struct layout *l, const char *indent)
{
	if (l->lines) {
		buf_str(b, l->newline);
		buf_str(b, indent);
	}
}

/* "sbxrun": {"path": "…"}, where a member of this layout begins. */
static void add_entry_value(struct buf *b, const struct doc *d, struct layout l,
			    const char *program)
{
	struct layout inner = layout_inner(d, l);

	buf_char(b, '{');
	add_break(b, &l, inner.indent);
	json_write_string(b, "path");
	buf_str(b, l.colon);
	json_write_string(b, program);
	add_break(b, &l, l.indent);
	buf_char(b, '}');
}

static void add_entry(struct buf *b, const struct doc *d, struct layout l, const char *program)
{
	json_write_string(b, DAEMON_JSON_NAME);
	buf_str(b, l.colon);
	add_entry_value(b, d, l, program);
}

static void add_runtimes(struct buf *b, const struct doc *d, struct layout l, const char *program)
{
	struct layout inner = layout_inner(d, l);

	json_write_string(b, "runtimes");
	buf_str(b, l.colon);
	buf_char(b, '{');
	add_break(b, &l, inner.indent);
	add_entry(b, d, inner, program);
	add_break(b, &l, l.indent);
	buf_char(b, '}');
}

static struct splice splice_at(size_t at, size_t end)
{
	return (struct splice){.changes = true, .at = at, .cut = end - at};
}

/* Behind the last member, as its successor. */
static struct splice splice_after(const struct json_node *last, const struct layout *l,
				  struct buf *b)
{
	buf_char(b, ',');
	if (l->lines)
		add_break(b, l, l->indent);
	else
		buf_str(b, l->space);
	return splice_at(last->end, last->end);
}

static const struct layout layout_default = {
	.lines = true, .newline = "\n", .indent = "  ", .unit = "  ", .colon = ": ", .space = " "};

static struct splice splice_add(const struct doc *d, const char *program, struct buf *b)
{
	const struct json_node *top = d->top, *runtimes = d->runtimes;
	struct layout l = top->n ? layout_of(d, top, "") : layout_default;
	struct splice s;

	if (!top->n) { /* {} */
		s = splice_at(top->at + 1, top->end - 1);
		add_break(b, &l, l.indent);
		add_runtimes(b, d, l, program);
		add_break(b, &l, "");
	} else if (!runtimes) {
		s = splice_after(top->last, &l, b);
		add_runtimes(b, d, l, program);
	} else if (!runtimes->n) {
		s = splice_at(runtimes->at + 1, runtimes->end - 1);
		add_break(b, &l, layout_inner(d, l).indent);
		add_entry(b, d, layout_inner(d, l), program);
		add_break(b, &l, l.indent);
	} else {
		l = layout_of(d, runtimes, l.indent);
		s = d->entry ? splice_at(d->entry->at, d->entry->end) :
			       splice_after(runtimes->last, &l, b);
		if (d->entry)
			add_entry_value(b, d, l, program);
		else
			add_entry(b, d, l, program);
	}
	return s;
}

/* The bytes of a member, with the comma that nobody needs then. */
static struct splice splice_out(const struct json_node *object, const struct json_node *m)
{
	const struct json_node *before = NULL, *i;

	for (i = object->first; i != m; i = i->next)
		before = i;
	if (before)
		return splice_at(before->end, m->end);
	if (m->next)
		return splice_at(m->key_at, m->next->key_at);
	return splice_at(object->at + 1, object->end - 1);
}

static void splice_apply(const struct doc *d, const struct buf *b, struct splice *s)
{
	struct buf out = buf_new(d->arena, SIZE_MAX);

	s->insert = b->len ? b->data : "";
	buf_add(&out, d->text, s->at);
	buf_str(&out, s->insert);
	buf_add(&out, d->text + s->at + s->cut, d->len - s->at - s->cut);
	s->text = out.len ? out.data : "";
	s->len = out.len;
}

/* ---- what the result should be, as a tree ---- */

static struct json_node *tree_copy(struct arena *a, const struct json_node *n)
{
	struct json_node *copy = arena_new(a, struct json_node);

	*copy = *n;
	copy->next = NULL;
	return copy;
}

/* The object with another value for the key, behind the others if it is new, or without it
 * (value NULL). */
static struct json_node *tree_with(struct arena *a, const struct json_node *object, const char *key,
				   const struct json_node *value)
{
	struct json_node *out = tree_copy(a, object), *copy;
	const struct json_node *m;
	bool found = false;

	out->first = out->last = NULL;
	out->n = 0;
	for (m = object->first; m || (value && !found); m = m ? m->next : NULL) {
		bool ours = !m || str_eq(m->key, key);

		found = found || ours;
		if (ours && !value)
			continue;
		copy = tree_copy(a, ours ? value : m);
		copy->key = ours ? key : m->key;
		*(out->last ? &out->last->next : &out->first) = copy;
		out->last = copy;
		out->n++;
	}
	return out;
}

static struct json_node *tree_object(struct arena *a)
{
	struct json_node *n = arena_new(a, struct json_node);

	n->kind = JSON_TEXT_OBJECT;
	return n;
}

static struct json_node *tree_entry(struct arena *a, const char *program)
{
	struct json_node *path = arena_new(a, struct json_node);

	path->kind = JSON_TEXT_STRING;
	path->word = program;
	return tree_with(a, tree_object(a), "path", path);
}

static int splice_check(const struct doc *d, const struct splice *s, const struct json_node *wanted)
{
	struct json_node *got;
	struct error why = {0};

	if (json_text_read(d->what, s->text, s->len, d->arena, &got, &why) == 0 &&
	    json_text_equal(got, wanted))
		return 0;
	return err_set(d->e, ERR_BUG,
		       "%s: the edit does not give what it should (%s); it is left "
		       "as it is: edit it by hand, and report this",
		       d->what, *why.text ? why.text : "another value");
}

/* Exactly {"path": "…"}. */
static bool entry_is_plain(const struct json_node *entry)
{
	const struct json_node *path = json_text_get(entry, "path");

	return path && entry->n == 1 && path->kind == JSON_TEXT_STRING;
}

static int doc_refuse_entry(const struct doc *d, const char *remedy)
{
	size_t len = d->entry->end - d->entry->at;

	return json_text_fail(d->what, d->text, d->len, d->entry->at, d->e,
			      "there is another runtime \"" DAEMON_JSON_NAME "\": %s; %s",
			      json_show_n(d->text + d->entry->at, len).text, remedy);
}

static const char daemon_json_empty[] = "{}\n";

int daemon_json_add(const char *what, const char *text, size_t len, const char *program, bool force,
		    struct arena *a, struct splice *ret, struct error *e)
{
	struct doc d = {.what = what, .text = text, .len = len, .arena = a, .e = e};
	struct buf b = buf_new(a, SIZE_MAX);
	const struct json_node *entry = tree_entry(a, program), *runtimes;
	bool blank = text_is_blank(text, len);

	if (blank) {
		d.text = daemon_json_empty;
		d.len = sizeof(daemon_json_empty) - 1;
	}
	if (doc_read(&d) < 0)
		return -1;
	if (d.entry && json_text_equal(d.entry, entry)) {
		*ret = (struct splice){.text = text, .len = len};
		return 0;
	}
	if (d.entry && !force)
		return doc_refuse_entry(&d, "--force replaces it");
	*ret = splice_add(&d, program, &b);
	splice_apply(&d, &b, ret);
	if (blank) {
		ret->at = 0;
		ret->cut = len;
		ret->insert = ret->text;
	}
	runtimes = d.runtimes ? d.runtimes : tree_object(a);
	runtimes = tree_with(a, runtimes, DAEMON_JSON_NAME, entry);
	return splice_check(&d, ret, tree_with(a, d.top, "runtimes", runtimes));
}

static int doc_check_default(const struct doc *d)
{
	const struct json_node *m = json_text_get(d->top, "default-runtime");

	if (m && m->kind == JSON_TEXT_STRING && str_eq(m->word, DAEMON_JSON_NAME))
		return doc_fail(d, m->at,
				"sbxrun is docker's default runtime, and dockerd would not "
				"start without it: take \"default-runtime\" out first");
	return 0;
}

int daemon_json_remove(const char *what, const char *text, size_t len, bool force, bool keep_empty,
		       struct arena *a, struct splice *ret, struct error *e)
{
	struct doc d = {.what = what, .text = text, .len = len, .arena = a, .e = e};
	struct buf b = buf_new(a, SIZE_MAX);
	const struct json_node *left;

	*ret = (struct splice){.text = text, .len = len};
	if (text_is_blank(text, len))
		return 0;
	if (doc_read(&d) < 0)
		return -1;
	if (!d.entry)
		return 0;
	if (!entry_is_plain(d.entry) && !force)
		return doc_refuse_entry(&d, "--force removes it");
	if (doc_check_default(&d) < 0)
		return -1;
	left = tree_with(a, d.runtimes, DAEMON_JSON_NAME, NULL);
	if (!left->n && !keep_empty)
		left = NULL;
	*ret = left ? splice_out(d.runtimes, d.entry) : splice_out(d.top, d.runtimes);
	splice_apply(&d, &b, ret);
	return splice_check(&d, ret, tree_with(a, d.top, "runtimes", left));
}

/* NULL: it is no JSON. */
static const struct json_node *quiet_read(const char *text, size_t len, struct arena *a)
{
	struct json_node *top;
	struct error ignored;

	if (text_is_blank(text, len))
		return tree_object(a);
	return json_text_read("", text, len, a, &top, &ignored) == 0 ? top : NULL;
}

bool daemon_json_has_runtimes(const char *text, size_t len, struct arena *a)
{
	return json_text_get(quiet_read(text, len, a), "runtimes");
}

bool daemon_json_equal(const char *a_text, size_t a_len, const char *b_text, size_t b_len,
		       struct arena *a)
{
	const struct json_node *x = quiet_read(a_text, a_len, a), *y = quiet_read(b_text, b_len, a);

	return x && y && json_text_equal(x, y);
}
