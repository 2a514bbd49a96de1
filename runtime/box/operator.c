#include "box/operator.h"

#include <stdio.h>
#include <strings.h>

#include "base/buf.h"
#include "base/str.h"
#include "box/network.h"
#include "box/registries.h"
#include "json/rows.h"
#include "life/policy.h"
#include "sys/loop.h"

enum { LANGUAGES_MAX = 64, REGISTRIES_MAX = 16, HOSTS_MAX = 32 };

static const struct json_row operator_limits_rows[] = {
	F(operator_limits, "max_memory_mb", OPT_U32, memory_mb),
	F(operator_limits, "max_cpu_percent", OPT_U32, cpu_percent),
	F(operator_limits, "max_pids", OPT_U32, pids),
	F(operator_limits, "max_disk_mb", OPT_U32, disk_mb),
	F(operator_limits, "max_writable_root_mb", OPT_U32, root_mb),
	F(operator_limits, "max_snapshot_mb", OPT_U32, snapshot_mb),
	F(operator_limits, "max_execution_time", OPT_U32, execution_time),
	F(operator_limits, "max_output_bytes", OPT_I64, output_bytes),
};
static const struct json_table operator_limits_table = {
	.name = "operator_limits",
	.size = sizeof(struct operator_limits),
	.rows = operator_limits_rows,
	.count = ARRAY_SIZE(operator_limits_rows),
	.closed = true,
};

static const struct json_row operator_models_rows[] = {
	F(operator_models, "max_memory_mb", OPT_U32, memory_mb, NOT_NULL),
	F(operator_models, "max_cpu_percent", OPT_U32, cpu_percent, NOT_NULL),
	F(operator_models, "max_disk_mb", OPT_U32, disk_mb, NOT_NULL),
};
static const struct json_table operator_models_table = {
	.name = "operator_models",
	.size = sizeof(struct operator_models),
	.rows = operator_models_rows,
	.count = ARRAY_SIZE(operator_models_rows),
	.closed = true,
};

static const struct json_row operator_network_rows[] = {
	F(operator_network, "enabled", OPT_BOOL, enabled, NOT_NULL),
	L(operator_network, "allowed", STRINGS, allowed, EGRESS_RULES_MAX, NOT_NULL),
	L(operator_network, "denied", STRINGS, denied, EGRESS_RULES_MAX / 2, NOT_NULL),
	L(operator_network, "default", STRINGS, given, EGRESS_RULES_MAX / 2, NOT_NULL),
	F(operator_network, "max_bytes", OPT_I64, bytes, NOT_NULL),
	F(operator_network, "max_rate", OPT_I64, rate, NOT_NULL),
};
static const struct json_table operator_network_table = {
	.name = "operator_network",
	.size = sizeof(struct operator_network),
	.rows = operator_network_rows,
	.count = ARRAY_SIZE(operator_network_rows),
	.closed = true,
};

static const struct json_row operator_registry_rows[] = {
	F(operator_registry, "index", STR, index, NOT_NULL),
	L(operator_registry, "hosts", STRINGS, hosts, HOSTS_MAX, NOT_NULL),
};
static const struct json_table operator_registry_table = {
	.name = "operator_registry",
	.size = sizeof(struct operator_registry),
	.key_offset = offsetof(struct operator_registry, name),
	.rows = operator_registry_rows,
	.count = ARRAY_SIZE(operator_registry_rows),
	.closed = true,
};

static const struct json_row operator_file_rows[] = {
	F(operator_file, "version", U32, version, REQUIRED),
	F(operator_file, "boxes", OPT_U32, boxes, NOT_NULL),
	F(operator_file, "snapshots", OPT_U32, snapshots, NOT_NULL),
	F(operator_file, "idle_s", OPT_U32, idle_s, NOT_NULL),
	O(operator_file, "limits", limits, operator_limits, NOT_NULL),
	O(operator_file, "models", models, operator_models, NOT_NULL),
	L(operator_file, "languages", PAIRS, languages, LANGUAGES_MAX, NOT_NULL),
	O(operator_file, "network", network, operator_network, NOT_NULL),
	N(operator_file, "registries", MAP, registries, operator_registry, REGISTRIES_MAX,
	  NOT_NULL),
};
static const struct json_table operator_file_table = {
	.name = "operator_file",
	.size = sizeof(struct operator_file),
	.rows = operator_file_rows,
	.count = ARRAY_SIZE(operator_file_rows),
	.closed = true,
};

static int parse_rules(const char *key, const struct strings *list, bool denies, bool registries,
		       struct error *e)
{
	struct egress_rules *r;
	struct arena memory = {0};
	int result = 0;
	size_t i;

