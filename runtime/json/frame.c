/* The stack of open objects and arrays: what a place wants, and what an error calls it. */
#include "json/frame.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct json_bind *json_bind_new(const char *what, const char *text, size_t len,
				const struct json_table *table, const struct json_limits *limits,
				void *object, struct arena *a, struct error *e)
{
	struct json_bind *b = arena_new(a, struct json_bind);

	b->what = what;
	b->text = text;
	b->len = len;
	b->table = table;
	b->limits = limits;
	b->object = object;
	b->arena = a;
	b->error = e;
	return b;
}

static bool frame_is_array(const struct frame *f)
{
	return f->kind == IN_STRINGS || f->kind == IN_IDS || f->kind == IN_LIST ||
	       f->kind == IN_SKIPPED_ARRAY;
}

/* "linux.sysctl["net.core.somaxconn"]": plain words by dots, other keys in brackets. */
static void path_add(char *path, size_t size, const struct frame *f)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t used = strlen(path), i;

	if (frame_is_array(f)) {
		if (f->count > 0)
			snprintf(path + used, size - used, "[%zu]", f->count - 1);
		return;
	}
	if (!f->key.s)
		return;
	for (i = 0; i < f->key.len && memchr(plain, f->key.s[i], sizeof(plain) - 1); i++)
		;
	if (i < f->key.len || i == 0 || i > 64)
		snprintf(path + used, size - used, "[%s]", json_show_n(f->key.s, f->key.len).text);
	else
		snprintf(path + used, size - used, "%s%.*s", used ? "." : "", (int)i, f->key.s);
}

bool json_bind_fail(struct json_bind *b, const char *fmt, ...)
{
	char path[512] = "", why[256];
	va_list ap;
	size_t i;

	for (i = 0; i < b->depth; i++)
		path_add(path, sizeof(path), &b->frames[i]);
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	err_set(b->error, ERR_CONFIG, "%s: %s%s%s", b->what, path, *path ? ": " : "", why);
	return false;
}

void json_bind_at_next(struct json_bind *b)
{
	struct frame *f;

	if (b->depth == 0)
		return;
	f = bind_top(b);
	if (frame_is_array(f))
		f->count++;
	else if (!f->open)
		f->key.s = NULL;
}

static const char *type_words(enum json_type type)
{
	switch (type) {
	case JSON_STR:
	case JSON_ENUM:
		return "a string";
	case JSON_BOOL:
	case JSON_OPT_BOOL:
		return "true or false";
	case JSON_OBJECT:
	case JSON_PAIRS:
	case JSON_MAP:
		return "an object";
	case JSON_STRINGS:
	case JSON_IDS:
	case JSON_LIST:
		return "an array";
	default:
		return "a whole number";
	}
}

bool frame_mismatch(struct json_bind *b, const struct place *p, const char *got)
{
	return json_bind_fail(b, "must be %s, not %s", type_words(p->type), got);
}

bool frame_too_many(struct json_bind *b, const struct frame *f)
{
	return json_bind_fail(b, "more than %zu %s", f->max,
			      frame_is_array(f) ? "elements" : "keys");
}

void *frame_append(struct json_bind *b, struct frame *f, size_t size)
{
	struct any_list *list = (struct any_list *)(void *)f->base;

	/* One more, which stays zero: lists of strings end with NULL, as execve wants them. */
	list->v = arena_grow(b->arena, list->v, &f->cap, list->n + 2, size);
	return (char *)list->v + list->n++ * size;
}

/* The last element of the list: the one whose key was just read. */
static void *list_last(const struct frame *f, size_t size)
{
	const struct any_list *list = (const struct any_list *)(const void *)f->base;

	return (char *)list->v + (list->n - 1) * size;
}

static void place_in_object(struct frame *f, struct place *p)
{
	if (!f->row) {
		p->skip = true;
		return;
	}
	f->given |= (uint64_t)1 << (f->row - f->table->rows);
	p->row = f->row;
	p->type = f->row->type;
	p->table = f->row->table;
	p->slot = f->row->flags & JSON_FLAT ? f->base : f->base + f->row->offset;
}

bool frame_place(struct json_bind *b, struct place *p)
{
	struct frame *f;

	*p = (struct place){.type = JSON_OBJECT, .table = b->table, .slot = b->object};
	if (b->depth == 0)
		return true;
	f = bind_top(b);
	if (frame_is_array(f) && ++f->count > f->max)
		return frame_too_many(b, f);
	f->open = false;
	switch (f->kind) {
	case IN_OBJECT:
		place_in_object(f, p);
		break;
	case IN_STRINGS:
		p->type = JSON_STR;
		p->slot = frame_append(b, f, sizeof(char *));
		break;
	case IN_IDS:
		p->type = JSON_U32;
		p->slot = frame_append(b, f, sizeof(uint32_t));
		break;
	case IN_LIST:
		p->table = f->table;
		p->slot = frame_append(b, f, f->table->size);
		break;
	case IN_PAIRS:
		p->type = JSON_STR;
		p->slot = &((struct pair *)list_last(f, sizeof(struct pair)))->value;
		break;
	case IN_MAP:
		p->table = f->table;
		p->slot = list_last(f, f->table->size);
		break;
	case IN_SKIPPED_OBJECT:
	case IN_SKIPPED_ARRAY:
		p->skip = true;
		break;
	}
	return true;
}

bool frame_push(struct json_bind *b, enum frame_kind kind, const struct place *p)
{
	size_t most = p->row && p->row->max ? p->row->max : b->limits->elements;

	if (b->depth >= b->limits->depth || b->depth >= JSON_MAX_DEPTH)
		return json_bind_fail(b, "nested deeper than %zu", b->limits->depth);
	b->frames[b->depth++] = (struct frame){
		.kind = kind,
		.table = p->table,
		.base = p->slot,
		.max = kind == IN_OBJECT ? b->limits->elements : most,
		.first_key = b->key_count,
	};
	return true;
}
