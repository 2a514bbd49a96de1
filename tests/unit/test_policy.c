/* Policies: files of them, how they compare, and what their rows do to configs and filters. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/str.h"
#include "filter/seccomp.h"
#include "filter/seccomp_compile.h"
#include "filter/seccomp_eval.h"
#include "filter/syscalls.h"
#include "oci/oci.h"
#include "policy/ceiling.h"
#include "policy/conditions.h"
#include "policy/remedy.h"
#include "policy/tighten.h"
#include "unit.h"

static struct arena arena;
static struct error e;

static const struct host_facts root_host = {.privileged = true,
					    .machine_root = true,
					    .cgroup.driver = CGROUP_BY_SYSTEMD,
					    .id_range = {.first = 1879048192, .size = 65536}};

/* A config with what the text adds to what every config has. */
static struct oci_config config_of(const char *more)
{
	struct oci_config c;
	char *text = arena_printf(
		&arena,
		"{\"ociVersion\": \"1.0.2\", \"root\": {\"path\": \"rootfs\"}%s%s}", *more ? ", " : "",
		more);

	if (oci_config_read("config", text, strlen(text), &arena, &c, &e) < 0)
		FAIL("%s", e.text);
	return c;
}

#define NAMESPACES                                                                                 \
	"{\"type\": \"pid\"}, {\"type\": \"network\"}, {\"type\": \"ipc\"}, {\"type\": \"uts\"}, " \
	"{\"type\": \"mount\"}"
#define LINUX(more) "\"linux\": {\"namespaces\": [" NAMESPACES "]" more "}"
#define PROCESS(more) "\"process\": {\"cwd\": \"/\", \"args\": [\"x\"]" more "}"

static struct policy_clamps clamps;

static int tighten(const char *policy, struct oci_config *c)
{
	clamps = (struct policy_clamps){0};
	return policy_tighten(policy_preset_find(policy), &root_host, c, &arena, &clamps, &e);
}

static bool clamped(const char *row)
{
	size_t i;

	for (i = 0; i < clamps.n; i++)
		if (str_eq(clamps.v[i].row, row))
			return true;
	return false;
}

/* Rows and presets */

TEST(every_row_has_an_id_of_its_own_words_in_order_and_a_sentence)
{
	size_t i, k;

	for (i = 0; i < POLICY_ROWS; i++) {
		const struct policy_row *r = &policy_rows[i];

		CHECK(r->id && r->what && strlen(r->what) > 10);
		CHECK(r->since >= 1 && r->since <= POLICY_VERSION);
		for (k = 0; k < i; k++)
			CHECK(!str_eq(r->id, policy_rows[k].id));
		CHECK(!r->words == (i >= LEVEL_COUNT));
		for (k = 0; r->words && r->words[k].word; k++)
			CHECK_INT(r->words[k].value, k + 1);
		CHECK(!r->words || k >= 2);
		CHECK(r->words || r->knows);
	}
}

TEST(presets_are_known_in_every_row_and_stricter_one_than_the_other)
{
	const struct policy *oci = policy_preset_find("oci"), *code = policy_preset_find("code"),
			    *engine = policy_preset_find("engine");
	const char *row;
	size_t p, i, k;

	for (p = 0; p < PRESET_COUNT; p++) {
		const struct policy *x = policy_preset_find(policy_preset_names[p]);

		CHECK(x);
		for (i = 0; i < LEVEL_COUNT; i++)
			CHECK(!str_eq(policy_level_word((enum policy_level)i, x->level[i]), "?"));
		for (i = 0; i < LIST_COUNT; i++)
			for (k = 0; k < x->list[i].n; k++)
				CHECK(str_eq(x->list[i].v[k], POLICY_ALL) ||
				      policy_rows[LEVEL_COUNT + i].knows(x->list[i].v[k]));
	}
	CHECK(policy_is_within(code, engine, &row));
	CHECK(policy_is_within(engine, oci, &row));
	CHECK(!policy_is_within(engine, code, &row));
	CHECK(!policy_is_within(oci, engine, &row));
	CHECK(!policy_preset_find("none"));
}

TEST(of_two_policies_there_is_one_that_is_as_strict_as_both)
{
	const char *row;
	size_t i, k;

	for (i = 0; i < PRESET_COUNT; i++)
		for (k = 0; k < PRESET_COUNT; k++) {
			const struct policy *x = policy_preset_find(policy_preset_names[i]);
			const struct policy *y = policy_preset_find(policy_preset_names[k]);
			struct policy m = policy_meet(x, y, &arena);

			CHECK(policy_is_within(&m, x, &row));
			CHECK(policy_is_within(&m, y, &row));
		}
}

/* Files */

static int read_file(const char *text, struct policy_file *f)
{
	return policy_file_read(text, strlen(text), &arena, f, &e);
}

TEST(a_file_adds_to_and_takes_from_its_base)
{
	struct policy_file f;
	struct policy p;

	CHECK_INT(read_file("{\"version\": 1, \"default\": \"mine\", \"policies\": {\"mine\": "
			    "{\"capabilities\": {\"allow\": [\"CAP_NET_RAW\"], \"deny\": "
			    "[\"CAP_CHOWN\"]}, \"proc\": \"pids\"}, \"his\": {\"base\": \"mine\", "
			    "\"sockets\": {\"deny\": [\"*\"], \"allow\": [\"unix\"]}}}}",
			    &f),
		  0);
	CHECK_INT(policy_find(&f, "his", &arena, &p, &e), 0);
	CHECK_STR(p.name, "his");
	CHECK(policy_gives(&p, LIST_CAPS, "CAP_NET_RAW"));
	CHECK(!policy_gives(&p, LIST_CAPS, "CAP_CHOWN"));
	CHECK(policy_gives(&p, LIST_CAPS, "CAP_KILL"));
	CHECK(policy_gives(&p, LIST_SOCKETS, "unix"));
	CHECK(!policy_gives(&p, LIST_SOCKETS, "inet"));
	CHECK_INT(p.level[LEVEL_PROC], PROC_PIDS);
	CHECK_INT(p.level[LEVEL_SYS], SYS_MASKED);
	CHECK_INT(policy_find(&f, "engine", &arena, &p, &e), 0);
	CHECK(!policy_gives(&p, LIST_CAPS, "CAP_NET_RAW"));
}

TEST(a_policy_may_stand_in_place_of_a_preset)
{
	struct policy_file f;
	struct policy p;

	CHECK_INT(read_file("{\"version\": 1, \"policies\": {\"engine\": {\"root\": "
			    "\"read-only\"}}}",
			    &f),
		  0);
	CHECK_INT(policy_find(&f, "engine", &arena, &p, &e), 0);
	CHECK_INT(p.level[LEVEL_ROOT], ROOT_READ_ONLY);
	CHECK_INT(p.level[LEVEL_SECCOMP], SECCOMP_ENGINE);
}

