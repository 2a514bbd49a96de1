/* Plans of cgroups on fake hosts: paths, values, and what is refused. */
#include "plan/cgroup.h"

#include "base/buf.h"
#include "base/str.h"
#include "cgroup_hosts.h"
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
static struct opt_u32 u32(uint32_t v)
{
	return (struct opt_u32){true, v};
}

/* "file=value, …", devices aside; or the error. */
static const char *writes_of(const struct oci_config *c, const struct cgroup_host *host)
{
	struct cgroup_plan p;
	struct buf b = buf_new(&arena, 65536);
	size_t i;

	if (cgroup_plan_make(c, "id", host, false, &arena, &p, &err) < 0)
		return arena_printf(&arena, "error: %s", err.text);
	buf_str(&b, "");
	for (i = 0; i < p.n_writes; i++) {
		const struct cgroup_write *w = &p.writes[i];

		if (str_after(w->file, "devices."))
			continue;
		buf_printf(&b, "%s%s%s=%s", b.len ? ", " : "",
			   w->flags & CGROUP_OPTIONAL ? "?" :
			   w->flags & CGROUP_TOLERATE ? "~" :
							"",
			   w->file, w->value);
		if (w->alt_file)
			buf_printf(&b, " or %s=%s", w->alt_file, w->alt_value);
	}
	return b.data ? b.data : "";
}

static const char *path_of(const char *path, const char *id)
{
	char *got;

	if (cgroup_plan_path(path, id, &arena, &got, &err) < 0)
		return arena_printf(&arena, "error: %s", err.text);
	return got;
}

TEST(path_absolute_relative_absent)
{
	char longest[256];

	memset(longest, 'x', 255);
	longest[255] = '\0';
	CHECK_STR(path_of(NULL, "id"), "/sbxrun-id");
	CHECK_STR(path_of("", "id"), "/sbxrun-id");
	/* a name has at most 255 bytes: together with "sbxrun-" the id, or below it */
	CHECK_STR(path_of(NULL, longest), arena_printf(&arena, "/sbxrun/%s", longest));
	CHECK_STR(path_of(NULL, longest + 7), arena_printf(&arena, "/sbxrun-%s", longest + 7));
	CHECK_STR(path_of(NULL, longest + 6), arena_printf(&arena, "/sbxrun/%s", longest + 6));
	CHECK_STR(path_of("a/b", "id"), "/sbxrun/a/b");
	CHECK_STR(path_of("/docker/abc", "id"), "/docker/abc");
	CHECK_STR(path_of("//docker/./abc//", "id"), "/docker/abc");
	CHECK_STR(path_of("/a:b:c", "id"), "/a:b:c");
}

TEST(path_refuses_what_is_not_the_containers)
{
	CHECK(str_after(path_of("/", "id"), "error: linux.cgroupsPath: "));
	CHECK(str_after(path_of("///./", "id"), "error: linux.cgroupsPath: "));
	CHECK(str_after(path_of(".", "id"), "error: linux.cgroupsPath: "));
	CHECK(str_after(path_of("/sbxrun", "id"), "error: linux.cgroupsPath: "));
	CHECK(str_after(path_of("/a/../b", "id"), "error: linux.cgroupsPath: "));
	CHECK(str_after(path_of("..", "id"), "error: linux.cgroupsPath: "));
	CHECK(str_after(path_of("/a\nb", "id"), "error: linux.cgroupsPath: "));
	CHECK(strstr(path_of("system.slice:docker:abc", "id"), "systemd"));
}

TEST(shares_become_weights)
{
	CHECK_INT(cgroup_shares_to_weight(0), 1);
	CHECK_INT(cgroup_shares_to_weight(2), 1);
	CHECK_INT(cgroup_shares_to_weight(1024), 100);
	CHECK_INT(cgroup_shares_to_weight(262144), 10000);
	CHECK_INT(cgroup_shares_to_weight(UINT64_MAX), 10000);
	CHECK_INT(cgroup_shares_to_weight(512), 59);
	CHECK_INT(cgroup_shares_to_weight(2048), 174);
}

TEST(shares_to_weight_is_monotonic)
{
	uint64_t shares, last = 1;

	for (shares = 2; shares <= 262144; shares++) {
		uint64_t w = cgroup_shares_to_weight(shares);

		CHECK(w >= last && w <= 10000);
		last = w;
	}
}

