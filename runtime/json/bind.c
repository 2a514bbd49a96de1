/*
 * Events to structs. Where reading stands is a stack of frames, one for each open object or array,
 * so input depth costs no C stack. A frame of an object knows the row of the key just read; a frame
 * of a list knows the list. Unknown keys open frames of their own kind, which store nothing but
 * are held to the same caps and the same ban on duplicate keys.
 *
 * Caveat: duplicates among keys that have no row (unknown ones, and those of maps) are found when
 * their object ends, by sorting: n log n whatever the keys are.
 */
#include <stdlib.h>
#include <string.h>

#include "json/frame.h"
#include "json/number.h"

bool json_bind_null(struct json_bind *b)
{
	struct place p;

	/* Absent; a null where something must be is found when the object ends. */
	if (b->depth > 0 && bind_top(b)->kind == IN_OBJECT) {
		const struct json_row *row = bind_top(b)->row;

		if (row && row->flags & JSON_NOT_NULL)
			return json_bind_fail(
				b, "must not be null: leave it out, if that is what is meant");
		bind_top(b)->open = false;
		return true;
	}
	return frame_place(b, &p) && (p.skip || frame_mismatch(b, &p, "null"));
}

bool json_bind_bool(struct json_bind *b, bool v)
{
	struct place p;

	if (!frame_place(b, &p))
		return false;
	if (p.skip)
		return true;
	if (p.type == JSON_BOOL)
		*(bool *)p.slot = v;
	else if (p.type == JSON_OPT_BOOL)
		*(struct opt_bool *)p.slot = (struct opt_bool){true, v};
	else
		return frame_mismatch(b, &p, v ? "true" : "false");
	return true;
}

bool json_bind_number(struct json_bind *b, const char *digits, size_t len)
{
	struct place p;
	const char *why;

	if (!frame_place(b, &p))
		return false;
	if (p.skip)
		return true;
	if (!json_number_type(p.type))
		return frame_mismatch(b, &p, "a number");
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

	if (!frame_place(b, &p))
		return false;
	if (len > b->limits->string)
		return json_bind_fail(b, "longer than %zu bytes", b->limits->string);
	if (p.skip)
		return true;
	if (p.type == JSON_ENUM)
		return bind_word(b, &p, s, len);
	if (p.type != JSON_STR)
		return frame_mismatch(b, &p, "a string");
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

	if (!row && f->table->closed)
		return json_bind_fail(b, "unknown key %s", json_show_n(s, len).text);
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
		return frame_too_many(b, f);
	if (len > b->limits->string)
		return json_bind_fail(b, "a key is longer than %zu bytes", b->limits->string);
	if (f->kind == IN_OBJECT)
		return object_key(b, f, s, len);
	if (f->kind == IN_PAIRS) {
		pair = frame_append(b, f, sizeof(*pair));
		pair->key = arena_strndup(b->arena, s, len);
		f->key = (struct key){pair->key, len};
	} else if (f->kind == IN_MAP) {
		element = frame_append(b, f, f->table->size);
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
	struct key *keys;

	if (n < 2) {
		b->key_count = f->first_key;
		return true;
	}
	keys = b->keys + f->first_key;
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

	if (!frame_place(b, &p))
		return false;
	if (p.skip)
		return frame_push(b, IN_SKIPPED_OBJECT, &p);
	if (p.type == JSON_PAIRS)
		return frame_push(b, IN_PAIRS, &p);
	if (p.type == JSON_MAP)
		return frame_push(b, IN_MAP, &p);
	if (p.type != JSON_OBJECT)
		return frame_mismatch(b, &p, "an object");
	if (p.row && p.row->flags & JSON_SETS)
		*(bool *)p.slot = true;
	return frame_push(b, IN_OBJECT, &p);
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

	if (!frame_place(b, &p))
		return false;
	if (p.skip)
		return frame_push(b, IN_SKIPPED_ARRAY, &p);
	if (p.type == JSON_STRINGS)
		return frame_push(b, IN_STRINGS, &p);
	if (p.type == JSON_IDS)
		return frame_push(b, IN_IDS, &p);
	if (p.type == JSON_LIST)
		return frame_push(b, IN_LIST, &p);
	return frame_mismatch(b, &p, "an array");
}

bool json_bind_end_array(struct json_bind *b)
{
	bool empty = bind_top(b)->count == 0;
	const struct frame *parent;

	/* The document is an object, so an array has a parent. */
	b->depth--;
	parent = bind_top(b);
	if (empty && parent->kind == IN_OBJECT && parent->row &&
	    parent->row->flags & JSON_NOT_EMPTY)
		return json_bind_fail(b, "must not be empty");
	return true;
}
