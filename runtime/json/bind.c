/*
 * Events to structs. Where reading stands is a stack of frames, one for each open object or array,
 * so input depth costs no C stack. A frame of an object knows the row of the key just read; a frame
 * of a list knows the list. Unknown keys open frames of their own kind, which store nothing but
 * are held to the same caps and the same ban on duplicate keys.
 *
 * Caveat: duplicates among keys that have no row (unknown ones, and those of maps) are found when
 * their object ends, by sorting: n log n whatever the keys are.
 */
#include "json/bind.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/number.h"

enum frame_kind {
	IN_OBJECT,	  /* base: the struct */
	IN_STRINGS,	  /* base: the list, from here on */
	IN_IDS,
	IN_LIST,
	IN_PAIRS,
	IN_MAP,
	IN_SKIPPED_OBJECT,
	IN_SKIPPED_ARRAY,
};

struct key {
	const char *s;
	size_t len;
};

/* What LIST(…), struct strings, struct ids and struct pairs have in common. */
struct any_list {
	size_t n;
	void *v;
} __attribute__((may_alias));

struct frame {
	enum frame_kind kind;
	const struct json_table *table; /* of the object, or of a list's elements */
	const struct json_row *row;	/* of the key just read; NULL: unknown */
	char *base;
	struct key key;	  /* the key just read, for errors */
	bool open;	  /* its value is yet to come */
	size_t count;	  /* keys or elements so far */
	size_t max;	  /* of them */
	size_t cap;	  /* room in the list */
	size_t first_key; /* where this object's keys begin in json_bind.keys */
	uint64_t seen;	  /* rows whose key was there, by index */
	uint64_t given;	  /* rows whose value was there: not null */
};

struct json_bind {
	const char *what;
	const char *text;
	size_t len;
	const struct json_table *table;
	const struct json_limits *limits;
	void *object;
	struct arena *arena;
	struct error *error;
	struct key *keys; /* those without a row, of all open objects */
	size_t key_count;
	size_t key_cap;
	size_t depth;
	struct frame frames[JSON_MAX_DEPTH];
};

/* Where a value goes. */
struct place {
	bool skip;
	enum json_type type;
	void *slot;
	const struct json_row *row; /* words, flags, table; NULL for elements of plain lists */
	const struct json_table *table;
};

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

/* The innermost frame; only called where one is open. */
static struct frame *bind_top(struct json_bind *b)
{
	return &b->frames[b->depth - 1];
}

static bool frame_is_array(const struct frame *f)
{
	return f->kind == IN_STRINGS || f->kind == IN_IDS || f->kind == IN_LIST ||
	       f->kind == IN_SKIPPED_ARRAY;
}

/* "linux.sysctl["net.core.somaxconn"]": plain words by dots, other keys in brackets. */
static void path_add(char *path, size_t size, const struct frame *f)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
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

static bool bind_mismatch(struct json_bind *b, const struct place *p, const char *got)
{
	return json_bind_fail(b, "must be %s, not %s", type_words(p->type), got);
}

static bool bind_too_many(struct json_bind *b, const struct frame *f)
{
	return json_bind_fail(b, "more than %zu %s", f->max, frame_is_array(f) ? "elements" : "keys");
}

/* A new last element of the frame's list. */
static void *list_append(struct json_bind *b, struct frame *f, size_t size)
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

