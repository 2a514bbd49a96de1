/*
 * The container's cgroup as a unit of systemd's: `slice:prefix:name` becomes a scope and the path
 * of its cgroup, and what the plan writes into files becomes properties. Pure.
 *
 * Properties follow from the writes and not from the config, so that both say the same whichever
 * field or file name (linux.resources.unified) a value came by. Files that no property stands for
 * are written all the same, and last.
 *
 * Trust: the three words come from config.json. Names that systemd would refuse or expand to
 * something else are errors here, before anything is on record.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "plan/cgroup_build.h"

#define PATH_FIELD "linux.cgroupsPath"
#define UNIT_LONGEST 255
#define UNIT_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_.\\-@"
#define SLICE ".slice"
#define INFINITE UINT64_MAX
#define SETS_LONGEST 1024 /* bytes of a set: cpus or memory nodes up to 8191 */

/* ---- names ---- */

bool unit_name_is_good(const char *name)
{
	const size_t len = strlen(name);

	return len && len <= UNIT_LONGEST && strspn(name, UNIT_CHARS) == len;
}

static int unit_check_name(const char *name, struct error *e)
{
	size_t good = strspn(name, UNIT_CHARS);

	if (name[good])
		return err_set(e, ERR_CONFIG,
			       PATH_FIELD ": \"%s\" is no name of a unit: systemd takes no '%c'",
			       name, name[good]);
	if (strlen(name) > UNIT_LONGEST)
		return err_set(e, ERR_CONFIG,
			       PATH_FIELD ": the unit's name is longer than %d bytes",
			       UNIT_LONGEST);
	return 0;
}

/* "a-b.slice" → "/a.slice/a-b.slice"; the root's, "-.slice", → "". */
static int unit_expand_slice(const char *slice, struct arena *a, const char **ret, struct error *e)
{
	size_t len = strlen(slice), suffix = strlen(SLICE), i;
	const char *path = "";

	if (unit_check_name(slice, e) < 0)
		return -1;
	if (len <= suffix || !str_eq(slice + len - suffix, SLICE))
		return err_set(e, ERR_CONFIG,
			       PATH_FIELD ": \"%s\" is no slice, whose names end in " SLICE, slice);
	len -= suffix;
	if (len == 1 && *slice == '-') {
		*ret = path;
		return 0;
	}
	if (*slice == '-' || slice[len - 1] == '-' || strstr(slice, "--"))
		return err_set(e, ERR_CONFIG, PATH_FIELD ": \"%s\" is no name of a slice", slice);
	for (i = 0; i <= len; i++)
		if (i == len || slice[i] == '-')
			path = arena_printf(a, "%s/%.*s" SLICE, path, (int)i, slice);
	*ret = path;
	return 0;
}

static bool has_suffix(const char *s, const char *suffix)
{
	size_t len = strlen(s), n = strlen(suffix);

	return len >= n && str_eq(s + len - n, suffix);
}

/* Exactly three words. runc's own sentence, which callers know. */
static int unit_split(const char *text, struct arena *a, char *words[3], struct error *e)
{
	char *rest = arena_strdup(a, text);
	size_t n;

	for (n = 0; rest && n < 3; n++)
		words[n] = strsep(&rest, ":");
	if (n < 3 || rest)
		return err_set(e, ERR_CONFIG,
			       "expected cgroupsPath to be of format \"slice:prefix:name\" for "
			       "systemd cgroups, got \"%s\" instead",
			       text);
	return 0;
}

