/*
 * linux.intelRdt: the rules as plans, and the mechanism on trees of plain files. In these a
 * directory that is made stays empty, unlike in resctrl, so they show what happens up to that point
 * and that a failure is undone.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "cgroup/rdt.h"
#include "cli/stats.h"
#include "plan/rdt.h"
#include "state/record.h"
#include "unit.h"

#define S(text) ((char[]){text})

static struct arena arena;
static char root[64];

static const char *at(const char *path)
{
	return arena_printf(&arena, "%s/%s", root, path);
}

static void put(const char *path, const char *text)
{
	autoclose int fd = open(at(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && fd_write_all(fd, text, strlen(text)) == 0);
}

static const char *get(const char *path)
{
	autoclose int fd = open(at(path), O_RDONLY | O_CLOEXEC);
	size_t len;

	return fd < 0 ? "(none)" : fd_read_all(fd, 4096, &arena, &len);
}

static bool is_there(const char *path)
{
	return access(at(path), F_OK) == 0;
}

static void dir(const char *path)
{
	CHECK(mkdir(at(path), 0755) == 0);
}

/* A class that exists. */
static void class(const char *name, const char *schemata)
{
	dir(name);
	put(arena_printf(&arena, "%s/schemata", name), schemata);
	put(arena_printf(&arena, "%s/tasks", name), "");
	dir(arena_printf(&arena, "%s/mon_groups", name));
}

static struct rdt_plan plan_of(struct oci_intel_rdt r)
{
	struct rdt_plan p = {0};
	struct error e = {0};

	r.set = true;
	if (plan_rdt(&r, "box", root, &arena, &p, &e) < 0)
		FAIL("%s", e.text);
	return p;
}

TEST(schemata_are_put_together_as_the_specification_says)
{
	char *lines[] = {S("L2:0=f"), S("L3:0=1")};
	const struct strings more = {2, lines};

	CHECK(!rdt_schemata(NULL, NULL, NULL, &arena));
	CHECK_STR(rdt_schemata("L3:0=f", NULL, NULL, &arena), "L3:0=f\n");
	CHECK_STR(rdt_schemata("L3:0=f", "MB:0=20", NULL, &arena), "L3:0=f\nMB:0=20\n");
	/* Bandwidth in the wrong field gives way to that in the right one, and to nothing else. */
	CHECK_STR(rdt_schemata("L3:0=f\nMB:0=70\nL3:1=3", "MB:0=20", NULL, &arena),
		  "L3:0=f\nL3:1=3\nMB:0=20\n");
	CHECK_STR(rdt_schemata("L3:0=f\nMB:0=70", NULL, NULL, &arena), "L3:0=f\nMB:0=70\n");
	CHECK_STR(rdt_schemata("L3:0=f", "MB:0=20", &more, &arena),
		  "L3:0=f\nMB:0=20\nL2:0=f\nL3:0=1\n");
}

TEST(schemata_are_compared_by_resource_and_domain)
{
	static const char file[] = "    MB:0=100;1= 70\n    L3:0=007ff;1=1f\n";

	CHECK(rdt_schemata_agree(file, "L3:0=7ff;1=1f\n"));
	CHECK(rdt_schemata_agree(file, "L3:1=1f\nMB:1=70\n"));
	CHECK(rdt_schemata_agree(file, " L3: 0 = 7ff \n"));
	CHECK(rdt_schemata_agree("L3:0=0\n", "L3:0=000"));
	CHECK(!rdt_schemata_agree(file, "L3:0=7f\n"));
	CHECK(!rdt_schemata_agree(file, "L3:0=7fff\n"));
	CHECK(!rdt_schemata_agree(file, "L3:2=1f\n"));
	CHECK(!rdt_schemata_agree(file, "L2:0=7ff\n"));
	CHECK(!rdt_schemata_agree(file, "L3:0=7ff\nMB:0=10\n"));
	CHECK(!rdt_schemata_agree(file, "nonsense"));
	CHECK(!rdt_schemata_agree("", "L3:0=7ff"));
	CHECK(!rdt_schemata_agree("L3", "L3:0=7ff"));
}

TEST(the_class_is_the_containers_own_or_shared)
{
	struct rdt_plan p = plan_of((struct oci_intel_rdt){0});

	CHECK_STR(p.group.class, at("box"));
	CHECK(p.group.ours && p.may_make && !p.schemata && !p.group.monitor);
	/* Named and without schemata: it must be there. */
	p = plan_of((struct oci_intel_rdt){.clos_id = S("gold"), .enable_monitoring = true});
	CHECK_STR(p.group.class, at("gold"));
	CHECK_STR(p.group.monitor, at("gold/mon_groups/box"));
	CHECK(!p.group.ours && !p.may_make);
	p = plan_of((struct oci_intel_rdt){.clos_id = S("gold"), .mem_bw_schema = S("MB:0=20")});
	CHECK(!p.group.ours && p.may_make);
	p = plan_of((struct oci_intel_rdt){
		.clos_id = S("/"), .l3_cache_schema = S("L3:0=f"), .enable_monitoring = true});
	CHECK_STR(p.group.class, root);
	CHECK_STR(p.group.monitor, at("mon_groups/box"));
	CHECK(!p.group.ours && !p.may_make);
}