TEST(memory_limits)
{
	struct oci_config c = {0};
	struct oci_memory *m = &c.linux_.resources.memory;

	m->limit = i64(1000);
	m->swap = i64(3000);
	m->reservation = i64(500);
	CHECK_STR(writes_of(&c, &host_v1),
		  "memory.limit_in_bytes=1000, memory.memsw.limit_in_bytes=3000, "
		  "memory.soft_limit_in_bytes=500");
	CHECK_STR(writes_of(&c, &host_hybrid), writes_of(&c, &host_v1));
	CHECK_STR(writes_of(&c, &host_v2), "memory.swap.max=2000, memory.max=1000, memory.low=500");
	m->swap = i64(1000);
	CHECK_STR(writes_of(&c, &host_v2), "?memory.swap.max=0, memory.max=1000, memory.low=500");
}

TEST(memory_unlimited)
{
	struct oci_config c = {0};
	struct oci_memory *m = &c.linux_.resources.memory;

	m->limit = i64(-1);
	m->reservation = i64(-1);
	CHECK_STR(writes_of(&c, &host_v1),
		  "memory.limit_in_bytes=-1, ?memory.memsw.limit_in_bytes=-1, "
		  "memory.soft_limit_in_bytes=-1");
	CHECK_STR(writes_of(&c, &host_v2), "?memory.swap.max=max, memory.max=max, memory.low=0");
	m->limit = i64(0);
	m->reservation = i64(0);
	CHECK_STR(writes_of(&c, &host_v1), "");
	CHECK_STR(writes_of(&c, &host_v2), "");
}

TEST(memory_values_that_make_no_sense)
{
	struct oci_config c = {0};
	struct oci_memory *m = &c.linux_.resources.memory;

	m->limit = i64(-5);
	CHECK_STR(writes_of(&c, &host_v1), "error: linux.resources.memory.limit: -5 is neither -1 "
					   "(unlimited) nor a size");
	m->limit = i64(1000);
	m->swap = i64(999);
	CHECK(str_after(writes_of(&c, &host_v1), "error: linux.resources.memory.swap: "));
	m->limit = (struct opt_i64){0};
	CHECK(str_after(writes_of(&c, &host_v2), "error: linux.resources.memory.swap: "));
	m->swap = (struct opt_i64){0};
	m->swappiness = u64(101);
	CHECK(str_after(writes_of(&c, &host_v1), "error: linux.resources.memory.swappiness: "));
}

TEST(memory_of_v1_only)
{
	struct oci_config c = {0};
	struct oci_memory *m = &c.linux_.resources.memory;
	struct cgroup_plan p;

	m->swappiness = u64(0);
	CHECK_STR(writes_of(&c, &host_v1), "memory.swappiness=0");
	CHECK(str_after(writes_of(&c, &host_v2), "error: linux.resources.memory.swappiness: "));
	m->swappiness = (struct opt_u64){0};
	m->disable_oom_killer = true;
	CHECK_STR(writes_of(&c, &host_v1), "memory.oom_control=1");
	CHECK(str_after(writes_of(&c, &host_v2),
			"error: linux.resources.memory.disableOOMKiller: "));
	m->disable_oom_killer = false;
	m->kernel = i64(-1);
	m->kernel_tcp = i64(-1);
	CHECK_STR(writes_of(&c, &host_v1), "~memory.kmem.tcp.limit_in_bytes=-1");
	CHECK_STR(writes_of(&c, &host_v2), "");
	m->kernel = i64(77);
	m->kernel_tcp = i64(78);
	CHECK_STR(writes_of(&c, &host_v1),
		  "~memory.kmem.limit_in_bytes=77, memory.kmem.tcp.limit_in_bytes=78");
	CHECK(str_after(writes_of(&c, &host_v2), "error: linux.resources.memory.kernel: "));
	CHECK_INT(cgroup_plan_make(&c, "id", &host_v1, false, &arena, &p, &err), 0);
	CHECK_INT(p.warnings.n, 1);
}

