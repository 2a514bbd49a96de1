/*
 * The judgement on a config, one sentence each. Cases are pieces of JSON put into a minimal config;
 * `why` is the whole error behind "c: ", or NULL if the config is fine.
 */
#include "unit.h"

#include <stdlib.h>

#include "base/str.h"
#include "oci/oci.h"

struct judged {
	const char *piece;
	const char *why;
};

static struct arena arena;
static struct error error;
static struct oci_config config;

static void check_text(const char *text, const char *why)
{
	int rc;

	memset(&error, 0, sizeof(error));
	rc = oci_config_read("c", text, strlen(text), &arena, &config, &error);
	if (!why) {
		if (rc < 0)
			FAIL("%s: %s", text, error.text);
		return;
	}
	if (rc == 0)
		FAIL("accepted: %s", text);
	if (!str_after(error.text, "c: ") || !str_eq(error.text + 3, why))
		FAIL("%s: got \"%s\", want \"%s\"", text, error.text, why);
	CHECK_INT(error.class, ERR_CONFIG);
}

/* Each piece goes to the %s of the frame. */
static void check_all(const char *before, const char *after, const struct judged *cases, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		arena_free(&arena);
		check_text(arena_printf(&arena, "%s%s%s", before, cases[i].piece, after),
			   cases[i].why);
	}
}

#define TOP "{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"r\"},"
#define NS(list) "\"namespaces\":[" list "],"
#define ALL_NS                                                                                     \
	NS("{\"type\":\"pid\"},{\"type\":\"network\"},{\"type\":\"mount\"},{\"type\":\"ipc\"},"    \
	   "{\"type\":\"uts\"},{\"type\":\"cgroup\"},{\"type\":\"time\"}")
#define CHECK_TOP(cases) check_all(TOP, "}", cases, ARRAY_SIZE(cases))
#define CHECK_LINUX(cases) check_all(TOP "\"linux\":{" ALL_NS, "}}", cases, ARRAY_SIZE(cases))
#define CHECK_BARE_LINUX(cases) check_all(TOP "\"linux\":{", "}}", cases, ARRAY_SIZE(cases))
#define CHECK_PROCESS(cases)                                                                       \
	check_all(TOP "\"process\":{\"cwd\":\"/\",\"args\":[\"a\"],", "}}", cases,                 \
		  ARRAY_SIZE(cases))
#define CHECK_RESOURCES(cases)                                                                     \
	check_all(TOP "\"linux\":{\"resources\":{", "}}}", cases, ARRAY_SIZE(cases))
#define CHECK_SECCOMP(cases)                                                                       \
	check_all(TOP "\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\",", "}}}",      \
		  cases, ARRAY_SIZE(cases))

/* clang-format off */
TEST(versions)
{
	static const struct judged cases[] = {
		{"1.0.0", NULL}, {"1.0.2-dev", NULL}, {"1.1.0+dev", NULL}, {"1.0.0-rc.5+exp.sha-1", NULL},
		{"1.2.1", NULL}, {"1.3.0", NULL}, {"1.3.7", NULL},
		{"1.4.0", "ociVersion: \"1.4.0\" is not supported (1.0.0 to 1.3.0 are)"},
		{"2.0.0", "ociVersion: \"2.0.0\" is not supported (1.0.0 to 1.3.0 are)"},
		{"0.9.0", "ociVersion: \"0.9.0\" is not supported (1.0.0 to 1.3.0 are)"},
		{"1.0", "ociVersion: \"1.0\" is not a version"},
		{"1", "ociVersion: \"1\" is not a version"},
		{"", "ociVersion: \"\" is not a version"},
		{"v1.0.0", "ociVersion: \"v1.0.0\" is not a version"},
		{"1.0.0 ", "ociVersion: \"1.0.0 \" is not a version"},
		{"01.0.0", "ociVersion: \"01.0.0\" is not a version"},
		{"1.00.0", "ociVersion: \"1.00.0\" is not a version"},
		{"1.0.0-", "ociVersion: \"1.0.0-\" is not a version"},
		{"1.0.0+", "ociVersion: \"1.0.0+\" is not a version"},
		{"1.0.0-a..b", "ociVersion: \"1.0.0-a..b\" is not a version"},
		{"1.0.0+a+b", "ociVersion: \"1.0.0+a+b\" is not a version"},
		{"1.0.0.0", "ociVersion: \"1.0.0.0\" is not a version"},
		{"1.9999999.0", "ociVersion: \"1.9999999.0\" is not a version"},
	};

	check_all("{\"root\":{\"path\":\"r\"},\"ociVersion\":\"", "\"}", cases, ARRAY_SIZE(cases));
}

/* Docker writes nulls for lists that protect nothing (linux.resources.devices). */
TEST(a_null_is_no_way_to_less_protection)
{
	static const char *const protections[] = {
		"linux", "linux.namespaces", "linux.seccomp", "linux.maskedPaths", "linux.readonlyPaths",
		"linux.uidMappings", "linux.gidMappings", "process.user", "process.user.uid", "process.user.gid",
		"process.noNewPrivileges", "root.readonly"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(protections); i++) {
		char text[256], want[128], path[64], *part, *rest = path;
		size_t depth = 0;
		struct judged whole = {text, want};
		int n;

		snprintf(path, sizeof(path), "%s", protections[i]);
		snprintf(want, sizeof(want), "%s: must not be null: leave it out, if that is what is meant",
			 protections[i]);
		n = snprintf(text, sizeof(text), "{\"ociVersion\":\"1.0.2\",");
		while ((part = strsep(&rest, ".")) != NULL) {
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%s\"%s\":", depth ? "{" : "", part);
			depth++;
		}
		snprintf(text + n, sizeof(text) - (size_t)n, "null%.*s}", (int)depth - 1, "}}}}");
		check_all("", "", &whole, 1);
	}
}