	r = arena_new(&memory, struct egress_rules);
	for (i = 0; i < list->n && result == 0; i++)
		result = registries && *list->v[i] == '@' ?
				 registry_check(list->v[i], e) :
				 egress_rules_add(r, list->v[i], denies, e);
	if (result < 0) {
		e->class = ERR_CONFIG;
		err_wrap(e, OPERATOR_FILE ": %s: %s", key, json_show(list->v[i - 1]).text);
	}
	arena_free(&memory);
	return result;
}

static int parse_network(const struct operator_file *f, struct arena *a, struct error *e)
{
	const struct operator_network *n = &f->network;
	struct error ignored;
	size_t i;

	if (parse_rules("network.allowed", &n->allowed, false, true, e) < 0 ||
	    parse_rules("network.denied", &n->denied, true, false, e) < 0 ||
	    parse_rules("network.default", &n->given, false, true, e) < 0)
		return -1;
	if ((n->bytes.set && n->bytes.v < NETWORK_BYTES_LEAST) ||
	    (n->rate.set && n->rate.v < NETWORK_BYTES_LEAST))
		return err_set(e, ERR_CONFIG,
			       OPERATOR_FILE ": network: max_bytes and max_rate are %d at least",
			       NETWORK_BYTES_LEAST);
	for (i = 0; i < f->registries.n; i++) {
		const struct operator_registry *r = &f->registries.v[i];

		if (registry_check(arena_printf(a, "@%s", r->name), &ignored) < 0)
			return err_set(e, ERR_CONFIG,
				       OPERATOR_FILE
				       ": registries: there is no %s (there are pypi, "
				       "npm, debian)",
				       json_show(r->name).text);
		if (r->index && !registry_rule(r->index, a))
			return err_set(e, ERR_CONFIG,
				       OPERATOR_FILE ": registries: %s is no URL of http or https",
				       json_show(r->index).text);
		if (parse_rules("registries", &r->hosts, false, false, e) < 0)
			return -1;
	}
	return 0;
}

int operator_parse(const char *text, size_t len, struct arena *a, struct operator_file *ret,
		   struct error *e)
{
	struct json_limits limits = json_default_limits;
	size_t i;

	limits.lines = true;
	*ret = (struct operator_file){0};
	if (json_read(OPERATOR_FILE, text, len, &operator_file_table, &limits, ret, a, e) < 0)
		return -1;
	if (ret->version != 1)
		return err_set(e, ERR_CONFIG, OPERATOR_FILE ": version %u is not 1", ret->version);
	if ((ret->idle_s.set && !ret->idle_s.v) || (ret->limits.output_bytes.set &&
						    ret->limits.output_bytes.v < 0))
		return err_set(e, ERR_CONFIG, OPERATOR_FILE ": idle_s or max_output_bytes is out "
							    "of range");
	for (i = 0; i < ret->languages.n; i++)
		if (!box_language_find(ret->languages.v[i].key))
			return err_set(e, ERR_CONFIG,
				       OPERATOR_FILE ": languages: there is no language %s",
				       json_show(ret->languages.v[i].key).text);
	return parse_network(ret, a, e);
}

int operator_read(struct arena *a, struct operator_file *ret, struct error *e)
{
	char *text;
	size_t len;

	*ret = (struct operator_file){0};
	if (life_read_admin_file(OPERATOR_FILE, a, &text, &len, e) < 0)
		return -1;
	return text ? operator_parse(text, len, a, ret, e) : 0;
}

/* As the option takes it. */
static const struct {
	const char *option;
	double unit;
	const char *name;
} figures[] = {
	{"memory", 1 << 20, "m"},	 {"disk", 1 << 20, "m"}, {"writable-root", 1 << 20, "m"},
	{"timeout", LOOP_SECOND, " seconds"}, {"cpus", 1000, ""},
};

static const char *figure(const char *option, int64_t most, char *ret, size_t size)
{
	size_t i;

	snprintf(ret, size, "%lld", (long long)most);
	for (i = 0; i < ARRAY_SIZE(figures); i++)
		if (str_eq(figures[i].option, option))
			snprintf(ret, size, "%.12g%s", (double)most / figures[i].unit,
				 figures[i].name);
	return ret;
}

static int hold(const char *option, const char *key, bool is_set, int64_t most, bool given,
		int64_t *value, struct error *e)
{
	char text[48];

	if (!is_set || *value <= most)
		return 0;
	if (given)
		return err_set(e, ERR_USAGE,
			       "--%s: more than the operator allows, which is %s (" OPERATOR_FILE
			       ": %s)",
			       option, figure(option, most, text, sizeof(text)), key);
	*value = most;
	return 0;
}