int cgroup_build_unit(struct cgroup_build *b, const struct oci_config *c, const char *id,
		      bool rootless)
{
	const char *cgroups_path = c->linux_.cgroups_path, *slice_path;
	struct cgroup_unit *u = &b->p->unit;
	char *words[3];

	if (rootless && b->host->mode != CGROUP_V2)
		return err_set(
			b->e, ERR_HOST,
			"--systemd-cgroup: an ordinary user's systemd has no cgroups to give "
			"on cgroup v1: use cgroupfs");
	if (!cgroups_path || !*cgroups_path)
		cgroups_path = arena_printf(b->a, ":sbxrun:%s", id);
	if (unit_split(cgroups_path, b->a, words, b->e) < 0)
		return -1;
	u->slice = *words[0]		? words[0] :
		   rootless		? arena_strdup(b->a, "user" SLICE) :
					  arena_strdup(b->a, "system" SLICE);
	if (str_eq(u->slice, "-"))
		u->slice = arena_strdup(b->a, "-" SLICE);
	if (!*words[2] || has_suffix(words[2], SLICE))
		return err_set(b->e, ERR_CONFIG,
			       PATH_FIELD ": \"%s\" names no scope: systemd puts processes into "
					  "scopes, and not into slices",
			       cgroups_path);
	u->name = arena_printf(b->a, "%s-%s.scope", words[1], words[2]);
	u->of_user = rootless;
	u->timeout_s = b->host->unit_timeout_s ? b->host->unit_timeout_s : UNIT_TIMEOUT_S;
	if (unit_check_name(u->name, b->e) < 0 ||
	    unit_expand_slice(u->slice, b->a, &slice_path, b->e) < 0)
		return -1;
	b->p->path = arena_printf(b->a, "%s/%s", slice_path, u->name);
	return 0;
}

bool cgroup_unit_is_made_in(const struct cgroup_hierarchy *h)
{
	/* cpuacct goes with cpu; where it is mounted by itself, systemd makes nothing in it. */
	static const char *const managed[] = {"name=systemd", "cpu",  "memory",
					      "blkio",	      "pids", "devices"};
	size_t i, len;
	const char *s;

	for (s = h->controllers; *s; s += len + (s[len] == ',')) {
		len = strcspn(s, ",");
		for (i = 0; i < ARRAY_SIZE(managed); i++)
			if (strlen(managed[i]) == len && strncmp(s, managed[i], len) == 0)
				return true;
	}
	return h->unified;
}

/* ---- properties ---- */

struct unit_build {
	struct cgroup_build *b;
	size_t cap;
	/* Quota and period may come in two files, and make up two properties together. */
	struct cgroup_write *quota_write;
	int64_t quota; /* 0: not given; -1: none */
	uint64_t period;
};

static struct unit_property *unit_add(struct unit_build *u, const char *name,
				      enum unit_type type, const char *field)
{
	struct unit_properties *p = &u->b->p->properties;

	p->v = arena_grow(u->b->a, p->v, &u->cap, p->n + 1, sizeof(*p->v));
	p->v[p->n] = (struct unit_property){.name = name, .type = type, .field = field};
	return &p->v[p->n++];
}

static void unit_add_number(struct unit_build *u, const char *name, uint64_t n, const char *field)
{
	unit_add(u, name, UNIT_NUMBER, field)->number = n;
}

static bool unit_parse_number(const char *text, uint64_t *ret)
{
	int64_t n;

	if (str_eq(text, "max") || str_eq(text, "-1")) {
		*ret = INFINITE;
		return true;
	}
	if (!str_to_i64(text, &n) || n < 0)
		return false;
	*ret = (uint64_t)n;
	return true;
}

typedef void unit_say(struct unit_build *u, const char *name, struct cgroup_write *w);

/* The file says a 0, which systemd does not take. */
static void say_limit(struct unit_build *u, const char *name, struct cgroup_write *w)
{
	uint64_t n;

	if (unit_parse_number(w->value, &n) && n)
		unit_add_number(u, name, n, w->field);
}

static void say_amount(struct unit_build *u, const char *name, struct cgroup_write *w)
{
	uint64_t n;

	if (unit_parse_number(w->value, &n))
		unit_add_number(u, name, n, w->field);
}

/* A limit of 0 lets init in (v1) and nobody else, as 1 does, which systemd takes. */
static void say_tasks(struct unit_build *u, const char *name, struct cgroup_write *w)
{
	if (str_eq(w->value, "0"))
		w->value = "1";
	say_limit(u, name, w);
}