TEST(cpu_values)
{
	struct oci_config c = {0};
	struct oci_cpu *cpu = &c.linux_.resources.cpu;

	cpu->shares = u64(1024);
	cpu->quota = i64(50000);
	cpu->period = u64(200000);
	cpu->burst = u64(1000);
	cpu->idle = i64(1);
	CHECK_STR(writes_of(&c, &host_v1),
		  "cpu.shares=1024, cpu.cfs_period_us=200000, "
		  "cpu.cfs_quota_us=50000, cpu.cfs_burst_us=1000, cpu.idle=1");
	CHECK_STR(writes_of(&c, &host_v2),
		  "cpu.weight=100, cpu.max=50000 200000, cpu.max.burst=1000, cpu.idle=1");
	*cpu = (struct oci_cpu){.quota = i64(-1)};
	CHECK_STR(writes_of(&c, &host_v1), "cpu.cfs_quota_us=-1");
	CHECK_STR(writes_of(&c, &host_v2), "cpu.max=max");
	*cpu = (struct oci_cpu){.period = u64(5000)};
	CHECK_STR(writes_of(&c, &host_v2), "cpu.max=max 5000");
	*cpu = (struct oci_cpu){.quota = i64(5000), .burst = u64(5001)};
	CHECK(str_after(writes_of(&c, &host_v2), "error: linux.resources.cpu.burst: "));
	*cpu = (struct oci_cpu){.idle = i64(2)};
	CHECK(str_after(writes_of(&c, &host_v2), "error: linux.resources.cpu.idle: "));
	*cpu = (struct oci_cpu){.shares = u64(262145)};
	CHECK(str_after(writes_of(&c, &host_v2), "error: linux.resources.cpu.shares: "));
}

TEST(cpu_real_time)
{
	struct oci_config c = {0};
	struct oci_cpu *cpu = &c.linux_.resources.cpu;

	cpu->realtime_runtime = i64(900);
	cpu->realtime_period = u64(1000);
	CHECK_STR(writes_of(&c, &host_v1), "cpu.rt_period_us=1000, cpu.rt_runtime_us=900");
	CHECK(str_after(writes_of(&c, &host_v2), "error: linux.resources.cpu.realtimePeriod: "));
}

/* What the kernel allows in one order only, which depends on what is in force. */
static void check_retried(const struct oci_config *c, const struct cgroup_host *host, size_t want)
{
	struct cgroup_plan p;
	size_t i, n = 0;

	CHECK(cgroup_plan_make(c, "id", host, false, &arena, &p, &err) == 0);
	for (i = 0; i < p.n_writes; i++)
		n += (p.writes[i].flags & CGROUP_RETRY) != 0;
	CHECK(n == want);
}

TEST(pairs_that_depend_on_each_other_are_retried)
{
	struct oci_config c = {0};
	struct oci_resources *r = &c.linux_.resources;

	r->cpu = (struct oci_cpu){.realtime_runtime = i64(900), .realtime_period = u64(1000)};
	check_retried(&c, &host_v1, 2);
	r->cpu = (struct oci_cpu){.quota = i64(900), .period = u64(1000), .burst = u64(10)};
	check_retried(&c, &host_v1, 3);
	check_retried(&c, &host_v2, 2);
	r->cpu = (struct oci_cpu){0};
	r->memory = (struct oci_memory){.limit = i64(1000), .swap = i64(2000)};
	check_retried(&c, &host_v1, 2);
}

TEST(cpusets_are_filled_at_the_making_on_v1)
{
	struct oci_config c = {0};
	struct cgroup_plan p;

	c.linux_.resources.cpu.cpus = S("0-1");
	c.linux_.resources.cpu.mems = S("0");
	CHECK_INT(cgroup_plan_make(&c, "id", &host_v1, false, &arena, &p, &err), 0);
	CHECK_STR(p.cpus, "0-1");
	CHECK_STR(p.mems, "0");
	CHECK_STR(p.dirs.v[p.cpuset_dir].mount, "/c/cpuset");
	CHECK_STR(writes_of(&c, &host_v2), "cpuset.cpus=0-1, cpuset.mems=0");
	c.linux_.resources.cpu.cpus = S("all");
	CHECK(str_after(writes_of(&c, &host_v2), "error: linux.resources.cpu.cpus: "));
}