static int hold_u32(const char *option, const char *key, const struct opt_u32 *most,
		    uint32_t factor, bool given, uint32_t *value, struct error *e)
{
	int64_t v = *value;

	if (hold(option, key, most->set, (int64_t)most->v * factor, given, &v, e) < 0)
		return -1;
	*value = (uint32_t)v;
	return 0;
}

static int hold_language(const struct operator_file *f, struct box_request *q, struct error *e)
{
	size_t i;

	if (!f->languages.n)
		return 0;
	if (q->rootfs || !q->language)
		return err_set(e, ERR_USAGE,
			       "--rootfs: the operator says which root filesystem a language has "
			       "(" OPERATOR_FILE ": languages)");
	for (i = 0; i < f->languages.n; i++)
		if (box_language_find(f->languages.v[i].key) == q->language) {
			q->rootfs = f->languages.v[i].value;
			return 0;
		}
	return err_set(e, ERR_USAGE, "%s: the operator has no such boxes (" OPERATOR_FILE
				     ": languages)",
		       q->language->name);
}

int operator_hold_call(const struct operator_file *f, const struct operator_given *given,
		       struct box_request *q, struct error *e)
{
	const struct operator_limits *most = &f->limits;
	struct box_limits *l = &q->limits;

	if (hold("timeout", "max_execution_time", most->execution_time.set,
		 most->execution_time.v * LOOP_SECOND, given->timeout, &l->timeout_ns, e) < 0)
		return -1;
	return hold("output-limit", "max_output_bytes", most->output_bytes.set,
		    most->output_bytes.v, given->output, &l->output, e);
}

static int hold_wish(const char *what, const char *key, const struct opt_u32 *wish,
		     const struct opt_u32 *most, uint32_t by_default, struct error *e)
{
	const uint32_t bound = most->set ? most->v : by_default;

	if (!wish->set || wish->v <= bound)
		return 0;
	return err_set(e, ERR_USAGE,
		       "%s: %u is more than a model may ask for here, which is %u (" OPERATOR_FILE
		       ": models, %s)",
		       what, wish->v, bound, key);
}

int operator_hold_model(const struct operator_file *f, const struct operator_models *wish,
			struct error *e)
{
	const struct operator_models *most = &f->models;

	if (hold_wish("memory_mb", "max_memory_mb", &wish->memory_mb, &most->memory_mb,
		      OPERATOR_MODEL_MEMORY_MB, e) < 0 ||
	    hold_wish("cpu_percent", "max_cpu_percent", &wish->cpu_percent, &most->cpu_percent,
		      OPERATOR_MODEL_CPU_PERCENT, e) < 0)
		return -1;
	return hold_wish("disk_mb", "max_disk_mb", &wish->disk_mb, &most->disk_mb,
			 OPERATOR_MODEL_DISK_MB, e);
}

