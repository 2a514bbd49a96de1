/* box install: a call in a box that stays, whose program is a package manager (box/install.h). */
#include <string.h>

#include "base/str.h"
#include "box/install.h"
#include "box/network.h"
#include "box/network_stay.h"
#include "box/operator.h"
#include "box/sandbox.h"
#include "cli/box.h"
#include "cli/cli.h"
#include "cli/do.h"
#include "sys/loop.h"

enum { TEXT_MAX = 1 << 20, LINE_MAX_HASHES = 64 };

struct installing {
	struct install what;
	struct registry registry;
	struct network_rules rules;
	struct operator_file operator;
	size_t n;
	struct installed *v;
};

/* 0: any number. */
static int64_t lesser(int64_t own, const struct opt_i64 *most)
{
	if (!most->set || !most->v)
		return own;
	return own && own < most->v ? own : most->v;
}

/* Hosts of the registry, what the operator denies everywhere, and amounts: the box's own, or the
 * operator's where that is less. */
static int install_rules(struct cli *c, const struct sandbox *s, struct installing *x,
			 struct error *e)
{
	struct network_rules own;
	struct box_root root;

	if (sandbox_root(s, &root) < 0)
		return -1;
	root.host = str_eq(root.name, "host");
	if (operator_hold_install(&x->operator, e) < 0 ||
	    registry_find(x->what.registry, registry_root(&root), &x->operator, c->arena,
			  &x->registry, e) < 0 ||
	    operator_hold_registry(&x->operator, x->what.registry, &x->registry.hosts, c->arena,
				   e) < 0)
		return -1;
	if (!x->registry.index)
		return err_set(e, ERR_HOST,
			       "there is no address to install %s packages from (" OPERATOR_FILE
			       ": registries, index)",
			       x->what.registry);
	x->rules.allow = x->registry.hosts;
	x->rules.deny = x->operator.network.denied;
	if (network_read_record(s, c->arena, &own, e) < 0)
		return -1;
	x->rules.most = lesser(own.most, &x->operator.network.bytes);
	x->rules.rate = lesser(own.rate, &x->operator.network.rate);
	return network_check(&x->rules.allow, &x->rules.deny, e);
}

static int install_call(struct cli *c, struct sandbox *s, struct installing *x,
			struct box_request *q, struct error *e)
{
	const struct operator_given given = {.timeout = c->timeout, .output = c->output_limit};

	if (do_begin(c, q, e) < 0)
		return -1;
	sandbox_request(s, q, c->arena);
	q->limits.timeout_ns = INSTALL_TIMEOUT_S * LOOP_SECOND;
	if (install_rules(c, s, x, e) < 0 || do_limits(c, q, e) < 0 ||
	    operator_hold_call(&x->operator, &given, q, e) < 0)
		return -1;
	install_request(&x->what, &x->registry, q, c->arena);
	q->code_path = NULL;
	q->alone = &x->rules;
	q->takes = x->what.report;
	q->takes_away = *x->what.report == '.';
	return 0;
}

/* In the result, and, as words, in the audit line. */
static void install_tell(struct cli *c, struct installing *x, struct box_request *q,
			 struct box_result *r)
{
	struct buf b = buf_new(c->arena, TEXT_MAX);
	struct strings words = {.v = arena_array(c->arena, LINE_MAX_HASHES + 4, char *)};
	size_t i;

	if (r->product)
		x->n = install_read_report(&x->what, r->product, r->product_len, c->arena, &x->v);
	r->product = NULL;
	install_write(&x->what, x->v, x->n, &b);
	r->install = b.data;
	words.v[words.n++] = arena_strdup(c->arena, x->what.registry);
	words.v[words.n++] = arena_strdup(c->arena, x->what.package);
	for (i = 0; i < x->n && i < LINE_MAX_HASHES; i++)
		words.v[words.n++] =
			arena_printf(c->arena, "%s==%s %s", x->v[i].name, x->v[i].version,
				     x->v[i].hash ? x->v[i].hash : "-");
	q->args = words;
}

int box_install(struct cli *c, const char *id, struct error *e)
{
	struct box_result *r = arena_new(c->arena, struct box_result);
	struct installing *x = arena_new(c->arena, struct installing);
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	struct error ignored;
	struct box_request q = {0};
	int result;

	if (sandbox_check_id(id, e) < 0 ||
	    install_read(c->args[2], c->args[3], c->arena, &x->what, e) < 0 ||
	    operator_read(c->arena, &x->operator, e) < 0)
		return -1;
	result = sandbox_open(c->root, id, c->arena, &s, e);
	if (result == 0)
		result = install_call(c, &s, x, &q, e);
	if (result == 0)
		result = sandbox_lock(&s, loop_now() + q.limits.timeout_ns, c->arena, e);
	if (result == 0) {
		result = box_do(&q, c->arena, r, e);
		sandbox_touch(&s);
	}
	if (result < 0)
		box_call_explain(r, id, e, c->arena);
	install_tell(c, x, &q, r);
	if (s.dfd >= 0)
		box_log(c, &s, &(struct sandbox_event){.verb = "install",
						       .result = r,
						       .args = q.args,
						       .failed = r->status != BOX_OK});
	c->status = c->failure = box_exit_status(r);
	sandbox_sweep(c->root, false);
	c->deed->is_recorded = true;
	if (do_audit(c, "box install", &c->deed->files, &q, r, result < 0 ? &ignored : e) < 0)
		return -1;
	if (result < 0 && !c->json && !c->stream)
		return -1;
	c->deed->is_shown = true;
	return do_show(c, r, e);
}
