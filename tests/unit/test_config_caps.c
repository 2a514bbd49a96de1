/*
 * Each list of config.json, filled to its cap, costs little. The lists are found by walking the
 * rows, so a new one is tried as soon as it is there; `samples` says what its elements look like
 * where the type alone doesn't. A child process reads and judges the document, tightens it by a
 * policy, plans it and compiles the filter; its processor time and its largest memory are what
 * counts. The documents of `exec --process` and of `update` are tried in the same way.
 */
#include <malloc.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fuzz/hosts.h"
#include "base/buf.h"
#include "base/str.h"
#include "filter/seccomp.h"
#include "oci/oci.h"
#include "policy/conditions.h"
#include "policy/tighten.h"
#include "unit.h"

#if defined(__SANITIZE_ADDRESS__)
enum { CPU_MS = 10000, MEMORY_KB = 1 << 20 };
#else
enum { CPU_MS = 100, MEMORY_KB = 8 << 10 };
#endif

/* Elements of a list (table, key), or values of a field that is required or named here. %zu: the
 * index. */
static const struct sample {
	const char *table, *key;
	const char *text;	  /* a format … */
	const char *const *words; /* … or one word for each index */
} samples[] = {
	{"oci_config", "ociVersion", "\"1.3.0\"", NULL},
	{"oci_config", "hostname", NULL, NULL},
	{"oci_root", "path", "\"rootfs\"", NULL},
	{"oci_process", "cwd", "\"/\"", NULL},
	{"oci_process", "args", "\"argument-%zu\"", NULL},
	{"oci_process", "env", "\"NAME_%zu=value\"", NULL},
	{"oci_user", "additionalGids", "%zu", NULL},
	{"oci_rlimit", "type", "%s",
	 (const char *const[]){"\"RLIMIT_CPU\"", "\"RLIMIT_FSIZE\"", "\"RLIMIT_DATA\"",
			       "\"RLIMIT_STACK\"", "\"RLIMIT_CORE\"", "\"RLIMIT_RSS\"",
			       "\"RLIMIT_NPROC\"", "\"RLIMIT_NOFILE\"", "\"RLIMIT_MEMLOCK\"",
			       "\"RLIMIT_AS\"", "\"RLIMIT_LOCKS\"", "\"RLIMIT_SIGPENDING\"",
			       "\"RLIMIT_MSGQUEUE\"", "\"RLIMIT_NICE\"", "\"RLIMIT_RTPRIO\"",
			       "\"RLIMIT_RTTIME\"", NULL}},
	{"oci_scheduler", "policy", "\"SCHED_OTHER\"", NULL},
	{"oci_scheduler", "flags", "\"SCHED_FLAG_RESET_ON_FORK\"", NULL},
	{"oci_io_priority", "class", "\"IOPRIO_CLASS_BE\"", NULL},
	{"oci_mount", "destination", "\"/mnt/m%zu\"", NULL},
	{"oci_mount", "type", "\"tmpfs\"", NULL},
	{"oci_mount", "source", "\"tmpfs\"", NULL},
	{"oci_mount", "options", "\"option%zu=1\"", NULL},
	{"oci_id_map", "containerID", "%zu", NULL},
	{"oci_id_map", "hostID", "%zu", NULL},
	{"oci_id_map", "size", "1", NULL},
	{"oci_hook", "path", "\"/bin/true\"", NULL},
	{"oci_namespace", "type", "%s",
	 (const char *const[]){"\"pid\"", "\"network\"", "\"mount\"", "\"ipc\"", "\"uts\"",
			       "\"user\"", "\"cgroup\"", "\"time\"", NULL}},
	{"oci_device", "path", "\"/dev/device-%zu\"", NULL},
	{"oci_device", "type", "\"c\"", NULL},
	{"oci_device", "major", "1", NULL},
	{"oci_device", "minor", "3", NULL},
	{"oci_device_rule", "allow", "true", NULL},
	{"oci_device_rule", "type", "\"c\"", NULL},
	{"oci_device_rule", "major", "%zu", NULL},
	{"oci_device_rule", "access", "\"rwm\"", NULL},
	{"oci_weight_device", "major", "8", NULL},
	{"oci_weight_device", "weight", "100", NULL},
	{"oci_throttle_device", "major", "8", NULL},
	{"oci_hugepage_limit", "pageSize", "\"1%zuKB\"", NULL},
	{"oci_rdma", "hcaHandles", "1", NULL},
	{"oci_net_priority", "name", "\"eth%zu\"", NULL},
	{"oci_resources", "unified", "\"memory.file%zu\": \"1\"", NULL},
	{"oci_seccomp", "defaultAction", "\"SCMP_ACT_ALLOW\"", NULL},
	{"oci_seccomp", "architectures", "\"SCMP_ARCH_X86\"", NULL},
	{"oci_seccomp", "flags", "\"SECCOMP_FILTER_FLAG_LOG\"", NULL},
	{"oci_seccomp_rule", "names", "\"unknown_call_%zu\"", NULL},
	{"oci_seccomp_rule", "action", "\"SCMP_ACT_ERRNO\"", NULL},
	{"oci_seccomp_arg", "index", "1", NULL},
	{"oci_time_offset", "", "%s", (const char *const[]){"\"monotonic\"", "\"boottime\"", NULL}},
	{"oci_intel_rdt", "schemata", "\"L3:0=%zu\"", NULL},
	{"oci_memory_policy", "mode", "\"MPOL_DEFAULT\"", NULL},
	{"oci_memory_policy", "flags", "\"MPOL_F_STATIC_NODES\"", NULL},
	{"oci_personality", "domain", "\"LINUX\"", NULL},
	{"oci_linux", "sysctl", "\"net.x.y%zu\": \"1\"", NULL},
	{"oci_linux", "maskedPaths", "\"/proc/masked-%zu\"", NULL},
	{"oci_linux", "readonlyPaths", "\"/proc/readonly-%zu\"", NULL},
};