TEST(pids_limit_zero_is_a_limit)
{
	struct oci_config c = {0};

	c.linux_.resources.pids_limit = i64(0);
	CHECK_STR(writes_of(&c, &host_v1), "pids.max=0");
	CHECK_STR(writes_of(&c, &host_v2), "pids.max=1");
	c.linux_.resources.pids_limit = i64(-1);
	CHECK_STR(writes_of(&c, &host_v1), "pids.max=max");
	c.linux_.resources.pids_limit = i64(32);
	CHECK_STR(writes_of(&c, &host_v2), "pids.max=32");
	c.linux_.resources.pids_limit = i64(-2);
	CHECK(str_after(writes_of(&c, &host_v2), "error: linux.resources.pids.limit: "));
}

TEST(block_io)
{
	struct oci_config c = {0};
	struct oci_block_io *io = &c.linux_.resources.block_io;
	struct oci_weight_device wd[] = {{.major = 8, .minor = 0, .weight = u32(1000)}};
	struct oci_throttle_device td[] = {{8, 0, 600}, {8, 16, 0}};

	io->weight = u32(10);
	io->weight_device.n = 1;
	io->weight_device.v = wd;
	io->throttle_read_bps = (struct oci_throttle_list){2, td};
	io->throttle_write_iops = (struct oci_throttle_list){1, td};
	CHECK_STR(writes_of(&c, &host_v1),
		  "blkio.weight=10 or blkio.bfq.weight=10, "
		  "blkio.weight_device=8:0 1000 or blkio.bfq.weight_device=8:0 1000, "
		  "blkio.throttle.read_bps_device=8:0 600, blkio.throttle.read_bps_device=8:16 0, "
		  "blkio.throttle.write_iops_device=8:0 600");
	CHECK_STR(writes_of(&c, &host_v2),
		  "io.bfq.weight=10 or io.weight=default 1, "
		  "io.bfq.weight=8:0 1000 or io.weight=8:0 10000, "
		  "io.max=8:0 rbps=600, io.max=8:16 rbps=max, io.max=8:0 wiops=600");
	CHECK_STR(
		writes_of(&c, &host_hybrid),
		"error: linux.resources.blockIO.weight: this host has no blkio cgroup controller");
	*io = (struct oci_block_io){.leaf_weight = u32(10)};
	CHECK_STR(writes_of(&c, &host_v1), "blkio.leaf_weight=10");
	CHECK(str_after(writes_of(&c, &host_v2), "error: linux.resources.blockIO.leafWeight: "));
	*io = (struct oci_block_io){.weight = u32(1001)};
	CHECK(str_after(writes_of(&c, &host_v1), "error: linux.resources.blockIO.weight: "));
	*io = (struct oci_block_io){.weight = u32(0)};
	CHECK_STR(writes_of(&c, &host_hybrid), "");
}

TEST(hugepages_also_where_only_the_unified_tree_has_them)
{
	struct oci_config c = {0};
	struct oci_hugepage_limit l = {S("2MB"), 4096};
	struct cgroup_plan p;

	c.linux_.resources.hugepage_limits.n = 1;
	c.linux_.resources.hugepage_limits.v = &l;
	CHECK_STR(writes_of(&c, &host_v1),
		  "hugetlb.2MB.limit_in_bytes=4096, ?hugetlb.2MB.rsvd.limit_in_bytes=4096");
	CHECK_STR(writes_of(&c, &host_v2), "hugetlb.2MB.max=4096, ?hugetlb.2MB.rsvd.max=4096");
	CHECK_STR(writes_of(&c, &host_hybrid), "hugetlb.2MB.max=4096, ?hugetlb.2MB.rsvd.max=4096");
	CHECK_INT(cgroup_plan_make(&c, "id", &host_hybrid, false, &arena, &p, &err), 0);
	CHECK_STR(p.v2_need, "+hugetlb");
	CHECK_STR(p.v2_want, "");
	l.page_size = S("2MB/../..");
	CHECK(str_after(writes_of(&c, &host_v1),
			"error: linux.resources.hugepageLimits[0].pageSize: "));
	l.page_size = S("2");
	CHECK(str_after(writes_of(&c, &host_v1),
			"error: linux.resources.hugepageLimits[0].pageSize: "));
}

TEST(network_is_of_v1)
{
	struct oci_config c = {0};
	struct oci_net_priority prio = {S("eth0"), 5};

	c.linux_.resources.network.class_id = u32(1048577);
	c.linux_.resources.network.priorities.n = 1;
	c.linux_.resources.network.priorities.v = &prio;
	CHECK_STR(writes_of(&c, &host_v1), "net_cls.classid=1048577, net_prio.ifpriomap=eth0 5");
	CHECK_STR(
		writes_of(&c, &host_hybrid),
		"error: linux.resources.network.classID: this host has no net_cls cgroup controller");
	CHECK(str_after(writes_of(&c, &host_v2), "error: linux.resources.network.classID: "));
	prio.name = S("eth0 9\neth1");
	CHECK(str_after(writes_of(&c, &host_v1),
			"error: linux.resources.network.priorities[0].name: "));
}