TEST(the_top_level)
{
	static const struct judged whole[] = {
		{"{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"r\"}}", NULL},
		{"{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"/\"}}", NULL},
		{"{\"ociVersion\":\"1.0.2\"}", "root: required, but missing"},
		{"{\"ociVersion\":\"1.0.2\",\"root\":null}", "root: required, but missing"},
		{"{\"ociVersion\":\"1.0.2\",\"root\":{}}", "root.path: required, but missing"},
		{"{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"\"}}", "root.path: must not be empty"},
		{"{\"root\":{\"path\":\"r\"}}", "ociVersion: required, but missing"},
	};
	static const struct judged cases[] = {
		{"\"hostname\":\"h\"", "hostname: needs a uts namespace"},
		{"\"domainname\":\"h\"", "domainname: needs a uts namespace"},
		{"\"hostname\":\"\"", NULL},
		{"\"hostname\":\"h\",\"domainname\":\"d\",\"linux\":{\"namespaces\":[{\"type\":\"uts\"}]}", NULL},
		{"\"hostname\":\"0123456789012345678901234567890123456789012345678901234567890123\",\"linux\":{\"namespaces\":[{\"type\":\"uts\"}]}", NULL},
		{"\"hostname\":\"01234567890123456789012345678901234567890123456789012345678901234\",\"linux\":{\"namespaces\":[{\"type\":\"uts\"}]}",
		 "hostname: longer than 64 bytes"},
		{"\"annotations\":{\"a\":\"\"}", NULL},
		{"\"annotations\":{\"\":\"a\"}", "annotations: a key is empty"},
		{"\"annotations\":{\"a\":1}", "annotations.a: must be a string, not a number"},
		{"\"windows\":{\"x\":1.5},\"vm\":[]", NULL},
	};

	check_all("", "", whole, ARRAY_SIZE(whole));
	CHECK_TOP(cases);
}

TEST(paths_have_a_longest)
{
	char *longest, *path;

	arena_free(&arena);
	longest = arena_alloc(&arena, 1, 4200);
	memset(longest, 'a', 4096);
	longest[0] = '/';
	path = arena_printf(&arena, "{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"%s\"}}", longest);
	check_text(path, "root.path: longer than 4095 bytes");
	check_text(arena_printf(&arena, TOP "\"mounts\":[{\"destination\":\"%s\"}]}", longest),
		   "mounts[0].destination: longer than 4095 bytes");
	check_text(arena_printf(&arena, TOP "\"linux\":{" ALL_NS "\"maskedPaths\":[\"%s\"]}}", longest),
		   "linux.maskedPaths[0]: longer than 4095 bytes");
	longest[4095] = '\0';
	check_text(arena_printf(&arena, TOP "\"mounts\":[{\"destination\":\"%s\"}]}", longest), NULL);
}

TEST(process_basics)
{
	static const struct judged whole[] = {
		{"{\"cwd\":\"/\",\"args\":[\"a\"]}", NULL},
		{"null", NULL},
		{"{\"args\":[\"a\"]}", "process.cwd: required, but missing"},
		{"{\"cwd\":\"/\"}", "process.args: must have an entry"},
		{"{\"cwd\":\"/\",\"args\":null}", "process.args: must have an entry"},
		{"{\"cwd\":\"/\",\"args\":[]}", "process.args: must have an entry"},
		{"{\"cwd\":\"/\",\"args\":[\"\"]}", "process.args[0]: must not be empty"},
		{"{\"cwd\":\"/\",\"args\":[\"a\",\"\"]}", NULL},
		{"{\"cwd\":\"a/b\",\"args\":[\"a\"]}", "process.cwd: \"a/b\" is not an absolute path"},
		{"{\"cwd\":\"\",\"args\":[\"a\"]}", "process.cwd: \"\" is not an absolute path"},
	};
	static const struct judged cases[] = {
		{"\"env\":[\"A=\",\"B=c=d\"]", NULL},
		{"\"env\":[\"A=1\",\"B\"]", "process.env[1]: \"B\" is not NAME=VALUE"},
		{"\"env\":[\"=1\"]", "process.env[0]: \"=1\" is not NAME=VALUE"},
		{"\"env\":[\"\"]", "process.env[0]: \"\" is not NAME=VALUE"},
		{"\"user\":{\"uid\":4294967294}", NULL},
		{"\"user\":{\"uid\":4294967295}", "process.user.uid: 4294967295 is not an id"},
		{"\"user\":{\"uid\":4294967296}", "process.user.uid: 4294967296 is out of range (0 to 2^32-1)"},
		{"\"user\":{\"uid\":-1}", "process.user.uid: -1 is out of range (0 to 2^32-1)"},
		{"\"user\":{\"uid\":1e309}", "process.user.uid: 1e309 is not a whole number"},
		{"\"user\":{\"uid\":1.5}", "process.user.uid: 1.5 is not a whole number"},
		{"\"user\":{\"uid\":\"0\"}", "process.user.uid: must be a whole number, not a string"},
		{"\"user\":{\"uid\":true}", "process.user.uid: must be a whole number, not true"},
		{"\"user\":{\"gid\":4294967295}", "process.user.gid: 4294967295 is not an id"},
		{"\"user\":{\"additionalGids\":[1,4294967295]}", "process.user.additionalGids[1]: 4294967295 is not an id"},
		{"\"user\":{\"umask\":511}", NULL},
		{"\"user\":{\"umask\":512}", "process.user.umask: 512 is above 0777 (511)"},
		{"\"user\":\"root\"", "process.user: must be an object, not a string"},
		{"\"consoleSize\":{\"height\":65535,\"width\":0}", NULL},
		{"\"consoleSize\":{\"height\":65536,\"width\":0}", "process.consoleSize: larger than 65535"},
		{"\"consoleSize\":{\"height\":1}", "process.consoleSize.width: required, but missing"},
		{"\"capabilities\":{\"bounding\":[\"CAP_NEW_AND_SHINY\"]}", NULL},
		{"\"oomScoreAdj\":-1000", NULL},
		{"\"oomScoreAdj\":1001", "process.oomScoreAdj: 1001 is not -1000 to 1000"},
		{"\"oomScoreAdj\":-1001", "process.oomScoreAdj: -1001 is not -1000 to 1000"},
	};

	check_all(TOP "\"process\":", "}", whole, ARRAY_SIZE(whole));
	CHECK_PROCESS(cases);
}

TEST(rlimits)
{
	static const struct judged cases[] = {
		{"\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"hard\":18446744073709551615,\"soft\":18446744073709551615}]", NULL},
		{"\"rlimits\":[{\"type\":\"NOFILE\",\"hard\":1,\"soft\":1}]", "process.rlimits[0].type: unknown value \"NOFILE\""},
		{"\"rlimits\":[{\"type\":\"RLIMIT_CPU\",\"hard\":1,\"soft\":1},{\"type\":\"RLIMIT_CPU\",\"hard\":1,\"soft\":1}]",
		 "process.rlimits[1].type: RLIMIT_CPU is there twice"},
		{"\"rlimits\":[{\"type\":\"RLIMIT_CPU\",\"hard\":1,\"soft\":2}]", "process.rlimits[0].soft: above the hard limit"},
		{"\"rlimits\":[{\"type\":\"RLIMIT_CPU\",\"hard\":1}]", "process.rlimits[0].soft: required, but missing"},
		{"\"rlimits\":[{\"type\":\"RLIMIT_CPU\",\"hard\":-1,\"soft\":0}]", "process.rlimits[0].hard: -1 is out of range (0 to 2^64-1)"},
	};

	CHECK_PROCESS(cases);
}

