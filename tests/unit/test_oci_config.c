/* config.json through its rows: the example bundles, what engines write, and the documents we
 * write. */
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "oci/oci.h"

static struct arena arena;
static struct error error;
static struct oci_config got;

static const char *const bundles[] = {"default", "rootless", "docker", "everything"};

/* The tests run from the top of the tree, or from wherever build/unit/ is below it. */
static char *bundle_text(const char *name, size_t *ret_len)
{
	char path[4096], exe[2048] = "";
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *text;
	int fd;

	snprintf(path, sizeof(path), "spec/bundles/%s/config.json", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && n > 0 && strrchr(exe, '/')) {
		*strrchr(exe, '/') = '\0';
		snprintf(path, sizeof(path), "%s/../../spec/bundles/%s/config.json", exe, name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0)
		FAIL("no bundle %s", name);
	text = fd_read_all(fd, 1 << 20, &arena, ret_len);
	close(fd);
	CHECK(text);
	return text;
}

static void read_bundle(const char *name)
{
	size_t len;
	char *text;

	arena_free(&arena);
	text = bundle_text(name, &len);
	if (oci_config_read("config.json", text, len, &arena, &got, &error) < 0)
		FAIL("%s: %s", name, error.text);
}

static const char *written(const struct json_table *t, const void *object, unsigned int indent)
{
	struct buf b = buf_new(&arena, 1 << 20);

	json_write(&b, t, object, indent);
	CHECK(!b.overflow);
	return b.data;
}

TEST(bundles_survive_a_round_trip)
{
	const char *first, *second;
	struct oci_config again;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bundles); i++) {
		read_bundle(bundles[i]);
		first = written(&oci_config_table, &got, 0);
		if (oci_config_read("again", first, strlen(first), &arena, &again, &error) < 0)
			FAIL("%s: %s", bundles[i], error.text);
		second = written(&oci_config_table, &again, 0);
		CHECK_STR(second, first);
	}
}

/* Every key of every table that can be reached stands in the text. */
static void check_keys(const struct json_table *t, const char *text)
{
	char key[64];
	size_t i;

	CHECK(t->count <= JSON_MAX_ROWS);
	for (i = 0; i < t->count; i++) {
		snprintf(key, sizeof(key), "\"%s\":", t->rows[i].key);
		if (!strstr(text, key))
			FAIL("spec/bundles/everything/config.json lacks \"%s\" (%s)",
			     t->rows[i].key, t->name);
		if (t->rows[i].table)
			check_keys(t->rows[i].table, text);
	}
}

TEST(everything_uses_every_row)
{
	read_bundle("everything");
	check_keys(&oci_config_table, written(&oci_config_table, &got, 0));
}

TEST(everything_lands_where_it_belongs)
{
	const struct oci_linux *l = &got.linux_;
	const struct oci_resources *r = &l->resources;

	read_bundle("everything");
	CHECK(got.process.set && got.process.terminal && got.root.readonly);
	CHECK_INT(got.process.console_size.width, 80);
	CHECK_INT(got.process.user.umask.v, 022);
	CHECK_INT(got.process.user.additional_gids.v[1], 6);
	CHECK(got.process.rlimits.v[1].hard == UINT64_MAX && got.process.rlimits.v[1].soft == 1024);
	CHECK_INT(got.process.scheduler.deadline, 30000000);
	CHECK_STR(got.process.exec_cpu_affinity.final, "0,1");
	CHECK_INT(got.hooks.create_container.n, 1);
	CHECK_STR(got.hooks.create_container.v[0].path, "/usr/libexec/hooks/createContainer");
	CHECK_STR(got.hooks.poststop.v[0].env.v[0], "HOOK=poststop");
	CHECK_INT(got.mounts.v[1].gid_mappings.v[0].host_id, 100000);
	CHECK_INT(l->namespaces.n, 8);
	CHECK_STR(l->namespaces.v[1].path, "/run/netns/blue");
	CHECK(oci_namespace_find(&got, OCI_NS_TIME) == &l->namespaces.v[7]);
	CHECK_STR(l->time_offsets.v[1].clock, "boottime");
	CHECK_INT(l->time_offsets.v[1].secs, -604800);
	CHECK_STR(l->net_devices.v[0].name, "container_eth0");
	CHECK(!l->net_devices.v[1].name);
	CHECK_INT(r->pids_limit.v, 64);
	CHECK_INT(r->memory.kernel.v, -1);
	CHECK(r->hugepage_limits.v[0].limit == 9223372036854772000u);
	CHECK_STR(r->rdma.v[1].device, "mlx4_0");
	CHECK(!r->rdma.v[1].hca_handles.set && r->rdma.v[1].hca_objects.v == 1000);
	CHECK_INT(r->block_io.throttle_write_iops.v[0].rate, 1048576);
	CHECK_STR(r->unified.v[1].key, "memory.high");
	CHECK_INT(l->seccomp.syscalls.v[1].action, OCI_ACT_NOTIFY);
	CHECK(l->seccomp.syscalls.v[2].args.v[0].value_two == UINT64_MAX);
	CHECK_INT(l->seccomp.syscalls.v[2].args.v[0].op, OCI_OP_MASKED_EQ);
	CHECK_STR(l->personality.domain, "LINUX32");
	CHECK_STR(got.annotations.v[1].value, "");
}