TEST(a_text_of_a_policy_is_that_policy)
{
	size_t i, k;

	for (i = 0; i < PRESET_COUNT; i++) {
		const struct policy *p = policy_preset_find(policy_preset_names[i]);
		struct policy again;
		struct policy_text text;

		policy_to_text(p, &arena, &text);
		CHECK_INT(policy_from_text(&text, &arena, &again, &e), 0);
		CHECK(memcmp(again.level, p->level, sizeof(p->level)) == 0);
		for (k = 0; k < LIST_COUNT; k++)
			CHECK_INT(again.list[k].n, p->list[k].n);
	}
}

TEST(a_file_that_is_wrong_is_refused_with_its_line)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", "line 1"},
		{"{", "line 1"},
		{"{}", "version"},
		{"{\"version\": 1000}", "version: this sbxrun knows 1 to "},
		{"{\"version\": 1,\n\"polices\": {}}", "line 2: policy: unknown key \"polices\""},
		{"{\"version\": 1,\n\"policies\": {\"a\":\n{\"cap\": {}}}}",
		 "line 3: policy: policies.a: unknown key \"cap\""},
		{"{\"version\": 1,\n\"policies\": {\"a\":\n{\"proc\":\n\"maked\"}}}",
		 "line 4: policy: policies.a.proc: unknown value \"maked\""},
		{"{\"version\": 1, \"policies\": {\"a\": {\"capabilities\": {\"alow\": []}}}}",
		 "unknown key \"alow\""},
		{"{\"version\": 1, \"policies\": {\"a\": {\"capabilities\": {\"allow\": "
		 "[\"CAP_NO\"]}}}}",
		 "policies.a.capabilities.allow: unknown value \"CAP_NO\""},
		{"{\"version\": 1, \"policies\": {\"a\": {\"system-calls\": {\"deny\": "
		 "[\"reed\"]}}}}",
		 "unknown value \"reed\""},
		{"{\"version\": 1, \"policies\": {\"a\": {\"sockets\": {\"allow\": [\"ipx\"]}}}}",
		 "unknown value \"ipx\""},
		{"{\"version\": 1, \"policies\": {\"a\": {\"host-path-exceptions\": {\"allow\": "
		 "[\"etc\"]}}}}",
		 "unknown value \"etc\""},
		{"{\"version\": 1, \"policies\": {\"a\": {\"unit-properties\": {\"allow\": "
		 "[\"ExecStart\"]}}}}",
		 "policies.a.unit-properties.allow: unknown value \"ExecStart\""},
		{"{\"version\": 1, \"policies\": {\"a\": {\"unit-properties\": {\"allow\": "
		 "[\"TimeoutStopSec\"]}}}}",
		 "unknown value \"TimeoutStopSec\""},
		{"{\"version\": 1, \"policies\": {\"a\": {\"base\": \"b\"}}}",
		 "policies.a.base: there is no policy \"b\""},
		{"{\"version\": 1, \"policies\": {\"a\": {\"base\": \"b\"}, \"b\": {\"base\": "
		 "\"a\"}}}",
		 "more than"},
		{"{\"version\": 1, \"policies\": {\"a\": {\"base\": \"oci\", \"capabilities\": "
		 "{\"deny\": [\"CAP_SYS_ADMIN\"]}}}}",
		 "policies.a.capabilities.deny: \"CAP_SYS_ADMIN\" would still be given"},
		{"{\"version\": 1, \"policies\": {\"a\": {\"cgroup-keys\": {\"deny\": "
		 "[\"memory.max\"]}}}}",
		 "policies.a.cgroup-keys.deny: \"memory.max\" would still be given"},
		{"{\"version\": 1, \"policies\": {\"A/B\": {}}}", "a name is of a-z"},
		{"{\"version\": 1, \"default\": \"none\"}", "default: there is no policy \"none\""},
		{"{\"version\": 1, \"choices\": [\"none\"]}", "choices[0]"},
		{"{\"version\": 1, \"audit\": \"audit.log\"}", "audit"},
		{"{\"version\": 1, \"audit\": 1}", "audit"},
		{"{\"version\": 1, \"version\": 1}", "duplicate key"},
	};
	struct policy_file f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (read_file(rows[i].text, &f) == 0)
			FAIL("%s: was taken", rows[i].text);
		if (!strstr(e.text, rows[i].want))
			FAIL("%s: got \"%s\", want \"%s\"", rows[i].text, e.text, rows[i].want);
	}
}

/* Rows on configs */

TEST(oci_changes_nothing)
{
	struct oci_config c = config_of(
		"\"linux\": {}, " PROCESS(", \"capabilities\": {\"bounding\": [\"CAP_SYS_ADMIN\"]}"));

	CHECK_INT(tighten("oci", &c), 0);
	CHECK_INT(clamps.n, 0);
	CHECK(!c.linux_.seccomp.set && !c.process.no_new_privileges);
}