/* Lists that no host of ours takes when they are full, and why. */
static const struct {
	const char *table, *key, *why;
} refused[] = {
	{"oci_mount", "uidMappings", "needs a bind mount"},
	{"oci_mount", "gidMappings", "needs a bind mount"},
	{"oci_personality", "flags", "none are supported"},
};

/* What must be there besides the list: all kinds of namespaces, with maps for the user's. */
static const struct {
	const char *key, *text;
} companions[] = {
	{"namespaces",
	 "[{\"type\":\"pid\"},{\"type\":\"network\"},{\"type\":\"mount\"},{\"type\":\"ipc\"},"
	 "{\"type\":\"uts\"},{\"type\":\"user\"},{\"type\":\"cgroup\"},{\"type\":\"time\"}]"},
	{"uidMappings", "[{\"containerID\":0,\"hostID\":100000,\"size\":65536}]"},
	{"gidMappings", "[{\"containerID\":0,\"hostID\":100000,\"size\":65536}]"},
};

enum { DEPTH_MAX = 8 };

/* The way from the document to a list. */
struct way {
	const struct json_table *root; /* of the document */
	size_t n;
	const struct json_table *tables[DEPTH_MAX];
	const struct json_row *rows[DEPTH_MAX];
};

struct document {
	struct buf b;
	const struct way *way;
	size_t count; /* of the list's elements */
};

static const struct sample *sample_find(const struct json_table *t, const char *key)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(samples); i++)
		if (str_eq(samples[i].table, t->name) && str_eq(samples[i].key, key))
			return &samples[i];
	return NULL;
}

static void add_sample(struct buf *b, const struct sample *s, size_t i)
{
	char text[256];
	size_t k;

	if (s->words) {
		for (k = 0; k < i && s->words[k]; k++)
			;
		buf_str(b, s->words[k] ? s->words[k] : "\"too many\"");
		return;
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), s->text, i);
#pragma GCC diagnostic pop
	buf_str(b, text);
}

static void add_scalar(struct buf *b, const struct json_table *t, const struct json_row *r,
		       size_t i)
{
	const struct sample *s = sample_find(t, r->key);

	if (s && (s->text || s->words))
		add_sample(b, s, i);
	else if (r->type == JSON_STR)
		buf_printf(b, "\"text-%zu\"", i);
	else if (r->type == JSON_ENUM)
		buf_printf(b, "\"%s\"", r->words[0].word);
	else if (r->type == JSON_BOOL)
		buf_str(b, "true");
	else
		buf_printf(b, "%zu", i);
}

