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

static int rules_show(const struct cli *c, const char *id, const struct network_rules *r,
		      struct error *e)
{
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	size_t i;

	if (c->json) {
		buf_str(&b, "{\"sandbox_id\":");
		json_write_string(&b, id);
		rules_write_list("allow", &r->allow, &b);
		rules_write_list("deny", &r->deny, &b);
		buf_str(&b, "}\n");
		return cli_print(&b, e);
	}
	for (i = 0; i < r->allow.n; i++)
		buf_printf(&b, "allow %s\n", r->allow.v[i]);
	for (i = 0; i < r->deny.n; i++)
		buf_printf(&b, "deny %s\n", r->deny.v[i]);
	return cli_print(&b, e);
}

int box_rules(struct cli *c, const char *id, struct error *e)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	struct network_rules r;

	if (sandbox_open(c->root, id, c->arena, &s, e) < 0 ||
	    network_read_record(&s, c->arena, &r, e) < 0)
		return -1;
	return rules_show(c, id, &r, e);
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

static int change_audit(const struct cli *c, const struct strings *audits, const char *verb,
			const char *id, bool failed, struct error *e)
{
	const struct box_result r = {
		.id = id,
		.sandbox_id = id,
		.rootfs = "",
		.status = failed ? BOX_SANDBOX_ERROR : BOX_OK,
		.exit_code = failed ? DO_FAILURE : 0,
		.denials_known = true,
	};
	const struct box_request q = {.args = {.n = c->n_args - 2, .v = c->args + 2}};

	return do_audit(c, arena_printf(c->arena, "%s%s", verb, c->remove ? " --remove" : ""),
			audits, &q, &r, e);
}

/* A change is not done without its record; a refused one is recorded, too. */
static int rules_change(struct cli *c, const char *id, bool deny, struct error *e)
{
	const struct strings words = {.n = c->n_args - 2, .v = c->args + 2};
	struct network_change change = {.remove = c->remove};
	const char *verb = deny ? "box deny" : "box allow", *note = NULL;
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	const struct box_request q = {0};
	struct strings audits = {0};
	struct network_rules r;
	struct error ignored;
	int result;

	*(deny ? &change.deny : &change.allow) = words;
	if (sandbox_open(c->root, id, c->arena, &s, e) < 0 ||
	    do_audit_files(c, &q, &audits, e) < 0 || do_audit_try(c, &audits, e) < 0)
		return -1;
	result = change_hold(c, &s, &change, e);
	if (result == 0)
		result = network_change(&s, &change, c->arena, &r, &note, e);
	box_log(c, &s, &(struct sandbox_event){.verb = deny ? "deny" : "allow",
					       .args = words,
					       .failed = result < 0});
	if (change_audit(c, &audits, verb, id, result < 0, result < 0 ? &ignored : e) < 0 ||
	    result < 0)
		return -1;
	if (note)
		log_warn("%s", note);
	sandbox_touch(&s);
	return c->json ? rules_show(c, id, &r, e) : 0;
}

int box_allow(struct cli *c, const char *id, struct error *e)
{
	return rules_change(c, id, false, e);
}

int box_deny(struct cli *c, const char *id, struct error *e)
{
	return rules_change(c, id, true, e);
}