TEST(what_engine_refuses_names_its_row_and_the_way_to_allow_it)
{
	static const struct {
		const char *config, *row, *how;
	} rows[] = {
		{LINUX("") ", " PROCESS(", \"capabilities\": {\"bounding\": [\"CAP_SYS_ADMIN\"]}"),
		 "[capabilities]", "\"capabilities\": {\"allow\": [\"CAP_SYS_ADMIN\"]}"},
		{LINUX("") ", " PROCESS(", \"capabilities\": {\"ambient\": [\"CAP_SYS_PTRACE\"]}"),
		 "[capabilities]", "CAP_SYS_PTRACE"},
		{"\"linux\": {\"namespaces\": [{\"type\": \"mount\"}, {\"type\": \"ipc\"}, "
		 "{\"type\": \"uts\"}, {\"type\": \"network\"}]}",
		 "[host-namespaces]", "\"host-namespaces\": {\"allow\": [\"pid\"]}"},
		{LINUX(", \"devices\": [{\"path\": \"/dev/fuse\", \"type\": \"c\", \"major\": 10, "
		       "\"minor\": 229}]"),
		 "[devices]", "\"devices\": {\"allow\": [\"/dev/fuse\"]}"},
		{LINUX(", \"resources\": {\"devices\": [{\"allow\": true, \"access\": \"rwm\"}]}"),
		 "[devices]", "\"devices\""},
		{LINUX(", \"netDevices\": {\"eth0\": {}}"), "[net-devices]",
		 "\"net-devices\": \"as-asked\""},
		{LINUX(", \"rootfsPropagation\": \"shared\""), "[propagation]",
		 "\"propagation\": \"as-asked\""},
		{LINUX("") ", \"mounts\": [{\"destination\": \"/x\", \"type\": \"bind\", "
			   "\"source\": \"/y\", \"options\": [\"rbind\", \"rshared\"]}]",
		 "[propagation]", "as-asked"},
		{LINUX("") ", \"mounts\": [{\"destination\": \"/x\", \"type\": \"ext4\", "
			   "\"source\": \"/dev/sda\"}]",
		 "[filesystems]", "\"filesystems\": {\"allow\": [\"ext4\"]}"},
		/* Its layers could be anything of the host. */
		{LINUX("") ", \"mounts\": [{\"destination\": \"/x\", \"type\": \"overlay\", "
			   "\"source\": \"overlay\", \"options\": [\"lowerdir=/etc:/usr\"]}]",
		 "[filesystems]", "\"filesystems\": {\"allow\": [\"overlay\"]}"},
		{LINUX(", \"resources\": {\"unified\": {\"odd.key\": \"1\"}}"), "[cgroup-keys]",
		 "odd.key"},
		{LINUX("") ", \"annotations\": {\"org.systemd.property.RuntimeMaxSec\": \"5\"}",
		 "[unit-properties]", "\"unit-properties\": {\"allow\": [\"RuntimeMaxUSec\"]}"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct oci_config c = config_of(rows[i].config);

		if (tighten("engine", &c) == 0)
			FAIL("%s: was taken", rows[i].config);
		if (!strstr(e.text, rows[i].row) || !strstr(e.text, rows[i].how) ||
		    !strstr(e.text, "policy engine refuses ") ||
		    !strstr(e.text, "/etc/sbxrun/policy.json"))
			FAIL("%s: %s", rows[i].config, e.text);
		c = config_of(rows[i].config);
		CHECK_INT(tighten("oci", &c), 0);
	}
}

TEST(properties_of_units_are_those_that_engines_send)
{
#define CHOSEN(name) LINUX("") ", \"annotations\": {\"org.systemd.property." name "\": \"\"}"
	static const struct {
		const char *config;
		bool given;
	} rows[] = {
		{CHOSEN("After"), true},
		{CHOSEN("CollectMode"), true},
		{CHOSEN("KillSignal"), true},
		{CHOSEN("DefaultDependencies"), true},
		{CHOSEN("TimeoutStopSec"), true},
		{CHOSEN("TimeoutStopUSec"), true},
		{CHOSEN("OOMPolicy"), false},
		{CHOSEN("PartOf"), false},
		{CHOSEN("RuntimeMaxSec"), false},
		{CHOSEN("RuntimeMaxUSec"), false},
		/* Nobody's to allow: the plan refuses it. */
		{CHOSEN("ExecStart"), true},
	};
	static const char *const names[] = {"engine", "code"};
	struct host_facts by_files = root_host;
	struct oci_config c;
	size_t i;

	by_files.cgroup.driver = CGROUP_BY_CGROUPFS;
	for (i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		const struct policy *p = policy_preset_find(names[i % 2]);

		c = config_of(rows[i / 2].config);
		if ((tighten(names[i % 2], &c) == 0) != rows[i / 2].given)
			FAIL("%s, %s: %s", names[i % 2], rows[i / 2].config, e.text);
		c = config_of(rows[i / 2].config);
		CHECK_INT(policy_tighten(p, &by_files, &c, &arena, &clamps, &e), 0);
	}
}

static bool has(const struct strings *l, const char *word)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (str_eq(l->v[i], word))
			return true;
	return false;
}

TEST(engine_clamps_what_it_can)
{
	struct oci_config c = config_of(
		LINUX(", \"maskedPaths\": [\"/proc/kcore\"]") ", " PROCESS(
			", \"oomScoreAdj\": -1000, \"capabilities\": {\"bounding\": [\"CAP_CHOWN\", "
			"\"CAP_NET_RAW\", \"CAP_MKNOD\"], \"effective\": [\"CAP_NET_RAW\"], "
			"\"permitted\": [\"CAP_NET_RAW\"]}") ", \"mounts\": [{\"destination\": "
							     "\"/v\", \"type\": \"bind\", "
							     "\"source\": \"/v\", \"options\": "
							     "[\"rbind\", \"ro\", \"suid\", "
							     "\"dev\"]}, {\"destination\": "
							     "\"/dev\", \"type\": \"tmpfs\"}]");

	CHECK_INT(tighten("engine", &c), 0);
	CHECK(c.process.no_new_privileges);
	CHECK_INT(c.process.oom_score_adj.v, -998);
	CHECK_INT(c.process.capabilities.bounding.n, 1);
	CHECK_INT(c.process.capabilities.effective.n, 0);
	CHECK(c.linux_.seccomp.set && c.linux_.seccomp.foreign_enosys);
	CHECK(has(&c.linux_.masked_paths, "/proc/kallsyms"));
	CHECK_STR(c.mounts.v[0].options.v[c.mounts.v[0].options.n - 1], "rro");
	CHECK(has(&c.mounts.v[0].options, "nosuid") && has(&c.mounts.v[0].options, "rnodev"));
	CHECK(has(&c.mounts.v[1].options, "nosuid") && !has(&c.mounts.v[1].options, "nodev"));
	CHECK(oci_namespace_find(&c, OCI_NS_CGROUP) != NULL);
	CHECK_STR(c.linux_.sysctl.v[0].key, "net.ipv4.ping_group_range");
	CHECK(clamped("capabilities") && clamped("no-new-privileges") && clamped("oom-score") &&
	      clamped("seccomp") && clamped("mount-flags") && clamped("cgroup-namespace") &&
	      clamped("proc") && clamped("rlimits"));
}

TEST(what_is_strict_already_is_left_alone)
{
	struct oci_config c = config_of(
		"\"linux\": {\"namespaces\": [" NAMESPACES
		", {\"type\": \"cgroup\"}, {\"type\": \"user\"}], \"uidMappings\": "
		"[{\"containerID\": 0, \"hostID\": 1, \"size\": 1}], \"gidMappings\": "
		"[{\"containerID\": 0, \"hostID\": 1, \"size\": 1}]}, " PROCESS(
			", \"rlimits\": [{\"type\": \"RLIMIT_CORE\", \"hard\": 5, \"soft\": 5}], "
			"\"capabilities\": {\"bounding\": [\"CAP_CHOWN\"]}"));

	CHECK_INT(tighten("engine", &c), 0);
	CHECK(!c.process.no_new_privileges); /* it has a user namespace */
	CHECK_INT(c.process.rlimits.n, 1);
	CHECK_INT(c.process.rlimits.v[0].hard, 5);
	CHECK(!clamped("capabilities") && !clamped("cgroup-namespace") && !clamped("rlimits"));
}