TEST(rdma)
{
	struct oci_config c = {0};
	struct oci_rdma r[] = {{S("mlx5_1"), u32(3), u32(10000)}, {S("rxe3"), {0}, u32(7)}};

	c.linux_.resources.rdma.n = 2;
	c.linux_.resources.rdma.v = r;
	CHECK_STR(writes_of(&c, &host_v2),
		  "rdma.max=mlx5_1 hca_handle=3 hca_object=10000, rdma.max=rxe3 hca_object=7");
	CHECK_STR(writes_of(&c, &host_v1), writes_of(&c, &host_v2));
	r[0].hca_handles.set = r[0].hca_objects.set = false;
	CHECK(str_after(writes_of(&c, &host_v1), "error: linux.resources.rdma[mlx5_1]: "));
}

TEST(unified_goes_to_the_unified_tree_line_by_line)
{
	struct oci_config c = {0};
	struct pair kv = {S("io.max"), S("8:0 rbps=1\n8:16 wiops=2\n")};

	c.linux_.resources.unified = (struct pairs){1, &kv};
	CHECK_STR(writes_of(&c, &host_v2), "io.max=8:0 rbps=1, io.max=8:16 wiops=2");
	CHECK(str_after(writes_of(&c, &host_v1), "error: linux.resources.unified[io.max]: "));
	kv = (struct pair){S("memory.high"), S("5")};
	CHECK_STR(writes_of(&c, &host_hybrid),
		  "error: linux.resources.unified[memory.high]: this host "
		  "has the memory controller on cgroup v1");
	kv = (struct pair){S("hugetlb.1GB.max"), S("5")};
	CHECK_STR(writes_of(&c, &host_hybrid), "hugetlb.1GB.max=5");
	kv = (struct pair){S("cgroup.max.depth"), S("3")};
	CHECK_STR(writes_of(&c, &host_v2), "cgroup.max.depth=3");
}

TEST(unified_refuses_what_is_no_limit)
{
	static const char *const keys[] = {"",
					   "memory",
					   ".",
					   "../x",
					   "memory/x.y",
					   "cgroup.procs",
					   "a..",
					   "cgroup.kill",
					   "cgroup.freeze",
					   "cpu.\n",
					   ".hide",
					   "nope.max",
					   "cgroup.subtree_control"};
	struct oci_config c = {0};
	struct pair kv = {.value = S("1")};
	size_t i;

	c.linux_.resources.unified = (struct pairs){1, &kv};
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		kv.key = S(keys[i]);
		CHECK(str_after(writes_of(&c, &host_v2), "error: linux.resources.unified["));
	}
}

TEST(directories_of_each_hierarchy)
{
	struct oci_config c = {0};
	struct cgroup_plan p;

	CHECK_INT(cgroup_plan_make(&c, "x1", &host_hybrid, false, &arena, &p, &err), 0);
	CHECK(!p.skipped_reason);
	CHECK_INT(p.dirs.n, 7);
	CHECK_STR(p.dirs.v[0].mount, "/c/pids");
	CHECK_STR(p.dirs.v[0].path, "/sbxrun-x1");
	CHECK_STR(p.dirs.v[0].made, "/sbxrun-x1");
	CHECK(p.dirs.v[1].freezer && !p.dirs.v[0].freezer);
	CHECK(p.dirs.v[6].unified && !p.dirs.v[5].unified);
	c.linux_.cgroups_path = S("some/x1");
	CHECK_INT(cgroup_plan_make(&c, "x1", &host_hybrid, false, &arena, &p, &err), 0);
	CHECK_STR(p.dirs.v[0].path, "/sbxrun/some/x1");
	CHECK_STR(p.dirs.v[0].made, "/sbxrun");
	c.linux_.cgroups_path = S("/docker/x1");
	CHECK_INT(cgroup_plan_make(&c, "x1", &host_v2, false, &arena, &p, &err), 0);
	CHECK_STR(p.dirs.v[0].made, "/docker/x1");
	CHECK_STR(p.v2_need, "");
	CHECK_STR(p.v2_want, "+cpuset +cpu +io +memory +hugetlb +pids +rdma +misc");
}

