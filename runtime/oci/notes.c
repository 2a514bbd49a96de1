#include "oci/notes.h"

#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"

void notes_add(struct notes *l, char *s, struct arena *a)
{
	l->v = arena_grow(a, l->v, &l->cap, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = s;
}

void notes_take_name(struct noted_names *names, const char *name)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		if (str_eq(names->v[i], name))
			return;
	if (names->n < NOTED_NAMES_MAX)
		names->v[names->n++] = name;
	else
		names->more = true;
}

void notes_add_names(struct notes *l, const char *what, const struct noted_names *names,
		     struct arena *a)
{
	struct buf b = buf_new(a, 4096);
	size_t i;

	if (!names->n)
		return;
	buf_str(&b, what);
	for (i = 0; i < names->n; i++)
		buf_printf(&b, "%s %s", i ? "," : "", json_show(names->v[i]).text);
	buf_str(&b, names->more ? " and others" : "");
	notes_add(l, b.data, a);
}
