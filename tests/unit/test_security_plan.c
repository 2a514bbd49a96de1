/* Names to numbers: capabilities, limits, scheduling, labels. Needs no privilege. */
#include "unit.h"

#include <stdint.h>
#include <sys/personality.h>
#include <sys/resource.h>

#include "base/str.h"
#include "plan/security.h"
#include "security/caps.h"

#define STRINGS(...)                                                                               \
	{sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),                                   \
	 (char **)(uintptr_t)(const char *[]){__VA_ARGS__}}
#define TEXT(s) ((char *)(uintptr_t)(s))

enum { CHOWN = 0, DAC_OVERRIDE = 1, KILL = 5, NET_RAW = 13, SYS_RESOURCE = 24, BPF = 39 };

static struct arena arena;
static struct error err;
static struct notes notes;

/* A kernel of 5.14 whose root lacks CAP_SYS_RESOURCE. */
static const struct cap_host host = {
	.known = (UINT64_C(1) << 41) - 1,
	.available = ((UINT64_C(1) << 41) - 1) & ~CAPS_BIT(SYS_RESOURCE),
};

static int caps(const struct oci_capabilities *c, struct cap_sets *ret)
{
	arena_free(&arena);
	notes = (struct notes){0};
	memset(&err, 0, sizeof(err));
	return plan_caps(c, &host, &arena, ret, &notes, &err);
}

TEST(absent_capabilities_are_none)
{
	struct oci_capabilities c = {0};
	struct cap_sets s = {1, 1, 1, 1, 1};

	CHECK(caps(&c, &s) == 0);
	CHECK(!s.bounding && !s.effective && !s.permitted && !s.inheritable && !s.ambient);
}

TEST(capability_sets_are_as_written)
{
	struct oci_capabilities c = {
		.set = true,
		.bounding = STRINGS("CAP_CHOWN", "CAP_KILL", "CAP_NET_RAW", "CAP_BPF"),
		.effective = STRINGS("CAP_KILL"),
		.permitted = STRINGS("CAP_KILL", "CAP_CHOWN", "CAP_KILL"),
		.inheritable = STRINGS("CAP_NET_RAW", "CAP_CHOWN"),
		.ambient = STRINGS("CAP_CHOWN"),
	};
	struct cap_sets s;

	CHECK(caps(&c, &s) == 0);
	CHECK_INT(notes.n, 0);
	CHECK(s.bounding == (CAPS_BIT(CHOWN) | CAPS_BIT(KILL) | CAPS_BIT(NET_RAW) | CAPS_BIT(BPF)));
	CHECK(s.effective == CAPS_BIT(KILL));
	CHECK(s.permitted == (CAPS_BIT(KILL) | CAPS_BIT(CHOWN)));
	CHECK(s.inheritable == (CAPS_BIT(NET_RAW) | CAPS_BIT(CHOWN)));
	CHECK(s.ambient == CAPS_BIT(CHOWN));
}

TEST(unknown_capabilities_are_noted_and_left_out)
{
	struct oci_capabilities c = {
		.set = true,
		.bounding = STRINGS("CAP_TELEPORT", "CAP_KILL", "cap_kill", "KILL"),
	};
	struct cap_host old = {.known = 0xff, .available = 0xff};
	struct cap_sets s;

	CHECK(caps(&c, &s) == 0);
	CHECK(s.bounding == CAPS_BIT(KILL));
	CHECK_INT(notes.n, 1);
	CHECK_STR(notes.v[0],
		  "process.capabilities: ignoring what is unknown here: \"CAP_TELEPORT\", "
		  "\"cap_kill\", \"KILL\"");
	/* Known to us but not to the kernel. */
	c.bounding = (struct strings)STRINGS("CAP_BPF");
	notes = (struct notes){0};
	CHECK(plan_caps(&c, &old, &arena, &s, &notes, &err) == 0);
	CHECK_INT(notes.n, 1);
	CHECK(s.bounding == 0);
}

TEST(a_capability_that_the_runtime_lacks_is_noted)
{
	struct oci_capabilities c = {
		.set = true,
		.bounding = STRINGS("CAP_KILL"),
		.permitted = STRINGS("CAP_SYS_RESOURCE", "CAP_KILL"),
	};
	struct cap_sets s = {0};

	notes = (struct notes){0};
	CHECK(caps(&c, &s) == 0);
	CHECK_INT(notes.n, 1);
	CHECK_STR(notes.v[0], "process.capabilities: ignoring what the runtime itself lacks: "
			      "\"CAP_SYS_RESOURCE\"");
	CHECK(s.permitted == s.bounding);
}