TEST(scheduling)
{
	static const struct judged cases[] = {
		{"\"scheduler\":{\"policy\":\"SCHED_BATCH\",\"nice\":19}", NULL},
		{"\"scheduler\":{\"policy\":\"SCHED_FIFO\",\"priority\":99}", NULL},
		{"\"scheduler\":{}", "process.scheduler.policy: required, but missing"},
		{"\"scheduler\":{\"policy\":\"SCHED_BOGUS\"}", "process.scheduler.policy: unknown value \"SCHED_BOGUS\""},
		{"\"scheduler\":{\"policy\":\"SCHED_OTHER\",\"nice\":20}", "process.scheduler.nice: 20 is not -20 to 19"},
		{"\"scheduler\":{\"policy\":\"SCHED_OTHER\",\"nice\":-21}", "process.scheduler.nice: -21 is not -20 to 19"},
		{"\"scheduler\":{\"policy\":\"SCHED_RR\"}", "process.scheduler.priority: 0 is not 1 to 99"},
		{"\"scheduler\":{\"policy\":\"SCHED_RR\",\"priority\":100}", "process.scheduler.priority: 100 is not 1 to 99"},
		{"\"scheduler\":{\"policy\":\"SCHED_OTHER\",\"priority\":1}", "process.scheduler.priority: is for SCHED_FIFO and SCHED_RR"},
		{"\"scheduler\":{\"policy\":\"SCHED_OTHER\",\"flags\":[\"X\"]}", "process.scheduler.flags[0]: unknown value \"X\""},
		{"\"scheduler\":{\"policy\":\"SCHED_OTHER\",\"period\":1}", "process.scheduler: runtime, deadline and period are for SCHED_DEADLINE"},
		{"\"scheduler\":{\"policy\":\"SCHED_DEADLINE\",\"runtime\":1024,\"deadline\":1024}", NULL},
		{"\"scheduler\":{\"policy\":\"SCHED_DEADLINE\",\"runtime\":1023,\"deadline\":1024}",
		 "process.scheduler.deadline: must be at least runtime, and that 1024"},
		{"\"scheduler\":{\"policy\":\"SCHED_DEADLINE\",\"runtime\":2000,\"deadline\":1999}",
		 "process.scheduler.deadline: must be at least runtime, and that 1024"},
		{"\"scheduler\":{\"policy\":\"SCHED_DEADLINE\",\"runtime\":2000,\"deadline\":3000,\"period\":2999}",
		 "process.scheduler.period: must be at least deadline"},
		{"\"ioPriority\":{\"class\":\"IOPRIO_CLASS_IDLE\",\"priority\":7}", NULL},
		{"\"ioPriority\":{\"class\":\"IOPRIO_CLASS_NONE\",\"priority\":0}", "process.ioPriority.class: unknown value \"IOPRIO_CLASS_NONE\""},
		{"\"ioPriority\":{\"class\":\"IOPRIO_CLASS_BE\",\"priority\":8}", "process.ioPriority.priority: 8 is not 0 to 7"},
		{"\"ioPriority\":{\"class\":\"IOPRIO_CLASS_BE\",\"priority\":-1}", "process.ioPriority.priority: -1 is not 0 to 7"},
		{"\"execCPUAffinity\":{\"initial\":\"0-3,7\",\"final\":\"0\"}", NULL},
		{"\"execCPUAffinity\":{\"initial\":\"3-1\"}", "process.execCPUAffinity.initial: \"3-1\" is not a list of CPUs"},
		{"\"execCPUAffinity\":{\"final\":\"0,\"}", "process.execCPUAffinity.final: \"0,\" is not a list of CPUs"},
		{"\"execCPUAffinity\":{\"final\":\"0x1\"}", "process.execCPUAffinity.final: \"0x1\" is not a list of CPUs"},
		{"\"execCPUAffinity\":{\"final\":\" 1\"}", "process.execCPUAffinity.final: \" 1\" is not a list of CPUs"},
		{"\"execCPUAffinity\":{\"final\":\"1--2\"}", "process.execCPUAffinity.final: \"1--2\" is not a list of CPUs"},
		{"\"execCPUAffinity\":{\"final\":\"0-99999999999999999999\"}",
		 "process.execCPUAffinity.final: \"0-99999999999999999999\" is not a list of CPUs"},
	};

	CHECK_PROCESS(cases);
}

TEST(mounts)
{
#define MAP1 "[{\"containerID\":0,\"hostID\":1000,\"size\":1}]"
	static const struct judged cases[] = {
		{"{\"destination\":\"/a\"}", NULL},
		{"{\"destination\":\"relative\",\"source\":\"x\",\"type\":\"bind\",\"options\":[\"bind\"]}", NULL},
		{"{}", "mounts[0].destination: required, but missing"},
		{"{\"destination\":\"\"}", "mounts[0].destination: must not be empty"},
		{"{\"destination\":\"/a\"},{\"destination\":\"\"}", "mounts[1].destination: must not be empty"},
		{"{\"destination\":\"/a\",\"uidMappings\":" MAP1 ",\"gidMappings\":" MAP1 "}", NULL},
		{"{\"destination\":\"/a\",\"uidMappings\":" MAP1 "}", "mounts[0]: uidMappings and gidMappings need each other"},
		{"{\"destination\":\"/a\",\"gidMappings\":" MAP1 "}", "mounts[0]: uidMappings and gidMappings need each other"},
		{"{\"destination\":\"/a\",\"options\":[\"rbind\",\"ridmap\"]}", "mounts[0].options: idmap needs mappings or a user namespace"},
		{"{\"destination\":\"/a\",\"uidMappings\":[{\"containerID\":0,\"hostID\":0,\"size\":0}],\"gidMappings\":" MAP1 "}",
		 "mounts[0].uidMappings[0].size: must be above 0"},
		{"null", "mounts[0]: must be an object, not null"},
	};

	check_all(TOP "\"mounts\":[", "]}", cases, ARRAY_SIZE(cases));
}