TEST(a_soft_limit_below_the_policys_stays)
{
	static const struct {
		const char *type;
		uint64_t soft, hard, most;
	} rows[] = {
		{"RLIMIT_NOFILE", 2048, 8192, 4096},	  {"RLIMIT_NOFILE", 4097, 8192, 4096},
		{"RLIMIT_NOFILE", 0, UINT64_MAX, 4096},	  {"RLIMIT_NOFILE", 64, 128, 4096},
		{"RLIMIT_MEMLOCK", 1, UINT64_MAX, 65536}, {"RLIMIT_MSGQUEUE", 1, 65537, 65536},
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const uint64_t soft = rows[i].soft, hard = rows[i].hard, most = rows[i].most;
		struct oci_config c = config_of(arena_printf(
			&arena,
			LINUX("") ", " PROCESS(", \"rlimits\": [{\"type\": \"%s\", \"soft\": "
					       "%llu, \"hard\": %llu}]"),
			rows[i].type, (unsigned long long)soft, (unsigned long long)hard));

		CHECK_INT(tighten("code", &c), 0);
		for (k = 0; k < c.process.rlimits.n; k++)
			if (str_eq(c.process.rlimits.v[k].type, rows[i].type))
				break;
		CHECK(k < c.process.rlimits.n);
		CHECK(c.process.rlimits.v[k].soft == (soft < most ? soft : most));
		CHECK(c.process.rlimits.v[k].hard == (hard < most ? hard : most));
	}
}

TEST(code_takes_what_engine_leaves)
{
	struct oci_config c = config_of(
		LINUX("") ", " PROCESS(", \"capabilities\": {\"bounding\": [\"CAP_SYS_ADMIN\"]}") ", "
		"\"mounts\": [{\"destination\": \"/proc\", \"type\": \"proc\"}, {\"destination\": "
		"\"/sys\", \"type\": \"sysfs\"}, {\"destination\": \"/sys/fs/cgroup\", \"type\": "
		"\"cgroup\"}, {\"destination\": \"/tmp\", \"type\": \"tmpfs\"}]");

	CHECK_INT(tighten("code", &c), 0);
	CHECK_INT(c.process.capabilities.bounding.n, 0);
	CHECK_INT(c.mounts.n, 2);
	CHECK(has(&c.mounts.v[0].options, "subset=pid"));
	CHECK(has(&c.mounts.v[1].options, "noexec"));
	CHECK(c.root.readonly);
	CHECK_INT(c.linux_.resources.pids_limit.v, 64);
	CHECK_INT(c.linux_.resources.memory.limit.v, 512 << 20);
	CHECK_INT(c.linux_.resources.memory.swap.v, 512 << 20);
	CHECK(c.linux_.resources.cpu.quota.set);
}

/* Messages name what the document has, though rows before took mounts away. */
TEST(mounts_keep_their_numbers)
{
	struct oci_config c = config_of(
		LINUX("") ", \"mounts\": [{\"destination\": \"/sys\", \"type\": \"sysfs\"}, "
			  "{\"destination\": \"/proc\", \"type\": \"proc\"}, "
			  "{\"destination\": \"/sys/fs/cgroup\", \"type\": \"cgroup\"}, "
			  "{\"destination\": \"/x\", \"type\": \"ext4\", \"source\": \"y\"}]");
	bool proc = false;
	size_t i;

	CHECK(tighten("code", &c) < 0);
	CHECK(strstr(e.text, "a filesystem of type \"ext4\" (mounts[3], on "));
	c.mounts.n--;
	CHECK(tighten("code", &c) == 0);
	CHECK_INT(c.mounts.n, 1);
	CHECK_INT(c.mounts.v[0].at, 1);
	for (i = 0; i < clamps.n; i++)
		proc = proc ||
		       str_eq(clamps.v[i].text, "mounts[1]: only processes are in \"/proc\"");
	CHECK(proc);
}

TEST(code_runs_no_hooks)
{
	struct oci_config c =
		config_of(LINUX("") ", \"hooks\": {\"poststop\": [{\"path\": \"/bin/true\"}]}");

	CHECK(tighten("code", &c) < 0);
	CHECK(strstr(e.text, "[hooks]"));
}

/* Filters */

static struct seccomp_program filter_of(const char *policy, const char *seccomp)
{
	struct oci_config c = config_of(*seccomp ? arena_printf(&arena,
								"\"linux\": {\"namespaces\": "
								"[" NAMESPACES
								"], \"seccomp\": %s}",
								seccomp) :
						   LINUX(""));
	struct seccomp_program p;
	struct notes notes = {0};

	if (tighten(policy, &c) < 0 ||
	    seccomp_program_build(&c.linux_.seccomp, &arena, &p, &notes, &e) < 0)
		FAIL("%s", e.text);
	return p;
}

static uint32_t verdict(const struct seccomp_program *p, const char *name, uint64_t a0, uint64_t a1,
			uint64_t a2)
{
	struct seccomp_data d = {.arch = syscall_arch_native()->token,
				 .nr = syscall_number(syscall_find(name), syscall_arch_native()),
				 .args = {a0, a1, a2}};

	return p->filter ? bpf_eval(p->filter, p->len, &d).action : SECCOMP_RET_ALLOW;
}

enum { EPERM_ = SECCOMP_RET_ERRNO | EPERM, ENOSYS_ = SECCOMP_RET_ERRNO | ENOSYS };