static bool is_list(const struct json_row *r)
{
	return r->type == JSON_STRINGS || r->type == JSON_IDS || r->type == JSON_PAIRS ||
	       r->type == JSON_LIST || r->type == JSON_MAP;
}

static void add_object(struct document *d, const struct json_table *t, size_t depth, size_t index);

/* An element, or as many as the list takes. */
static void add_list(struct document *d, const struct json_table *t, const struct json_row *r,
		     size_t depth)
{
	bool keyed = r->type == JSON_PAIRS || r->type == JSON_MAP, last = depth + 1 == d->way->n;
	static const struct sample word = {NULL, NULL, "\"word-%zu\"", NULL},
				   pair = {NULL, NULL, "\"key-%zu\":\"value\"", NULL};
	const struct sample *s = sample_find(r->table ? r->table : t, r->table ? "" : r->key);
	size_t i, n = last ? d->count : 1;

	buf_char(&d->b, keyed ? '{' : '[');
	for (i = 0; i < n; i++) {
		buf_str(&d->b, i ? "," : "");
		if (!r->table) {
			add_sample(&d->b, s ? s : keyed ? &pair : &word, i);
			continue;
		}
		if (keyed) {
			add_sample(&d->b, s ? s : &word, i);
			buf_char(&d->b, ':');
		}
		add_object(d, r->table, depth + 1, i);
	}
	buf_char(&d->b, keyed ? '}' : ']');
}

static const char *companion(const struct json_table *t, const struct json_row *r)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(companions); i++)
		if (str_eq(t->name, "oci_linux") && str_eq(r->key, companions[i].key))
			return companions[i].text;
	return NULL;
}

static void add_field(struct document *d, const struct json_table *t, const struct json_row *r,
		      size_t depth, size_t index)
{
	bool on_way = depth < d->way->n && d->way->tables[depth] == t && d->way->rows[depth] == r;
	/* Maps of ids come in pairs. */
	bool twin = depth + 1 == d->way->n && d->way->tables[depth] == t &&
		    str_ends(d->way->rows[depth]->key, "idMappings") &&
		    str_ends(r->key, "idMappings");
	const char *key = d->b.data[d->b.len - 1] == '{' ? "\"" : ",\"";

	if (!on_way && !twin && !companion(t, r) && !(r->flags & JSON_REQUIRED) &&
	    !(sample_find(t, r->key) && !is_list(r)) && !str_eq(r->key, "linux") &&
	    !(str_eq(t->name, "oci_process") && str_eq(r->key, "args")))
		return;
	if (sample_find(t, r->key) && !sample_find(t, r->key)->text)
		return;
	buf_str(&d->b, key);
	buf_str(&d->b, r->key);
	buf_str(&d->b, "\":");
	if (is_list(r) && (on_way || twin))
		add_list(d, t, r, depth);
	else if (companion(t, r))
		buf_str(&d->b, companion(t, r));
	else if (is_list(r))
		buf_printf(&d->b, "[\"%s\"]", "getpid");
	else if (r->type == JSON_OBJECT)
		add_object(d, r->table, depth + 1, index);
	else
		add_scalar(&d->b, t, r, index);
}

static void add_object(struct document *d, const struct json_table *t, size_t depth, size_t index)
{
	size_t i;

	buf_char(&d->b, '{');
	for (i = 0; i < t->count; i++)
		add_field(d, t, &t->rows[i], depth, index);
	buf_char(&d->b, '}');
}

static const enum policy_preset presets[] = {PRESET_OCI, PRESET_ENGINE, PRESET_CODE};

/* A document, and for whom it is judged. */
struct judged {
	const struct json_table *root;
	const struct cgroup_host *cgroup;
	enum policy_preset preset;
};

static const struct policy *policy_of(const struct judged *j)
{
	return policy_preset_find(policy_preset_names[j->preset]);
}