TEST(a_hundred_thousand_mounts_are_too_many)
{
	size_t i;
	struct buf b;

	arena_free(&arena);
	b = buf_new(&arena, 16 << 20);
	buf_str(&b, TOP "\"mounts\":[{\"destination\":\"/a\"}");
	for (i = 0; i < 100000; i++)
		buf_str(&b, ",{\"destination\":\"/a\"}");
	buf_str(&b, "]}");
	check_text(b.data, "mounts[4096]: more than 4096 elements");
}

TEST(hooks)
{
	static const struct judged cases[] = {
		{"\"prestart\":[{\"path\":\"/a\",\"timeout\":1}]", NULL},
		{"\"prestart\":[{\"path\":\"a\"}]", "hooks.prestart[0].path: \"a\" is not an absolute path"},
		{"\"createRuntime\":[{\"path\":\"/a\"},{\"path\":\"\"}]", "hooks.createRuntime[1].path: \"\" is not an absolute path"},
		{"\"createContainer\":[{\"path\":\"/a\",\"timeout\":0}]", "hooks.createContainer[0].timeout: must be above 0"},
		{"\"startContainer\":[{\"path\":\"/a\",\"timeout\":-1}]", "hooks.startContainer[0].timeout: must be above 0"},
		{"\"poststart\":[{}]", "hooks.poststart[0].path: required, but missing"},
		{"\"poststop\":[{\"path\":\"./a\"}]", "hooks.poststop[0].path: \"./a\" is not an absolute path"},
	};

	check_all(TOP "\"hooks\":{", "}}", cases, ARRAY_SIZE(cases));
}

TEST(namespaces_and_maps)
{
	static const struct judged cases[] = {
		{"\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\",\"path\":\"/run/netns/x\"}]", NULL},
		{"\"namespaces\":[{\"type\":\"pid\",\"path\":\"\"}]", NULL},
		{"\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"pid\"}]", "linux.namespaces[1].type: pid is there twice"},
		{"\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"pidd\"}]", "linux.namespaces[1].type: unknown value \"pidd\""},
		{"\"namespaces\":[{\"path\":\"/a\"}]", "linux.namespaces[0].type: required, but missing"},
		{"\"namespaces\":[{\"type\":\"pid\",\"path\":\"proc/1\"}]", "linux.namespaces[0].path: \"proc/1\" is not an absolute path"},
		{"\"uidMappings\":" MAP1 ",\"gidMappings\":" MAP1, "linux.uidMappings: needs a user namespace"},
		{"\"gidMappings\":" MAP1, "linux.gidMappings: needs a user namespace"},
		{"\"namespaces\":[{\"type\":\"user\"}]", "linux.uidMappings: must have an entry"},
		{"\"namespaces\":[{\"type\":\"user\",\"path\":\"/x\"}]", NULL},
		{"\"namespaces\":[{\"type\":\"user\"}],\"uidMappings\":" MAP1, "linux.gidMappings: must have an entry"},
		{"\"namespaces\":[{\"type\":\"user\",\"path\":\"/x\"}],\"gidMappings\":" MAP1, "linux.uidMappings: must have an entry"},
		{"\"namespaces\":[{\"type\":\"user\"}],\"uidMappings\":" MAP1 ",\"gidMappings\":" MAP1, NULL},
	};
#define USER "\"namespaces\":[{\"type\":\"user\"}],\"gidMappings\":" MAP1 ",\"uidMappings\":"
#define M(c, h, s) "{\"containerID\":" #c ",\"hostID\":" #h ",\"size\":" #s "}"
	static const struct judged maps[] = {
		{USER "[" M(0, 1000, 1) "," M(1, 100000, 65536) "]", NULL},
		{USER "[" M(0, 0, 4294967295) "]", NULL},
		{USER "[" M(1, 0, 4294967295) "]", "linux.uidMappings[0].size: 4294967295 goes past the last id"},
		{USER "[" M(0, 4294967295, 1) "]", "linux.uidMappings[0].size: 1 goes past the last id"},
		{USER "[" M(0, 0, 4294967296) "]", "linux.uidMappings[0].size: 4294967296 is out of range (0 to 2^32-1)"},
		{USER "[" M(0, 0, 0) "]", "linux.uidMappings[0].size: must be above 0"},
		{USER "[" M(0, 0, 10) "," M(9, 100, 1) "]", "linux.uidMappings[1]: overlaps linux.uidMappings[0]"},
		{USER "[" M(0, 0, 10) "," M(10, 10, 1) "]", NULL},
		{USER "[" M(0, 0, 10) "," M(10, 5, 1) "]", "linux.uidMappings[1]: overlaps linux.uidMappings[0]"},
		{USER "[" M(100, 100, 10) "," M(10, 10, 1) "," M(95, 20, 6) "]", "linux.uidMappings[2]: overlaps linux.uidMappings[0]"},
		{USER "[{\"containerID\":0,\"size\":1}]", "linux.uidMappings[0].hostID: required, but missing"},
	};

	CHECK_BARE_LINUX(cases);
	CHECK_BARE_LINUX(maps);
}

TEST(time_offsets)
{
	static const struct judged bare[] = {
		{"\"timeOffsets\":{\"boottime\":{\"secs\":1}}", "linux.timeOffsets: needs a time namespace"},
		{"\"timeOffsets\":{}", NULL},
		{"\"namespaces\":[{\"type\":\"time\",\"path\":\"/x\"}],\"timeOffsets\":{\"boottime\":{\"secs\":1}}",
		 "linux.timeOffsets: a joined time namespace has its own"},
	};
	static const struct judged cases[] = {
		{"\"timeOffsets\":{\"boottime\":{\"secs\":-1,\"nanosecs\":999999999},\"monotonic\":{}}", NULL},
		{"\"timeOffsets\":{\"realtime\":{}}", "linux.timeOffsets: unknown clock \"realtime\""},
		{"\"timeOffsets\":{\"boottime\":{\"nanosecs\":1000000000}}", "linux.timeOffsets.boottime.nanosecs: 1000000000 is not below 10^9"},
	};

	CHECK_BARE_LINUX(bare);
	CHECK_LINUX(cases);
}