/* systemd's word for idle is a weight of 0. */
static void say_idle(struct unit_build *u, const char *name, struct cgroup_write *w)
{
	if (str_eq(w->value, "1"))
		unit_add_number(u, name, 0, w->field);
}

static void say_v2_quota(struct unit_build *u, const char *name, struct cgroup_write *w)
{
	char *text = arena_strdup(u->b->a, w->value), *quota = strsep(&text, " ");
	uint64_t n, period;

	(void)name;
	if (!unit_parse_number(quota, &n) || !n)
		return;
	u->quota_write = w;
	u->quota = n == INFINITE ? -1 : (int64_t)n;
	if (text && unit_parse_number(text, &period))
		u->period = period;
}

static void say_v1_quota(struct unit_build *u, const char *name, struct cgroup_write *w)
{
	uint64_t n;

	(void)name;
	if (!unit_parse_number(w->value, &n) || !n)
		return;
	u->quota_write = w;
	u->quota = n == INFINITE ? -1 : (int64_t)n;
}

static void say_v1_period(struct unit_build *u, const char *name, struct cgroup_write *w)
{
	(void)name;
	(void)!unit_parse_number(w->value, &u->period);
}

/* "0-3,7" as a set of bits. false: it is no list, or of numbers that nobody has. */
static bool set_parse(const char *text, uint8_t set[SETS_LONGEST], size_t *ret_len)
{
	unsigned long from, to;
	char *end;

	*ret_len = 0;
	while (*text) {
		if (*text < '0' || *text > '9')
			return false;
		from = to = strtoul(text, &end, 10);
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		if ((*end && *end != ',') || from > to || to >= SETS_LONGEST * 8UL)
			return false;
		for (; from <= to; from++) {
			set[from / 8] |= (uint8_t)(1u << from % 8);
			if (from / 8 >= *ret_len)
				*ret_len = from / 8 + 1;
		}
		text = end + (*end == ',');
	}
	return *ret_len > 0;
}

static void say_set(struct unit_build *u, const char *name, struct cgroup_write *w)
{
	uint8_t *set = arena_alloc(u->b->a, SETS_LONGEST, 1);
	struct unit_property *p;
	size_t len;

	if (!set_parse(w->value, set, &len))
		return;
	p = unit_add(u, name, UNIT_BYTES, w->field);
	p->bytes.v = set;
	p->bytes.n = len;
}

/* systemd reckons weights of the scheduler bfq (1 to 1000) from its own (1 to 10000). The way back,
 * so that it writes what the config says. */
static uint64_t io_weight(uint64_t bfq)
{
	return bfq <= 100 ? bfq : 100 + (bfq - 100) * 11;
}

/* Of one device ("8:0 500") or of all ("500", "default 500"). */
static void say_io_weight(struct unit_build *u, struct cgroup_write *w, const char *value, bool bfq)
{
	char *text = arena_strdup(u->b->a, value), *who = NULL;
	struct unit_property *p;
	struct unit_pair *pair;
	uint64_t n;

	if (strchr(text, ' '))
		who = strsep(&text, " ");
	if (!unit_parse_number(text, &n) || !n || n == INFINITE)
		return;
	n = bfq ? io_weight(n) : n;
	/* The other file, for kernels without bfq, gets what systemd would write there. */
	if (bfq && w->alt_value)
		w->alt_value = arena_printf(u->b->a, "%s %" PRIu64, who ? who : "default", n);
	if (!who || str_eq(who, "default")) {
		unit_add_number(u, "IOWeight", n, w->field);
		return;
	}
	pair = arena_new(u->b->a, struct unit_pair);
	*pair = (struct unit_pair){.name = arena_printf(u->b->a, "/dev/block/%s", who),
				   .number = n};
	p = unit_add(u, "IODeviceWeight", UNIT_WEIGHTS, w->field);
	p->pairs.v = pair;
	p->pairs.n = 1;
}

static void say_bfq_weight(struct unit_build *u, const char *name, struct cgroup_write *w)
{
	(void)name;
	say_io_weight(u, w, w->value, true);
}

static void say_plain_weight(struct unit_build *u, const char *name, struct cgroup_write *w)
{
	(void)name;
	say_io_weight(u, w, w->value, false);
}

