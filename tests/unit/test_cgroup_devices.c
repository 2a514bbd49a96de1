/*
 * Device rules: the eBPF program (interpreted here) and the v1 writes (judged as the kernel's v1
 * controller would) against the plain meaning of the list: for each access, the last rule that
 * matches decides.
 */
#include <stdlib.h>

#include "base/str.h"
#include "cgroup/bpf.h"
#include "cgroup_hosts.h"
#include "plan/cgroup.h"
#include "unit.h"

static struct arena arena;
static struct error err;

#define S(text) ((char *)(uintptr_t)(text))
#define BAD (-1)

struct request {
	char type;
	uint32_t major, minor;
	unsigned int access; /* CGROUP_DEV_* */
};

/* As much of eBPF as the generator uses; anything else, and any read past the end, is BAD. */
static int program_run(const struct cgroup_program *p, const struct request *r)
{
	const uint32_t ctx[] = {(uint32_t)(((r->access & CGROUP_DEV_MKNOD ? 1 : 0) |
					    (r->access & CGROUP_DEV_READ ? 2 : 0) |
					    (r->access & CGROUP_DEV_WRITE ? 4 : 0))
					   << 16) |
					(r->type == 'b' ? 1 : 2),
				r->major, r->minor};
	uint64_t reg[11] = {0};
	size_t pc;

	for (pc = 0; pc < p->n; pc++) {
		const struct bpf_insn *i = &p->v[pc];
		uint64_t *dst = &reg[i->dst_reg];
		uint64_t imm = (uint64_t)(int64_t)i->imm;

		switch (i->code) {
		case BPF_LDX | BPF_MEM | BPF_W:
			if (i->src_reg != 1 || i->off < 0 || i->off % 4 || i->off > 8)
				return BAD;
			*dst = ctx[i->off / 4];
			break;
		case BPF_ALU64 | BPF_MOV | BPF_X:
			*dst = reg[i->src_reg];
			break;
		case BPF_ALU64 | BPF_MOV | BPF_K:
			*dst = imm;
			break;
		case BPF_ALU64 | BPF_AND | BPF_K:
			*dst &= imm;
			break;
		case BPF_ALU64 | BPF_RSH | BPF_K:
			*dst >>= imm;
			break;
		case BPF_JMP32 | BPF_JNE | BPF_K:
			if (i->off < 0)
				return BAD;
			if ((uint32_t)*dst != (uint32_t)i->imm)
				pc += (size_t)i->off;
			break;
		case BPF_JMP32 | BPF_JEQ | BPF_K:
			if (i->off < 0)
				return BAD;
			if ((uint32_t)*dst == (uint32_t)i->imm)
				pc += (size_t)i->off;
			break;
		case BPF_JMP | BPF_EXIT:
			return (int)reg[0];
		default:
			return BAD;
		}
	}
	return BAD;
}

static bool access_has(const char *access, unsigned int bit)
{
	int c = bit == CGROUP_DEV_MKNOD ? 'm' : bit == CGROUP_DEV_READ ? 'r' : 'w';

	return !access || !*access || strchr(access, c);
}

static bool rule_matches(const struct oci_device_rule *d, const struct request *r, unsigned int bit)
{
	if (d->type && *d->type && *d->type != 'a' && *d->type != r->type)
		return false;
	if (d->major.set && d->major.v >= 0 && d->major.v != r->major)
		return false;
	if (d->minor.set && d->minor.v >= 0 && d->minor.v != r->minor)
		return false;
	return access_has(d->access, bit);
}

static bool is_default(const struct request *r, unsigned int bit)
{
	static const uint32_t nodes[][2] = {{1, 3}, {1, 5}, {1, 7}, {1, 8},
					    {1, 9}, {5, 0}, {5, 1}, {5, 2}};
	size_t i;

	if (bit == CGROUP_DEV_MKNOD)
		return true;
	if (r->type != 'c')
		return false;
	for (i = 0; i < ARRAY_SIZE(nodes); i++)
		if (r->major == nodes[i][0] && r->minor == nodes[i][1])
			return true;
	return r->major == 136;
}

/* What the list means. */
static bool meaning(const struct oci_device_rule *list, size_t n, const struct request *r)
{
	unsigned int bit;
	size_t i;

	for (bit = 1; bit <= 4; bit <<= 1) {
		bool allowed = false;

		if (!(r->access & bit))
			continue;
		for (i = 0; i < n; i++)
			if (rule_matches(&list[i], r, bit))
				allowed = list[i].allow;
		if (!allowed && !is_default(r, bit))
			return false;
	}
	return true;
}