static struct host_facts facts_of(const struct judged *j)
{
	struct host_facts facts = fuzz_host(j->cgroup, true);

	facts.machine_root = true;
	facts.resctrl = "/sys/fs/resctrl";
	return facts;
}

/* What create does before it touches anything. A row that refuses would keep those after it from
 * being tried, so all of them are asked, as `explain` does. */
static int plan_config(const struct judged *j, const char *text, size_t len, struct arena *a,
		       struct error *e)
{
	struct host_facts facts = facts_of(j);
	struct policy_clamps clamps = {0}, refusals = {0};
	struct oci_config c = {0};
	struct seccomp_program program;
	struct notes notes = {0};
	struct plan p;

	if (oci_config_read("config.json", text, len, a, &c, e) < 0)
		return -1;
	policy_tighten_all(policy_of(j), &facts, &c, a, &clamps, &refusals);
	if (plan_make(&c, "example", "/bundle", &facts, a, &p, e) < 0)
		return -1;
	policy_set_conditions(policy_of(j), &c, &facts, "/run/sbxrun", a, &p);
	if (refusals.n)
		return err_set(e, ERR_CONFIG, "%s", refusals.v[0].text);
	return seccomp_program_build(&c.linux_.seccomp, a, &program, &notes, e);
}

/* What `exec --process` does. */
static int plan_process(const struct judged *j, const char *text, size_t len, struct arena *a,
			struct error *e)
{
	static const char container[] = "{\"ociVersion\":\"1.3.0\",\"root\":{\"path\":\"r\"}}";
	struct host_facts facts = facts_of(j);
	struct policy_clamps clamps = {0};
	struct oci_config c = {0};
	struct plan p;

	if (oci_config_read("config.json", container, sizeof(container) - 1, a, &c, e) < 0 ||
	    json_read("process.json", text, len, &oci_process_table, &json_default_limits,
		      &c.process, a, e) < 0 ||
	    oci_process_validate(&c.process, "process.", e) < 0)
		return -1;
	c.process.set = true;
	if (policy_tighten_exec(policy_of(j), &facts, &c, a, &clamps, e) < 0 ||
	    plan_make_exec(&c, "example", &facts, a, &p, e) < 0)
		return -1;
	policy_set_conditions_exec(policy_of(j), &c, &facts, a, &p);
	return 0;
}

/* What `update --resources` does. */
static int plan_resources(const struct judged *j, const char *text, size_t len, struct arena *a,
			  struct error *e)
{
	const struct cgroup_host *host = j->cgroup;
	struct cgroup_dirs d = {.n = host->n, .v = arena_array(a, host->n, struct cgroup_dir)};
	const struct cgroup_unit unit = {0};
	struct oci_resources r = {0};
	struct cgroup_plan plan;
	size_t i;

	for (i = 0; i < host->n; i++)
		d.v[i] = (struct cgroup_dir){.mount = host->v[i].mount,
					     .path = arena_strdup(a, "/p/id"),
					     .made = arena_strdup(a, "/p"),
					     .unified = host->v[i].unified};
	if (json_read("resources.json", text, len, &oci_resources_table, &json_default_limits, &r,
		      a, e) < 0)
		return -1;
	r.devices.n = 0; /* update leaves them as they are */
	if (oci_resources_validate(&r, "linux.resources.", e) < 0)
		return -1;
	return cgroup_plan_update(&r, &d, &unit, host, a, &plan, e);
}

static int plan_document(const struct judged *j, const char *text, size_t len, struct arena *a,
			 struct error *e)
{
	if (j->root == &oci_process_table)
		return plan_process(j, text, len, a, e);
	if (j->root == &oci_resources_table)
		return plan_resources(j, text, len, a, e);
	return plan_config(j, text, len, a, e);
}

struct cost {
	long ms, kb;
	bool taken;
	char why[512];
};

/* In a child that has nothing else in memory. */
static struct cost measure(const char *text, size_t len, const struct judged *j)
{
	struct cost c = {0};
	struct arena a = {0};
	struct error e = {0};
	struct rusage u;
	int pipes[2], status;
	ssize_t n;
	pid_t pid;