static void check_ceiling(const struct seccomp_program *p)
{
	const uint64_t high = UINT64_C(1) << 32;

	CHECK_INT(verdict(p, "read", 0, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(verdict(p, "io_uring_setup", 0, 0, 0), EPERM_);
	CHECK_INT(verdict(p, "bpf", 0, 0, 0), EPERM_);
	CHECK_INT(verdict(p, "keyctl", 0, 0, 0), EPERM_);
	CHECK_INT(verdict(p, "clone", 17, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(verdict(p, "clone", CLONE_NEWUSER | 17, 0, 0), EPERM_);
	CHECK_INT(verdict(p, "clone", CLONE_NEWNET | CLONE_NEWNS, 0, 0), EPERM_);
	CHECK_INT(verdict(p, "clone3", 0, 0, 0), ENOSYS_);
	CHECK_INT(verdict(p, "unshare", 0, 0, 0), EPERM_);
	CHECK_INT(verdict(p, "socket", AF_INET, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(verdict(p, "socket", AF_NETLINK, 3, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(verdict(p, "socket", AF_NETLINK, 3, 16), EPERM_);
	CHECK_INT(verdict(p, "socket", AF_VSOCK, 1, 0), EPERM_);
	CHECK_INT(verdict(p, "socket", AF_VSOCK | high, 1, 0), EPERM_);
	CHECK_INT(verdict(p, "socket", AF_PACKET, 3, 0), EPERM_);
	CHECK_INT(verdict(p, "ioctl", 0, TIOCSTI, 0), EPERM_);
	CHECK_INT(verdict(p, "ioctl", 0, TIOCSTI | high, 0), EPERM_);
	CHECK_INT(verdict(p, "ioctl", 0, 0x541c, 0), EPERM_);
	CHECK_INT(verdict(p, "ioctl", 0, TIOCGWINSZ, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(verdict(p, "personality", 0xffffffff, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(verdict(p, "personality", 0x40000, 0, 0), EPERM_);
}

TEST(without_a_profile_the_list_holds)
{
	struct seccomp_program p = filter_of("engine", "");

	check_ceiling(&p);
	CHECK_INT(verdict(&p, "ptrace", 0, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(verdict(&p, "open_by_handle_at", 0, 0, 0), EPERM_);
	p = filter_of("code", "");
	check_ceiling(&p);
	CHECK_INT(verdict(&p, "ptrace", 0, 0, 0), EPERM_);
	CHECK_INT(verdict(&p, "open_by_handle_at", 0, 0, 0), SECCOMP_RET_KILL_PROCESS);
	CHECK_INT(verdict(&p, "init_module", 0, 0, 0), SECCOMP_RET_KILL_PROCESS);
}

/* As of a kernel without it: anything else makes useradd give up. */
TEST(the_audit_system_is_not_there)
{
	const uint32_t absent = SECCOMP_RET_ERRNO | EPROTONOSUPPORT;
	struct seccomp_program p = filter_of("engine", "");

	CHECK_INT(verdict(&p, "socket", AF_NETLINK, 3, 9), absent);
	CHECK_INT(verdict(&p, "socket", AF_NETLINK, 3, 12), EPERM_);
	p = filter_of("engine",
		      "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"syscalls\": [{\"names\": "
		      "[\"read\", \"socket\"], \"action\": \"SCMP_ACT_ALLOW\"}]}");
	CHECK_INT(verdict(&p, "socket", AF_NETLINK, 3, 9), absent);
	CHECK_INT(verdict(&p, "socket", AF_NETLINK, 3, 0), SECCOMP_RET_ALLOW);
	p = filter_of("engine",
		      "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"syscalls\": [{\"names\": "
		      "[\"socket\"], \"action\": \"SCMP_ACT_KILL\"}]}");
	CHECK_INT(verdict(&p, "socket", AF_NETLINK, 3, 9), SECCOMP_RET_KILL_THREAD);
	p = filter_of("code", "");
	CHECK_INT(verdict(&p, "socket", AF_NETLINK, 3, 9), EPERM_);
}

TEST(a_profile_that_opens_everything_opens_the_list)
{
	struct seccomp_program p = filter_of("engine", "{\"defaultAction\": \"SCMP_ACT_ALLOW\"}");

	check_ceiling(&p);
	p = filter_of("engine", "{\"defaultAction\": \"SCMP_ACT_LOG\", \"syscalls\": [{\"names\": "
				"[\"mkdir\"], \"action\": \"SCMP_ACT_ERRNO\", \"errnoRet\": 5}]}");
	CHECK_INT(verdict(&p, "read", 0, 0, 0), SECCOMP_RET_LOG);
	if (syscall_number(syscall_find("mkdir"), syscall_arch_native()) >= 0)
		CHECK_INT(verdict(&p, "mkdir", 0, 0, 0), SECCOMP_RET_ERRNO | 5);
	CHECK_INT(verdict(&p, "bpf", 0, 0, 0), EPERM_);
}

TEST(a_profile_loses_what_the_list_lacks_and_keeps_what_it_denies)
{
	struct seccomp_program p = filter_of(
		"engine",
		"{\"defaultAction\": \"SCMP_ACT_KILL\", \"architectures\": [\"SCMP_ARCH_X86_64\", "
		"\"SCMP_ARCH_X86\", \"SCMP_ARCH_X32\"], \"syscalls\": [{\"names\": [\"read\", "
		"\"socket\", \"clone\", \"io_uring_setup\"], \"action\": \"SCMP_ACT_ALLOW\"}, "
		"{\"names\": [\"socket\"], \"action\": \"SCMP_ACT_ERRNO\", \"args\": [{\"index\": 0, "
		"\"value\": 1, \"op\": \"SCMP_CMP_EQ\"}]}]}");

	CHECK_INT(verdict(&p, "read", 0, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(verdict(&p, "write", 0, 0, 0), SECCOMP_RET_KILL_THREAD);
	CHECK_INT(verdict(&p, "io_uring_setup", 0, 0, 0), SECCOMP_RET_KILL_THREAD);
	CHECK_INT(verdict(&p, "socket", AF_UNIX, 0, 0), EPERM_);
	CHECK_INT(verdict(&p, "socket", AF_INET, 0, 0), SECCOMP_RET_ALLOW);
	CHECK_INT(verdict(&p, "socket", AF_VSOCK, 0, 0), SECCOMP_RET_KILL_THREAD);
	CHECK_INT(verdict(&p, "clone", CLONE_NEWNS, 0, 0), SECCOMP_RET_KILL_THREAD);
	CHECK(clamped("seccomp") && clamped("foreign-abi"));
}

TEST(other_architectures_fail_or_die)
{
	struct seccomp_data d = {.arch = syscall_arch_native()->token == AUDIT_ARCH_X86_64 ?
						 AUDIT_ARCH_I386 :
						 AUDIT_ARCH_ARM,
				 .nr = 20};
	struct seccomp_program p = filter_of("engine", "");

	CHECK_INT(bpf_eval(p.filter, p.len, &d).action, ENOSYS_);
	p = filter_of("code", "");
	CHECK_INT(bpf_eval(p.filter, p.len, &d).action, SECCOMP_RET_KILL_PROCESS);
}

static unsigned int random_below(size_t n)
{
	static uint64_t seed = 20261118;

	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)((seed >> 33) % n);
}


/* For all calls, all values that conditions speak of, and profiles of all kinds: a policy never
 * answers more softly than the profile does, nor than the policy alone. */
/* The row holds on its own, where nothing else asks for a filter. */
TEST(other_architectures_are_closed_without_a_list)
{
	struct seccomp_data own = {.arch = syscall_arch_native()->token, .nr = 0};
	struct seccomp_data other = {.arch = own.arch == AUDIT_ARCH_X86_64 ? AUDIT_ARCH_I386 :
									     AUDIT_ARCH_ARM,
				     .nr = 20};
	struct policy p = *policy_preset_find("oci");
	struct oci_config c = config_of("");
	struct seccomp_program f;
	struct notes notes = {0};

	p.level[LEVEL_FOREIGN_ABI] = ABI_KILL;
	clamps = (struct policy_clamps){0};
	CHECK(policy_tighten(&p, &root_host, &c, &arena, &clamps, &e) == 0);
	CHECK(clamped("foreign-abi"));
	CHECK(seccomp_program_build(&c.linux_.seccomp, &arena, &f, &notes, &e) == 0);
	CHECK_INT(bpf_eval(f.filter, f.len, &other).action, SECCOMP_RET_KILL_PROCESS);
	CHECK_INT(bpf_eval(f.filter, f.len, &own).action, SECCOMP_RET_ALLOW);
}

TEST(a_policy_only_makes_filters_stricter)
{
	static const char *const actions[] = {"ALLOW", "LOG",	 "ERRNO", "KILL_PROCESS",
					      "TRAP",  "NOTIFY", "TRACE"};
	static const char *const names[] = {"read",  "socket", "clone",	     "ioctl", "personality",
					    "ptrace", "bpf",	"clone3",     "unshare", "kexec_load",
					    "socketpair"};
	static const uint64_t values[] = {0,	   1,	    2,		9,	 10,
					  16,	   40,	    0x5412,	0x541c,	 8,
					  0x20008, 0x40000, 0x10000000, 0x20000, 0xffffffff};
	static const char *const ops[] = {"EQ", "NE", "LT", "GE", "MASKED_EQ"};
	const unsigned int rounds = unit_rounds(2000);
	unsigned int round, i, k;

	for (round = 0; round < rounds; round++) {
		struct buf b = buf_new(&arena, 1 << 16);
		const char *preset = random_below(2) ? "engine" : "code";
		struct seccomp_program was, is, ceiling = filter_of(preset, "");

		buf_printf(&b,
			   "{\"defaultAction\": \"SCMP_ACT_%s\", \"listenerPath\": \"/s\", "
			   "\"syscalls\": [",
			   actions[random_below(5)]);
		for (i = random_below(6); i > 0; i--) {
			buf_printf(&b, "{\"names\": [\"%s\", \"%s\"], \"action\": \"SCMP_ACT_%s\"",
				   names[random_below(ARRAY_SIZE(names))],
				   names[random_below(ARRAY_SIZE(names))],
				   actions[random_below(ARRAY_SIZE(actions))]);
			buf_str(&b, ", \"args\": [");
			for (k = random_below(3); k > 0; k--)
				buf_printf(&b,
					   "{\"index\": %u, \"value\": %llu, \"valueTwo\": %llu, "
					   "\"op\": \"SCMP_CMP_%s\"}%s",
					   random_below(3),
					   (unsigned long long)
						   values[random_below(ARRAY_SIZE(values))],
					   (unsigned long long)
						   values[random_below(ARRAY_SIZE(values))],
					   ops[random_below(ARRAY_SIZE(ops))], k > 1 ? ", " : "");
			buf_printf(&b, "]}%s", i > 1 ? ", " : "");
		}
		buf_str(&b, "]}");
		was = filter_of("oci", b.data);
		is = filter_of(preset, b.data);
		for (i = 0; i < 1000; i++) {
			const char *name = names[random_below(ARRAY_SIZE(names))];
			uint64_t a0 = values[random_below(ARRAY_SIZE(values))];
			uint64_t a1 = values[random_below(ARRAY_SIZE(values))];
			uint64_t a2 = values[random_below(ARRAY_SIZE(values))];
			uint32_t x = verdict(&was, name, a0, a1, a2);
			uint32_t y = verdict(&is, name, a0, a1, a2);
			uint32_t z = verdict(&ceiling, name, a0, a1, a2);

			/* Two errnos are equally strict. */
			if (seccomp_is_stricter(x & SECCOMP_RET_ACTION_FULL,
						y & SECCOMP_RET_ACTION_FULL))
				FAIL("%s under %s: %s(%llx, %llx, %llx): %x became %x", b.data,
				     preset, name, (unsigned long long)a0, (unsigned long long)a1,
				     (unsigned long long)a2, x, y);
			if (z != SECCOMP_RET_ALLOW &&
			    (y == SECCOMP_RET_ALLOW || y == SECCOMP_RET_LOG ||
			     (y & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_TRACE ||
			     (y & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_USER_NOTIF))
				FAIL("%s under %s: %s(%llx, %llx, %llx): %x, and the policy has %x",
				     b.data, preset, name, (unsigned long long)a0,
				     (unsigned long long)a1, (unsigned long long)a2, y, z);
		}
	}
}

TEST(the_lists_are_sorted_and_of_calls_that_are_known)
{
	const struct policy *engine = policy_preset_find("engine"),
			    *code = policy_preset_find("code");
	size_t i;

	for (i = 0; ceiling_name(i); i++) {
		const char *name = ceiling_name(i);

		CHECK(syscall_find(name));
		CHECK(i == 0 || strcmp(ceiling_name(i - 1), name) < 0);
		CHECK(strlen(ceiling_reason(name)) >= 3);
		/* code gives nothing that engine doesn't. */
		if (ceiling_verdict(code, name) == CALL_yes)
			CHECK_INT(ceiling_verdict(engine, name), CALL_yes);
	}
	CHECK(i > 400);
}

/* An engine of an ordinary user has made the user namespace itself; `podman build` binds /sys. */
/* Files of /proc */

static const char *proc_file(const struct proc_files *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (str_eq(p->v[i].name, name))
			return p->v[i].text;
	return "none";
}

/* How often a line begins so. */
static size_t count_lines(const char *text, const char *with)
{
	size_t n = 0;

	for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
		n += str_after(text, with) != NULL;
	return n;
}

static struct proc_files files_of(const char *resources, uint32_t cpus)
{
	const struct machine_facts machine = {.cpus = cpus, .memory = 8ULL << 30, .now = 1234567};
	const struct oci_config c = config_of(
		arena_printf(&arena, "\"linux\": {\"resources\": {%s}}", resources));

	return plan_proc_files(&c.linux_.resources, &machine, &arena);
}

TEST(processors_of_proc_are_those_of_the_limit)
{
	static const struct {
		const char *cpu;
		uint32_t machine;
		size_t cpus;
	} rows[] = {
		{"", 4, 4},
		{"", 0, 1},
		{"\"quota\": 100000, \"period\": 100000", 4, 1},
		{"\"quota\": 1000, \"period\": 100000", 4, 1},
		{"\"quota\": 250000", 4, 3},
		{"\"quota\": 250000, \"period\": 0", 4, 3},
		{"\"quota\": -1, \"period\": 100000", 4, 4},
		{"\"quota\": 9000000, \"period\": 100000", 4, 4},
		{"\"cpus\": \"0-1,7\"", 8, 3},
		{"\"cpus\": \"0-1,7\", \"quota\": 200000", 8, 2},
		{"\"cpus\": \"5\"", 8, 1},
		{"\"cpus\": \"\"", 8, 8},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct proc_files p = files_of(
			arena_printf(&arena, "\"cpu\": {%s}", rows[i].cpu), rows[i].machine);

		if (count_lines(proc_file(&p, "cpuinfo"), "processor\t: ") != rows[i].cpus ||
		    count_lines(proc_file(&p, "stat"), "cpu") != rows[i].cpus + 1)
			FAIL("%s: %s", rows[i].cpu, proc_file(&p, "stat"));
		CHECK_INT(count_lines(proc_file(&p, "stat"), "btime 1234567"), 1);
	}
}

TEST(memory_of_proc_is_that_of_the_limit)
{
	static const struct {
		const char *memory, *total, *swap;
	} rows[] = {
		{"", "MemTotal:        8388608 kB\n", "SwapTotal:             0 kB\n"},
		{"\"limit\": 536870912", "MemTotal:         524288 kB\n",
		 "SwapTotal:             0 kB\n"},
		{"\"limit\": 536870912, \"swap\": 536870912", "MemTotal:         524288 kB\n",
		 "SwapTotal:             0 kB\n"},
		{"\"limit\": 1048576, \"swap\": 3145728", "MemTotal:           1024 kB\n",
		 "SwapTotal:          2048 kB\n"},
		{"\"limit\": -1, \"swap\": -1", "MemTotal:        8388608 kB\n",
		 "SwapTotal:             0 kB\n"},
		{"\"limit\": 9223372036854775807", "MemTotal:        8388608 kB\n",
		 "SwapTotal:             0 kB\n"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct proc_files p =
			files_of(arena_printf(&arena, "\"memory\": {%s}", rows[i].memory), 1);
		const char *text = proc_file(&p, "meminfo");

		if (count_lines(text, rows[i].total) != 1 || count_lines(text, rows[i].swap) != 1)
			FAIL("%s: %s", rows[i].memory, text);
		CHECK_INT(count_lines(text, "MemAvailable:"), 1);
	}
}

TEST(files_of_proc_go_where_processes_are_shown_alone)
{
	const struct policy *code = policy_preset_find("code");
	struct oci_config c = config_of(
		LINUX("") ", \"mounts\": [{\"destination\": \"/proc/\", \"type\": \"proc\", "
			  "\"source\": \"proc\", \"options\": [\"hidepid=2\"]}, "
			  "{\"destination\": \"/other\", \"type\": \"proc\"}]");
	struct plan plan = {0};

	CHECK(tighten("code", &c) == 0);
	c.linux_.resources = (struct oci_resources){0}; /* this host has no cgroups */
	if (plan_make(&c, "x", "/b", &root_host, &arena, &plan, &e) < 0)
		FAIL("%s", e.text);
	CHECK_INT(plan.mounts[0].n_params, 2);
	policy_set_conditions(code, &c, &root_host, "/run/sbxrun", &arena, &plan);
	CHECK(plan.mounts[0].proc_files && !plan.mounts[1].proc_files);
	CHECK_INT(plan.mounts[0].n_params, 1);
	CHECK_STR(plan.mounts[0].params[0].key, "hidepid");
	CHECK_STR(plan.mounts[1].params[0].key, "subset");
	CHECK_INT(plan.proc_files.n, 5);
	plan = (struct plan){0};
	CHECK(plan_make(&c, "x", "/b", &root_host, &arena, &plan, &e) == 0);
	policy_set_conditions(policy_preset_find("engine"), &c, &root_host, "/run/sbxrun", &arena,
			      &plan);
	CHECK(!plan.mounts[0].proc_files && !plan.proc_files.n);
}

/* Landlock */

/* Without rights: there is none. */
static struct landlock_place place(const struct landlock_plan *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (str_eq(p->places[i].path, path))
			return p->places[i];
	return (struct landlock_place){0};
}

#define MOUNTS                                                                                     \
	"\"mounts\": [{\"destination\": \"/proc\", \"type\": \"proc\"}, "                          \
	"{\"destination\": \"/dev/pts\", \"type\": \"devpts\"}, "                                  \
	"{\"destination\": \"/tmp/\", \"type\": \"tmpfs\"}, "                                      \
	"{\"destination\": \"/in\", \"type\": \"bind\", \"source\": \"/x\", "                      \
	"\"options\": [\"rw\", \"ro\"]}, "                                                         \
	"{\"destination\": \"/out\", \"type\": \"bind\", \"source\": \"/x\", "                     \
	"\"options\": [\"ro\", \"rw\"]}]"

TEST(landlock_gives_what_the_mounts_give)
{
	const struct oci_config c = config_of(
		MOUNTS ", \"linux\": {\"devices\": "
		       "[{\"path\": \"/dev/kvm\", \"type\": \"c\", \"major\": 10, \"minor\": 232}]}");
	const struct landlock_plan p = plan_landlock(&c, true, 7, &arena);
	const uint64_t never = LANDLOCK_MAKE_CHAR | LANDLOCK_MAKE_BLOCK;
	size_t i;

	CHECK_INT(p.handled, 0xffff);
	CHECK_INT(p.root, LANDLOCK_EXECUTE | LANDLOCK_READ_FILE | LANDLOCK_READ_DIR);
	CHECK(!place(&p, "/").path && !place(&p, "/proc").path && !place(&p, "/in").path);
	CHECK_INT(place(&p, "/tmp").rights, 0xffff & ~never & ~p.root & ~LANDLOCK_IOCTL_DEV);
	CHECK_INT(place(&p, "/out").rights, place(&p, "/tmp").rights);
	CHECK_INT(place(&p, "/tmp").on, ON_MOUNT);
	CHECK(place(&p, "/dev/pts").rights & LANDLOCK_IOCTL_DEV);
	CHECK(!(place(&p, "/dev/pts").rights & LANDLOCK_MAKE_REG));
	CHECK(place(&p, "/dev/tty").rights & LANDLOCK_IOCTL_DEV);
	CHECK(place(&p, "/dev/kvm").rights & LANDLOCK_IOCTL_DEV);
	CHECK(!(place(&p, "/dev/urandom").rights & LANDLOCK_IOCTL_DEV));
	CHECK_INT(place(&p, "/dev/null").on, ON_DEVICE);
	for (i = 0; i < p.n; i++)
		CHECK(!(p.places[i].rights & never));
	CHECK(plan_landlock(&c, false, 7, &arena).places[0].path[1] == '\0');
}

/* A right that the kernel does not know is an error to it. */
TEST(landlock_asks_for_no_more_than_the_kernel_has)
{
	static const struct {
		int abi;
		uint64_t handled;
	} rows[] = {{2, 0x3fff}, {3, 0x7fff}, {4, 0x7fff}, {5, 0xffff}, {99, 0xffff}};
	const struct oci_config c = config_of(MOUNTS);
	size_t i, k;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct landlock_plan p = plan_landlock(&c, false, rows[i].abi, &arena);

		CHECK_INT(p.handled, rows[i].handled);
		CHECK(!(p.root & ~p.handled));
		for (k = 0; k < p.n; k++)
			CHECK(p.places[k].rights && !(p.places[k].rights & ~p.handled));
	}
}

TEST(a_kernel_without_landlock_is_said_or_refused)
{
	struct policy p = *policy_preset_find("oci");
	struct host_facts facts = root_host;
	struct oci_config c;
	struct plan plan = {0};
	int abi;

	for (abi = 0; abi < 8; abi++) {
		bool there = abi >= LANDLOCK_ABI_LEAST;

		facts.landlock_abi = abi;
		clamps = (struct policy_clamps){0};
		c = config_of(PROCESS(""));
		p.level[LEVEL_LANDLOCK] = LANDLOCK_AUTO;
		CHECK(policy_tighten(&p, &facts, &c, &arena, &clamps, &e) == 0);
		CHECK(clamped("landlock"));
		CHECK(!strstr(clamps.v[0].text, "no Landlock, since") == there);
		CHECK(c.process.no_new_privileges == there);
		plan = (struct plan){0};
		policy_set_conditions(&p, &c, &facts, "/run/sbxrun", &arena, &plan);
		CHECK_INT(plan.landlock.abi, there ? abi : 0);
		p.level[LEVEL_LANDLOCK] = LANDLOCK_ALWAYS;
		CHECK((policy_tighten(&p, &facts, &c, &arena, &clamps, &e) == 0) == there);
		CHECK(there || strstr(e.text, "[landlock]; to allow it, an administrator gives "
					      "\"landlock\": \"auto\""));
		CHECK(!plan_landlock_lack(abi) == (abi >= 5));
		p.level[LEVEL_LANDLOCK] = AS_ASKED;
		plan = (struct plan){0};
		policy_set_conditions_exec(&p, &c, &facts, &arena, &plan);
		CHECK_INT(plan.landlock.abi, 0);
	}
}

/* What is another name for a call that is given would be a riddle if it were refused. Those that no
 * C library of today calls are left out: there is a bound (t3000). */
TEST(siblings_of_calls_that_code_gives_are_given)
{
	static const char *const siblings[][2] = {
		{"listxattr", "llistxattr"}, {"listxattr", "flistxattr"},
		{"tgkill", "tkill"},	     {"vfork", "fork"},
		{"sendmsg", "sendmmsg"},     {"dup2", "dup3"},
		{"pipe2", "pipe"},	     {"setxattr", "lsetxattr"},
		{"getxattr", "fgetxattr"},   {"removexattr", "lremovexattr"},
		{"timer_create", "timer_delete"},
	};
	const struct policy *code = policy_preset_find("code");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(siblings); i++) {
		CHECK_INT(ceiling_verdict(code, siblings[i][0]), CALL_yes);
		if (ceiling_verdict(code, siblings[i][1]) != CALL_yes)
			FAIL("%s is given, and %s is not", siblings[i][0], siblings[i][1]);
	}
}

/* Conditions */

TEST(a_read_only_sys_is_a_source_where_root_is_not_the_machines)
{
	const struct policy *engine = policy_preset_find("engine");
	struct plan plan = {.by_machine_root = true};
	const struct oci_config c = {0};

	policy_set_conditions(engine, &c, &root_host, "/run/sbxrun", &arena, &plan);
	CHECK(plan.guard.sources && !plan.guard.shows_sys);
	plan = (struct plan){.by_machine_root = true, .owns_userns = true};
	policy_set_conditions(engine, &c, &root_host, "/run/sbxrun", &arena, &plan);
	CHECK(plan.guard.shows_sys);
	plan = (struct plan){.by_machine_root = false};
	policy_set_conditions(engine, &c, &root_host, "/run/sbxrun", &arena, &plan);
	CHECK(plan.guard.sources && plan.guard.shows_sys);
}

/* Allows what is refused until nothing is, and gives the rows that it took. */
static const char *rows_that_allow(const char *more)
{
	const struct policy *engine = policy_preset_find("engine");
	struct policy_text needed = {.name = (char[]){"more"}};
	struct policy_clamps changed, refusals;
	struct policy p = *engine;
	struct oci_config c;
	size_t i, round;

	for (round = 0; round < 20; round++) {
		c = config_of(more);
		changed = refusals = (struct policy_clamps){0};
		policy_tighten_all(&p, &root_host, &c, &arena, &changed, &refusals);
		for (i = 0; i < refusals.n; i++)
			policy_remedy_add(refusals.v[i].text, NULL, &arena, &needed);
		p = *engine;
		policy_apply(&needed, &arena, &p);
	}
	return refusals.n ? refusals.v[0].text : policy_remedy_rows(&needed, &arena);
}

TEST(what_refusals_say_allows_what_they_refuse)
{
	CHECK_STR(
		rows_that_allow("\"linux\": {\"namespaces\": [{\"type\": \"mount\"}]}, "
				"\"process\": {\"args\": [\"a\"], \"cwd\": \"/\", "
				"\"capabilities\": {\"bounding\": [\"CAP_BPF\", \"CAP_SYSLOG\"]}}"),
		"\"capabilities\": {\"allow\": [\"CAP_BPF\", \"CAP_SYSLOG\"]}, "
		"\"host-namespaces\": {\"allow\": [\"pid\", \"ipc\", \"uts\", \"network\"]}");
}

TEST(a_remedy_is_read_as_it_is_said)
{
	static const char
		path[] = "policy x refuses mounts[0].source, /run/a: it is b [host-paths]; "
			 "to allow it, an administrator gives \"host-path-exceptions\": "
			 "{\"allow\": [\"PATH:rw\"]} to a policy in /etc/sbxrun/policy.json",
		device[] = "policy x refuses access to devices [devices]; to allow it, an "
			   "administrator gives \"devices\": {\"allow\": [\"/dev/NAME\"]} "
			   "to a policy in /etc/sbxrun/policy.json",
		hook[] = "policy x refuses the hook y [hooks]; to allow it, an administrator "
			 "gives \"hooks\": \"as-asked\" to a policy in /etc/sbxrun/policy.json";
	struct policy_text t = {0};

	CHECK(policy_remedy_add(path, "/run/a", &arena, &t));
	CHECK(!policy_remedy_add(path, "/run/a", &arena, &t)); /* it is there */
	CHECK(!policy_remedy_add(path, NULL, &arena, &t));
	CHECK(!policy_remedy_add(device, NULL, &arena, &t)); /* for a person to complete */
	CHECK(!policy_remedy_add("no such container", NULL, &arena, &t));
	CHECK(policy_remedy_add(hook, NULL, &arena, &t));
	CHECK_STR(
		policy_remedy_rows(&t, &arena),
		"\"hooks\": \"as-asked\", \"host-path-exceptions\": {\"allow\": [\"/run/a:rw\"]}");
	CHECK_STR(policy_remedy_row(hook, &arena), "hooks");
	CHECK_STR(policy_remedy_row(path, &arena), "host-paths");
	CHECK_STR(policy_remedy_row("no such container", &arena), "");
}

int main(void)
{
	return unit_main();
}
