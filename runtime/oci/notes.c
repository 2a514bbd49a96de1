#include "oci/notes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"

void notes_add(struct notes *l, char *s, struct arena *a)
{
	l->v = arena_grow(a, l->v, &l->cap, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = s;
}

void note(const struct noter *noter, const char *fmt, ...)
{
	char text[1024];
	int saved = errno;
	va_list ap;

	if (!noter)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	noter->take(noter->context, text);
	errno = saved;
}

void note_all(const struct noter *noter, const struct notes *notes)
{
	size_t i;

	for (i = 0; i < notes->n; i++)
		note(noter, "%s", notes->v[i]);
}

void noted_take(void *noted, const char *text)
{
	struct noted *n = noted;

	notes_add(&n->notes, arena_strdup(n->arena, text), n->arena);
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