/* The most that may be allowed, in words that a message has room for. */
static const char *rules_text(const struct strings *allowed, struct arena *a)
{
	struct buf b = buf_new(a, 1024);
	size_t i;

	for (i = 0; i < allowed->n && b.len < 200; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", allowed->v[i]);
	buf_str(&b, i < allowed->n ? " ..." : "");
	return b.data;
}

/* A registry that the operator has named is allowed by that. */
static bool rules_may(const struct operator_file *f, const char *word,
		      const struct egress_rules *most)
{
	static struct egress_rules one;
	struct error ignored;
	size_t i;

	for (i = 0; i < f->network.allowed.n; i++)
		if (str_eq(f->network.allowed.v[i], word))
			return true;
	if (*word == '@')
		return f->registries.n > 0;
	one.n = 0;
	if (egress_rules_add(&one, word, false, &ignored) < 0)
		return false;
	for (i = 0; i < most->n; i++)
		if (egress_rule_covers(&most->v[i], &one.v[0]))
			return true;
	return false;
}

static int most_read(const struct operator_file *f, struct egress_rules *ret, struct error *e)
{
	const struct strings *allowed = &f->network.allowed;
	size_t i;

	for (i = 0; i < allowed->n; i++)
		if (*allowed->v[i] != '@' && egress_rules_add(ret, allowed->v[i], false, e) < 0)
			return -1;
	return 0;
}

int operator_hold_registry(const struct operator_file *f, const char *name,
			   const struct strings *hosts, struct arena *a, struct error *e)
{
	struct egress_rules *most = arena_new(a, struct egress_rules);
	size_t i;

	if (most_read(f, most, e) < 0)
		return -1;
	if (!f->network.allowed.n || rules_may(f, arena_printf(a, "@%s", name), most))
		return 0;
	for (i = 0; i < hosts->n; i++)
		if (!rules_may(f, hosts->v[i], most))
			return err_set(e, ERR_HOST,
				       "packages of %s come from %s, which is more than the operator "
				       "allows (" OPERATOR_FILE ": registries, or network.allowed)",
				       name, json_show(hosts->v[i]).text);
	return 0;
}

int operator_hold_rules(const struct operator_file *f, const struct strings *allow,
			struct strings *deny, struct arena *a, struct error *e)
{
	const struct operator_network *n = &f->network;
	struct egress_rules *most = arena_new(a, struct egress_rules);
	struct strings all = {.v = arena_array(a, deny->n + n->denied.n + 1, char *)};
	size_t i;

	if (allow->n && n->enabled.set && !n->enabled.v)
		return err_set(e, ERR_USAGE, "--allow: the operator lets no box reach anything "
					     "(" OPERATOR_FILE ": network)");
	if (most_read(f, most, e) < 0)
		return -1;
	for (i = 0; i < allow->n && n->allowed.n; i++)
		if (!rules_may(f, allow->v[i], most))
			return err_set(e, ERR_USAGE,
				       "--allow %s: more than the operator allows, which is %s "
				       "(" OPERATOR_FILE ": network.allowed)",
				       allow->v[i], rules_text(&n->allowed, a));
	for (i = 0; i < n->denied.n && allow->n; i++)
		all.v[all.n++] = n->denied.v[i];
	for (i = 0; i < deny->n; i++)
		all.v[all.n++] = deny->v[i];
	*deny = all;
	return 0;
}

int operator_hold_removal(const struct operator_file *f, const struct strings *deny,
			  struct error *e)
{
	const struct strings *denied = &f->network.denied;
	size_t i, j;

	for (i = 0; i < deny->n; i++)
		for (j = 0; j < denied->n; j++)
			if (strcasecmp(deny->v[i], denied->v[j]) == 0)
				return err_set(e, ERR_USAGE,
					       "box deny --remove %s: the operator denies it "
					       "(" OPERATOR_FILE ": network.denied)",
					       deny->v[i]);
	return 0;
}

int operator_hold_install(const struct operator_file *f, struct error *e)
{
	if (f->network.enabled.set && !f->network.enabled.v)
		return err_set(e, ERR_HOST,
			       "network access required for package installation: the operator lets no "
			       "box reach anything (" OPERATOR_FILE ": network)");
	return 0;
}

int operator_hold(const struct operator_file *f, const struct operator_given *given,
		  struct box_request *q, struct error *e)
{
	const struct operator_limits *most = &f->limits;
	struct box_limits *l = &q->limits;

	if (hold("memory", "max_memory_mb", most->memory_mb.set, (int64_t)most->memory_mb.v << 20,
		 given->memory, &l->memory, e) < 0 ||
	    hold_u32("cpus", "max_cpu_percent", &most->cpu_percent, 10, given->cpus, &l->cpus, e) <
		    0 ||
	    hold_u32("pids-limit", "max_pids", &most->pids, 1, given->pids, &l->pids, e) < 0 ||
	    operator_hold_call(f, given, q, e) < 0)
		return -1;
	if (!l->disk)
		l->disk = box_workspace_size(l);
	if (hold("disk", "max_disk_mb", most->disk_mb.set, (int64_t)most->disk_mb.v << 20,
		 given->disk, &l->disk, e) < 0)
		return -1;
	if (hold("writable-root", "max_writable_root_mb", most->root_mb.set,
		 (int64_t)most->root_mb.v << 20, given->writable_root, &q->writable_root, e) < 0)
		return -1;
	if (!given->allow && !(f->network.enabled.set && !f->network.enabled.v))
		q->allow = f->network.given;
	l->network = q->allow.n > 0;
	if (!l->net_bytes)
		l->net_bytes = INT64_MAX;
	if (!l->net_rate)
		l->net_rate = INT64_MAX;
	if (hold("net-limit", "network.max_bytes", f->network.bytes.set, f->network.bytes.v,
		 given->bytes, &l->net_bytes, e) < 0 ||
	    hold("net-rate", "network.max_rate", f->network.rate.set, f->network.rate.v,
		 given->rate, &l->net_rate, e) < 0)
		return -1;
	l->net_bytes = l->net_bytes == INT64_MAX ? 0 : l->net_bytes;
	l->net_rate = l->net_rate == INT64_MAX ? 0 : l->net_rate;
	return hold_language(f, q, e);
}