static const struct {
	const char *file;
	const char *property;
	unit_say *say;
} unit_rows[] = {
	{"memory.max", "MemoryMax", say_limit},
	{"memory.high", "MemoryHigh", say_limit},
	{"memory.low", "MemoryLow", say_amount},
	{"memory.min", "MemoryMin", say_amount},
	{"memory.swap.max", "MemorySwapMax", say_amount},
	{"memory.zswap.max", "MemoryZSwapMax", say_amount},
	{"memory.limit_in_bytes", "MemoryLimit", say_limit},
	{"cpu.weight", "CPUWeight", say_limit},
	{"cpu.idle", "CPUWeight", say_idle},
	{"cpu.shares", "CPUShares", say_limit},
	{"cpu.max", NULL, say_v2_quota},
	{"cpu.cfs_quota_us", NULL, say_v1_quota},
	{"cpu.cfs_period_us", NULL, say_v1_period},
	{"pids.max", "TasksMax", say_tasks},
	{"cpuset.cpus", "AllowedCPUs", say_set},
	{"cpuset.mems", "AllowedMemoryNodes", say_set},
	{"io.bfq.weight", NULL, say_bfq_weight},
	{"io.weight", NULL, say_plain_weight},
	{"blkio.weight", "BlockIOWeight", say_limit},
};

/* systemd keeps the share of a second, in steps of 10 ms: what it will write is written. */
static void unit_say_quota(struct unit_build *u)
{
	const uint64_t step = 10000, period = u->period ? u->period : 100000;
	struct cgroup_write *w = u->quota_write;
	unsigned __int128 share;

	if (u->period)
		unit_add_number(u, "CPUQuotaPeriodUSec", u->period, "linux.resources.cpu.period");
	if (!w && !u->period)
		return;
	if (u->quota <= 0) {
		unit_add_number(u, "CPUQuotaPerSecUSec", INFINITE, w ? w->field : NULL);
		return;
	}
	share = (unsigned __int128)u->quota * 1000000 / period;
	share = (share + step - 1) / step * step;
	if (share >= INFINITE)
		return;
	unit_add_number(u, "CPUQuotaPerSecUSec", (uint64_t)share, w->field);
	u->quota = (int64_t)(share * period / 1000000);
	w->value = str_eq(w->file, "cpu.max") && u->period ?
			   arena_printf(u->b->a, "%" PRId64 " %" PRIu64, u->quota, u->period) :
			   arena_printf(u->b->a, "%" PRId64, u->quota);
}

static void unit_say_limits(struct unit_build *u)
{
	struct cgroup_plan *p = u->b->p;
	size_t i, k;

	for (i = 0; i < p->n_writes; i++)
		for (k = 0; k < ARRAY_SIZE(unit_rows); k++)
			if (str_eq(p->writes[i].file, unit_rows[k].file))
				unit_rows[k].say(u, unit_rows[k].property, &p->writes[i]);
	unit_say_quota(u);
}

/* ---- devices ---- */

/* As systemd names them; NULL: it has no name for any device of this minor number. */
static const char *device_name(struct unit_build *u, const struct cgroup_device_rule *r)
{
	const char *kind = r->type == 'c' ? "char" : "block";

	if (r->major < 0)
		return r->minor < 0 ? arena_printf(u->b->a, "%s-*", kind) : NULL;
	if (r->minor < 0)
		return arena_printf(u->b->a, "%s-%" PRId64, kind, r->major);
	return arena_printf(u->b->a, "/dev/%s/%" PRId64 ":%" PRId64, kind, r->major, r->minor);
}

static void unit_say_devices_policy(struct unit_build *u, const char *word)
{
	unit_add(u, "DeviceAllow", UNIT_PAIRS, NULL);
	unit_add(u, "DevicePolicy", UNIT_TEXT, "linux.resources.devices")->text = word;
}

/*
 * On v1 systemd writes the rules anew whenever it reloads, and without any it allows everything; on
 * v2 it has a program of its own beside ours, and both must allow. So it is told what is allowed.
 * Rules that deny by name it can't be told.
 */