	malloc_trim(0);
	CHECK(pipe(pipes) == 0 && (pid = fork()) >= 0);
	if (pid == 0) {
		status = plan_document(j, text, len, &a, &e) == 0 ? 0 : 1;
		n = write(pipes[1], e.text, sizeof(c.why) - 1);
		_exit(n < 0 ? 2 : status);
	}
	close(pipes[1]);
	CHECK(read(pipes[0], c.why, sizeof(c.why) - 1) >= 0 && wait4(pid, &status, 0, &u) == pid);
	close(pipes[0]);
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		FAIL("the child ended with %d", status);
	c.taken = WEXITSTATUS(status) == 0;
	c.ms = (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
	c.kb = u.ru_maxrss;
	return c;
}

static const char *way_name(const struct way *w)
{
	static char name[256];
	size_t i, at = 0;

	for (i = 0; i < w->n && at < sizeof(name); i++)
		at += (size_t)snprintf(name + at, sizeof(name) - at, "%s%s", i ? "." : "",
				       w->rows[i]->key);
	return name;
}

static const char *why_refused(const struct json_table *t, const struct json_row *r)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(refused); i++)
		if (str_eq(refused[i].table, t->name) && str_eq(refused[i].key, r->key))
			return refused[i].why;
	return NULL;
}

static void check_cheap(const char *name, const struct judged *j, const struct cost *c)
{
	const char *policy = policy_preset_names[j->preset];

	if (getenv("COSTS"))
		printf("# %s %-50s %-6s %4ld ms %6ld KB %s\n", j->root->name, name, policy, c->ms,
		       c->kb, c->taken ? "" : c->why);
	if (c->ms > CPU_MS || c->kb > MEMORY_KB)
		FAIL("%s %s under %s: %ld ms and %ld KB, may be %d and %d (%s)", j->root->name,
		     name, policy, c->ms, c->kb, CPU_MS, MEMORY_KB, c->why);
}

static struct buf document(const struct way *w, size_t count, struct arena *a)
{
	struct document d = {.b = buf_new(a, 16 << 20), .way = w, .count = count};

	add_object(&d, w->root, 0, 0);
	CHECK(!d.b.overflow);
	return d.b;
}

/* Under each policy, in both layouts. *ret: that which counts; under oci, where one took it. */
static void try_everywhere(const char *name, const struct json_table *root, const struct buf *b,
			   struct cost *ret)
{
	static const struct cgroup_host *const hosts[] = {&host_v1, &host_v2};
	size_t i, k;

	*ret = (struct cost){0};
	for (i = 0; i < ARRAY_SIZE(presets); i++)
		for (k = 0; k < ARRAY_SIZE(hosts); k++) {
			const struct judged j = {root, hosts[k], presets[i]};
			const struct cost c = measure(b->data, b->len, &j);

			check_cheap(name, &j, &c);
			if (presets[i] == PRESET_OCI && !ret->taken)
				*ret = c;
		}
}

static void try_list(const struct way *w)
{
	const struct json_table *t = w->tables[w->n - 1];
	const struct json_row *r = w->rows[w->n - 1];
	const char *why = why_refused(t, r), *name = way_name(w);
	struct arena a = {0};
	struct cost cost;
	struct buf b;

	if (!r->max)
		FAIL("%s has no cap", name);
	b = document(w, r->max, &a);
	try_everywhere(name, w->root, &b, &cost);
	if (!why && !cost.taken)
		FAIL("%s: refused at its cap: %s", name, cost.why);
	if (why && (cost.taken || !strstr(cost.why, why)))
		FAIL("%s: got \"%s\", want \"%s\"", name, cost.why, why);
	arena_free(&a);
	b = document(w, r->max + 1, &a);
	try_everywhere(name, w->root, &b, &cost);
	if (cost.taken || !strstr(cost.why, "more than"))
		FAIL("%s: one above the cap: \"%s\"", name, cost.why);
	arena_free(&a);
}