TEST(devices)
{
	static const struct judged cases[] = {
		{"\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\",\"major\":1,\"minor\":3}]", NULL},
		{"\"devices\":[{\"path\":\"/dev/a\",\"type\":\"u\",\"major\":4095,\"minor\":1048575,\"fileMode\":8630}]", NULL},
		{"\"devices\":[{\"path\":\"/dev/a\",\"type\":\"p\"}]", NULL},
		{"\"devices\":[{\"path\":\"dev/a\",\"type\":\"p\"}]", "linux.devices[0].path: \"dev/a\" is not an absolute path"},
		{"\"devices\":[{\"path\":\"/dev/a\",\"type\":\"d\"}]", "linux.devices[0].type: unknown value \"d\""},
		{"\"devices\":[{\"path\":\"/dev/a\",\"type\":\"\"}]", "linux.devices[0].type: unknown value \"\""},
		{"\"devices\":[{\"path\":\"/dev/a\",\"type\":\"cc\"}]", "linux.devices[0].type: unknown value \"cc\""},
		{"\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\"}]", "linux.devices[0].major: required, but missing"},
		{"\"devices\":[{\"path\":\"/dev/a\",\"type\":\"b\",\"major\":4096,\"minor\":0}]", "linux.devices[0]: no device has the numbers 4096:0"},
		{"\"devices\":[{\"path\":\"/dev/a\",\"type\":\"b\",\"major\":-1,\"minor\":0}]", "linux.devices[0]: no device has the numbers -1:0"},
		{"\"devices\":[{\"path\":\"/dev/a\",\"type\":\"b\",\"major\":1,\"minor\":1048576}]", "linux.devices[0]: no device has the numbers 1:1048576"},
		{"\"devices\":[{\"path\":\"/dev/a\",\"type\":\"p\",\"uid\":4294967295}]", "linux.devices[0]: 4294967295 is not an id"},
		{"\"devices\":[{\"path\":\"/dev/a\",\"type\":\"p\",\"fileMode\":\"0666\"}]", "linux.devices[0].fileMode: must be a whole number, not a string"},
	};

	CHECK_LINUX(cases);
}

TEST(net_devices)
{
	static const struct judged cases[] = {
		{"\"netDevices\":{\"eth0\":{\"name\":\"eth%d\"},\"ens4\":{}}", NULL},
		{"\"netDevices\":{\"\":{}}", "linux.netDevices: \"\" is not the name of an interface"},
		{"\"netDevices\":{\"0123456789abcdef\":{}}", "linux.netDevices: \"0123456789abcdef\" is not the name of an interface"},
		{"\"netDevices\":{\"eth0\":{\"name\":\"a/b\"}}", "linux.netDevices[\"eth0\"].name: \"a/b\" is not the name of an interface"},
		{"\"netDevices\":{\"eth0\":{\"name\":\"a%s\"}}", "linux.netDevices[\"eth0\"].name: \"a%s\" is not the name of an interface"},
		{"\"netDevices\":{\"eth0\":{\"name\":\"%d%d\"}}", "linux.netDevices[\"eth0\"].name: \"%d%d\" is not the name of an interface"},
		{"\"netDevices\":{\"eth%d\":{}}", "linux.netDevices: \"eth%d\" is not the name of an interface"},
		{"\"netDevices\":{\"a\":{\"name\":\"x\"},\"b\":{\"name\":\"y\"},\"c\":{\"name\":\"x\"}}", "linux.netDevices[\"c\"].name: \"x\" is there twice"},
		{"\"netDevices\":{\"a\":{\"name\":\"b\"},\"b\":{\"name\":\"a\"}}", NULL},
		{"\"netDevices\":{\"a\":{\"name\":\"x%d\"},\"b\":{\"name\":\"x%d\"}}", NULL},
		{"\"netDevices\":{\"..\":{}}", "linux.netDevices: \"..\" is not the name of an interface"},
	};
	static const struct judged bare[] = {
		{"\"netDevices\":{\"eth0\":{}}", "linux.netDevices: needs a network namespace"},
	};

	CHECK_LINUX(cases);
	CHECK_BARE_LINUX(bare);
}

TEST(sysctls)
{
	static const struct judged cases[] = {
		{"\"sysctl\":{\"net.ipv4.ip_forward\":\"1\",\"net/ipv4/conf/eth0.1/rp_filter\":\"1\",\"kernel.sem\":\"1\",\"fs.mqueue.msg_max\":\"1\"}", NULL},
		{"\"sysctl\":{\"kernel.domainname\":\"x\"}", NULL},
		{"\"sysctl\":{\"kernel.hostname\":\"x\"}", "linux.sysctl[\"kernel.hostname\"]: is set by the field hostname"},
		{"\"sysctl\":{\"kernel/hostname\":\"x\"}", "linux.sysctl[\"kernel/hostname\"]: is set by the field hostname"},
		{"\"sysctl\":{\"kernel.core_pattern\":\"x\"}", "linux.sysctl[\"kernel.core_pattern\"]: belongs to no namespace"},
		{"\"sysctl\":{\"vm.swappiness\":\"1\"}", "linux.sysctl[\"vm.swappiness\"]: belongs to no namespace"},
		{"\"sysctl\":{\"fs.mqueue\":\"1\"}", "linux.sysctl[\"fs.mqueue\"]: belongs to no namespace"},
		{"\"sysctl\":{\"net\":\"1\"}", "linux.sysctl[\"net\"]: belongs to no namespace"},
		{"\"sysctl\":{\"kernel.shmmaxx\":\"1\"}", "linux.sysctl[\"kernel.shmmaxx\"]: belongs to no namespace"},
		{"\"sysctl\":{\"user.max_user_namespaces\":\"1\"}", "linux.sysctl[\"user.max_user_namespaces\"]: needs a user namespace"},
		{"\"sysctl\":{\"net/../kernel/core_pattern\":\"x\"}", "linux.sysctl: \"net/../kernel/core_pattern\" is not the name of a sysctl"},
		{"\"sysctl\":{\"net.//.kernel.core_pattern\":\"x\"}", "linux.sysctl: \"net.//.kernel.core_pattern\" is not the name of a sysctl"},
		{"\"sysctl\":{\"net..x\":\"x\"}", "linux.sysctl: \"net..x\" is not the name of a sysctl"},
		{"\"sysctl\":{\"net./.x\":\"x\"}", "linux.sysctl: \"net./.x\" is not the name of a sysctl"},
		{"\"sysctl\":{\"/net/x\":\"x\"}", "linux.sysctl: \"/net/x\" is not the name of a sysctl"},
		{"\"sysctl\":{\"net.x.\":\"x\"}", "linux.sysctl: \"net.x.\" is not the name of a sysctl"},
		{"\"sysctl\":{\"\":\"x\"}", "linux.sysctl: \"\" is not the name of a sysctl"},
	};
	static const struct judged bare[] = {
		{"\"sysctl\":{\"net.ipv4.ip_forward\":\"1\"}", "linux.sysctl[\"net.ipv4.ip_forward\"]: needs a network namespace"},
		{"\"sysctl\":{\"kernel.msgmax\":\"1\"}", "linux.sysctl[\"kernel.msgmax\"]: needs an ipc namespace"},
		{"\"sysctl\":{\"fs/mqueue/x\":\"1\"}", "linux.sysctl[\"fs/mqueue/x\"]: needs an ipc namespace"},
		{"\"sysctl\":{\"kernel.domainname\":\"1\"}", "linux.sysctl[\"kernel.domainname\"]: needs a uts namespace"},
	};
	char path[256];

	CHECK_LINUX(cases);
	CHECK_BARE_LINUX(bare);
	CHECK(oci_sysctl_path("net.ipv4.conf.eth0/1.x", path, sizeof(path)));
	CHECK_STR(path, "net/ipv4/conf/eth0.1/x");
	CHECK(oci_sysctl_path("net/ipv4/conf/eth0.1/x", path, sizeof(path)));
	CHECK_STR(path, "net/ipv4/conf/eth0.1/x");
	CHECK(!oci_sysctl_path("net.ipv4", path, 8) && oci_sysctl_path("net.ipv4", path, 9));
}

