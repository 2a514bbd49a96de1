#include "box/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "base/path.h"
#include "base/sha256.h"
#include "base/str.h"
#include "box/denials.h"
#include "box/disk.h"
#include "box/network.h"
#include "box/profiles.h"
#include "json/json.h"

enum { EXPLAIN_MAX = 4 << 20 };

/* ---- limits ---- */

/* How the number of a limit is meant. */
enum unit { BYTES, COUNT, THOUSANDTHS, NANOSECONDS };

/* A limit, and who may hold it: a file of a cgroup, else an rlimit, else we ourselves or a mount.
 * The text of an rlimit says how far that goes. */
static const struct limit_row {
	const char *name;
	size_t offset;
	size_t size;
	enum unit unit;
	const char *files[2];
	int rlimit;
	const char *rlimit_text;
	const char *ours;
} limit_rows[] = {
#define ROW(n, field, unit, ...)                                                                   \
	{n, offsetof(struct box_limits, field), sizeof(((struct box_limits *)0)->field), unit,     \
	 __VA_ARGS__}
	ROW("memory", memory, BYTES, {"memory.limit_in_bytes", "memory.max"}, RLIMIT_DATA,
	    "RLIMIT_DATA, for each process", NULL),
	ROW("cpus", cpus, THOUSANDTHS, {"cpu.cfs_quota_us", "cpu.max"}, -1, NULL,
	    "affinity, whole processors only"),
	ROW("pids", pids, COUNT, {"pids.max", "pids.max"}, RLIMIT_NPROC,
	    "RLIMIT_NPROC, for the ids of the box", NULL),
	ROW("timeout_s", timeout_ns, NANOSECONDS, {NULL, NULL}, -1, NULL,
	    "sbxrun: SIGTERM, 2 s, SIGKILL to all"),
	ROW("cpu_time_s", cpu_time_ns, NANOSECONDS, {"cpu.cfs_quota_us", "cpu.max"}, RLIMIT_CPU,
	    "RLIMIT_CPU, for each process", NULL),
	ROW("disk", disk, BYTES, {NULL, NULL}, -1, NULL, NULL), /* see disk_holder() */
	ROW("tmpfs", tmpfs, BYTES, {NULL, NULL}, -1, NULL, "the size of /tmp"),
	ROW("output", output, BYTES, {NULL, NULL}, -1, NULL, "sbxrun: the rest is dropped"),
	ROW("open_files", open_files, COUNT, {NULL, NULL}, RLIMIT_NOFILE,
	    "RLIMIT_NOFILE, for each process", NULL),
	ROW("file_size", file_size, BYTES, {NULL, NULL}, RLIMIT_FSIZE,
	    "RLIMIT_FSIZE, for each file", NULL),
#undef ROW
};

static int64_t limit_value(const struct limit_row *row, const struct box_limits *l)
{
	const char *at = (const char *)l + row->offset;

	return row->size == sizeof(uint32_t) ? *(const uint32_t *)(const void *)at :
					       *(const int64_t *)(const void *)at;
}

static const char *limit_number(const struct limit_row *row, int64_t v, struct arena *a)
{
	switch (row->unit) {
	case NANOSECONDS:
		v /= 1000000;
		return arena_printf(a, "%" PRId64 ".%03" PRId64, v / 1000, v % 1000);
	case THOUSANDTHS:
		return arena_printf(a, "%" PRId64 ".%03" PRId64, v / 1000, v % 1000);
	case BYTES:
	case COUNT:
		break;
	}
	return arena_printf(a, "%" PRId64, v);
}

static const char *limit_text(const struct limit_row *row, int64_t v, struct arena *a)
{
	static const struct {
		int64_t unit;
		const char *name;
	} sizes[] = {{1 << 30, "GB"}, {1 << 20, "MB"}, {1 << 10, "kB"}};
	size_t i;

	if (row->unit == NANOSECONDS)
		return arena_printf(a, "%s s", limit_number(row, v, a));
	for (i = 0; row->unit == BYTES && i < ARRAY_SIZE(sizes); i++)
		if (v >= sizes[i].unit && v % sizes[i].unit == 0)
			return arena_printf(a, "%" PRId64 " %s", v / sizes[i].unit, sizes[i].name);
	return limit_number(row, v, a);
}

static const char *limit_file(const struct limit_row *row, const struct plan *p, struct arena *a)
{
	size_t i, k;

	for (i = 0; i < p->cgroup.n_writes; i++)
		for (k = 0; k < ARRAY_SIZE(row->files); k++)
			if (row->files[k] && str_eq(p->cgroup.writes[i].file, row->files[k]))
				return arena_printf(
					a, "cgroup: %s in %s", row->files[k],
					path_join(a,
						  p->cgroup.dirs.v[p->cgroup.writes[i].hierarchy]
							  .mount,
						  p->cgroup.path ? p->cgroup.path + 1 : ""));
	return NULL;
}

