/* `sbxrun explain`: what a bundle or a container is held to, for people and as JSON. */
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/explain.h"
#include "json/json.h"
#include "life/explain.h"
#include "oci/names.h"

enum { OUTPUT_MAX = 4 << 20, LAST_MAX = 200 };

static void list_print(struct buf *b, const struct strings *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		buf_printf(b, "%s%s", i ? " " : "", l->v[i]);
	if (!l->n)
		buf_str(b, "none");
}

static const char *list_text(const struct strings *l, struct arena *a)
{
	struct buf b = buf_new(a, OUTPUT_MAX);

	list_print(&b, l);
	return b.data;
}

static const char *caps_text(uint64_t caps, struct arena *a)
{
	struct buf b = buf_new(a, OUTPUT_MAX);
	int n;

	for (n = 0; n < 64; n++)
		if (caps & UINT64_C(1) << n && oci_cap_name(n))
			buf_printf(&b, "%s%s", b.len ? " " : "",
				   str_after(oci_cap_name(n), "CAP_"));
	return b.len ? b.data : "none";
}

/* One line for both where they are the same. */
static void fact_print(struct buf *b, const char *what, const char *here, const char *asked)
{
	if (str_eq(here, asked))
		buf_printf(b, "  %-26s %s\n", what, here);
	else
		buf_printf(b, "  %-26s %s\n    %-24s %s\n", what, here, "as the config asks",
			   asked);
}

static const char *calls_text(const struct surface *s, struct arena *a)
{
	return s->filter ? arena_printf(a, "%u, %u of them for some arguments%s", s->calls,
					s->calls_some,
					s->other_abis ? "; and those of other architectures" : "") :
			   arena_printf(a, "%u: there is no filter", s->calls);
}

static const char *counts_text(const struct surface *s, struct arena *a)
{
	return arena_printf(a, "%zu, %zu without nosuid, %zu without nodev: %s", s->mounts.n,
			    s->without_nosuid, s->without_nodev, list_text(&s->mounts, a));
}

static const char *landlock_text(const struct surface *s, struct arena *a)
{
	return s->landlock_abi ? arena_printf(a, "ABI %d", s->landlock_abi) : "none";
}

static void surface_print(struct buf *b, const struct explanation *x, struct arena *a)
{
	const struct surface *h = &x->here, *o = &x->as_asked;
	const struct {
		const char *what, *here, *asked;
	} rows[] = {
		{"system calls", calls_text(h, a), calls_text(o, a)},
		{"capabilities", caps_text(h->caps, a), caps_text(o->caps, a)},
		{"no new privileges", h->no_new_privs ? "yes" : "no",
		 o->no_new_privs ? "yes" : "no"},
		{"namespaces of its own", list_text(&h->own_ns, a), list_text(&o->own_ns, a)},
		{"namespaces joined", list_text(&h->joined_ns, a), list_text(&o->joined_ns, a)},
		{"shared with the host", list_text(&h->host_ns, a), list_text(&o->host_ns, a)},
		{"mounts", counts_text(h, a), counts_text(o, a)},
		{"writable", list_text(&h->writable, a), list_text(&o->writable, a)},
		{"Landlock", landlock_text(h, a), landlock_text(o, a)},
		{"devices", list_text(&h->devices, a), list_text(&o->devices, a)},
		{"covered paths", arena_printf(a, "%zu", h->covered),
		 arena_printf(a, "%zu", o->covered)},
		{"read-only paths", arena_printf(a, "%zu", h->read_only),
		 arena_printf(a, "%zu", o->read_only)},
	};
	size_t i;

	buf_str(b, "\nWhat its program reaches\n");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		fact_print(b, rows[i].what, rows[i].here, rows[i].asked);
}

static void clamps_print(struct buf *b, const char *title, const struct policy_clamps *l)
{
	size_t i;

	if (!l->n)
		return;
	buf_printf(b, "\n%s\n", title);
	for (i = 0; i < l->n; i++)
		buf_printf(b, "  %-20s %s\n", l->v[i].row, l->v[i].text);
}

void explain_print(struct buf *b, const struct explanation *x, struct arena *a)
{
	size_t i;

	if (x->id)
		buf_printf(b, "container %s, ", x->id);
	buf_printf(b, "policy %s (sbxrun policy show %s)\n", x->policy.name, x->policy.name);
	clamps_print(b, "Refused: such a container is not made", &x->refusals);
	clamps_print(b, "Changed", &x->clamps);
	if (x->notes.n)
		buf_str(b, "\nThis host can't give\n");
	for (i = 0; i < x->notes.n; i++)
		buf_printf(b, "  %s\n", x->notes.v[i]);
	surface_print(b, x, a);
}

