/*
 * The plans of the example bundles, compared with stored ones. The host is made up, so that they
 * are the same everywhere and for everybody. `UPDATE_PLANS=1` writes them anew.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/oci.h"
#include "plan/plan.h"
#include "unit.h"

static char slash[] = "/", nothing[] = "";
static char all_v2[] = "cpuset cpu io memory hugetlb pids rdma misc";

static struct cgroup_hierarchy v1[] = {
	{.controllers = (char[]){"cpu,cpuacct"}, .mount = (char[]){"/sys/fs/cgroup/cpu,cpuacct"}},
	{.controllers = (char[]){"cpuset"}, .mount = (char[]){"/sys/fs/cgroup/cpuset"}},
	{.controllers = (char[]){"memory"}, .mount = (char[]){"/sys/fs/cgroup/memory"}},
	{.controllers = (char[]){"devices"}, .mount = (char[]){"/sys/fs/cgroup/devices"}},
	{.controllers = (char[]){"freezer"}, .mount = (char[]){"/sys/fs/cgroup/freezer"}},
	{.controllers = (char[]){"blkio"}, .mount = (char[]){"/sys/fs/cgroup/blkio"}},
	{.controllers = (char[]){"pids"}, .mount = (char[]){"/sys/fs/cgroup/pids"}},
	{.controllers = (char[]){"hugetlb"}, .mount = (char[]){"/sys/fs/cgroup/hugetlb"}},
	{.controllers = (char[]){"net_cls,net_prio"},
	 .mount = (char[]){"/sys/fs/cgroup/net_cls,net_prio"}},
	{.controllers = (char[]){"rdma"}, .mount = (char[]){"/sys/fs/cgroup/rdma"}},
};
static struct cgroup_hierarchy v2[] = {
	{.controllers = (char[]){""}, .mount = (char[]){"/sys/fs/cgroup"}, .unified = true,
	 .v2_controllers = all_v2},
};

static struct host_facts made_up_host(bool unified, bool privileged)
{
	struct host_facts f = {
		.privileged = privileged,
		.machine_root = privileged,
		.uid = privileged ? 0 : 1000,
		.gid = privileged ? 0 : 1000,
		.has_time_ns = true,
		.caps = {.known = (1ULL << 41) - 1, .available = privileged ? (1ULL << 41) - 1 : 0},
		.caps_userns = {.known = (1ULL << 41) - 1, .available = (1ULL << 41) - 1},
		.cgroup = {.mode = unified ? CGROUP_V2 : CGROUP_V1,
			   .n = unified ? 1 : sizeof(v1) / sizeof(v1[0]),
			   .v = unified ? v2 : v1},
	};
	size_t i;

	for (i = 0; i < f.cgroup.n; i++) {
		f.cgroup.v[i].root = f.cgroup.v[i].own = slash;
		f.cgroup.v[i].base = privileged ? nothing : NULL;
	}
	return f;
}

static char *read_file(const char *path, struct arena *a, size_t *ret_len)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? NULL : fd_read_all(fd, 1 << 24, a, ret_len);
}

#if defined(__x86_64__)
static const bool stored_filters_are_ours = true;
#else
static const bool stored_filters_are_ours = false;
#endif

/* Numbers of system calls are those of an architecture: the stored plans have x86-64's, and
 * elsewhere their line is left out. */
static void without_foreign_filter(char *plan)
{
	char *at = stored_filters_are_ours ? NULL : strstr(plan, "\nfilter "), *end;

	if (!at && !stored_filters_are_ours)
		at = strstr(plan, "\n  {\"fact\": \"filter\"");
	if (!at)
		return;
	at++;
	end = at + strcspn(at, "\n") + 1;
	memmove(at, end, strlen(end) + 1);
}