static const char *limit_by(const struct limit_row *row, const struct plan *p, struct arena *a)
{
	const char *file = limit_file(row, p, a);
	size_t i;

	for (i = 0; !file && row->rlimit_text && i < p->rlimits.n; i++)
		if (p->rlimits.v[i].resource == row->rlimit)
			return row->rlimit_text;
	return file ? file : row->ours;
}

static void explain_limits(struct box_explanation *x, struct arena *a)
{
	struct box_limits l = x->q->limits;
	const struct limit_row *row;
	int64_t v;

	l.disk = box_workspace_size(&l);
	x->holdings = arena_array(a, ARRAY_SIZE(limit_rows), struct box_holding);
	for (row = limit_rows; row < limit_rows + ARRAY_SIZE(limit_rows); row++) {
		v = limit_value(row, &l);
		if (v)
			x->holdings[x->n_holdings++] =
				(struct box_holding){.name = row->name,
						     .value = limit_text(row, v, a),
						     .number = limit_number(row, v, a),
						     .by = limit_by(row, x->held.plan, a)};
		if (v && row->offset == offsetof(struct box_limits, disk))
			x->holdings[x->n_holdings - 1].by = disk_holder(x->q);
	}
}

static int explain_fill(const struct box_request *q, struct arena *a, struct box_explanation *ret,
			struct error *e)
{
	struct buf config = buf_new(a, EXPLAIN_MAX);
	struct cgroup_boxes boxes = CGROUP_BOXES_NONE;
	struct box_request *own = arena_new(a, struct box_request);
	struct create_options o;
	const char *note;
	size_t i;

	*own = *q;
	*ret = (struct box_explanation){.q = own, .root = BOX_ROOT_NONE};
	if (denials_settle_request(own, &note, e) < 0)
		return -1;
	if (box_root_find(q, a, &ret->root, e) < 0 || box_expand_rules(own, &ret->root, a, e) < 0)
		return -1;
	box_choose_profile(own, &ret->root, a);
	if (box_cgroup_open(q, false, BOX_ID_PREFIX "example", a, &boxes, &ret->root, e) < 0 ||
	    box_config_write(own, &ret->root, a, &config, e) < 0)
		return -1;
	cgroup_boxes_close(&boxes);
	o = box_options(own, &ret->root);
	o.id = BOX_ID_PREFIX "example";
	o.config_text = config.data;
	o.config_len = config.len;
	if (life_explain(&o, a, &ret->held, e) < 0)
		return err_set(e, e->class, "%s", box_words(e->text, a));
	if (note)
		notes_add(&ret->held.notes, arena_strdup(a, note), a);
	for (i = 0; i < ret->held.notes.n; i++)
		ret->held.notes.v[i] = arena_strdup(a, box_words(ret->held.notes.v[i], a));
	for (i = 0; i < ret->held.refusals.n; i++)
		ret->held.refusals.v[i].text =
			arena_strdup(a, box_words(ret->held.refusals.v[i].text, a));
	/* Of the config nobody but us has heard. */
	ret->held.as_asked = ret->held.here;
	ret->held.clamps = (struct policy_clamps){0};
	explain_limits(ret, a);
	ret->disk = box_workspace_is_volume(q) ? "volume" : disk_is_wanted(q) ? "disk" : "memory";
	return 0;
}

int box_explain(const struct box_request *q, struct arena *a, struct box_explanation *ret,
		struct error *e)
{
	int result = explain_fill(q, a, ret, e);

	box_root_close(&ret->root);
	return result;
}

/* ---- as text and as JSON ---- */

/* "ro nosuid nodev noexec", as far as it is so. */
static const char *mount_flags(const struct mount_plan *m, struct arena *a)
{
	static const struct {
		uint64_t flag;
		const char *word;
	} words[] = {{MOUNT_ATTR_RDONLY, "ro"},
		     {MOUNT_ATTR_NOSUID, "nosuid"},
		     {MOUNT_ATTR_NODEV, "nodev"},
		     {MOUNT_ATTR_NOEXEC, "noexec"}};
	const uint64_t set = m->set | m->set_all;
	const char *text = set & MOUNT_ATTR_RDONLY ? "" : "rw";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (set & words[i].flag)
			text = arena_printf(a, "%s%s%s", text, *text ? " " : "", words[i].word);
	return text;
}

static void explain_network(const struct box_request *q, struct buf *b)
{
	size_t i;

	if (!q->allow.n)
		buf_str(b, "none but loopback");
	for (i = 0; i < q->allow.n; i++)
		buf_printf(b, "%s%s", i ? ", " : "loopback, and the hosts ", q->allow.v[i]);
	for (i = 0; i < q->deny.n; i++)
		buf_printf(b, "%s%s", i ? ", " : "; never ", q->deny.v[i]);
	buf_char(b, '\n');
}