TEST(sets_that_the_kernel_refuses_are_errors)
{
	struct oci_capabilities c = {.set = true, .effective = STRINGS("CAP_CHOWN", "CAP_KILL")};
	struct cap_sets s;

	c.permitted = (struct strings)STRINGS("CAP_CHOWN");
	CHECK(caps(&c, &s) < 0);
	CHECK_STR(err.text, "process.capabilities.effective: CAP_KILL is not in permitted");
	c = (struct oci_capabilities){.set = true, .inheritable = STRINGS("CAP_NET_RAW")};
	CHECK(caps(&c, &s) < 0);
	CHECK_STR(err.text, "process.capabilities.inheritable: CAP_NET_RAW is not in bounding");
}

TEST(ambient_needs_permitted_and_inheritable)
{
	struct oci_capabilities c = {
		.set = true,
		.bounding = STRINGS("CAP_CHOWN", "CAP_KILL"),
		.permitted = STRINGS("CAP_CHOWN", "CAP_KILL"),
		.inheritable = STRINGS("CAP_KILL"),
		.ambient = STRINGS("CAP_CHOWN", "CAP_KILL", "CAP_NET_RAW"),
	};
	struct cap_sets s;

	CHECK(caps(&c, &s) == 0);
	CHECK(s.ambient == CAPS_BIT(KILL));
	CHECK_INT(notes.n, 1);
	CHECK_STR(notes.v[0],
		  "process.capabilities.ambient: ignoring what is not both permitted and "
		  "inheritable: \"CAP_CHOWN\", \"CAP_NET_RAW\"");
}

TEST(notes_grow)
{
	struct notes list = {0};
	char name[16];
	int i;

	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "%d", i);
		notes_add(&list, arena_strdup(&arena, name), &arena);
	}
	CHECK_INT(list.n, 100);
	CHECK_STR(list.v[0], "0");
	CHECK_STR(list.v[8], "8");
	CHECK_STR(list.v[99], "99");
}

TEST(rlimits_are_checked_and_numbered)
{
	struct oci_rlimit r[2] = {{TEXT("RLIMIT_NOFILE"), 1024, 512},
				  {TEXT("RLIMIT_CORE"), UINT64_MAX, 0}};
	struct oci_process p = {.rlimits = {2, r}};
	struct rlimit_plans plans = {0};

	CHECK(plan_rlimits(&p, &arena, &plans, &err) == 0);
	CHECK_INT(plans.n, 2);
	CHECK_INT(plans.v[0].resource, RLIMIT_NOFILE);
	CHECK(plans.v[0].soft == 512 && plans.v[0].hard == 1024);
	CHECK(plans.v[1].hard == UINT64_MAX);
	r[1].type = TEXT("RLIMIT_NOFILE");
	CHECK(plan_rlimits(&p, &arena, &plans, &err) < 0);
	CHECK_STR(err.text, "process.rlimits[1].type: RLIMIT_NOFILE is given twice");
	r[1].type = TEXT("RLIMIT_LUCK");
	CHECK(plan_rlimits(&p, &arena, &plans, &err) < 0);
	CHECK_STR(err.text, "process.rlimits[1].type: unknown value \"RLIMIT_LUCK\"");
	r[0].soft = 1025;
	CHECK(plan_rlimits(&p, &arena, &plans, &err) < 0);
	CHECK_STR(err.text, "process.rlimits[0].soft: RLIMIT_NOFILE has soft above hard");
}

TEST(schedulers_are_numbered)
{
	struct oci_scheduler s = {
		.set = true,
		.policy = TEXT("SCHED_DEADLINE"),
		.flags = STRINGS("SCHED_FLAG_RESET_ON_FORK", "SCHED_FLAG_RECLAIM"),
		.runtime = 1,
		.deadline = 2,
		.period = 3,
	};
	struct scheduler_plan p;

	CHECK(plan_scheduler(&s, &p, &err) == 0);
	CHECK(p.set && p.policy == 6 && p.flags == 3 && p.runtime == 1 && p.period == 3);
	s.policy = TEXT("SCHED_BOGUS");
	CHECK(plan_scheduler(&s, &p, &err) < 0);
	CHECK_STR(err.text, "process.scheduler.policy: unknown value \"SCHED_BOGUS\"");
	s.policy = TEXT("SCHED_OTHER");
	s.nice = 20;
	CHECK(plan_scheduler(&s, &p, &err) < 0);
	s.nice = 0;
	s.flags = (struct strings)STRINGS("SCHED_FLAG_X");
	CHECK(plan_scheduler(&s, &p, &err) < 0);
	CHECK_STR(err.text, "process.scheduler.flags: unknown value \"SCHED_FLAG_X\"");
	s.set = false;
	CHECK(plan_scheduler(&s, &p, &err) == 0 && !p.set);
}