static void check_stored(const char *plan_path, struct buf *b, struct arena *a)
{
	char *want;
	size_t at, len;

	CHECK(!b->overflow);
	if (getenv("UPDATE_PLANS")) {
		CHECK(stored_filters_are_ours);
		autoclose int fd = open(plan_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

		CHECK(fd >= 0 && fd_write_all(fd, b->data, b->len) == 0);
	}
	want = read_file(plan_path, a, &len);
	if (!want)
		FAIL("%s is missing: UPDATE_PLANS=1 writes it", plan_path);
	without_foreign_filter(b->data);
	without_foreign_filter(want);
	if (strcmp(b->data, want) == 0)
		return;
	for (at = 0; b->data[at] && b->data[at] == want[at]; at++)
		;
	while (at && b->data[at - 1] != '\n')
		at--;
	FAIL("%s differs: planned \"%.*s\", stored \"%.*s\"", plan_path,
	     (int)strcspn(b->data + at, "\n"), b->data + at, (int)strcspn(want + at, "\n"),
	     want + at);
}

/* As text, and as JSON where that is stored, too. */
static void compare_forms(const char *bundle, const char *layout, bool unified, bool privileged,
			  bool no_pivot, bool json)
{
	struct host_facts facts = made_up_host(unified, privileged);
	struct arena a = {0};
	struct buf b = buf_new(&a, 1 << 20);
	char *config_path = arena_printf(&a, "spec/bundles/%s/config.json", bundle);
	char *plan_path = arena_printf(&a, "spec/bundles/%s/plan.%s", bundle, layout);
	struct oci_config c = {0};
	struct error e = {0};
	struct plan p;
	char *text;
	size_t len;

	text = read_file(config_path, &a, &len);
	if (!text)
		FAIL("%s: can't be read (run from the project's root)", config_path);
	if (oci_config_read(config_path, text, len, &a, &c, &e) < 0 ||
	    plan_make(&c, "example", "/bundle", &facts, &a, &p, &e) < 0)
		FAIL("%s", e.text);
	p.no_pivot = no_pivot;
	plan_print(&p, PLAN_TEXT, &b);
	check_stored(plan_path, &b, &a);
	if (json) {
		b = buf_new(&a, 1 << 20);
		plan_print(&p, PLAN_JSON, &b);
		check_stored(arena_printf(&a, "%s.json", plan_path), &b, &a);
	}
	arena_free(&a);
}

static void compare(const char *bundle, const char *layout, bool unified, bool privileged)
{
	compare_forms(bundle, layout, unified, privileged, false, false);
}

/* Every fact is an object, whatever the config says in its words. */
TEST(a_plan_is_json_too)
{
	struct host_facts facts = made_up_host(true, true);
	struct arena a = {0};
	struct buf b = buf_new(&a, 1 << 20);
	struct oci_config c = {0};
	struct error e = {0};
	struct plan p;
	size_t len;
	char *text = read_file("spec/bundles/docker/config.json", &a, &len);

	CHECK(text && oci_config_read("config.json", text, len, &a, &c, &e) == 0);
	c.hostname = (char[]){"a \"quoted\" \\ name\n"};
	c.process.user.additional_gids = (struct ids){.n = 2, .v = (uint32_t[]){7, 8}};
	CHECK(plan_make(&c, "example", "/bundle", &facts, &a, &p, &e) == 0);
	plan_print(&p, PLAN_JSON, &b);
	CHECK(strstr(b.data,
		     "{\"fact\": \"names\", \"hostname\": \"a \\\"quoted\\\" \\\\ name\\n\"}"));
	CHECK(strstr(b.data, "\"groups\": [\"7\", \"8\"]"));
	CHECK(b.data[0] == '[' && strcmp(b.data + b.len - 3, "\n]\n") == 0);
	/* A log is told no arguments, and of variables the names. */
	b = buf_new(&a, 1 << 20);
	plan_print(&p, PLAN_LOG, &b);
	CHECK(!strstr(b.data, "hello"));
	CHECK(strstr(b.data, "env=PATH,HOSTNAME"));
	arena_free(&a);
}

TEST(default_bundle_on_cgroup_v1) { compare("default", "v1", false, true); }
TEST(default_bundle_on_cgroup_v2) { compare("default", "v2", true, true); }
TEST(docker_bundle_on_cgroup_v1) { compare("docker", "v1", false, true); }
TEST(docker_bundle_on_cgroup_v2) { compare("docker", "v2", true, true); }
/* What the other bundles don't have: root's maps of ids, every kind of hook, --no-pivot. */
TEST(full_bundle_on_cgroup_v1) { compare_forms("full", "v1", false, true, true, true); }
TEST(full_bundle_on_cgroup_v2) { compare_forms("full", "v2", true, true, true, true); }
TEST(rootless_bundle_without_cgroups) { compare("rootless", "rootless", true, false); }

TEST(a_mount_label_goes_to_filesystems_that_policy_does_not_label)
{
	struct host_facts facts = made_up_host(true, true);
	struct arena a = {0};
	struct buf b = buf_new(&a, 1 << 20);
	struct oci_config c = {0};
	struct error e = {0};
	struct plan p;
	size_t len, labels = 0;
	const char *at;
	char *text = read_file("spec/bundles/default/config.json", &a, &len);

	facts.lsm.selinux = true;
	CHECK(text && oci_config_read("config.json", text, len, &a, &c, &e) == 0);
	c.linux_.mount_label = (char[]){"system_u:object_r:container_file_t:s0:c1,c2"};
	CHECK(plan_make(&c, "example", "/bundle", &facts, &a, &p, &e) == 0);
	plan_print(&p, PLAN_TEXT, &b);
	for (at = b.data;
	     (at = strstr(at, " context=\"system_u:object_r:container_file_t:s0:c1,c2\"")); at++)
		labels++;
	/* /dev, /dev/pts, /dev/shm; not /proc, /sys, /dev/mqueue and the cgroups. */
	CHECK_INT(labels, 3);
	/* One of the config's own stays. */
	c.mounts.v[1].options.v[0] = (char[]){"rootcontext=x"};
	CHECK(plan_make(&c, "example", "/bundle", &facts, &a, &p, &e) == 0);
	CHECK_STR(p.mounts[1].params[0].key, "rootcontext");
	CHECK_INT(p.mounts[1].n_params, 3);
	/* Without SELinux there is nothing to label. */
	facts.lsm.selinux = false;
	CHECK(plan_make(&c, "example", "/bundle", &facts, &a, &p, &e) == 0);
	CHECK_INT(p.warnings.n, 1);
	arena_free(&a);
}

TEST(an_ordinary_user_has_no_interfaces_to_give_away)
{
	struct host_facts facts = made_up_host(true, false);
	struct arena a = {0};
	struct oci_config c = {0};
	struct error e = {0};
	struct plan p;
	size_t len;
	char *text = read_file("spec/bundles/rootless/config.json", &a, &len);

	CHECK(text && oci_config_read("config.json", text, len, &a, &c, &e) == 0);
	c.linux_.net_devices.n = 1;
	c.linux_.net_devices.v = arena_new(&a, struct oci_net_device);
	c.linux_.net_devices.v[0].host_name = (char[]){"eth0"};
	CHECK(plan_make(&c, "example", "/bundle", &facts, &a, &p, &e) < 0);
	CHECK_STR(e.text, "linux.netDevices: an ordinary user has no interfaces to give away");
	arena_free(&a);
}

int main(void)
{
	return unit_main();
}