static void explain_program(const struct box_explanation *x, struct buf *b)
{
	const struct program_plan *p = &x->held.plan->program;
	size_t i;

	buf_str(b, "The box\n  program                    ");
	for (i = 0; i < p->args.n; i++) {
		if (i)
			buf_char(b, ' ');
		json_write_string(b, p->args.v[i]);
	}
	buf_printf(b,
		   "\n  %-26s %s\n  %-26s %s\n  %-26s %s\n  %-26s %s, %s\n"
		   "  %-26s %u:%u\n  %-26s %s\n  %-26s ",
		   "language", x->q->language ? x->q->language->name : "none: a command",
		   "profile of system calls", x->q->profile ? x->q->profile : "the policy's list",
		   "workspace lies in", x->disk, "root",
		   x->root.name, x->root.path, "user inside", p->uid, p->gid, "directory", p->cwd,
		   "network");
	explain_network(x->q, b);
	if (x->q->language && x->q->language->compile[0])
		buf_printf(b, "  %-26s %s\n", "before", "it is compiled, in a box of its own");
}

void box_explain_print(const struct box_explanation *x, struct buf *b)
{
	const struct plan *p = x->held.plan;
	size_t i;

	explain_program(x, b);
	buf_str(b, "\nLimits, and what holds them here\n");
	for (i = 0; i < x->n_holdings; i++)
		buf_printf(b, "  %-11s %-14s %s\n", x->holdings[i].name, x->holdings[i].value,
			   x->holdings[i].by ? x->holdings[i].by : "NOT HELD on this host");
	buf_str(b, "\nMounts\n");
	for (i = 0; i < p->n_mounts; i++) {
		const struct mount_plan *m = &p->mounts[i];

		buf_printf(b, "  %-26s %-24s %s\n", m->destination, mount_flags(m, b->arena),
			   m->binds ? m->source : m->type);
	}
	buf_char(b, '\n');
}

static void explain_member(struct buf *b, const char *key, const char *value)
{
	buf_printf(b, ",\"%s\":", key);
	if (value)
		json_write_string(b, value);
	else
		buf_str(b, "null");
}

static void explain_write_limits(const struct box_explanation *x, struct buf *b)
{
	size_t i;

	buf_str(b, ",\"limits\":{");
	for (i = 0; i < x->n_holdings; i++) {
		buf_printf(b, "%s\"%s\":{\"value\":%s", i ? "," : "", x->holdings[i].name,
			   x->holdings[i].number);
		explain_member(b, "heldBy", x->holdings[i].by);
		buf_char(b, '}');
	}
	buf_char(b, '}');
}

static void explain_write_hosts(const char *key, const struct strings *list, struct buf *b)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (i)
			buf_char(b, ',');
		else
			buf_printf(b, ",\"%s\":[", key);
		json_write_string(b, list->v[i]);
	}
	if (list->n)
		buf_char(b, ']');
}

static void explain_write_mounts(const struct plan *p, struct buf *b)
{
	size_t i;

	buf_str(b, ",\"mounts\":[");
	for (i = 0; i < p->n_mounts; i++) {
		const struct mount_plan *m = &p->mounts[i];

		buf_str(b, i ? ",{\"destination\":" : "{\"destination\":");
		json_write_string(b, m->destination);
		explain_member(b, "type", m->binds ? "bind" : m->type);
		explain_member(b, "source", m->source);
		explain_member(b, "flags", mount_flags(m, b->arena));
		buf_char(b, '}');
	}
	buf_char(b, ']');
}

void box_explain_write(const struct box_explanation *x, struct buf *b)
{
	const struct program_plan *p = &x->held.plan->program;
	char digest[SHA256_HEX_SIZE];
	size_t i;

	if (x->q->code)
		sha256_hex(x->q->code, x->q->code_len, digest);
	buf_str(b, "\"box\":{\"program\":[");
	for (i = 0; i < p->args.n; i++) {
		buf_str(b, i ? "," : "");
		json_write_string(b, p->args.v[i]);
	}
	buf_char(b, ']');
	explain_member(b, "language", x->q->language ? x->q->language->name : NULL);
	explain_member(b, "code_sha256", x->q->code ? digest : NULL);
	explain_member(b, "profile", x->q->profile);
	explain_member(b, "disk_backing", x->disk);
	explain_member(b, "rootfs", x->root.name);
	explain_member(b, "rootfsPath", x->root.path);
	explain_member(b, "cwd", p->cwd);
	explain_member(b, "network", x->q->allow.n ? "allow-list" : "none");
	explain_write_hosts("allow", &x->q->allow, b);
	explain_write_hosts("deny", &x->q->deny, b);
	buf_printf(b, ",\"uid\":%u,\"gid\":%u,\"compiles\":%s", p->uid, p->gid,
		   x->q->language && x->q->language->compile[0] ? "true" : "false");
	explain_write_limits(x, b);
	explain_write_mounts(x->held.plan, b);
	buf_char(b, '}');
}
