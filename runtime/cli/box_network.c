/* The verbs of box that are about what it may reach: allow, deny, rules. */
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "box/network_stay.h"
#include "box/operator.h"
#include "box/registries.h"
#include "cli/box.h"
#include "cli/cli.h"
#include "cli/do.h"
#include "json/json.h"

enum { OUTPUT_MAX = 1 << 20 };

static void rules_write_list(const char *key, const struct strings *list, struct buf *b)
{
	size_t i;

	buf_printf(b, ",\"%s\":[", key);
	for (i = 0; i < list->n; i++) {
		buf_str(b, i ? "," : "");
		json_write_string(b, list->v[i]);
	}
	buf_char(b, ']');
}

static void rules_show(struct cli *c, const char *id, const struct network_rules *r)
{
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	size_t i;

	if (c->json) {
		buf_str(&b, "{\"sandbox_id\":");
		json_write_string(&b, id);
		rules_write_list("allow", &r->allow, &b);
		rules_write_list("deny", &r->deny, &b);
		buf_str(&b, "}\n");
	}
	for (i = 0; i < r->allow.n && !c->json; i++)
		buf_printf(&b, "allow %s\n", r->allow.v[i]);
	for (i = 0; i < r->deny.n && !c->json; i++)
		buf_printf(&b, "deny %s\n", r->deny.v[i]);
	box_answer(c, &b);
}

int box_rules(struct cli *c, const char *id, struct error *e)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	struct network_rules r = {0};

	if (sandbox_open(c->root, id, c->arena, &s, e) < 0 ||
	    network_read_record(&s, c->arena, &r, e) < 0)
		return -1;
	rules_show(c, id, &r);
	return 0;
}

/* The root filesystem of the box, for its registries. */
static const char *change_root(const struct sandbox *s, struct arena *a)
{
	struct box_root root;

	if (sandbox_root(s, &root) < 0)
		return NULL;
	root.host = str_eq(root.name, "host");
	return arena_strdup(a, registry_root(&root));
}

static int change_hold(const struct cli *c, const struct sandbox *s, struct network_change *change,
		       struct error *e)
{
	struct operator_file operator;
	struct strings deny = {0};

	if (operator_read(c->arena, &operator, e) < 0)
		return -1;
	if (change->remove && operator_hold_removal(&operator, &change->deny, e) < 0)
		return -1;
	if (change->remove)
		return registry_expand(&change->allow, change_root(s, c->arena), &operator,
				       c->arena, e);
	if (operator_hold_rules(&operator, &change->allow, &deny, c->arena, e) < 0 ||
	    registry_expand(&change->allow, change_root(s, c->arena), &operator, c->arena, e) < 0)
		return -1;
	if (change->allow.n)
		change->deny = deny;
	return 0;
}

static int rules_change(struct cli *c, const char *id, bool deny, struct error *e)
{
	const struct strings words = {.n = c->n_args - 2, .v = c->args + 2};
	struct network_change change = {.remove = c->remove};
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	const char *note = NULL;
	struct network_rules r = {0};
	int result;

	*(deny ? &change.deny : &change.allow) = words;
	if (sandbox_open(c->root, id, c->arena, &s, e) < 0)
		return -1;
	result = change_hold(c, &s, &change, e);
	if (result == 0)
		result = network_change(&s, &change, c->arena, &r, &note, e);
	box_log(c, &s, &(struct sandbox_event){.verb = deny ? "deny" : "allow",
					       .args = words,
					       .failed = result < 0});
	if (result < 0)
		return -1;
	if (note)
		log_warn("%s", note);
	sandbox_touch(&s);
	if (c->json)
		rules_show(c, id, &r);
	return 0;
}

int box_allow(struct cli *c, const char *id, struct error *e)
{
	return rules_change(c, id, false, e);
}

int box_deny(struct cli *c, const char *id, struct error *e)
{
	return rules_change(c, id, true, e);
}