TEST(small_fields_of_linux)
{
	static const struct judged cases[] = {
		{"\"maskedPaths\":[\"/a\"],\"readonlyPaths\":[\"/b\"]", NULL},
		{"\"maskedPaths\":[\"/a\",\"b\"]", "linux.maskedPaths[1]: \"b\" is not an absolute path"},
		{"\"readonlyPaths\":[\"\"]", "linux.readonlyPaths[0]: \"\" is not an absolute path"},
		{"\"rootfsPropagation\":\"rslave\"", NULL},
		{"\"rootfsPropagation\":\"bogus\"", "linux.rootfsPropagation: unknown value \"bogus\""},
		{"\"personality\":{\"domain\":\"LINUX\"}", NULL},
		{"\"personality\":{\"domain\":\"SOLARIS\"}", "linux.personality.domain: unknown value \"SOLARIS\""},
		{"\"personality\":{}", "linux.personality.domain: required, but missing"},
		{"\"personality\":{\"domain\":\"LINUX\",\"flags\":[\"x\"]}", "linux.personality.flags: none are supported"},
		{"\"cgroupsPath\":\"/a/b\"", NULL}, {"\"cgroupsPath\":\"a..b/c...\"", NULL},
		{"\"cgroupsPath\":\"system.slice:sbxrun:x\"", NULL},
		{"\"cgroupsPath\":\"/a/../b\"", "linux.cgroupsPath: \"/a/../b\" is not a path of a cgroup"},
		{"\"cgroupsPath\":\"..\"", "linux.cgroupsPath: \"..\" is not a path of a cgroup"},
		{"\"cgroupsPath\":\"a/..\"", "linux.cgroupsPath: \"a/..\" is not a path of a cgroup"},
		{"\"cgroupsPath\":\"/a\\nb\"", "linux.cgroupsPath: \"/a\\x0ab\" is not a path of a cgroup"},
		{"\"memoryPolicy\":{\"mode\":\"MPOL_DEFAULT\",\"nodes\":\"\"}", NULL},
		{"\"memoryPolicy\":{\"mode\":\"MPOL_BIND\",\"nodes\":\"0-1\",\"flags\":[\"MPOL_F_STATIC_NODES\"]}", NULL},
		{"\"memoryPolicy\":{\"mode\":\"MPOL_X\"}", "linux.memoryPolicy.mode: unknown value \"MPOL_X\""},
		{"\"memoryPolicy\":{\"mode\":\"MPOL_BIND\"}", "linux.memoryPolicy.nodes: MPOL_BIND needs some"},
		{"\"memoryPolicy\":{\"mode\":\"MPOL_LOCAL\",\"nodes\":\"0\"}", "linux.memoryPolicy.nodes: MPOL_LOCAL takes none"},
		{"\"memoryPolicy\":{\"mode\":\"MPOL_BIND\",\"nodes\":\"a\"}", "linux.memoryPolicy.nodes: \"a\" is not a list of nodes"},
		{"\"memoryPolicy\":{\"mode\":\"MPOL_BIND\",\"nodes\":\"0\",\"flags\":[\"X\"]}", "linux.memoryPolicy.flags[0]: unknown value \"X\""},
		{"\"memoryPolicy\":{\"mode\":\"MPOL_BIND\",\"nodes\":\"0\",\"flags\":[\"MPOL_F_STATIC_NODES\",\"MPOL_F_RELATIVE_NODES\"]}",
		 "linux.memoryPolicy.flags: nodes can't be static and relative"},
		{"\"intelRdt\":{\"closID\":\"a\"}", NULL}, {"\"intelRdt\":{\"closID\":\"/\"}", NULL},
		{"\"intelRdt\":{\"closID\":\"a/b\"}", "linux.intelRdt.closID: \"a/b\" is not the name of a class"},
		{"\"intelRdt\":{\"closID\":\"..\"}", "linux.intelRdt.closID: \"..\" is not the name of a class"},
		{"\"intelRdt\":{\"memBwSchema\":\"MB:0=20\"}", NULL},
		{"\"intelRdt\":{\"memBwSchema\":\"L3:0=f\"}", "linux.intelRdt.memBwSchema: \"L3:0=f\" is not a line that begins with MB:"},
		{"\"intelRdt\":{\"memBwSchema\":\"MB:0=20\\nL3:0=f\"}", "linux.intelRdt.memBwSchema: \"MB:0=20\\x0aL3:0=f\" is not a line that begins with MB:"},
		{"\"intelRdt\":{\"schemata\":[\"a\\nb\"]}", "linux.intelRdt.schemata[0]: must be one line"},
	};
	static const struct judged bare[] = {
		{"\"maskedPaths\":[\"/a\"]", "linux.maskedPaths: needs a mount namespace"},
		{"\"readonlyPaths\":[\"/a\"]", "linux.readonlyPaths: needs a mount namespace"},
	};

	CHECK_LINUX(cases);
	CHECK_BARE_LINUX(bare);
}