/* One access, by the v1 controller: "a" sets the default, all else are exceptions from it. */
static bool v1_allows(const struct cgroup_plan *p, const struct request *r)
{
	bool by_default = true, exception = false;
	size_t i;

	for (i = 0; i < p->n_writes; i++) {
		const struct cgroup_write *w = &p->writes[i];
		char type, major[16], minor[16], access[8];

		if (!str_after(w->file, "devices."))
			continue;
		if (str_eq(w->value, "a")) {
			by_default = str_eq(w->file, "devices.allow");
			exception = false;
			continue;
		}
		if (sscanf(w->value, "%c %15[0-9*]:%15[0-9*] %7s", &type, major, minor, access) !=
		    4)
			FAIL("odd rule \"%s\"", w->value);
		CHECK(by_default != str_eq(w->file, "devices.allow"));
		if (type == r->type &&
		    (str_eq(major, "*") || strtoul(major, NULL, 10) == r->major) &&
		    (str_eq(minor, "*") || strtoul(minor, NULL, 10) == r->minor) &&
		    access_has(access, r->access))
			exception = true;
	}
	return by_default != exception;
}

static const struct request *request_number(unsigned int n)
{
	static const uint32_t majors[] = {1, 5, 8, 10, 136}, minors[] = {0, 2, 3, 200};
	static struct request r;

	r.access = 1 + n % 7;
	r.type = n / 7 % 2 ? 'b' : 'c';
	r.major = majors[n / 14 % 5];
	r.minor = minors[n / 70 % 4];
	return n < 280 ? &r : NULL;
}

static void compare(const struct oci_device_rule *list, size_t n, bool *ret_v1)
{
	struct oci_config c = {0};
	struct cgroup_plan p;
	struct cgroup_program program;
	const struct request *r;
	unsigned int k;

	c.linux_.resources.devices.n = n;
	c.linux_.resources.devices.v = (struct oci_device_rule *)(uintptr_t)list;
	CHECK_INT(cgroup_plan_make(&c, "id", &host_v2, false, &arena, &p, &err), 0);
	program = cgroup_devices_program(&p.devices, &arena);
	for (k = 0; (r = request_number(k)); k++) {
		int got = program_run(&program, r);

		if (p.devices_dir == SIZE_MAX)
			got = 1;
		if (got != meaning(list, n, r))
			FAIL("eBPF says %d for %c %u:%u access %u", got, r->type, r->major,
			     r->minor, r->access);
	}
	*ret_v1 = cgroup_plan_make(&c, "id", &host_v1, false, &arena, &p, &err) == 0;
	for (k = 0; *ret_v1 && (r = request_number(k)); k++)
		if ((r->access & (r->access - 1)) == 0 && v1_allows(&p, r) != meaning(list, n, r))
			FAIL("v1 says %d for %c %u:%u access %u", v1_allows(&p, r), r->type,
			     r->major, r->minor, r->access);
}

static struct opt_i64 i64(int64_t v)
{
	return (struct opt_i64){true, v};
}

TEST(no_rules_allow_the_default_devices_alone)
{
	bool v1;

	compare(NULL, 0, &v1);
	CHECK(v1);
}

TEST(engines_lists)
{
	const struct oci_device_rule docker[] = {
		{.allow = false, .access = S("rwm")},
		{.allow = true,
		 .type = S("c"),
		 .major = i64(1),
		 .minor = i64(5),
		 .access = S("rwm")},
		{.allow = true,
		 .type = S("c"),
		 .major = i64(5),
		 .minor = i64(1),
		 .access = S("rwm")},
		{.allow = false,
		 .type = S("c"),
		 .major = i64(10),
		 .minor = i64(229),
		 .access = S("rwm")},
	};
	const struct oci_device_rule privileged[] = {{.allow = true, .access = S("rwm")}};
	const struct oci_device_rule wildcard[] = {
		{.allow = false,
		 .type = S("a"),
		 .major = i64(-1),
		 .minor = i64(-1),
		 .access = S("rwm")},
		{.allow = true, .type = S("b"), .major = i64(8), .access = S("r")},
	};
	bool v1;

	compare(docker, 4, &v1);
	CHECK(v1);
	compare(privileged, 1, &v1);
	CHECK(v1);
	compare(wildcard, 2, &v1);
	CHECK(v1);
}