static int unit_say_devices(struct unit_build *u)
{
	struct cgroup_devices *d = &u->b->p->devices, allowed;
	bool v1 = u->b->p->devices_dir == CGROUP_NO_DIR && u->b->host->mode != CGROUP_V2;
	struct unit_property *p;
	struct unit_pair *pairs;
	size_t i, n = 0;

	if (!cgroup_build_allowed_devices(u->b, &allowed)) {
		if (v1 && (!d->allow_all_default || d->n))
			return err_set(
				u->b->e, ERR_HOST,
				"linux.resources.devices: systemd can't keep rules that deny "
				"single devices on cgroup v1: allow what is needed instead, or "
				"use the cgroupfs driver");
		unit_say_devices_policy(u, "auto");
		return 0;
	}
	if (allowed.allow_all_default) {
		unit_say_devices_policy(u, "auto");
		return 0;
	}
	pairs = arena_array(u->b->a, allowed.n + 1, struct unit_pair);
	for (i = 0; i < allowed.n; i++) {
		const struct cgroup_device_rule *r = &allowed.v[i];
		const char *name = r->access ? device_name(u, r) : NULL;

		if (name)
			pairs[n++] = (struct unit_pair){
				.name = name,
				.text = arena_printf(u->b->a, "%s%s%s",
						     r->access & CGROUP_DEV_READ ? "r" : "",
						     r->access & CGROUP_DEV_WRITE ? "w" : "",
						     r->access & CGROUP_DEV_MKNOD ? "m" : "")};
	}
	unit_say_devices_policy(u, "strict");
	p = unit_add(u, "DeviceAllow", UNIT_PAIRS, "linux.resources.devices");
	p->pairs.v = pairs;
	p->pairs.n = n;
	return 0;
}

/* Once in the list, as the config has it: what it says comes before what we would. */
static int unit_say_choice(struct unit_build *u, const struct pair *annotation)
{
	struct unit_properties *p = &u->b->p->properties;
	struct unit_property chosen;
	size_t i;

	if (unit_choice_read(annotation->key, annotation->value, u->b->a, &chosen, u->b->e) < 0)
		return -1;
	for (i = 0; i < p->n && !str_eq(p->v[i].name, chosen.name); i++)
		;
	if (i == p->n)
		unit_add(u, chosen.name, chosen.type, chosen.field);
	p->v[i] = chosen;
	return 0;
}

static int unit_say_choices(struct unit_build *u, const struct pairs *annotations)
{
	size_t i;

	for (i = 0; i < annotations->n; i++)
		if (unit_choice_is_one(annotations->v[i].key) &&
		    unit_say_choice(u, &annotations->v[i]) < 0)
			return -1;
	return 0;
}

int cgroup_build_properties(struct cgroup_build *b, const struct oci_config *c, bool rootless)
{
	struct unit_build u = {.b = b};
	const char *const switches[] = {"Delegate",
					"MemoryAccounting",
					"CPUAccounting",
					b->host->mode == CGROUP_V2 ? "IOAccounting" :
								     "BlockIOAccounting",
					"TasksAccounting"};
	size_t i;

	unit_add(&u, "Slice", UNIT_TEXT, NULL)->text = b->p->unit.slice;
	unit_add(&u, "DefaultDependencies", UNIT_BOOL, NULL)->yes = false;
	/* Nothing of it stays when it has failed, for instance for want of memory. */
	unit_add(&u, "CollectMode", UNIT_TEXT, NULL)->text = "inactive-or-failed";
	for (i = 0; i < ARRAY_SIZE(switches); i++)
		unit_add(&u, switches[i], UNIT_BOOL, NULL)->yes = true;
	if (unit_say_choices(&u, &c->annotations) < 0)
		return -1;
	unit_say_limits(&u);
	return rootless ? 0 : unit_say_devices(&u);
}

void cgroup_build_changes(struct cgroup_build *b)
{
	unit_say_limits(&(struct unit_build){.b = b});
}