TEST(what_can_not_be_planned_is_refused)
{
	struct oci_intel_rdt r = {.set = true};
	struct error e = {0};
	struct rdt_plan p;

	CHECK(plan_rdt(&r, "box", NULL, &arena, &p, &e) < 0);
	CHECK_STR(e.text, "linux.intelRdt: no resctrl file system is mounted");
	CHECK(plan_rdt(&r, "info", root, &arena, &p, &e) < 0);
	r.clos_id = S("mon_groups");
	CHECK(plan_rdt(&r, "box", root, &arena, &p, &e) < 0);
	CHECK_STR(e.text, "linux.intelRdt.closID: \"mon_groups\" can't be the name of a class");
	r.set = false;
	CHECK(plan_rdt(&r, "box", NULL, &arena, &p, &e) == 0 && !p.group.set);
}

TEST(a_shared_class_that_agrees_is_joined)
{
	struct rdt_plan p = plan_of(
		(struct oci_intel_rdt){.clos_id = S("gold"), .l3_cache_schema = S("L3:0=f")});
	struct cgroup_handle h = CGROUP_HANDLE_NONE;
	struct error e = {0};

	class("gold", "L3:0=0f;1=7f\n");
	CHECK(rdt_class_exists(&p.group));
	CHECK(rdt_make(&p, &h, &e) == 0);
	CHECK_INT(h.n, 1);
	CHECK(cgroup_join(&h, &e) == 0);
	cgroup_handle_close(&h);
	CHECK_STR(get("gold/tasks"), "0");
	CHECK_STR(get("gold/schemata"), "L3:0=0f;1=7f\n");
	/* It stays, and so does one that was made by a create that failed, while others are in it.
	 */
	CHECK(rdt_remove(&p.group, &e) == 0);
	p.group.made = true;
	CHECK(rdt_remove(&p.group, &e) == 0);
	CHECK(is_there("gold/schemata"));
}

TEST(a_shared_class_that_is_another_is_refused_and_left_alone)
{
	struct rdt_plan p = plan_of((struct oci_intel_rdt){
		.clos_id = S("gold"), .l3_cache_schema = S("L3:0=3"), .enable_monitoring = true});
	struct cgroup_handle h = CGROUP_HANDLE_NONE;
	struct error e = {0};

	CHECK(rdt_make(&p, &h, &e) < 0);
	CHECK_STR(e.text,
		  arena_printf(&arena, "linux.intelRdt: the class %s exists and has other schemata",
			       at("gold")));
	CHECK_INT(h.n, 0);
	CHECK(!is_there("gold/mon_groups/box"));
	CHECK_STR(get("gold/schemata"), "L3:0=0f;1=7f\n");
}

TEST(a_shared_class_without_schemata_must_be_there)
{
	struct rdt_plan p = plan_of((struct oci_intel_rdt){.clos_id = S("silver")});
	struct cgroup_handle h = CGROUP_HANDLE_NONE;
	struct error e = {0};

	CHECK(rdt_make(&p, &h, &e) < 0);
	CHECK_STR(e.text,
		  arena_printf(&arena, "linux.intelRdt.closID: %s: no such file or directory",
			       at("silver")));
	CHECK(!is_there("silver"));
}

TEST(what_was_made_goes_when_it_fails)
{
	struct rdt_plan own = plan_of((struct oci_intel_rdt){.l3_cache_schema = S("L3:0=f")});
	struct rdt_plan monitored =
		plan_of((struct oci_intel_rdt){.clos_id = S("gold"), .enable_monitoring = true});
	struct cgroup_handle h = CGROUP_HANDLE_NONE;
	struct error e = {0};

	/* A directory of plain files has no schemata to write to, and no tasks. */
	CHECK(rdt_make(&own, &h, &e) < 0);
	CHECK(strstr(e.text, "linux.intelRdt: write "));
	CHECK(!is_there("box"));
	CHECK(rdt_make(&monitored, &h, &e) < 0);
	CHECK(strstr(e.text, "/gold/mon_groups/box/tasks"));
	CHECK(!is_there("gold/mon_groups/box"));
	CHECK(is_there("gold"));
	cgroup_handle_close(&h);
}

TEST(a_class_of_our_own_is_nobody_elses)
{
	struct rdt_plan own = plan_of((struct oci_intel_rdt){.enable_monitoring = true});
	struct cgroup_handle h = CGROUP_HANDLE_NONE;
	struct error e = {0};

	dir("box");
	CHECK(rdt_make(&own, &h, &e) < 0);
	CHECK_STR(e.text, arena_printf(&arena, "linux.intelRdt: mkdir %s: file exists", at("box")));
	CHECK(is_there("box"));
	/* On record, it is removed with its monitoring group. */
	dir("box/mon_groups");
	dir("box/mon_groups/box");
	CHECK(rdt_remove(&own.group, &e) < 0); /* in resctrl, what is in a class goes with it */
	CHECK(!is_there("box/mon_groups/box"));
	CHECK(rmdir(at("box/mon_groups")) == 0);
	CHECK(rdt_remove(&own.group, &e) == 0);
	CHECK(!is_there("box"));
	CHECK(rdt_remove(&own.group, &e) == 0);
}