TEST(no_hierarchy_is_fine_without_limits)
{
	static const struct cgroup_host none = {.mode = CGROUP_NONE};
	static const struct cgroup_host disabled = {.mode = CGROUP_DISABLED};
	struct oci_config c = {0};
	struct cgroup_plan p;

	CHECK_INT(cgroup_plan_make(&c, "x1", &none, false, &arena, &p, &err), 0);
	CHECK(p.skipped_reason);
	CHECK_INT(p.dirs.n, 0);
	c.linux_.resources.pids_limit = i64(5);
	CHECK(str_after(writes_of(&c, &none), "error: linux.resources.pids.limit: "));
	CHECK(strstr(writes_of(&c, &disabled), "--cgroup-manager disabled"));
}

TEST(rootless_without_delegation_has_no_cgroups)
{
	struct cgroup_hierarchy h[] = {UNIFIED("/c", "memory pids")};
	struct cgroup_host host = {CGROUP_V2, 1, h};
	struct oci_device_rule rule = {.allow = false, .access = S("rwm")};
	struct oci_config c = {0};
	struct cgroup_plan p;

	h[0].base = NULL;
	c.linux_.resources.devices.n = 1;
	c.linux_.resources.devices.v = &rule;
	CHECK_INT(cgroup_plan_make(&c, "x", &host, true, &arena, &p, &err), 0);
	CHECK(p.skipped_reason);
	CHECK(p.devices_unenforced);
	CHECK_INT(p.warnings.n, 1);
	CHECK_STR(
		p.warnings.v[0],
		"linux.resources.devices: without effect: no cgroups here: no cgroup is delegated to "
		"this user");
	rule.allow = true;
	CHECK_INT(cgroup_plan_make(&c, "x", &host, true, &arena, &p, &err), 0);
	CHECK_INT(p.warnings.n, 0);
	h[0].unified = false;
	host.mode = CGROUP_V1;
	CHECK_INT(cgroup_plan_make(&c, "x", &host, true, &arena, &p, &err), 0);
	CHECK_STR(p.skipped_reason, "cgroup v1 is not for ordinary users");
}

TEST(rootless_without_delegation_names_every_limit_that_has_no_effect)
{
	struct cgroup_hierarchy h[] = {UNIFIED("/c", "memory pids")};
	struct cgroup_host host = {CGROUP_V2, 1, h};
	struct oci_config c = {0};
	struct cgroup_plan p;

	h[0].base = NULL;
	c.linux_.resources.memory.limit = i64(1);
	c.linux_.resources.pids_limit = i64(5);
	CHECK_INT(cgroup_plan_make(&c, "x", &host, true, &arena, &p, &err), 0);
	CHECK(p.skipped_reason);
	CHECK_INT(p.warnings.n, 1);
	CHECK_STR(
		p.warnings.v[0],
		"linux.resources.memory.limit, linux.resources.pids.limit: without effect, for there "
		"are no cgroups: no cgroup is delegated to this user");
	CHECK_INT(cgroup_plan_make(&c, "x", &host_v1, true, &arena, &p, &err), 0);
	CHECK_INT(p.warnings.n, 0); /* its hierarchies are writable */
}

TEST(rootless_is_told_which_controller_is_not_delegated)
{
	struct cgroup_hierarchy h[] = {UNIFIED("/c", "memory pids")};
	struct cgroup_host host = {CGROUP_V2, 1, h};
	struct oci_config c = {0};
	struct cgroup_plan p;

	h[0].base = S("/user/u1");
	c.linux_.resources.cpu.quota = i64(1000);
	CHECK_INT(cgroup_plan_make(&c, "x", &host, true, &arena, &p, &err), -1);
	CHECK_STR(
		err.text,
		"linux.resources.cpu.quota: the cgroup controller cpu is not delegated to /user/u1");
}