static size_t walk(struct way *w, const struct json_table *t)
{
	size_t i, found = 0;

	for (i = 0; i < t->count; i++) {
		const struct json_row *r = &t->rows[i];

		CHECK(w->n < DEPTH_MAX);
		w->tables[w->n] = t;
		w->rows[w->n++] = r;
		if (is_list(r)) {
			try_list(w);
			found++;
		}
		if (r->table)
			found += walk(w, r->table);
		w->n--;
	}
	return found;
}

static size_t walk_root(const struct json_table *root)
{
	struct way w = {.root = root};

	return walk(&w, root);
}

TEST(each_list_at_its_cap_is_cheap)
{
	const size_t found = walk_root(&oci_config_table);

	if (found < 50)
		FAIL("only %zu lists were found", found);
}

TEST(each_list_of_a_further_process_is_cheap_too)
{
	const size_t found = walk_root(&oci_process_table);

	if (found < 8)
		FAIL("only %zu lists were found", found);
}

TEST(each_list_of_an_update_is_cheap_too)
{
	const size_t found = walk_root(&oci_resources_table);

	if (found < 8)
		FAIL("only %zu lists were found", found);
}

/* Documents that are not one full list: two texts by turns, n times. */
static void try_repeated(const char *name, const char *head, const char *one, const char *two,
			 size_t n, const char *tail)
{
	struct arena a = {0};
	struct buf b = buf_new(&a, 16 << 20);
	struct cost c;
	size_t i;

	buf_str(&b, "{\"ociVersion\":\"1.0.0\",\"root\":{\"path\":\"r\"},");
	buf_str(&b, head);
	for (i = 0; i < n; i++) {
		buf_str(&b, i ? "," : "");
		buf_str(&b, i % 2 ? two : one);
	}
	buf_str(&b, tail);
	try_everywhere(name, &oci_config_table, &b, &c);
	arena_free(&a);
}

TEST(other_ways_to_say_much_are_cheap)
{
	static const char ARGS[] =
		"{\"names\":[\"socket\"],\"action\":\"SCMP_ACT_ERRNO\",\"args\":["
		"{\"index\":0,\"value\":1,\"op\":\"SCMP_CMP_EQ\"},"
		"{\"index\":0,\"value\":2,\"op\":\"SCMP_CMP_EQ\"}]}";

	try_repeated("options that take each other back",
		     "\"mounts\":[{\"destination\":\"/m\",\"type\":\"tmpfs\",\"options\":[", "\"sync\"",
		     "\"async\"", 100000, "]}]}");
	try_repeated("as many options as may be",
		     "\"mounts\":[{\"destination\":\"/m\",\"type\":\"tmpfs\",\"options\":[", "\"sync\"",
		     "\"async\"", 256, "]}]}");
	try_repeated("capabilities, all alike", "\"process\":{\"cwd\":\"/\",\"args\":[\"a\"],\"capabilities\":"
		     "{\"bounding\":[", "\"CAP_X\"", "\"CAP_Y\"", 60000, "]}}}");
	try_repeated("rules with alternatives",
		     "\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\","
		     "\"architectures\":[\"SCMP_ARCH_X86\",\"SCMP_ARCH_X32\"],\"syscalls\":[",
		     ARGS, ARGS, 1000, "]}}}");
	try_repeated("rules with many names", "\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\","
		     "\"syscalls\":[",
		     "{\"names\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\"],\"action\":\"SCMP_ACT_ERRNO\"}",
		     "{\"names\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\"],\"action\":\"SCMP_ACT_ERRNO\"}",
		     4000, "]}}}");
	try_repeated("lists of processors", "\"linux\":{\"resources\":{\"cpu\":{\"cpus\":\"", "0-1023", "0-1023",
		     100000, "\"}}}}");
	try_repeated("unknown keys", "\"x\":{\"vm\":[", "{\"a\":1}", "{\"b\":[[[]]]}", 60000, "]}}");
	try_repeated("the same device", "\"linux\":{\"devices\":[",
		     "{\"path\":\"/dev/x\",\"type\":\"c\",\"major\":1,\"minor\":3}",
		     "{\"path\":\"/dev/../dev/x\",\"type\":\"c\",\"major\":1,\"minor\":3}", 1000, "]}}");
}

int main(void)
{
	return unit_main();
}