static void json_list(struct buf *b, const char *key, char *const *v, size_t n)
{
	size_t i;

	buf_printf(b, ",\"%s\":[", key);
	for (i = 0; i < n; i++) {
		buf_str(b, i ? "," : "");
		json_write_string(b, v[i]);
	}
	buf_char(b, ']');
}

static void json_clamps(struct buf *b, const char *key, const struct policy_clamps *l)
{
	buf_printf(b, ",\"%s\":", key);
	policy_clamps_write(l, b);
}

static void json_surface(struct buf *b, const char *key, const struct surface *s, struct arena *a)
{
	buf_printf(b,
		   ",\"%s\":{\"systemCalls\":%u,\"systemCallsForSomeArguments\":%u,\"filter\":%s,"
		   "\"otherArchitectures\":%s,\"noNewPrivileges\":%s,\"userNamespace\":%s,"
		   "\"mountsWithoutNosuid\":%zu,\"mountsWithoutNodev\":%zu,"
		   "\"landlockAbi\":%d,\"coveredPaths\":%zu,\"readOnlyPaths\":%zu",
		   key, s->calls, s->calls_some, s->filter ? "true" : "false",
		   s->other_abis ? "true" : "false", s->no_new_privs ? "true" : "false",
		   s->user_ns ? "true" : "false", s->without_nosuid, s->without_nodev,
		   s->landlock_abi, s->covered, s->read_only);
	buf_str(b, ",\"capabilities\":");
	json_write_string(b, caps_text(s->caps, a));
	json_list(b, "mounts", s->mounts.v, s->mounts.n);
	json_list(b, "devices", s->devices.v, s->devices.n);
	json_list(b, "writable", s->writable.v, s->writable.n);
	json_list(b, "ownNamespaces", s->own_ns.v, s->own_ns.n);
	json_list(b, "joinedNamespaces", s->joined_ns.v, s->joined_ns.n);
	json_list(b, "hostNamespaces", s->host_ns.v, s->host_ns.n);
	buf_char(b, '}');
}

void explain_write(struct buf *b, const struct explanation *x, struct arena *a)
{
	buf_str(b, "\"policy\":");
	json_write_string(b, x->policy.name);
	if (x->id) {
		buf_str(b, ",\"id\":");
		json_write_string(b, x->id);
	}
	json_clamps(b, "refused", &x->refusals);
	json_clamps(b, "changed", &x->clamps);
	json_list(b, "notGiven", x->notes.v, x->notes.n);
	json_surface(b, "reaches", &x->here, a);
}

/* Of containers that are gone, what was written down about each. */
static int explain_last(struct cli *c, struct buf *b, struct error *e)
{
	struct strings lines;
	size_t i;

	if (life_explain_last(c->root, c->last < LAST_MAX ? c->last : LAST_MAX, c->arena, &lines,
			      e) < 0)
		return -1;
	for (i = 0; i < lines.n; i++) {
		buf_str(b, lines.v[i]);
		buf_char(b, '\n');
	}
	if (!lines.n)
		return err_set(e, ERR_NOT_FOUND,
			       "no policy has changed or refused a container of %s", c->root);
	return 0;
}

static int explain_run(struct cli *c, struct error *e)
{
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	struct create_options o = {
		.root = c->root,
		.id = "example",
		.bundle = c->bundle ? c->bundle : ".",
		.config = c->config,
		.policy = c->policy,
		.console_fd = -1,
		.noter = &cli_noter,
	};
	struct explanation x;

	if (c->last)
		return explain_last(c, &b, e) < 0 ? -1 : cli_print(&b, e);
	if (c->n_args && c->bundle)
		return err_set(e, ERR_USAGE, "a container or --bundle, and not both");
	if (c->n_args ? life_explain_container(c->root, c->args[0], c->arena, &x, e) < 0 :
			life_explain(&o, c->arena, &x, e) < 0)
		return -1;
	if (!c->json) {
		explain_print(&b, &x, c->arena);
	} else {
		buf_char(&b, '{');
		explain_write(&b, &x, c->arena);
		json_surface(&b, "asAsked", &x.as_asked, c->arena);
		buf_str(&b, "}\n");
	}
	return cli_print(&b, e);
}

/* clang-format off */
static const struct cli_option explain_options[] = {
	CLI_OPTION(bundle, "bundle", 'b', CLI_TEXT, "DIR", "a bundle, instead of a container (default: .)"),
	CLI_OPTION(config, "config", 'f', CLI_TEXT, "FILE", "another file than config.json of the bundle"),
	CLI_OPTION(last, "last", 0, CLI_NUMBER, "N", "the last N containers that a policy changed or refused, as JSON lines"),
	CLI_OPTION(json, "json", 0, CLI_FLAG, NULL, "one object instead of text"),
};
/* clang-format on */
const struct cli_command cli_explain = {
	"explain", "[ID]", "say what a container is held to, and what was changed", explain_options,
	ARRAY_SIZE(explain_options), 0, 1, false, explain_run, .answers = true};