TEST(rootless_with_delegation_stays_below_it)
{
	struct cgroup_hierarchy h[] = {UNIFIED("/c", "memory pids")};
	struct cgroup_host host = {CGROUP_V2, 1, h};
	struct oci_config c = {0};
	struct cgroup_plan p;

	h[0].base = S("/user/u1");
	CHECK_INT(cgroup_plan_make(&c, "x", &host, true, &arena, &p, &err), 0);
	CHECK(!p.skipped_reason);
	CHECK_STR(p.dirs.v[0].path, "/user/u1/sbxrun-x");
	CHECK_STR(p.dirs.v[0].made, "/user/u1/sbxrun-x");
	CHECK(p.dirs.v[0].inner);
	c.linux_.cgroups_path = S("/user/u1/here");
	CHECK_INT(cgroup_plan_make(&c, "x", &host, true, &arena, &p, &err), 0);
	CHECK_STR(p.dirs.v[0].path, "/user/u1/here");
	c.linux_.cgroups_path = S("/other");
	CHECK_INT(cgroup_plan_make(&c, "x", &host, true, &arena, &p, &err), 0);
	CHECK_STR(p.dirs.v[0].path, "/user/u1/other");
}

TEST(container_owns_its_cgroup_only_as_the_spec_says)
{
	struct oci_namespace ns[] = {{OCI_NS_CGROUP, NULL}, {OCI_NS_USER, S("/proc/1/ns/user")}};
	char *ro[] = {S("ro")};
	struct oci_mount m[] = {{.destination = S("/sys/fs/cgroup"), .type = S("cgroup")}};
	struct oci_id_map map[] = {{0, 100000, 65536}};
	struct oci_config c = {.process.set = true, .process.user.uid = 5};
	struct cgroup_plan p;

	c.linux_.namespaces.n = 1;
	c.linux_.namespaces.v = ns;
	c.linux_.uid_mappings = (struct oci_id_maps){1, map};
	c.mounts.n = 1;
	c.mounts.v = m;
	CHECK_INT(cgroup_plan_make(&c, "x", &host_v2, false, &arena, &p, &err), 0);
	CHECK(p.chown);
	CHECK(!p.dirs.v[0].inner);
	CHECK_INT(p.owner_uid, 100005);
	CHECK_INT(cgroup_plan_make(&c, "x", &host_hybrid, false, &arena, &p, &err), 0);
	CHECK(!p.chown);
	m[0].options = (struct strings){1, ro};
	CHECK_INT(cgroup_plan_make(&c, "x", &host_v2, false, &arena, &p, &err), 0);
	CHECK(!p.chown);
	m[0].options.n = 0;
	m[0].destination = S("/other");
	CHECK_INT(cgroup_plan_make(&c, "x", &host_v2, false, &arena, &p, &err), 0);
	CHECK(!p.chown);
	m[0].destination = S("/sys/fs//cgroup/");
	/* A joined user namespace: its ids are unknown. */
	c.linux_.namespaces.n = 2;
	CHECK_INT(cgroup_plan_make(&c, "x", &host_v2, false, &arena, &p, &err), 0);
	CHECK(!p.chown);
	c.linux_.namespaces.n = 1;
	CHECK_INT(cgroup_plan_make(&c, "x", &host_v2, false, &arena, &p, &err), 0);
	CHECK(p.chown);
	ns[0].path = S("/proc/1/ns/cgroup");
	CHECK_INT(cgroup_plan_make(&c, "x", &host_v2, false, &arena, &p, &err), 0);
	CHECK(!p.chown);
}

TEST(update_goes_where_the_container_is)
{
	struct cgroup_dir dirs[] = {
		{.mount = S("/c/memory"), .path = S("/a/b")},
		{.mount = S("/c/pids"), .path = S("/a/c")},
	};
	const struct cgroup_dirs d = {2, dirs};
	struct oci_resources r = {.pids_limit = i64(9)};
	struct cgroup_plan p;

	r.memory.limit = i64(5);
	CHECK_INT(cgroup_plan_update(&r, &d, &(struct cgroup_unit){0}, &host_hybrid, &arena, &p,
				     &err),
		  0);
	CHECK_INT(p.n_writes, 2);
	CHECK_STR(p.dirs.v[p.writes[0].hierarchy].path, "/a/b");
	CHECK_STR(p.writes[0].file, "memory.limit_in_bytes");
	CHECK_STR(p.dirs.v[p.writes[1].hierarchy].path, "/a/c");
	r.cpu.shares = u64(5);
	CHECK_INT(cgroup_plan_update(&r, &d, &(struct cgroup_unit){0}, &host_hybrid, &arena, &p,
				     &err),
		  -1);
	CHECK(str_after(err.text, "linux.resources.cpu.shares: "));
}