TEST(an_open_for_both_needs_both)
{
	const struct oci_device_rule list[] = {
		{.allow = true,
		 .type = S("c"),
		 .major = i64(10),
		 .minor = i64(200),
		 .access = S("rw")},
		{.allow = false,
		 .type = S("c"),
		 .major = i64(10),
		 .minor = i64(200),
		 .access = S("w")},
	};
	const struct request both = {'c', 10, 200, CGROUP_DEV_READ | CGROUP_DEV_WRITE};
	bool v1;

	CHECK(!meaning(list, 2, &both));
	compare(list, 2, &v1);
	CHECK(v1);
}

TEST(v1_refuses_a_hole_in_a_wider_rule)
{
	const struct oci_device_rule list[] = {
		{.allow = true, .type = S("c"), .major = i64(10), .access = S("rw")},
		{.allow = false,
		 .type = S("c"),
		 .major = i64(10),
		 .minor = i64(200),
		 .access = S("rw")},
	};
	bool v1;

	compare(list, 2, &v1);
	CHECK(!v1);
	CHECK(str_after(err.text, "linux.resources.devices: "));
}

TEST(everything_allowed_needs_no_program)
{
	struct oci_device_rule rule = {.allow = true, .access = S("rwm")};
	struct oci_config c = {0};
	struct cgroup_plan p;

	c.linux_.resources.devices.n = 1;
	c.linux_.resources.devices.v = &rule;
	CHECK_INT(cgroup_plan_make(&c, "id", &host_v2, false, &arena, &p, &err), 0);
	CHECK(p.devices_dir == SIZE_MAX);
	rule.allow = false;
	CHECK_INT(cgroup_plan_make(&c, "id", &host_v2, false, &arena, &p, &err), 0);
	CHECK_INT(p.devices_dir, 0);
	CHECK_INT(cgroup_plan_make(&c, "id", &host_hybrid, false, &arena, &p, &err), 0);
	CHECK(p.devices_dir == SIZE_MAX);
}

TEST(bad_rules_are_named)
{
	const struct {
		struct oci_device_rule rule;
		const char *field;
	} bad[] = {
		{{.type = S("x")}, "linux.resources.devices[0].type: "},
		{{.type = S("cb")}, "linux.resources.devices[0].type: "},
		{{.access = S("rx")}, "linux.resources.devices[0].access: "},
		{{.major = {true, -2}}, "linux.resources.devices[0].major: "},
		{{.minor = {true, 1LL << 32}}, "linux.resources.devices[0].minor: "},
	};
	struct oci_config c = {0};
	struct cgroup_plan p;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct oci_device_rule rule = bad[i].rule;

		c.linux_.resources.devices.n = 1;
		c.linux_.resources.devices.v = &rule;
		CHECK_INT(cgroup_plan_make(&c, "id", &host_v2, false, &arena, &p, &err), -1);
		CHECK(str_after(err.text, bad[i].field));
	}
}

static uint32_t seed = 12345;

static unsigned int dice(unsigned int sides)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 16) % sides;
}

TEST(random_lists_mean_the_same_everywhere)
{
	static char *const types[] = {NULL, S("a"), S("c"), S("b")};
	static char *const accesses[] = {NULL, S("rwm"), S("r"), S("w"), S("m"), S("rw"), S("rm")};
	static const int64_t majors[] = {-1, 1, 5, 8, 10, 136}, minors[] = {-1, 0, 3, 200};
	struct oci_device_rule list[10];
	unsigned int round, on_v1 = 0;

	for (round = 0; round < 4000; round++) {
		size_t n = 1 + dice(8), i;
		bool v1;

		for (i = 0; i < n; i++) {
			list[i] = (struct oci_device_rule){
				.allow = dice(2),
				.type = types[dice(4)],
				.major = i64(majors[dice(6)]),
				.minor = i64(minors[dice(4)]),
				.access = accesses[dice(7)],
			};
			list[i].major.set = dice(4);
		}
		compare(list, n, &v1);
		on_v1 += v1;
		arena_free(&arena);
		arena = (struct arena){0};
	}
	CHECK(on_v1 > 200);
}

int main(void)
{
	return unit_main();
}