TEST(io_priorities_are_numbered)
{
	struct oci_io_priority i = {.set = true, .class = TEXT("IOPRIO_CLASS_BE"), .priority = 7};
	struct io_priority_plan p;

	CHECK(plan_io_priority(&i, &p, &err) == 0);
	CHECK_INT(p.value, 2 << 13 | 7);
	i.priority = 8;
	CHECK(plan_io_priority(&i, &p, &err) < 0);
	i.priority = 0;
	i.class = TEXT("IOPRIO_CLASS_NONE");
	CHECK(plan_io_priority(&i, &p, &err) < 0);
	CHECK_STR(err.text, "process.ioPriority.class: unknown value \"IOPRIO_CLASS_NONE\"");
}

TEST(personalities_are_two)
{
	struct oci_personality c = {.set = true, .domain = TEXT("LINUX32")};
	struct personality_plan p;

	CHECK(plan_personality(&c, &p, &err) == 0);
	CHECK(p.set && p.persona == PER_LINUX32);
	c.domain = TEXT("LINUX");
	CHECK(plan_personality(&c, &p, &err) == 0);
	CHECK(p.set && p.persona == PER_LINUX);
	c.domain = TEXT("SVR4");
	CHECK(plan_personality(&c, &p, &err) < 0);
	c = (struct oci_personality){.set = true, .domain = TEXT("LINUX"), .flags = STRINGS("X")};
	CHECK(plan_personality(&c, &p, &err) < 0);
	CHECK_STR(err.text, "linux.personality.flags: unknown value \"X\"");
}

TEST(memory_policies_have_modes_flags_and_nodes)
{
	static const char *const bad[] = {"x",	"1-",	"-1", "3-1",  "1024",
					  "0,", "0,,1", " 1", "0-1-2"};
	struct oci_memory_policy c = {
		.set = true,
		.mode = TEXT("MPOL_BIND"),
		.nodes = TEXT("0-2,5,70"),
		.flags = STRINGS("MPOL_F_STATIC_NODES"),
	};
	struct memory_policy_plan p;
	size_t i;

	CHECK(plan_memory_policy(&c, &p, &err) == 0);
	CHECK_INT(p.mode, 2 | 1 << 15);
	CHECK_INT(p.node_count, 71);
	CHECK(p.nodes[0] == 0x27 && p.nodes[1] == 0x40);
	c.nodes = TEXT("");
	CHECK(plan_memory_policy(&c, &p, &err) == 0);
	CHECK_INT(p.node_count, 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		c.nodes = TEXT(bad[i]);
		CHECK(plan_memory_policy(&c, &p, &err) < 0);
	}
	c.mode = TEXT("MPOL_MAYBE");
	CHECK(plan_memory_policy(&c, &p, &err) < 0);
	CHECK_STR(err.text, "linux.memoryPolicy.mode: unknown value \"MPOL_MAYBE\"");
}

TEST(labels_without_their_lsm_are_noted_and_left_out)
{
	struct oci_config c = {
		.process = {.apparmor_profile = TEXT("acme"), .selinux_label = TEXT("a:b:c")},
		.linux_ = {.mount_label = TEXT("d:e:f")},
	};
	struct lsm_plan p;

	notes = (struct notes){0};
	plan_lsm(&c, &(struct lsm_host){0}, &arena, &p, &notes);
	CHECK(!p.apparmor_profile && !p.selinux_label && !p.mount_label);
	CHECK_INT(notes.n, 3);
	CHECK_STR(notes.v[0],
		  "process.apparmorProfile: ignoring \"acme\": this host has no AppArmor");
	notes = (struct notes){0};
	plan_lsm(&c, &(struct lsm_host){.apparmor = true, .selinux = true}, &arena, &p, &notes);
	CHECK_STR(p.apparmor_profile, "acme");
	CHECK_STR(p.selinux_label, "a:b:c");
	CHECK_STR(p.mount_label, "d:e:f");
	CHECK_INT(notes.n, 0);
}

int main(void)
{
	int rc = unit_main();

	arena_free(&arena);
	return rc;
}
