/* The container's cgroup as a unit of systemd's: names, paths, properties. */
#include <inttypes.h>

#include "base/buf.h"
#include "base/str.h"
#include "cgroup_hosts.h"
#include "plan/cgroup.h"
#include "unit.h"

static struct arena arena;
static struct error err;

#define S(text) ((char *)(uintptr_t)(text))

static struct opt_i64 i64(int64_t v)
{
	return (struct opt_i64){true, v};
}
static struct opt_u64 u64(uint64_t v)
{
	return (struct opt_u64){true, v};
}

/* The same host, whose tree is systemd's. */
static struct cgroup_host by_systemd(const struct cgroup_host *host, const char *units)
{
	struct cgroup_host h = *host;
	size_t i;

	h.driver = CGROUP_BY_SYSTEMD;
	h.v = arena_array(&arena, h.n, struct cgroup_hierarchy);
	for (i = 0; i < h.n; i++) {
		h.v[i] = host->v[i];
		h.v[i].units = S(units);
	}
	return h;
}

/* "UNIT in SLICE at PATH", or the error. */
static const char *unit_of(const char *cgroups_path, const char *id, bool rootless)
{
	struct cgroup_host host = by_systemd(&host_v2, "");
	struct oci_config c = {.linux_.cgroups_path = S(cgroups_path)};
	struct cgroup_plan p;

	host.v[0].base = S("/user");
	if (cgroup_plan_make(&c, id, &host, rootless, &arena, &p, &err) < 0)
		return arena_printf(&arena, "error: %s", err.text);
	return arena_printf(&arena, "%s in %s at %s", p.unit.name, p.unit.slice,
			    p.dirs.v[0].path);
}

TEST(three_words_become_a_scope_in_a_slice)
{
	CHECK_STR(unit_of("system.slice:docker:abc", "id", false),
		  "docker-abc.scope in system.slice at /system.slice/docker-abc.scope");
	CHECK_STR(unit_of(NULL, "id", false),
		  "sbxrun-id.scope in system.slice at /system.slice/sbxrun-id.scope");
	CHECK_STR(unit_of("", "id", false), unit_of(NULL, "id", false));
	CHECK_STR(unit_of("::x", "id", false),
		  "-x.scope in system.slice at /system.slice/-x.scope");
	CHECK_STR(unit_of(":p:n", "id", true), "p-n.scope in user.slice at /user.slice/p-n.scope");
	CHECK_STR(unit_of("a-b-c.slice:p:n", "id", false),
		  "p-n.scope in a-b-c.slice at /a.slice/a-b.slice/a-b-c.slice/p-n.scope");
	CHECK_STR(unit_of("-:p:n", "id", false), "p-n.scope in -.slice at /p-n.scope");
	CHECK_STR(unit_of("-.slice:p:n", "id", false), "p-n.scope in -.slice at /p-n.scope");
}

TEST(systemd_has_25_seconds_unless_told_otherwise)
{
	struct cgroup_host host = by_systemd(&host_v2, "");
	struct oci_config c = {0};
	struct cgroup_plan p;

	CHECK_INT(cgroup_plan_make(&c, "id", &host, false, &arena, &p, &err), 0);
	CHECK_INT(p.unit.timeout_s, 25);
	host.unit_timeout_s = 7;
	CHECK_INT(cgroup_plan_make(&c, "id", &host, false, &arena, &p, &err), 0);
	CHECK_INT(p.unit.timeout_s, 7);
}