/* Finds where the value that begins now goes, and counts it if it is an element. */
static bool bind_place(struct json_bind *b, struct place *p)
{
	struct frame *f;

	*p = (struct place){.type = JSON_OBJECT, .table = b->table, .slot = b->object};
	if (b->depth == 0)
		return true;
	f = bind_top(b);
	if (frame_is_array(f) && ++f->count > f->max)
		return bind_too_many(b, f);
	f->open = false;
	switch (f->kind) {
	case IN_OBJECT:
		place_in_object(f, p);
		break;
	case IN_STRINGS:
		p->type = JSON_STR;
		p->slot = list_append(b, f, sizeof(char *));
		break;
	case IN_IDS:
		p->type = JSON_U32;
		p->slot = list_append(b, f, sizeof(uint32_t));
		break;
	case IN_LIST:
		p->table = f->table;
		p->slot = list_append(b, f, f->table->size);
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

static bool bind_push(struct json_bind *b, enum frame_kind kind, const struct place *p)
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

bool json_bind_null(struct json_bind *b)
{
	struct place p;

	/* Absent; a null where something must be is found when the object ends. */
	if (b->depth > 0 && bind_top(b)->kind == IN_OBJECT) {
		bind_top(b)->open = false;
		return true;
	}
	return bind_place(b, &p) && (p.skip || bind_mismatch(b, &p, "null"));
}

bool json_bind_bool(struct json_bind *b, bool v)
{
	struct place p;

	if (!bind_place(b, &p))
		return false;
	if (p.skip)
		return true;
	if (p.type == JSON_BOOL)
		*(bool *)p.slot = v;
	else if (p.type == JSON_OPT_BOOL)
		*(struct opt_bool *)p.slot = (struct opt_bool){true, v};
	else
		return bind_mismatch(b, &p, v ? "true" : "false");
	return true;
}

bool json_bind_number(struct json_bind *b, const char *digits, size_t len)
{
	struct place p;
	const char *why;

	if (!bind_place(b, &p))
		return false;
	if (p.skip)
		return true;
	if (!json_number_type(p.type))
		return bind_mismatch(b, &p, "a number");
	why = json_number_store(p.type, digits, len, p.slot);
	return !why || json_bind_fail(b, "%.*s%s %s", (int)(len < 40 ? len : 40), digits,
				      len > 40 ? "…" : "", why);
}

static bool bind_word(struct json_bind *b, const struct place *p, const char *s, size_t len)
{
	const struct json_word *w;

	for (w = p->row->words; w->word; w++) {
		if (strncmp(w->word, s, len) == 0 && !w->word[len]) {
			memcpy(p->slot, &w->value, sizeof(w->value));
			return true;
		}
	}
	return json_bind_fail(b, "unknown value %s", json_show_n(s, len).text);
}

bool json_bind_string(struct json_bind *b, const char *s, size_t len)
{
	struct place p;

	if (!bind_place(b, &p))
		return false;
	if (len > b->limits->string)
		return json_bind_fail(b, "longer than %zu bytes", b->limits->string);
	if (p.skip)
		return true;
	if (p.type == JSON_ENUM)
		return bind_word(b, &p, s, len);
	if (p.type != JSON_STR)
		return bind_mismatch(b, &p, "a string");
	if (len == 0 && p.row && p.row->flags & JSON_NOT_EMPTY)
		return json_bind_fail(b, "must not be empty");
	if (len == 0 && p.row && !(p.row->flags & JSON_REQUIRED))
		return true;
	*(char **)p.slot = arena_strndup(b->arena, s, len);
	return true;
}

/* A key that lasts: strings with escapes live in the parser's buffer for one event only. */
static struct key bind_keep(struct json_bind *b, const char *s, size_t len)
{
	bool lasts = s >= b->text && s < b->text + b->len;

	return (struct key){lasts ? s : arena_strndup(b->arena, s, len), len};
}

static void bind_remember(struct json_bind *b, struct key key)
{
	b->keys = arena_grow(b->arena, b->keys, &b->key_cap, b->key_count + 1, sizeof(*b->keys));
	b->keys[b->key_count++] = key;
}

/* Writers keep to one order, mostly the rows', so the search goes on from the last hit. */
static const struct json_row *row_find(const struct frame *f, const char *s, size_t len)
{
	const struct json_row *rows = f->table->rows, *r;
	size_t n = f->table->count, start = f->row ? (size_t)(f->row - rows) + 1 : 0, i;

	for (i = 0; i < n; i++) {
		r = &rows[start + i < n ? start + i : start + i - n];
		if (len > 0 && r->key[0] == s[0] && strncmp(r->key, s, len) == 0 && !r->key[len])
			return r;
	}
	return NULL;
}

static bool object_key(struct json_bind *b, struct frame *f, const char *s, size_t len)
{
	const struct json_row *row = row_find(f, s, len);
	uint64_t bit;

	if (!row) {
		f->row = NULL;
		f->key = bind_keep(b, s, len);
		bind_remember(b, f->key);
		return true;
	}
	bit = (uint64_t)1 << (row - f->table->rows);
	if (f->seen & bit)
		return json_bind_fail(b, "duplicate key %s", json_show(row->key).text);
	f->seen |= bit;
	f->row = row;
	f->key = (struct key){row->key, len};
	return true;
}

bool json_bind_key(struct json_bind *b, const char *s, size_t len)
{
	struct frame *f = bind_top(b);
	struct pair *pair;
	char *element, *copy;

	f->key.s = NULL;
	f->open = true;
	if (++f->count > f->max)
		return bind_too_many(b, f);
	if (len > b->limits->string)
		return json_bind_fail(b, "a key is longer than %zu bytes", b->limits->string);
	if (f->kind == IN_OBJECT)
		return object_key(b, f, s, len);
	if (f->kind == IN_PAIRS) {
		pair = list_append(b, f, sizeof(*pair));
		pair->key = arena_strndup(b->arena, s, len);
		f->key = (struct key){pair->key, len};
	} else if (f->kind == IN_MAP) {
		element = list_append(b, f, f->table->size);
		copy = arena_strndup(b->arena, s, len);
		*(char **)(void *)(element + f->table->key_offset) = copy;
		f->key = (struct key){copy, len};
	} else {
		f->key = bind_keep(b, s, len);
	}
	bind_remember(b, f->key);
	return true;
}

static int key_compare(const void *x, const void *y)
{
	const struct key *a = x, *b = y;
	int order = memcmp(a->s, b->s, a->len < b->len ? a->len : b->len);

	return order ? order : (a->len > b->len) - (a->len < b->len);
}

/* Forgets the keys of the object that ends, unless two of them are the same. */
static bool bind_check_keys(struct json_bind *b, struct frame *f)
{
	size_t n = b->key_count - f->first_key, i;
	struct key *keys = b->keys + f->first_key;

	if (n > 1)
		qsort(keys, n, sizeof(*keys), key_compare);
	for (i = 1; i < n; i++) {
		if (key_compare(&keys[i - 1], &keys[i]) == 0) {
			f->key.s = NULL;
			return json_bind_fail(b, "duplicate key %s",
					      json_show_n(keys[i].s, keys[i].len).text);
		}
	}
	b->key_count = f->first_key;
	return true;
}

static bool bind_check_required(struct json_bind *b, struct frame *f)
{
	const struct json_row *rows = f->table->rows;
	size_t i;

	for (i = 0; i < f->table->count; i++) {
		if (rows[i].flags & JSON_REQUIRED && !(f->given & (uint64_t)1 << i)) {
			f->key = (struct key){rows[i].key, strlen(rows[i].key)};
			return json_bind_fail(b, "required, but missing");
		}
	}
	return true;
}

bool json_bind_start_object(struct json_bind *b)
{
	struct place p;

	if (!bind_place(b, &p))
		return false;
	if (p.skip)
		return bind_push(b, IN_SKIPPED_OBJECT, &p);
	if (p.type == JSON_PAIRS)
		return bind_push(b, IN_PAIRS, &p);
	if (p.type == JSON_MAP)
		return bind_push(b, IN_MAP, &p);
	if (p.type != JSON_OBJECT)
		return bind_mismatch(b, &p, "an object");
	if (p.row && p.row->flags & JSON_SETS)
		*(bool *)p.slot = true;
	return bind_push(b, IN_OBJECT, &p);
}

bool json_bind_end_object(struct json_bind *b)
{
	struct frame *f = bind_top(b);

	if (!bind_check_keys(b, f))
		return false;
	if (f->kind == IN_OBJECT && !bind_check_required(b, f))
		return false;
	b->depth--;
	return true;
}

bool json_bind_start_array(struct json_bind *b)
{
	struct place p;

	if (!bind_place(b, &p))
		return false;
	if (p.skip)
		return bind_push(b, IN_SKIPPED_ARRAY, &p);
	if (p.type == JSON_STRINGS)
		return bind_push(b, IN_STRINGS, &p);
	if (p.type == JSON_IDS)
		return bind_push(b, IN_IDS, &p);
	if (p.type == JSON_LIST)
		return bind_push(b, IN_LIST, &p);
	return bind_mismatch(b, &p, "an array");
}

bool json_bind_end_array(struct json_bind *b)
{
	bool empty = bind_top(b)->count == 0;
	const struct frame *parent;

	/* The document is an object, so an array has a parent. */
	b->depth--;
	parent = bind_top(b);
	if (empty && parent->kind == IN_OBJECT && parent->row && parent->row->flags & JSON_NOT_EMPTY)
		return json_bind_fail(b, "must not be empty");
	return true;
}