TEST(seccomp)
{
#define ONE(action, rest) "\"syscalls\":[{\"names\":[\"a\"],\"action\":\"SCMP_ACT_" action "\"" rest "}]"
	static const struct judged cases[] = {
		{ONE("ERRNO", ",\"errnoRet\":4095"), NULL},
		{ONE("TRACE", ",\"errnoRet\":65535"), NULL},
		{ONE("ERRNO", ",\"errnoRet\":4096"), "linux.seccomp.syscalls[0].errnoRet: 4096 is above 4095"},
		{ONE("TRACE", ",\"errnoRet\":65536"), "linux.seccomp.syscalls[0].errnoRet: 65536 is above 65535"},
		{ONE("ALLOW", ",\"errnoRet\":1"), "linux.seccomp.syscalls[0].errnoRet: only SCMP_ACT_ERRNO and SCMP_ACT_TRACE return a number"},
		{ONE("KILL_PROCESS", ",\"errnoRet\":0"), "linux.seccomp.syscalls[0].errnoRet: only SCMP_ACT_ERRNO and SCMP_ACT_TRACE return a number"},
		{"\"defaultErrnoRet\":1", "linux.seccomp.defaultErrnoRet: only SCMP_ACT_ERRNO and SCMP_ACT_TRACE return a number"},
		{ONE("NOTIFY", ""), "linux.seccomp.syscalls[0].action: SCMP_ACT_NOTIFY needs a listenerPath"},
		{ONE("NOTIFY", "") ",\"listenerPath\":\"/s\",\"listenerMetadata\":\"m\"", NULL},
		{ONE("NOTIFY", ",\"errnoRet\":1") ",\"listenerPath\":\"/s\"",
		 "linux.seccomp.syscalls[0].errnoRet: only SCMP_ACT_ERRNO and SCMP_ACT_TRACE return a number"},
		{"\"listenerMetadata\":\"m\"", "linux.seccomp.listenerMetadata: needs a listenerPath"},
		{"\"listenerPath\":\"s\"", "linux.seccomp.listenerPath: \"s\" is not an absolute path"},
		{ONE("DENY", ""), "linux.seccomp.syscalls[0].action: unknown value \"SCMP_ACT_DENY\""},
		{ONE("LOG", ",\"args\":[{\"index\":5,\"value\":18446744073709551615,\"valueTwo\":1,\"op\":\"SCMP_CMP_MASKED_EQ\"}],\"comment\":\"x\""), NULL},
		{ONE("LOG", ",\"args\":[{\"index\":6,\"value\":1,\"op\":\"SCMP_CMP_EQ\"}]"), "linux.seccomp.syscalls[0].args[0].index: 6 is above 5"},
		{ONE("LOG", ",\"args\":[{\"index\":0,\"value\":1,\"op\":\"EQ\"}]"), "linux.seccomp.syscalls[0].args[0].op: unknown value \"EQ\""},
		{ONE("LOG", ",\"args\":[{\"index\":0,\"value\":-1,\"op\":\"SCMP_CMP_EQ\"}]"), "linux.seccomp.syscalls[0].args[0].value: -1 is out of range (0 to 2^64-1)"},
		{"\"syscalls\":[{\"names\":[],\"action\":\"SCMP_ACT_LOG\"}]", "linux.seccomp.syscalls[0].names: must have an entry"},
		{"\"syscalls\":[{\"names\":[\"a\",\"\"],\"action\":\"SCMP_ACT_LOG\"}]", "linux.seccomp.syscalls[0].names[1]: must not be empty"},
		{"\"syscalls\":[{\"name\":\"a\",\"action\":\"SCMP_ACT_LOG\"}]", "linux.seccomp.syscalls[0].names: required, but missing"},
		{"\"architectures\":[\"SCMP_ARCH_X86_64\",\"SCMP_ARCH_LOONGARCH64\",\"SCMP_ARCH_M68K\",\"SCMP_ARCH_SHEB\"]", NULL},
		{"\"architectures\":[\"SCMP_ARCH_VAX\"]", "linux.seccomp.architectures[0]: unknown value \"SCMP_ARCH_VAX\""},
		{"\"flags\":[\"SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV\"]", NULL},
		{"\"flags\":[\"SECCOMP_FILTER_FLAG_NEW_LISTENER\"]", "linux.seccomp.flags[0]: unknown value \"SECCOMP_FILTER_FLAG_NEW_LISTENER\""},
	};
	static const struct judged whole[] = {
		{"{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":38}", NULL},
		{"{}", "linux.seccomp.defaultAction: required, but missing"},
		{"null", "linux.seccomp: must not be null: leave it out, if that is what is meant"},
		{"{\"defaultAction\":\"SCMP_ACT_NOTIFY\",\"listenerPath\":\"/s\"}", "linux.seccomp.defaultAction: can't be SCMP_ACT_NOTIFY"},
	};

	CHECK_SECCOMP(cases);
	check_all(TOP "\"linux\":{\"seccomp\":", "}}", whole, ARRAY_SIZE(whole));
}

TEST(memory_cpu_and_pids)
{
	static const struct judged cases[] = {
		{"\"memory\":{\"limit\":-1,\"swap\":-1,\"reservation\":-1}", NULL},
		{"\"memory\":{\"limit\":0,\"swap\":0}", NULL},
		{"\"memory\":{\"limit\":-5}", "linux.resources.memory.limit: -5 is below -1"},
		{"\"memory\":{\"reservation\":-2}", "linux.resources.memory.reservation: -2 is below -1"},
		{"\"memory\":{\"swap\":-2}", "linux.resources.memory.swap: -2 is below -1"},
		{"\"memory\":{\"kernel\":-2}", "linux.resources.memory.kernel: -2 is below -1"},
		{"\"memory\":{\"kernelTCP\":-2}", "linux.resources.memory.kernelTCP: -2 is below -1"},
		{"\"memory\":{\"limit\":100,\"swap\":100}", NULL},
		{"\"memory\":{\"limit\":100,\"swap\":99}", "linux.resources.memory.swap: below the memory limit"},
		{"\"memory\":{\"limit\":100,\"swap\":-1}", NULL},
		{"\"memory\":{\"swappiness\":100}", NULL},
		{"\"memory\":{\"swappiness\":101}", "linux.resources.memory.swappiness: 101 is above 100"},
		{"\"memory\":{\"limit\":9223372036854775808}", "linux.resources.memory.limit: 9223372036854775808 is out of range (-2^63 to 2^63-1)"},
		{"\"cpu\":{\"shares\":0,\"quota\":0,\"period\":0}", NULL},
		{"\"cpu\":{\"quota\":-1,\"period\":100000}", NULL},
		{"\"cpu\":{\"quota\":-2}", "linux.resources.cpu.quota: -2 is below -1"},
		{"\"cpu\":{\"quota\":999}", "linux.resources.cpu.quota: 999 is below 1000"},
		{"\"cpu\":{\"period\":999}", "linux.resources.cpu.period: 999 is not 1000 to 1000000"},
		{"\"cpu\":{\"period\":1000001}", "linux.resources.cpu.period: 1000001 is not 1000 to 1000000"},
		{"\"cpu\":{\"quota\":1000,\"burst\":1001}", "linux.resources.cpu.burst: above the quota"},
		{"\"cpu\":{\"realtimeRuntime\":2,\"realtimePeriod\":1}", "linux.resources.cpu.realtimeRuntime: above realtimePeriod"},
		{"\"cpu\":{\"idle\":1}", NULL},
		{"\"cpu\":{\"idle\":2}", "linux.resources.cpu.idle: 2 is not 0 or 1"},
		{"\"cpu\":{\"cpus\":\"0-3,8\",\"mems\":\"0\"}", NULL}, {"\"cpu\":{\"cpus\":\"\"}", NULL},
		{"\"cpu\":{\"cpus\":\"a\"}", "linux.resources.cpu.cpus: \"a\" is not a list of CPUs"},
		{"\"cpu\":{\"mems\":\"0;1\"}", "linux.resources.cpu.mems: \"0;1\" is not a list of memory nodes"},
		{"\"pids\":{\"limit\":0}", NULL}, {"\"pids\":{\"limit\":-1}", NULL}, {"\"pids\":{}", NULL}, {"\"pids\":null", NULL},
		{"\"pids\":{\"limit\":-2}", "linux.resources.pids.limit: -2 is below -1"},
		{"\"pids\":{\"limit\":\"1\"}", "linux.resources.pids.limit: must be a whole number, not a string"},
		{"\"pids\":{\"limit\":1,\"limit\":2}", "linux.resources.pids: duplicate key \"limit\""},
	};

	CHECK_RESOURCES(cases);
}