TEST(names_that_systemd_would_not_take_are_refused)
{
	static const char *const wrong[] = {
		"/a/b",	      "a",		"a:b",		 "a.slice:b:c:d", "a:b:c",
		"a/b.slice:p:n", "--a.slice:p:n", "a--b.slice:p:n", "-a.slice:p:n", "a-.slice:p:n",
		".slice:p:n",	 "a.slice:p:",	  "a.slice:p:n.slice", "a.slice:p:n m", "a.slice:p:n/m",
		"a.slice:p:n\n", "a.slice:p:\xc3\xa4",
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK(str_after(unit_of(wrong[i], "id", false), "error: "));
	CHECK(strstr(unit_of("a:b", "id", false), "expected cgroupsPath to be of format"));
	CHECK(strstr(unit_of(NULL, "a+b", false), "systemd takes no '+'"));
}

TEST(units_are_where_systemd_is)
{
	const struct cgroup_host nested = by_systemd(&host_v2, "/docker/x");
	struct oci_config c = {.linux_.cgroups_path = S("system.slice:p:n")};
	struct cgroup_plan p;

	CHECK_INT(cgroup_plan_make(&c, "id", &nested, false, &arena, &p, &err), 0);
	CHECK_STR(p.dirs.v[0].path, "/docker/x/system.slice/p-n.scope");
}

TEST(an_ordinary_user_needs_v2)
{
	const struct cgroup_host v1 = by_systemd(&host_v1, "");
	struct oci_config c = {0};
	struct cgroup_plan p;

	CHECK_INT(cgroup_plan_make(&c, "id", &v1, true, &arena, &p, &err), -1);
	CHECK(strstr(err.text, "cgroup v1"));
}

TEST(systemd_makes_directories_for_its_own_controllers)
{
	const struct cgroup_host host = by_systemd(&host_v1, "");
	struct oci_config c = {0};
	struct cgroup_plan p;
	size_t i;

	CHECK_INT(cgroup_plan_make(&c, "id", &host, false, &arena, &p, &err), 0);
	for (i = 0; i < p.dirs.n; i++) {
		const char *name = strrchr(p.dirs.v[i].mount, '/') + 1;
		bool ours = str_eq(name, "freezer") || str_eq(name, "cpuset") ||
			    str_eq(name, "hugetlb") || str_eq(name, "net_cls") ||
			    str_eq(name, "perf_event") || str_eq(name, "rdma");

		CHECK_INT(p.dirs.v[i].by_systemd, !ours);
	}
}

static void say(struct buf *b, const struct unit_property *p)
{
	size_t i;

	buf_printf(b, "%s%s=", b->len ? ", " : "", p->name);
	if (p->type == UNIT_NUMBER && p->number == UINT64_MAX)
		buf_str(b, "infinity");
	else if (p->type == UNIT_NUMBER || p->type == UNIT_SIGNED)
		buf_printf(b, "%" PRIu64, p->number);
	else if (p->type == UNIT_BOOL)
		buf_str(b, p->yes ? "yes" : "no");
	else if (p->type == UNIT_TEXT)
		buf_str(b, p->text);
	for (i = 0; p->type == UNIT_TEXTS && i < p->texts.n; i++)
		buf_printf(b, "%s%s", i ? " " : "", p->texts.v[i]);
	for (i = 0; p->type == UNIT_BYTES && i < p->bytes.n; i++)
		buf_printf(b, "%02x", p->bytes.v[i]);
	for (i = 0; (p->type == UNIT_PAIRS || p->type == UNIT_WEIGHTS) && i < p->pairs.n; i++)
		buf_printf(b, "%s%s:%s%" PRIu64, i ? " " : "", p->pairs.v[i].name,
			   p->pairs.v[i].text ? p->pairs.v[i].text : "", p->pairs.v[i].number);
}

/* ---- annotations ---- */

#define PROPERTY "org.systemd.property."

/* "Name=value, …" of the properties that are chosen, or the error. */
static const char *chosen_by(struct pair *annotations, size_t n)
{
	const struct cgroup_host host = by_systemd(&host_v2, "");
	struct oci_config c = {.annotations = {n, annotations}};
	struct buf b = buf_new(&arena, 65536);
	struct cgroup_plan p;
	size_t i;

	if (cgroup_plan_make(&c, "id", &host, false, &arena, &p, &err) < 0)
		return arena_printf(&arena, "error: %s", err.text);
	for (i = 0; i < p.properties.n; i++)
		if (p.properties.v[i].chosen)
			say(&b, &p.properties.v[i]);
	return b.data ? b.data : "";
}

static const char *chosen(const char *name, const char *value)
{
	struct pair pair = {arena_printf(&arena, PROPERTY "%s", name), S(value)};

	return chosen_by(&pair, 1);
}

TEST(annotations_choose_properties)
{
	static const struct {
		const char *name, *value, *want;
	} rows[] = {
		/* what CRI-O and podman send */
		{"TimeoutStopUSec", "uint64 30000000", "TimeoutStopUSec=30000000"},
		{"DefaultDependencies", "true", "DefaultDependencies=yes"},
		{"After", "['crio.service']", "After=crio.service"},
		{"CollectMode", "'inactive-or-failed'", "CollectMode=inactive-or-failed"},
		{"KillSignal", "37", "KillSignal=37"},
		/* … and other ways to say it */
		{"KillSignal", "int32 9", "KillSignal=9"},
		{"KillSignal", "64", "KillSignal=64"},
		{"DefaultDependencies", "false ", "DefaultDependencies=no"},
		{"CollectMode", "\"inactive\"", "CollectMode=inactive"},
		{"OOMPolicy", " 'kill'", "OOMPolicy=kill"},
		{"PartOf", "[ 'a.service' ,\"b@c.target\"]", "PartOf=a.service b@c.target"},
		{"TimeoutStopSec", "5", "TimeoutStopUSec=5000000"},
		{"RuntimeMaxSec", "uint32 7", "RuntimeMaxUSec=7000000"},
		{"RuntimeMaxUSec", "uint64 18446744073709551615", "RuntimeMaxUSec=infinity"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(chosen(rows[i].name, rows[i].value), rows[i].want);
}

/* Nothing of these is a matter of the container alone, or they take limits back. */
TEST(annotations_choose_nothing_else)
{
	static const char *const names[] = {
		"",
		"ExecStart",
		"ExecStartPre",
		"ExecStopPost",
		"Delegate",
		"Slice",
		"PIDs",
		"DevicePolicy",
		"DeviceAllow",
		"BPFProgram",
		"MemoryMax",
		"MemoryLimit",
		"TasksMax",
		"CPUQuotaPerSecUSec",
		"AllowedCPUs",
		"Requires",
		"Wants",
		"BindsTo",
		"Conflicts",
		"OnFailure",
		"OnSuccess",
		"SuccessAction",
		"FailureAction",
		"KillMode",
		"SendSIGKILL",
		"JobTimeoutAction",
		"Description",
		"User",
		"CPUAccounting",
		"IPAddressAllow",
		"ManagedOOMPreference",
		"StopWhenUnneeded",
		"RefuseManualStop",
		"After ",
		"after",
		"AfterSec",
		"TimeoutStop",
		"OOMPolicySec",
		"KillSignalSec",
		"TimeoutStopUSecSec",
		"TimeoutStopuSec",
		"CollectMode.x",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const char *text = chosen(names[i], "'kill'");

		CHECK(str_after(text, "error: annotations["));
		CHECK(strstr(text, "can't be chosen by an annotation"));
		CHECK(!unit_choice_name(arena_printf(&arena, PROPERTY "%s", names[i])));
	}
}

TEST(values_of_annotations_are_read_strictly)
{
	static const struct {
		const char *name, *value;
	} rows[] = {
		{"DefaultDependencies", ""},
		{"DefaultDependencies", "1"},
		{"DefaultDependencies", "truely"},
		{"DefaultDependencies", "'true'"},
		{"CollectMode", "inactive"},
		{"CollectMode", "'Inactive'"},
		{"CollectMode", "'inactive"},
		{"CollectMode", "'inactive\""},
		{"CollectMode", "'inactive' 1"},
		{"CollectMode", "''"},
		{"OOMPolicy", "'inactive'"},
		{"KillSignal", "0"},
		{"KillSignal", "65"},
		{"KillSignal", "-9"},
		{"KillSignal", "+9"},
		{"KillSignal", "'TERM'"},
		{"KillSignal", "4294967305"},
		{"TimeoutStopUSec", "5000000"},
		{"TimeoutStopUSec", "int64 5"},
		{"TimeoutStopUSec", "uint645"},
		{"TimeoutStopUSec", "uint64"},
		{"TimeoutStopUSec", "uint64 0x5"},
		{"TimeoutStopUSec", "uint64 5 5"},
		{"TimeoutStopUSec", "uint64 18446744073709551616"},
		{"TimeoutStopUSec", "uint64 00000000000000000000000000005"},
		{"TimeoutStopSec", "uint64 18446744073709551615"},
		{"TimeoutStopSec", "1.5"},
		{"RuntimeMaxSec", "'5'"},
		{"After", "'crio.service'"},
		{"After", "[]"},
		{"After", "['crio.service'"},
		{"After", "['crio.service',]"},
		{"After", "['crio.service'] x"},
		{"After", "['crio']"},
		{"After", "['a b.service']"},
		{"After", "['../a.service']"},
		{"After", "['a\\.service']"},
		{"After", "['\xc3\xa4.service']"},
		{"After", "[['a.service']]"},
	};
	char *many = S("['a.service'"), *longest = arena_alloc(&arena, 300, 1);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *text = chosen(rows[i].name, rows[i].value);

		if (!str_after(text, "error: annotations[" PROPERTY) ||
		    !strstr(text, "is no value of it, want "))
			FAIL("%s=%s: %s", rows[i].name, rows[i].value, text);
	}
	for (i = 1; i < 64; i++)
		many = arena_printf(&arena, "%s, 'a.service'", many);
	CHECK(str_after(chosen("After", arena_printf(&arena, "%s]", many)), "After=a.service a"));
	CHECK(str_after(chosen("After", arena_printf(&arena, "%s, 'a.service']", many)),
			"error: "));
	memset(longest, 'a', 248);
	CHECK(str_after(chosen("After", arena_printf(&arena, "['%s.target']", longest)), "After="));
	longest[248] = 'a';
	CHECK(str_after(chosen("After", arena_printf(&arena, "['%s.target']", longest)),
			"error: "));
	longest = arena_alloc(&arena, 5000, 1);
	memset(longest, ' ', 4999);
	CHECK(strstr(chosen("After", longest), "longer than 4096 bytes"));
}

/* Ours come first, and once: systemd would take the last that it is told. */
TEST(what_is_chosen_stands_in_the_place_of_ours)
{
	struct pair pairs[] = {{S(PROPERTY "CollectMode"), S("'inactive'")},
			       {S(PROPERTY "TimeoutStopSec"), S("1")},
			       {S(PROPERTY "TimeoutStopUSec"), S("uint64 2")},
			       {S("org.example"), S("x")},
			       {S(PROPERTY "DefaultDependencies"), S("true")}};
	const struct cgroup_host host = by_systemd(&host_v2, "");
	struct oci_config c = {.annotations = {ARRAY_SIZE(pairs), pairs}};
	struct cgroup_plan p;
	size_t i, n = 0;

	CHECK_STR(chosen_by(pairs, ARRAY_SIZE(pairs)),
		  "DefaultDependencies=yes, CollectMode=inactive, TimeoutStopUSec=2");
	CHECK_INT(cgroup_plan_make(&c, "id", &host, false, &arena, &p, &err), 0);
	for (i = 0; i < p.properties.n; i++)
		n += str_eq(p.properties.v[i].name, "CollectMode");
	CHECK_INT(n, 1);
	/* Without systemd's driver they are words like any other. */
	pairs[0].key = S(PROPERTY "ExecStart");
	CHECK_INT(cgroup_plan_make(&c, "id", &host_v2, false, &arena, &p, &err), 0);
	CHECK_INT(p.properties.n, 0);
}

/* "Name=value, …" of those that resources ask for, without devices; or the error. *writes: the
 * files. */
static const char *properties_of(const struct oci_resources *r, const struct cgroup_host *of,
				 const char **writes)
{
	const struct cgroup_host host = by_systemd(of, "");
	struct oci_config c = {.linux_.resources = *r};
	struct buf b = buf_new(&arena, 65536), w = buf_new(&arena, 65536);
	struct cgroup_plan p;
	size_t i;

	if (cgroup_plan_make(&c, "id", &host, false, &arena, &p, &err) < 0)
		return arena_printf(&arena, "error: %s", err.text);
	for (i = 0; i < p.properties.n; i++)
		if (p.properties.v[i].field && !str_after(p.properties.v[i].name, "Device"))
			say(&b, &p.properties.v[i]);
	for (i = 0; i < p.n_writes; i++)
		if (!str_after(p.writes[i].file, "devices."))
			buf_printf(&w, "%s%s=%s", w.len ? ", " : "", p.writes[i].file,
				   p.writes[i].value);
	if (writes)
		*writes = w.data ? w.data : "";
	return b.data ? b.data : "";
}

TEST(limits_are_told_in_systemds_words)
{
	struct oci_resources r = {.pids_limit = i64(9)};

	r.memory.limit = i64(1000);
	r.memory.swap = i64(3000);
	r.memory.reservation = i64(500);
	r.cpu.shares = u64(1024);
	r.cpu.cpus = S("0-2,9");
	CHECK_STR(properties_of(&r, &host_v2, NULL),
		  "MemorySwapMax=2000, MemoryMax=1000, MemoryLow=500, CPUWeight=100, "
		  "AllowedCPUs=0702, TasksMax=9");
	CHECK_STR(properties_of(&r, &host_v1, NULL),
		  "MemoryLimit=1000, CPUShares=1024, TasksMax=9");
}

TEST(no_limit_is_infinity_and_none_asked_for_is_nothing)
{
	struct oci_resources r = {.pids_limit = i64(-1)};

	r.memory.limit = i64(-1);
	r.cpu.quota = i64(-1);
	CHECK_STR(properties_of(&r, &host_v2, NULL),
		  "MemorySwapMax=infinity, MemoryMax=infinity, TasksMax=infinity, "
		  "CPUQuotaPerSecUSec=infinity");
	r = (struct oci_resources){0};
	CHECK_STR(properties_of(&r, &host_v2, NULL), "");
}

TEST(a_quota_is_what_systemd_makes_of_it)
{
	struct oci_resources r = {0};
	const char *writes;

	r.cpu.quota = i64(25000);
	r.cpu.period = u64(100000);
	CHECK_STR(properties_of(&r, &host_v2, &writes),
		  "CPUQuotaPeriodUSec=100000, CPUQuotaPerSecUSec=250000");
	CHECK_STR(writes, "cpu.max=25000 100000");
	/* rounded up to a whole hundredth of a second, in the file, too */
	r.cpu.quota = i64(5001);
	CHECK_STR(properties_of(&r, &host_v2, &writes),
		  "CPUQuotaPeriodUSec=100000, CPUQuotaPerSecUSec=60000");
	CHECK_STR(writes, "cpu.max=6000 100000");
	CHECK_STR(properties_of(&r, &host_v1, &writes),
		  "CPUQuotaPeriodUSec=100000, CPUQuotaPerSecUSec=60000");
	CHECK_STR(writes, "cpu.cfs_period_us=100000, cpu.cfs_quota_us=6000");
	r.cpu.quota = i64(INT64_MAX);
	r.cpu.period = u64(1000);
	properties_of(&r, &host_v2, NULL);
}

TEST(files_by_name_are_told_too)
{
	struct pair pairs[] = {{S("memory.high"), S("5000")}, {S("pids.max"), S("max")},
			       {S("cpu.weight"), S("7")},     {S("memory.min"), S("0")},
			       {S("io.weight"), S("default 50")}};
	struct oci_resources r = {.unified = {5, pairs}, .pids_limit = i64(3)};

	CHECK_STR(properties_of(&r, &host_v2, NULL),
		  "TasksMax=3, MemoryHigh=5000, TasksMax=infinity, CPUWeight=7, MemoryMin=0, "
		  "IOWeight=50");
}

TEST(nobody_but_init_is_one_task)
{
	struct oci_resources r = {.pids_limit = i64(0)};
	const char *writes;

	CHECK_STR(properties_of(&r, &host_v1, &writes), "TasksMax=1");
	CHECK_STR(writes, "pids.max=1");
}

TEST(idle_is_a_weight_of_nothing)
{
	struct oci_resources r = {0};

	r.cpu.idle = i64(1);
	CHECK_STR(properties_of(&r, &host_v2, NULL), "CPUWeight=0");
}

TEST(weights_of_devices)
{
	struct oci_weight_device device = {.major = 8, .minor = 0, .weight = {true, 500}};
	struct oci_resources r = {.block_io.weight_device = {1, &device},
				  .block_io.weight = {true, 200}};

	CHECK_STR(properties_of(&r, &host_v2, NULL),
		  "IOWeight=1200, IODeviceWeight=/dev/block/8:0:4500");
	CHECK_STR(properties_of(&r, &host_v1, NULL), "BlockIOWeight=200");
}

/* DevicePolicy and the last DeviceAllow. */
static const char *devices_of(const struct oci_device_rule *rules, size_t n,
			      const struct cgroup_host *of)
{
	const struct cgroup_host host = by_systemd(of, "");
	struct oci_config c = {0};
	struct buf b = buf_new(&arena, 65536);
	struct cgroup_plan p;
	size_t i;

	c.linux_.resources.devices.n = n;
	c.linux_.resources.devices.v = (struct oci_device_rule *)(uintptr_t)rules;
	if (cgroup_plan_make(&c, "id", &host, false, &arena, &p, &err) < 0)
		return arena_printf(&arena, "error: %s", err.text);
	for (i = 0; i < p.properties.n; i++)
		if (str_after(p.properties.v[i].name, "Device"))
			say(&b, &p.properties.v[i]);
	return b.data;
}

TEST(allowed_devices_are_named)
{
	const struct oci_device_rule rules[] = {
		{.allow = false, .access = S("rwm")},
		{.allow = true,
		 .type = S("c"),
		 .major = i64(10),
		 .minor = i64(200),
		 .access = S("rw")},
		{.allow = true, .type = S("b"), .major = i64(8), .access = S("r")},
	};
	const char *text = devices_of(rules, 3, &host_v2);

	CHECK(str_after(text, "DeviceAllow=, DevicePolicy=strict, DeviceAllow="));
	CHECK(strstr(text, "/dev/char/10:200:rw0"));
	CHECK(strstr(text, " block-8:r0"));
	CHECK(strstr(text, "char-*:m0"));
	CHECK(strstr(text, "char-136:rwm0"));
	CHECK_STR(devices_of(rules, 3, &host_v1), text);
}

TEST(all_devices_are_no_policy)
{
	const struct oci_device_rule all = {.allow = true, .access = S("rwm")};

	CHECK_STR(devices_of(&all, 1, &host_v2), "DeviceAllow=, DevicePolicy=auto");
}

TEST(denied_devices_are_not_systemds_to_keep)
{
	const struct oci_device_rule rules[] = {
		{.allow = true, .access = S("rwm")},
		{.allow = false, .type = S("c"), .major = i64(10), .minor = i64(200)},
	};

	CHECK_STR(devices_of(rules, 2, &host_v2), "DeviceAllow=, DevicePolicy=auto");
	CHECK(strstr(devices_of(rules, 2, &host_v1), "error: linux.resources.devices: systemd"));
}

int main(void)
{
	return unit_main();
}