/* "cpu=a pids=-": the paths that --cgroup's words mean, a hierarchy each; or the error. */
static const char *subs_of(const struct cgroup_host *host, const struct strings words)
{
	struct cgroup_dir dirs[CGROUP_MAX] = {0};
	struct cgroup_dirs d = {host->n, dirs};
	struct buf b = buf_new(&arena, 4096);
	const char *const *subs;
	size_t i;

	for (i = 0; i < host->n; i++)
		dirs[i] = (struct cgroup_dir){.mount = host->v[i].mount,
					      .unified = host->v[i].unified};
	if (cgroup_plan_sub(&words, &d, host, &arena, &subs, &err) < 0)
		return arena_printf(&arena, "error: %s", err.text);
	for (i = 0; i < host->n; i++)
		if (subs[i])
			buf_printf(&b, "%s=%s ", strrchr(host->v[i].mount, '/') + 1, subs[i]);
	buf_char(&b, '\0');
	return b.data;
}
#define SUBS(host, ...)                                                                            \
	subs_of(host, (struct strings){sizeof((char *[]){__VA_ARGS__}) / sizeof(char *),           \
				       (char *[]){__VA_ARGS__}})

TEST(sub_paths_go_to_the_hierarchies_of_their_controllers)
{
	CHECK_STR(subs_of(&host_v1, (struct strings){0}), "");
	CHECK_STR(SUBS(&host_v2, S("a/b")), "c=a/b ");
	CHECK_STR(SUBS(&host_v1, S("cpuacct,pids:a"), S("name=systemd:b")),
		  "systemd=b pids=a cpu,cpuacct=a ");
	CHECK_STR(SUBS(&host_v1, S("cpu:a"), S("cpuacct:a"), S("blkio:")), "blkio= cpu,cpuacct=a ");
	CHECK_STR(SUBS(&host_hybrid, S("hugetlb:a")), "unified=a ");
	CHECK_STR(SUBS(&host_hybrid, S("a")),
		  "pids=a freezer=a devices=a memory=a cpuset=a cpu=a unified=a ");
}

TEST(sub_paths_that_make_no_sense_are_refused)
{
	const struct cgroup_host none = {CGROUP_NONE, 0, NULL};

	CHECK(strstr(SUBS(&host_v1, S("cpu:a"), S("cpuacct:b")), "cpuacct would be in both"));
	CHECK(strstr(SUBS(&host_v1, S("a"), S("b")), "needs a CONTROLLER:"));
	CHECK(strstr(SUBS(&host_v1, S("cpu:a"), S("b")), "needs a CONTROLLER:"));
	CHECK(strstr(SUBS(&host_v1, S("cpu,:a")), "no cgroup of controller \"\""));
	CHECK(strstr(SUBS(&host_v1, S("cp:a")), "no cgroup of controller \"cp\""));
	CHECK(strstr(SUBS(&host_v1, S("cpu:a/..")), "\"..\""));
	CHECK(strstr(SUBS(&host_v2, S("../a")), "\"..\""));
	CHECK(strstr(SUBS(&host_v2, S("cpu:a")), "use --cgroup PATH"));
	CHECK(strstr(SUBS(&none, S("a")), "has no cgroups"));
}

static const char *left_of(const struct cgroup_host *from, bool with_named)
{
	static char text[256];
	struct cgroup_hierarchy v[16];
	struct cgroup_host host = *from;
	size_t i;

	memcpy(v, from->v, from->n * sizeof(*v));
	host.v = v;
	cgroup_host_narrow(&host, with_named);
	for (text[0] = '\0', i = 0; i < host.n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ",
			 strrchr(host.v[i].mount, '/') + 1);
	return text;
}

TEST(a_box_goes_without_hierarchies_that_do_nothing_for_it)
{
	CHECK_STR(left_of(&host_v1, false), "pids freezer devices memory cpu,cpuacct ");
	CHECK_STR(left_of(&host_v1, true), "systemd pids freezer devices memory cpu,cpuacct ");
	CHECK_STR(left_of(&host_hybrid, false), "pids freezer devices memory cpu unified ");
	CHECK_STR(left_of(&host_v2, false), "c ");
}

int main(void)
{
	return unit_main();
}
