#include "box/operator.h"

#include "base/str.h"
#include "json/rows.h"
#include "life/policy.h"
#include "sys/loop.h"

enum { LANGUAGES_MAX = 64 };

static const struct json_row operator_limits_rows[] = {
	F(operator_limits, "max_memory_mb", OPT_U32, memory_mb),
	F(operator_limits, "max_cpu_percent", OPT_U32, cpu_percent),
	F(operator_limits, "max_pids", OPT_U32, pids),
	F(operator_limits, "max_disk_mb", OPT_U32, disk_mb),
	F(operator_limits, "max_writable_root_mb", OPT_U32, root_mb),
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

static const struct json_row operator_file_rows[] = {
	F(operator_file, "version", U32, version, REQUIRED),
	F(operator_file, "boxes", OPT_U32, boxes, NOT_NULL),
	F(operator_file, "idle_s", OPT_U32, idle_s, NOT_NULL),
	O(operator_file, "limits", limits, operator_limits, NOT_NULL),
	L(operator_file, "languages", PAIRS, languages, LANGUAGES_MAX, NOT_NULL),
};
static const struct json_table operator_file_table = {
	.name = "operator_file",
	.size = sizeof(struct operator_file),
	.rows = operator_file_rows,
	.count = ARRAY_SIZE(operator_file_rows),
	.closed = true,
};

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
	return 0;
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

static int hold(const char *option, const char *key, bool is_set, int64_t most, bool given,
		int64_t *value, struct error *e)
{
	if (!is_set || *value <= most)
		return 0;
	if (given)
		return err_set(e, ERR_USAGE,
			       "--%s: more than the operator allows (" OPERATOR_FILE ": %s)",
			       option, key);
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
	return hold_language(f, q, e);
}