TEST(what_docker_writes_is_taken)
{
	read_bundle("docker");
	CHECK_INT(got.linux_.devices.n, 0);
	CHECK(!got.process.apparmor_profile);
	CHECK(got.process.oom_score_adj.set && got.process.oom_score_adj.v == 0);
	CHECK(got.linux_.resources.cpu.shares.set && got.linux_.resources.cpu.shares.v == 0);
	CHECK(!got.linux_.resources.devices.v[0].allow && !got.linux_.resources.devices.v[0].type);
	CHECK(!got.process.no_new_privileges && got.process.capabilities.set);
}

TEST(spec_writes_the_bundles)
{
	struct oci_config c;
	size_t len;

	arena_free(&arena);
	oci_spec_default(&arena, &c);
	CHECK_INT(oci_config_validate(&c, &error), 0);
	CHECK_STR(arena_printf(&arena, "%s\n", written(&oci_config_table, &c, 4)),
		  bundle_text("default", &len));
	oci_spec_rootless(&arena, 1000, 1000, &c);
	CHECK_INT(oci_config_validate(&c, &error), 0);
	CHECK_STR(arena_printf(&arena, "%s\n", written(&oci_config_table, &c, 4)),
		  bundle_text("rootless", &len));
}

TEST(features_names_what_it_must)
{
	static const char *const parts[] = {
		"\"ociVersionMin\": \"1.0.0\"",
		"\"ociVersionMax\": \"1.3.0\"",
		"\"startContainer\"",
		"\"rro\"",
		"\"idmap\"",
		"\"tmpcopyup\"",
		"\"CAP_CHECKPOINT_RESTORE\"",
		"\"time\"",
		"\"SCMP_ACT_KILL_THREAD\"",
		"\"SCMP_CMP_MASKED_EQ\"",
		"\"SCMP_ARCH_AARCH64\"",
		"\"SECCOMP_FILTER_FLAG_SPEC_ALLOW\"",
		"\"rdma\": true",
		"\"potentiallyUnsafeConfigAnnotations\": [\n    \"org.systemd.property.\"\n  ]"};
	struct buf b;
	size_t i;

	arena_free(&arena);
	b = buf_new(&arena, 1 << 20);
	oci_features_write(&arena, &b);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strstr(b.data, parts[i]))
			FAIL("no %s", parts[i]);
}

TEST(a_refused_config_leaves_the_result_alone)
{
	static const char text[] =
		"{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"r\"},\"hostname\":\"h\"}";
	struct oci_config c = {.hostname = error.text};

	arena_free(&arena);
	CHECK(oci_config_read("x/config.json", text, sizeof(text) - 1, &arena, &c, &error) < 0);
	CHECK_STR(error.text, "x/config.json: hostname: needs a uts namespace");
	CHECK(c.hostname == error.text);
}

TEST(a_process_and_resources_are_documents_too)
{
	static const char p[] =
		"{\"cwd\":\"/\",\"args\":[\"a\"],\"user\":{\"uid\":1,\"gid\":2,\"username\":\"x\"},"
		"\"commandLine\":\"ignored\"}";
	static const char r[] =
		"{\"cpu\":{\"shares\":0,\"quota\":0,\"period\":0},\"memory\":{\"limit\":0,\"swap\":-1},"
		"\"pids\":{\"limit\":-1},\"blockIO\":{\"weight\":0}}";
	struct oci_process process = {0};
	struct oci_resources resources = {0};

	arena_free(&arena);
	CHECK_INT(json_read("p", p, sizeof(p) - 1, &oci_process_table, &json_default_limits,
			    &process, &arena, &error),
		  0);
	CHECK_INT(oci_process_validate(&process, "", &error), 0);
	CHECK_INT(process.user.gid, 2);
	CHECK_INT(json_read("r", r, sizeof(r) - 1, &oci_resources_table, &json_default_limits,
			    &resources, &arena, &error), 0);
	CHECK_INT(oci_resources_validate(&resources, "", &error), 0);
	CHECK_INT(resources.pids_limit.v, -1);
	process.args.n = 0;
	CHECK(oci_process_validate(&process, "", &error) < 0);
	CHECK_STR(error.text, "args: must have an entry");
}

int main(void)
{
	int rc = unit_main();

	arena_free(&arena);
	return rc;
}
