/*
 * Rules of approval judge a call by what will be used, and not by how a model has written it.
 * "sh" is shell, "a.sh/." is a.sh, and "EVIL.example." is evil.example: the child would find that
 * out too late. What can't be read stays as it is, and the child refuses it.
 */
#include <string.h>

#include "base/str.h"
#include "box/box.h"
#include "box/files.h"
#include "egress/egress.h"
#include "mcp/message.h"
#include "mcp/tool.h"

static void add(struct pairs *p, struct arena *a, char *key, char *value)
{
	size_t i, cap = p->n;

	for (i = 0; i < p->n; i++)
		if (str_eq(p->v[i].key, key) && str_eq(p->v[i].value, value))
			return;
	p->v = arena_grow(a, p->v, &cap, p->n + 1, sizeof(*p->v));
	p->v[p->n++] = (struct pair){key, value};
}

/* ---- hosts ---- */

/* As one that denies: whether it may be allowed is the child's to say. */
static bool host_read(const char *text, struct egress_rules *scratch)
{
	struct error e;

	scratch->n = 0;
	return egress_rules_add(scratch, text, true, &e) == 0;
}

static char *host_write(const struct egress_rule *r, bool sign, bool port, struct arena *a)
{
	static const char *const signs[] = {
		[EGRESS_BELOW] = "*.", [EGRESS_AND_BELOW] = "**.", [EGRESS_RANGE] = NULL};
	const bool v6 = r->host.is_address && r->host.address.v6;
	const bool brackets = port && r->port && v6;
	struct buf b = buf_new(a, 2 * EGRESS_NAME_MAX);

	buf_printf(&b, "%s%s%s%s", sign && signs[r->match] ? signs[r->match] : "",
		   brackets ? "[" : "", r->host.name, brackets ? "]" : "");
	if (r->match == EGRESS_RANGE && r->bits != (v6 ? 128 : 32))
		buf_printf(&b, "/%u", r->bits);
	if (port && r->port)
		buf_printf(&b, ":%u", r->port);
	return b.data;
}

static char *hosts_used(const struct strings *v, struct egress_rules *scratch, struct arena *a)
{
	struct buf b = buf_new(a, MESSAGE_MAX);
	size_t i;

	for (i = 0; i < v->n; i++) {
		buf_str(&b, i ? " " : "");
		buf_str(&b, host_read(v->v[i], scratch) ? host_write(scratch->v, true, true, a) :
							  v->v[i]);
	}
	return b.data;
}

/* ---- all of them ---- */

static char *language_forms(char *name, char *key, struct approve_call *ret, struct arena *a)
{
	const struct box_language *l = box_language_find(name);
	size_t i;

	for (i = 0; l && i < ARRAY_SIZE(l->aliases) && l->aliases[i]; i++)
		add(&ret->equal, a, key, arena_strdup(a, l->aliases[i]));
	return l ? arena_strdup(a, l->name) : name;
}

/* Each by itself, also without its port; of **.NAME, what it has besides: NAME. */
static void host_forms(const struct strings *v, char *key, struct egress_rules *scratch,
		       struct approve_call *ret, struct arena *a)
{
	const struct egress_rule *r = scratch->v;
	size_t i;

	for (i = 0; i < v->n; i++) {
		if (!host_read(v->v[i], scratch))
			continue;
		add(&ret->written, a, key, host_write(r, true, true, a));
		add(&ret->equal, a, key, host_write(r, true, false, a));
		if (r->match == EGRESS_AND_BELOW)
			add(&ret->equal, a, key, host_write(r, false, false, a));
	}
}

static char *path_forms(char *value, char *key, struct approve_call *ret, struct arena *a)
{
	struct error e;
	const char *path = files_path(value, a, &e);

	if (!path)
		return value;
	add(&ret->equal, a, key,
	    str_eq(path, ".") ? arena_strdup(a, BOX_WORKSPACE) :
				arena_printf(a, BOX_WORKSPACE "/%s", path));
	return arena_strdup(a, path);
}

void spelling_read(const struct tool_args *g, const struct pairs *given, struct approve_call *ret,
		   struct arena *a)
{
	struct egress_rules *scratch = arena_new(a, struct egress_rules);
	const struct strings *hosts;
	size_t i;

	*ret = (struct approve_call){0};
	for (i = 0; i < given->n; i++) {
		char *key = given->v[i].key, *value = given->v[i].value, *used = value;

		if (str_eq(key, "language")) {
			used = language_forms(value, key, ret, a);
		} else if (str_eq(key, "file_path") || str_eq(key, "path")) {
			used = path_forms(value, key, ret, a);
		} else if (str_eq(key, "allowed_domains") || str_eq(key, "hosts")) {
			hosts = *key == 'h' ? &g->hosts : &g->allowed_domains;
			used = hosts_used(hosts, scratch, a);
			host_forms(hosts, key, scratch, ret, a);
		}
		add(&ret->used, a, key, used);
		add(&ret->written, a, key, used);
		add(&ret->written, a, key, value);
	}
}