TEST(schemata_are_replaced_and_the_old_ones_told)
{
	struct rdt_plan p = plan_of((struct oci_intel_rdt){.clos_id = S("gold")});
	const char *old = NULL;
	struct error e = {0};

	put("gold/schemata", "L3:0=f\n");
	CHECK(rdt_set_schemata(&p.group, "L3:0=1\n", &arena, &old, &e) == 0);
	CHECK_STR(old, "L3:0=f\n");
	CHECK_STR(get("gold/schemata"), "L3:0=1\n");
}

TEST(the_record_remembers_the_class)
{
	struct record r = {.version = 1,
			   .id = S("box"),
			   .oci_version = S("1.0.0"),
			   .bundle = S("/b"),
			   .rootfs = S("/b/r"),
			   .created = S("now"),
			   .boot_id = S("boot"),
			   .rdt = plan_of((struct oci_intel_rdt){.enable_monitoring = true}).group};
	struct buf b = buf_new(&arena, 1 << 16), without = buf_new(&arena, 1 << 16);
	struct record back = {0};
	struct error e = {0};

	json_write(&b, &record_table, &r, 0);
	CHECK(json_read("record", b.data, b.len, &record_table, &json_default_limits, &back, &arena,
			&e) == 0);
	CHECK(back.rdt.set && back.rdt.ours && !back.rdt.made);
	CHECK_STR(back.rdt.class, at("box"));
	CHECK_STR(back.rdt.monitor, at("box/mon_groups/box"));
	r.rdt.set = false;
	json_write(&without, &record_table, &r, 0);
	CHECK(!strstr(without.data, "intelRdt"));
}

TEST(statistics_have_the_known_form)
{
	struct rdt_plan p = plan_of((struct oci_intel_rdt){.clos_id = S("gold")});
	struct buf b = buf_new(&arena, 1 << 16);
	struct cgroup_stats none = {0};
	struct rdt_stats s;

	dir("info");
	dir("info/L3");
	put("info/L3/cbm_mask", "fff\n");
	put("info/L3/min_cbm_bits", "1\n");
	put("info/L3/num_closids", "16\n");
	dir("info/MB");
	put("info/MB/bandwidth_gran", "10\n");
	put("info/MB/delay_linear", "1\n");
	put("info/MB/min_bandwidth", "10\n");
	put("info/MB/num_closids", "8\n");
	put("schemata", "    MB:0=100\n    L3:0=fff\n");
	put("gold/schemata", "    MB:0= 20\n    L3:0=00f\n");
	dir("gold/mon_data");
	dir("gold/mon_data/mon_L3_00");
	put("gold/mon_data/mon_L3_00/mbm_total_bytes", "123\n");
	put("gold/mon_data/mon_L3_00/mbm_local_bytes", "45\n");
	put("gold/mon_data/mon_L3_00/llc_occupancy", "6\n");
	dir("gold/mon_data/mon_L3_01");
	put("gold/mon_data/mon_L3_01/mbm_total_bytes", "Unavailable\n");
	rdt_stats_read(&p.group, &arena, &s);
	stats_write("box", &none, &s, NULL, &b);
	CHECK(strstr(b.data,
		     "\"intel_rdt\":{\"l3_cache_info\":{\"cbm_mask\":\"fff\",\"min_cbm_bits\":1,"
		     "\"num_closids\":16},\"l3_cache_schema_root\":\"L3:0=fff\","
		     "\"l3_cache_schema\":\"L3:0=00f\",\"mem_bw_info\":{\"bandwidth_gran\":10,"
		     "\"delay_linear\":1,\"min_bandwidth\":10,\"num_closids\":8},"
		     "\"mem_bw_schema_root\":\"MB:0=100\",\"mem_bw_schema\":\"MB:0= 20\","
		     "\"mbm_stats\":[{\"mbm_total_bytes\":123,\"mbm_local_bytes\":45},{}],"
		     "\"cmt_stats\":[{\"llc_occupancy\":6},{}]}"));
}

int main(void)
{
	char command[128];
	int failures;

	snprintf(root, sizeof(root), "/tmp/sbxt-rdt.XXXXXX");
	if (!mkdtemp(root))
		return 1;
	failures = unit_main();
	snprintf(command, sizeof(command), "rm -r %s", root);
	/* Only a path of ours is in it. NOLINTNEXTLINE(cert-env33-c) */
	if (system(command) != 0)
		failures = 1;
	arena_free(&arena);
	return failures;
}