TEST(other_resources)
{
	static const struct judged cases[] = {
		{"\"devices\":[{\"allow\":false}]", NULL},
		{"\"devices\":[{\"allow\":true,\"type\":\"c\",\"major\":-1,\"minor\":5,\"access\":\"mrw\"}]", NULL},
		{"\"devices\":[{\"type\":\"c\"}]", "linux.resources.devices[0].allow: required, but missing"},
		{"\"devices\":[{\"allow\":true,\"type\":\"u\"}]", "linux.resources.devices[0].type: unknown value \"u\""},
		{"\"devices\":[{\"allow\":true,\"access\":\"rwx\"}]", "linux.resources.devices[0].access: \"rwx\" is not made of r, w and m"},
		{"\"devices\":[{\"allow\":true,\"major\":-2}]", "linux.resources.devices[0]: no device has that number"},
		{"\"devices\":[{\"allow\":true,\"minor\":4294967296}]", "linux.resources.devices[0]: no device has that number"},
		{"\"blockIO\":{\"weight\":0,\"leafWeight\":10}", NULL},
		{"\"blockIO\":{\"weight\":9}", "linux.resources.blockIO.weight: 9 is not 10 to 1000"},
		{"\"blockIO\":{\"leafWeight\":1001}", "linux.resources.blockIO.leafWeight: 1001 is not 10 to 1000"},
		{"\"blockIO\":{\"weightDevice\":[{\"major\":8,\"minor\":0}]}", "linux.resources.blockIO.weightDevice[0].weight: required, but missing"},
		{"\"blockIO\":{\"weightDevice\":[{\"major\":8,\"minor\":0,\"weight\":5}]}", "linux.resources.blockIO.weightDevice[0]: a weight is not 10 to 1000"},
		{"\"blockIO\":{\"weightDevice\":[{\"major\":-8,\"minor\":0,\"weight\":50}]}", "linux.resources.blockIO.weightDevice[0]: no device has these numbers"},
		{"\"blockIO\":{\"throttleReadBpsDevice\":[{\"major\":8,\"minor\":-1,\"rate\":1}]}", "linux.resources.blockIO.throttleReadBpsDevice[0]: no device has these numbers"},
		{"\"blockIO\":{\"throttleWriteIOPSDevice\":[{\"major\":8,\"minor\":0}]}", "linux.resources.blockIO.throttleWriteIOPSDevice[0].rate: required, but missing"},
		{"\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":18446744073709551615},{\"pageSize\":\"64KB\",\"limit\":0}]", NULL},
		{"\"hugepageLimits\":[{\"pageSize\":\"2mb\",\"limit\":1}]", "linux.resources.hugepageLimits[0].pageSize: \"2mb\" is not a page size"},
		{"\"hugepageLimits\":[{\"pageSize\":\"../x\",\"limit\":1}]", "linux.resources.hugepageLimits[0].pageSize: \"../x\" is not a page size"},
		{"\"hugepageLimits\":[{\"pageSize\":\"2\",\"limit\":1}]", "linux.resources.hugepageLimits[0].pageSize: \"2\" is not a page size"},
		{"\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":1},{\"pageSize\":\"2MB\",\"limit\":1}]", "linux.resources.hugepageLimits[1].pageSize: 2MB is there twice"},
		{"\"network\":{\"classID\":4294967295,\"priorities\":[{\"name\":\"eth0\",\"priority\":1}]}", NULL},
		{"\"network\":{\"priorities\":[{\"name\":\"a b\",\"priority\":1}]}", "linux.resources.network.priorities[0].name: \"a b\" is not the name of an interface"},
		{"\"rdma\":{\"mlx5_1\":{\"hcaHandles\":1}}", NULL},
		{"\"rdma\":{\"a b\":{}}", "linux.resources.rdma: \"a b\" is not the name of a device"},
		{"\"unified\":{\"memory.high\":\"1\",\"cgroup.max.depth\":\"1\"}", NULL},
		{"\"unified\":{\"../memory.high\":\"1\"}", "linux.resources.unified: \"../memory.high\" is not the name of a cgroup file"},
		{"\"unified\":{\"memory/high.x\":\"1\"}", "linux.resources.unified: \"memory/high.x\" is not the name of a cgroup file"},
		{"\"unified\":{\"memory\":\"1\"}", "linux.resources.unified: \"memory\" is not the name of a cgroup file"},
		{"\"unified\":{\"\":\"1\"}", "linux.resources.unified: \"\" is not the name of a cgroup file"},
		{"\"unified\":{\"cgroup.procs\":\"1\"}", "linux.resources.unified[\"cgroup.procs\"]: can't be set"},
		{"\"unified\":{\"memory.high\":1}", "linux.resources.unified[\"memory.high\"]: must be a string, not a number"},
	};

	CHECK_RESOURCES(cases);
}
/* clang-format on */

int main(void)
{
	int rc = unit_main();

	arena_free(&arena);
	return rc;
}
