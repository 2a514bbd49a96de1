/*
 * Written profiles: what their programs answer, and what is refused. seccomp_judge.h computes the
 * meaning of a profile from the profile alone; test_seccomp_differ has random ones.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <poll.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "seccomp_judge.h"
#include "filter/seccomp.h"
#include "security/seccomp_install.h"
#include "filter/seccomp_eval.h"
#include "filter/syscalls.h"

#define X32_BIT UINT32_C(0x40000000)
#define STRINGS(...)                                                                               \
	{sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),                                   \
	 (char **)(uintptr_t)(const char *[]){__VA_ARGS__}}
#define RULES(...)                                                                                 \
	{sizeof((struct oci_seccomp_rule[]){__VA_ARGS__}) / sizeof(struct oci_seccomp_rule),       \
	 (struct oci_seccomp_rule[]){__VA_ARGS__}}
#define ARGS(...)                                                                                  \
	{sizeof((struct oci_seccomp_arg[]){__VA_ARGS__}) / sizeof(struct oci_seccomp_arg),         \
	 (struct oci_seccomp_arg[]){__VA_ARGS__}}

static struct arena arena;
static struct error err;
static struct notes notes;
static struct seccomp_program program;

static int build(const struct oci_seccomp *c)
{
	arena_free(&arena);
	notes = (struct notes){0};
	memset(&program, 0, sizeof(program));
	memset(&err, 0, sizeof(err));
	return seccomp_program_build(c, &arena, &program, &notes, &err);
}

static uint32_t answer(uint32_t arch, uint32_t nr, const uint64_t *args)
{
	struct seccomp_data d = {.nr = (int)nr, .arch = arch, .instruction_pointer = 0x1000};
	struct bpf_result r;

	if (args)
		memcpy(d.args, args, sizeof(d.args));
	r = bpf_eval(program.filter, program.len, &d);
	if (r.error)
		FAIL("program: %s", r.error);
	return r.action;
}

/* The answer for a call of the native architecture with up to three arguments. */
static uint32_t native(const char *name, uint64_t a0, uint64_t a1, uint64_t a2)
{
	uint64_t args[6] = {a0, a1, a2};

	return answer(seccomp_arch_native(), (uint32_t)seccomp_syscall_resolve_name(name), args);
}

/* Against the meaning */

static const uint32_t some_archs[] = {SCMP_ARCH_X86_64, SCMP_ARCH_X86, SCMP_ARCH_AARCH64,
				      SCMP_ARCH_ARM, 0x12345678};

static void compare(const struct oci_seccomp *c, uint32_t nr, const uint64_t *args)
{
	struct judge *j = judge_new(c, &arena);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(some_archs); i++) {
		struct seccomp_data d = {.nr = (int)nr, .arch = some_archs[i]};
		uint32_t got = answer(some_archs[i], nr, args), want;

		memcpy(d.args, args, sizeof(d.args));
		want = judge_answer(j, JUDGE_OURS, &d);

		if (got != want)
			FAIL("arch %#x call %#x args %llx %llx %llx: got %#x, want %#x",
			     some_archs[i], nr, (unsigned long long)args[0],
			     (unsigned long long)args[1], (unsigned long long)args[2], got, want);
	}
}

static const uint32_t odd_numbers[] = {0x3fffffff, 0x40000000, 0x7fffffff,
				       0x80000000, 0xfffffffe, 0xffffffff};

static void compare_all(const struct oci_seccomp *c, const uint64_t *args)
{
	uint32_t nr;
	size_t i;

	for (nr = 0; nr < 600; nr++) {
		compare(c, nr, args);
		compare(c, nr | X32_BIT, args);
	}
	for (i = 0; i < ARRAY_SIZE(odd_numbers); i++)
		compare(c, odd_numbers[i], args);
}

/* Written profiles */

TEST(no_profile_is_no_program)
{
	struct oci_seccomp c = {0};
	int fd = 7;

	CHECK(build(&c) == 0);
	CHECK(!program.filter && !program.len);
	CHECK(seccomp_install(&program, &fd, &err) == 0);
	CHECK_INT(fd, -1);
}

TEST(an_allow_list_denies_the_rest_on_every_architecture)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ERRNO,
		.architectures = STRINGS("SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"),
		.syscalls = RULES({.names = STRINGS("read", "write", "openat2", "chmod", "mkdirat",
						    "waitpid", "futex_waitv"),
				   .action = OCI_ACT_ALLOW}),
	};
	const uint64_t args[6] = {1, 2, 3, 4, 5, 6};

	CHECK(build(&c) == 0);
	CHECK_INT(notes.n, 0);
	compare_all(&c, args);
}

TEST(the_native_architecture_is_covered_without_being_named)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_KILL_PROCESS,
		.syscalls = RULES({.names = STRINGS("read", "mkdirat"), .action = OCI_ACT_ALLOW}),
	};
	const uint64_t args[6] = {0};

	CHECK(build(&c) == 0);
	CHECK(native("read", 0, 0, 0) == SECCOMP_RET_ALLOW);
	compare_all(&c, args);
}

TEST(a_foreign_architecture_kills_the_process_even_if_the_default_allows)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ALLOW,
		.syscalls = RULES({.names = STRINGS("mkdirat"), .action = OCI_ACT_ERRNO}),
	};
	const uint64_t args[6] = {0};

	CHECK(build(&c) == 0);
	CHECK(answer(0x12345678, 0, NULL) == SECCOMP_RET_KILL_PROCESS);
	compare_all(&c, args);
}

TEST(every_action_comes_out_as_the_kernel_names_it)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ALLOW,
		.listener_path = (char *)(uintptr_t)"/run/agent",
		.syscalls = RULES({.names = STRINGS("mkdirat"), .action = OCI_ACT_KILL},
				  {.names = STRINGS("unlinkat"), .action = OCI_ACT_KILL_PROCESS},
				  {.names = STRINGS("symlinkat"), .action = OCI_ACT_TRAP},
				  {.names = STRINGS("linkat"),
				   .action = OCI_ACT_ERRNO,
				   .errno_ret = {true, 0}},
				  {.names = STRINGS("fchownat"), .action = OCI_ACT_ERRNO},
				  {.names = STRINGS("fchmodat"),
				   .action = OCI_ACT_TRACE,
				   .errno_ret = {true, 77}},
				  {.names = STRINGS("faccessat"), .action = OCI_ACT_LOG},
				  {.names = STRINGS("readlinkat"), .action = OCI_ACT_NOTIFY}),
	};
	const uint64_t args[6] = {0};

	CHECK(build(&c) == 0);
	CHECK(program.notify);
	CHECK_STR(program.listener_path, "/run/agent");
	CHECK(native("linkat", 0, 0, 0) == SECCOMP_RET_ERRNO);
	CHECK(native("fchownat", 0, 0, 0) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(native("fchmodat", 0, 0, 0) == (SECCOMP_RET_TRACE | 77));
	compare_all(&c, args);
}

TEST(every_default_action_is_the_answer_for_the_rest)
{
	static const enum oci_seccomp_action defaults[] = {
		OCI_ACT_KILL,  OCI_ACT_KILL_PROCESS, OCI_ACT_TRAP, OCI_ACT_ERRNO,
		OCI_ACT_TRACE, OCI_ACT_LOG,
	};
	const uint64_t args[6] = {0};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(defaults); i++) {
		struct oci_seccomp c = {
			.set = true,
			.default_action = defaults[i],
			.architectures = STRINGS("SCMP_ARCH_X86"),
			.syscalls = RULES({.names = STRINGS("read", "futex_waitv"),
					   .action = OCI_ACT_ALLOW}),
		};

		CHECK(build(&c) == 0);
		compare_all(&c, args);
	}
}

TEST(every_operator_compares_64_bits)
{
	static const uint64_t values[] = {0,
					  4,
					  5,
					  6,
					  0xffffffff,
					  1ULL << 32,
					  (1ULL << 32) + 5,
					  (1ULL << 32) + 4,
					  (1ULL << 32) + 6,
					  (5ULL << 32) + 5,
					  1ULL << 63,
					  UINT64_MAX};
	int op;
	size_t i, k;

	for (op = OCI_OP_NE; op <= OCI_OP_MASKED_EQ; op++) {
		for (i = 0; i < ARRAY_SIZE(values); i++) {
			struct oci_seccomp c = {
				.set = true,
				.default_action = OCI_ACT_ERRNO,
				.syscalls =
					RULES({.names = STRINGS("mkdirat"),
					       .action = OCI_ACT_ALLOW,
					       .args = ARGS({.index = 1,
							     .value = values[i],
							     .value_two = values[i] & 0xff000000ff,
							     .op = (enum oci_seccomp_op)op})}),
			};

			if (build(&c) < 0)
				FAIL("operator %d value %llx: %s", op,
				     (unsigned long long)values[i], err.text);
			for (k = 0; k < ARRAY_SIZE(values); k++) {
				const uint64_t args[6] = {0, values[k]};

				compare(&c, (uint32_t)seccomp_syscall_resolve_name("mkdirat"),
					args);
			}
		}
	}
}

TEST(args_of_a_rule_are_joined_and_rules_of_a_call_are_alternatives)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ERRNO,
		.syscalls = RULES({.names = STRINGS("mkdirat"),
				   .action = OCI_ACT_ALLOW,
				   .args = ARGS({.index = 0, .value = 1, .op = OCI_OP_EQ},
						{.index = 1, .value = 10, .op = OCI_OP_GT})},
				  {.names = STRINGS("mkdirat"),
				   .action = OCI_ACT_ALLOW,
				   .args = ARGS({.index = 2,
						 .value = 0xf0,
						 .value_two = 0x30,
						 .op = OCI_OP_MASKED_EQ})}),
	};
	uint64_t a, b, d;

	CHECK(build(&c) == 0);
	for (a = 0; a < 3; a++)
		for (b = 9; b < 12; b++)
			for (d = 0x20; d < 0x50; d += 8) {
				const uint64_t args[6] = {a, b, d};

				compare(&c, (uint32_t)seccomp_syscall_resolve_name("mkdirat"),
					args);
			}
	CHECK(native("mkdirat", 1, 11, 0) == SECCOMP_RET_ALLOW);
	CHECK(native("mkdirat", 1, 10, 0) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(native("mkdirat", 0, 0, 0x3f) == SECCOMP_RET_ALLOW);
}

TEST(two_conditions_on_one_argument_are_alternatives)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ERRNO,
		.syscalls = RULES({.names = STRINGS("personality"),
				   .action = OCI_ACT_ALLOW,
				   .args = ARGS({.index = 0, .value = 0, .op = OCI_OP_EQ},
						{.index = 0, .value = 8, .op = OCI_OP_EQ})}),
	};

	CHECK(build(&c) == 0);
	CHECK(native("personality", 0, 0, 0) == SECCOMP_RET_ALLOW);
	CHECK(native("personality", 8, 0, 0) == SECCOMP_RET_ALLOW);
	CHECK(native("personality", 9, 0, 0) == (SECCOMP_RET_ERRNO | EPERM));
}

TEST(a_rule_with_the_default_action_changes_nothing)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ERRNO,
		.default_errno_ret = {true, 5},
		.syscalls = RULES({.names = STRINGS("mkdirat", "futex_waitv"),
				   .action = OCI_ACT_ERRNO,
				   .errno_ret = {true, 5}},
				  {.names = STRINGS("unlinkat"), .action = OCI_ACT_ERRNO}),
	};
	const uint64_t args[6] = {0};

	CHECK(build(&c) == 0);
	CHECK(native("mkdirat", 0, 0, 0) == (SECCOMP_RET_ERRNO | 5));
	CHECK(native("unlinkat", 0, 0, 0) == (SECCOMP_RET_ERRNO | EPERM));
	compare_all(&c, args);
}

TEST(calls_newer_than_the_profile_are_enosys)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ERRNO,
		.architectures = STRINGS("SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32",
					 "SCMP_ARCH_AARCH64"),
		.syscalls = RULES({.names = STRINGS("read", "openat2", "mkdirat"),
				   .action = OCI_ACT_ALLOW}),
	};
	const uint64_t args[6] = {0};

	CHECK(build(&c) == 0);
	CHECK(native("faccessat2", 0, 0, 0) == (SECCOMP_RET_ERRNO | ENOSYS));
	CHECK(native("clone3", 0, 0, 0) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(answer(SCMP_ARCH_X86, 0xffffffff, NULL) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(answer(SCMP_ARCH_X86_64, X32_BIT | 600, NULL) == (SECCOMP_RET_ERRNO | ENOSYS));
	compare_all(&c, args);

	c.default_errno_ret = (struct opt_u32){true, ENOSYS};
	CHECK(build(&c) == 0);
	compare_all(&c, args);
	c.default_errno_ret = (struct opt_u32){false, 0};
	c.default_action = OCI_ACT_LOG;
	CHECK(build(&c) == 0);
	CHECK(native("faccessat2", 0, 0, 0) == SECCOMP_RET_LOG);
}

TEST(unknown_calls_are_noted_where_they_would_have_been_forbidden)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ERRNO,
		.architectures = STRINGS("SCMP_ARCH_X86_64", "SCMP_ARCH_LOONGARCH64",
					 "SCMP_ARCH_S390X", "SCMP_ARCH_SHEB"),
		.syscalls = RULES({.names = STRINGS("no_such_call", "read", "nor_this"),
				   .action = OCI_ACT_ALLOW}),
	};

	CHECK(build(&c) == 0);
	/* What is not allowed is forbidden all the same. */
	CHECK_INT(notes.n, 0);
	CHECK(native("read", 0, 0, 0) == SECCOMP_RET_ALLOW);
	c.default_action = OCI_ACT_ALLOW;
	c.syscalls.v[0].action = OCI_ACT_ERRNO;
	CHECK(build(&c) == 0);
	CHECK_INT(notes.n, 1);
	CHECK_STR(notes.v[0], "linux.seccomp.syscalls: unknown here, and so not restricted: "
			      "\"no_such_call\", \"nor_this\"");
}

/* Profiles are put together from parts: what one part forbids, no order of them allows. */
TEST(of_overlapping_rules_the_strictest_decides)
{
	struct oci_seccomp_arg small = {.index = 0, .value = 5, .op = OCI_OP_LT};
	struct oci_seccomp_arg large = {.index = 0, .value = 2, .op = OCI_OP_GT};
	struct oci_seccomp_rule strict = {.names = STRINGS("mkdirat"),
					  .action = OCI_ACT_ERRNO,
					  .args = {1, &small}};
	struct oci_seccomp_rule mild = {
		.names = STRINGS("mkdirat"), .action = OCI_ACT_LOG, .args = {1, &large}};
	struct oci_seccomp_rule order[2] = {strict, mild};
	struct oci_seccomp c = {
		.set = true, .default_action = OCI_ACT_ALLOW, .syscalls = {2, order}};
	int i;

	for (i = 0; i < 2; i++) {
		CHECK(build(&c) == 0);
		CHECK(native("mkdirat", 1, 0, 0) == (SECCOMP_RET_ERRNO | EPERM));
		CHECK(native("mkdirat", 4, 0, 0) == (SECCOMP_RET_ERRNO | EPERM));
		CHECK(native("mkdirat", 5, 0, 0) == SECCOMP_RET_LOG);
		order[0] = mild;
		order[1] = strict;
	}
}

TEST(a_rule_without_args_yields_to_a_stricter_one_with)
{
	struct oci_seccomp_arg one = {.index = 0, .value = 1, .op = OCI_OP_EQ};
	struct oci_seccomp_rule with = {.names = STRINGS("mkdirat"),
					.action = OCI_ACT_ERRNO,
					.args = {1, &one}};
	struct oci_seccomp_rule without = {.names = STRINGS("mkdirat"), .action = OCI_ACT_ALLOW};
	struct oci_seccomp_rule order[2] = {with, without};
	struct oci_seccomp c = {.set = true, .syscalls = {2, order}};
	/* also where it does as the default does */
	static const enum oci_seccomp_action defaults[] = {OCI_ACT_ERRNO, OCI_ACT_ALLOW,
							   OCI_ACT_KILL};
	size_t i;

	for (i = 0; i < 2 * ARRAY_SIZE(defaults); i++) {
		c.default_action = defaults[i / 2];
		order[i % 2] = with;
		order[1 - i % 2] = without;
		CHECK(build(&c) == 0);
		CHECK(native("mkdirat", 1, 0, 0) == (SECCOMP_RET_ERRNO | EPERM));
		CHECK(native("mkdirat", 2, 0, 0) == SECCOMP_RET_ALLOW);
	}
	with.action = OCI_ACT_TRAP;
	without.action = OCI_ACT_ERRNO;
	order[0] = without;
	order[1] = with;
	CHECK(build(&c) == 0);
	CHECK(native("mkdirat", 1, 0, 0) == SECCOMP_RET_TRAP);
	CHECK(native("mkdirat", 2, 0, 0) == (SECCOMP_RET_ERRNO | EPERM));
	order[1].action = OCI_ACT_ALLOW;
	CHECK(build(&c) == 0);
	CHECK(native("mkdirat", 1, 0, 0) == (SECCOMP_RET_ERRNO | EPERM));
}

/* Podman's profile allows setns in its long list and forbids it further down. */
TEST(of_rules_without_args_the_first_decides)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_KILL,
		.syscalls = RULES({.names = STRINGS("setns"), .action = OCI_ACT_ALLOW},
				  {.names = STRINGS("setns"), .action = OCI_ACT_ERRNO}),
	};

	CHECK(build(&c) == 0);
	CHECK(native("setns", 1, 0, 0) == SECCOMP_RET_ALLOW);
}

TEST(what_can_not_be_honoured_is_refused_with_its_place)
{
	struct oci_seccomp_arg bad_index = {.index = 6};
	static const struct opt_u32 five = {true, 5}, big = {true, 4096};
	char *path = (char *)(uintptr_t)"/x";
	const struct {
		struct oci_seccomp c;
		const char *text;
	} cases[] = {
		{{.architectures = STRINGS("SCMP_ARCH_Z80"), .default_action = OCI_ACT_ALLOW},
		 "linux.seccomp.architectures[0]: unknown value \"SCMP_ARCH_Z80\""},
		{{.architectures = STRINGS("X86_64"), .default_action = OCI_ACT_ALLOW},
		 "linux.seccomp.architectures[0]: unknown value \"X86_64\""},
		{{.default_action = OCI_ACT_ALLOW, .default_errno_ret = five},
		 "linux.seccomp.defaultErrnoRet: this action takes no errno"},
		{{.default_action = OCI_ACT_ERRNO, .default_errno_ret = big},
		 "linux.seccomp.defaultErrnoRet: 4096 is above 4095"},
		{{.default_action = OCI_ACT_ALLOW,
		  .syscalls = RULES({.names = STRINGS("read"),
				     .action = OCI_ACT_KILL,
				     .errno_ret = five})},
		 "linux.seccomp.syscalls[0].errnoRet: this action takes no errno"},
		{{.default_action = OCI_ACT_ALLOW,
		  .syscalls = RULES({.names = STRINGS("read"),
				     .action = OCI_ACT_KILL,
				     .args = {1, &bad_index}})},
		 "linux.seccomp.syscalls[0].args[0].index: 6 is above 5"},
		{{.default_action = OCI_ACT_ALLOW, .flags = STRINGS("SECCOMP_FILTER_FLAG_X")},
		 "linux.seccomp.flags[0]: unknown value \"SECCOMP_FILTER_FLAG_X\""},
		{{.default_action = OCI_ACT_NOTIFY, .listener_path = path},
		 "linux.seccomp.defaultAction: SCMP_ACT_NOTIFY can't be the default"},
		{{.default_action = OCI_ACT_ALLOW,
		  .syscalls = RULES({.names = STRINGS("mkdirat"), .action = OCI_ACT_NOTIFY})},
		 "linux.seccomp.listenerPath: missing, but SCMP_ACT_NOTIFY is used"},
		{{.default_action = OCI_ACT_ALLOW, .listener_metadata = path},
		 "linux.seccomp.listenerMetadata: given without listenerPath"},
		{{.default_action = OCI_ACT_ALLOW,
		  .listener_path = path,
		  .syscalls = RULES({.names = STRINGS("write"), .action = OCI_ACT_NOTIFY})},
		 "linux.seccomp.syscalls[0]: SCMP_ACT_NOTIFY can't be used for write"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct oci_seccomp c = cases[i].c;

		c.set = true;
		CHECK(build(&c) < 0);
		CHECK_STR(err.text, cases[i].text);
		CHECK(!program.filter);
	}
}

TEST(flags_are_the_config_s_or_spec_allow)
{
	struct oci_seccomp c = {.set = true, .default_action = OCI_ACT_ALLOW};

	CHECK(build(&c) == 0);
	CHECK_INT(program.flags, SECCOMP_FILTER_FLAG_SPEC_ALLOW);
	c.flags = (struct strings)STRINGS("SECCOMP_FILTER_FLAG_TSYNC", "SECCOMP_FILTER_FLAG_LOG",
					  "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV");
	CHECK(build(&c) == 0);
	CHECK_INT(program.flags, SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG);
}

/* i386 has both socket and socketcall(1): a rule for one closes or opens the other's way too. */
TEST(socketcall_and_ipc_follow_their_members)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ALLOW,
		.architectures = STRINGS("SCMP_ARCH_X86"),
		.syscalls = RULES({.names = STRINGS("socket", "msgget"),
				   .action = OCI_ACT_ERRNO,
				   .args = ARGS({.index = 0, .value = 40, .op = OCI_OP_EQ})}),
	};
	const uint64_t vsock[6] = {40}, one[6] = {1}, two[6] = {2}, thirteen[6] = {13};

	CHECK(build(&c) == 0);
	CHECK(answer(SCMP_ARCH_X86, 359, vsock) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(answer(SCMP_ARCH_X86, 359, one) == SECCOMP_RET_ALLOW);
	CHECK(answer(SCMP_ARCH_X86, 102, one) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(answer(SCMP_ARCH_X86, 102, two) == SECCOMP_RET_ALLOW);
	CHECK(answer(SCMP_ARCH_X86, 399, vsock) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(answer(SCMP_ARCH_X86, 117, thirteen) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(answer(SCMP_ARCH_X86, 117, one) == SECCOMP_RET_ALLOW);
}

/* Wherever there is such a call: its own arguments lie in memory, which no filter sees. */
TEST(a_rule_with_args_does_not_open_the_way_through_socketcall)
{
	static const char *const archs[] = {"X86", "MIPSEL", "PPC64LE"};
	struct oci_seccomp_rule rules[2] = {
		{.names = STRINGS("socket", "shmget"),
		 .action = OCI_ACT_ALLOW,
		 .args = ARGS({.index = 0, .value = 40, .op = OCI_OP_NE})},
		{.names = STRINGS("socketcall", "ipc"), .action = OCI_ACT_ALLOW}};
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ERRNO,
		.architectures = STRINGS("SCMP_ARCH_X86", "SCMP_ARCH_MIPSEL", "SCMP_ARCH_PPC64LE"),
		.syscalls = {1, rules}};
	const uint64_t one[6] = {1}, get[6] = {23};
	size_t i;

	for (c.syscalls.n = 1; c.syscalls.n <= 2; c.syscalls.n++) {
		/* …but a word about socketcall itself does. */
		uint32_t want = c.syscalls.n == 1 ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW;

		CHECK(build(&c) == 0);
		for (i = 0; i < ARRAY_SIZE(archs); i++) {
			const struct syscall_arch *a = syscall_arch_find(archs[i]);

			CHECK(answer(a->token, (uint32_t)syscall_number(syscall_find("socket"), a),
				     one) == SECCOMP_RET_ALLOW);
			CHECK(answer(a->token,
				     (uint32_t)syscall_number(syscall_find("socketcall"), a),
				     one) == want);
			CHECK(answer(a->token, (uint32_t)syscall_number(syscall_find("ipc"), a),
				     get) == want);
		}
	}
}

TEST(what_is_forbidden_for_all_args_is_forbidden_through_socketcall)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ERRNO,
		.architectures = STRINGS("SCMP_ARCH_X86"),
		.syscalls = RULES({.names = STRINGS("socketcall"), .action = OCI_ACT_ALLOW},
				  {.names = STRINGS("listen"), .action = OCI_ACT_KILL}),
	};
	const uint64_t connect[6] = {3}, listen[6] = {4};

	CHECK(build(&c) == 0);
	CHECK(answer(SCMP_ARCH_X86, 102, connect) == SECCOMP_RET_ALLOW);
	CHECK(answer(SCMP_ARCH_X86, 102, listen) == SECCOMP_RET_KILL_THREAD);
}

/* They are x86_64's calls under another number; only those from 512 on take 32 bits. */
TEST(x32_has_longs_of_64_bits)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ERRNO,
		.architectures = STRINGS("SCMP_ARCH_X86_64", "SCMP_ARCH_X32"),
		.syscalls = RULES({.names = STRINGS("prctl", "ptrace"),
				   .action = OCI_ACT_ALLOW,
				   .args = ARGS({.index = 1, .value = 3, .op = OCI_OP_EQ})}),
	};
	const uint64_t plain[6] = {0, 3}, high[6] = {0, UINT64_C(1) << 32 | 3};

	CHECK(build(&c) == 0);
	CHECK(answer(SCMP_ARCH_X86_64, X32_BIT | 157, plain) == SECCOMP_RET_ALLOW);
	CHECK(answer(SCMP_ARCH_X86_64, X32_BIT | 157, high) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(answer(SCMP_ARCH_X86_64, X32_BIT | 521, high) == SECCOMP_RET_ALLOW);
}

/* What the kernel drops must not decide: a terminal's TIOCSTI with high bits is TIOCSTI. */
TEST(an_int_is_compared_as_the_kernel_sees_it)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ALLOW,
		.syscalls = RULES({.names = STRINGS("ioctl"),
				   .action = OCI_ACT_ERRNO,
				   .args = ARGS({.index = 1, .value = 0x5412, .op = OCI_OP_EQ})},
				  {.names = STRINGS("socket"),
				   .action = OCI_ACT_TRAP,
				   .args = ARGS({.index = 0, .value = 40, .op = OCI_OP_EQ})},
				  {.names = STRINGS("fchmodat"),
				   .action = OCI_ACT_LOG,
				   .args = ARGS({.index = 2, .value = 04755, .op = OCI_OP_EQ})},
				  {.names = STRINGS("prctl"),
				   .action = OCI_ACT_TRAP,
				   .args = ARGS({.index = 1, .value = 3, .op = OCI_OP_EQ})}),
	};

	CHECK(build(&c) == 0);
	CHECK(native("ioctl", 0, 0x5412, 0) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(native("ioctl", 0, 0xdeadbeef00005412, 0) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(native("ioctl", 0, 0x15412, 0) == SECCOMP_RET_ALLOW);
	CHECK(native("socket", UINT64_C(1) << 32 | 40, 1, 0) == SECCOMP_RET_TRAP);
	CHECK(native("fchmodat", 0, 0, 0xffff0000 | 04755) == SECCOMP_RET_LOG);
	CHECK(native("fchmodat", 0, 0, 0755) == SECCOMP_RET_ALLOW);
	/* a long stays one */
	CHECK(native("prctl", 0, 3, 0) == SECCOMP_RET_TRAP);
	CHECK(native("prctl", 0, UINT64_C(1) << 32 | 3, 0) == SECCOMP_RET_ALLOW);
}

/* Docker allows sockets of every family but 40, which is NE: high bits must not make 40 another. */
TEST(a_family_that_is_not_allowed_has_no_other_name)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ERRNO,
		.syscalls = RULES({.names = STRINGS("socket"),
				   .action = OCI_ACT_ALLOW,
				   .args = ARGS({.index = 0, .value = 40, .op = OCI_OP_NE})}),
	};

	CHECK(build(&c) == 0);
	CHECK(native("socket", 2, 1, 0) == SECCOMP_RET_ALLOW);
	CHECK(native("socket", 40, 1, 0) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(native("socket", UINT64_C(1) << 32 | 40, 1, 0) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(native("socket", UINT64_C(1) << 63 | 40, 1, 0) == (SECCOMP_RET_ERRNO | EPERM));
}

/* Ids have 16 bits in the old calls of i386, and ipc's number has a version above it. */
TEST(old_calls_of_i386_have_narrow_arguments)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ALLOW,
		.architectures = STRINGS("SCMP_ARCH_X86"),
		.syscalls = RULES({.names = STRINGS("setuid", "setuid32"),
				   .action = OCI_ACT_ERRNO,
				   .args = ARGS({.index = 0, .value = 0, .op = OCI_OP_EQ})},
				  {.names = STRINGS("semget"), .action = OCI_ACT_ERRNO}),
	};
	const uint64_t wide[6] = {0x10000}, semget[6] = {2}, versioned[6] = {0x10002},
		       semctl[6] = {3};

	CHECK(build(&c) == 0);
	CHECK(answer(SCMP_ARCH_X86, 23, wide) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(answer(SCMP_ARCH_X86, 213, wide) == SECCOMP_RET_ALLOW);
	CHECK(native("setuid", 0x10000, 0, 0) == SECCOMP_RET_ALLOW);
	CHECK(answer(SCMP_ARCH_X86, 117, semget) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(answer(SCMP_ARCH_X86, 117, versioned) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(answer(SCMP_ARCH_X86, 117, semctl) == SECCOMP_RET_ALLOW);
}

/* The mask covers the value too, as libseccomp documents it. */
TEST(a_masked_value_is_masked)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ALLOW,
		.syscalls = RULES({.names = STRINGS("lseek"),
				   .action = OCI_ACT_TRAP,
				   .args = ARGS({.index = 1,
						 .value = 0xff,
						 .value_two = 0x1234,
						 .op = OCI_OP_MASKED_EQ})}),
	};

	CHECK(build(&c) == 0);
	CHECK(native("lseek", 0, 0x34, 0) == SECCOMP_RET_TRAP);
	CHECK(native("lseek", 0, 0x1234, 0) == SECCOMP_RET_TRAP);
	CHECK(native("lseek", 0, 0x1235, 0) == SECCOMP_RET_ALLOW);
}

TEST(calls_that_libseccomp_is_too_old_for_are_known)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ERRNO,
		.architectures =
			STRINGS("SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_LOONGARCH64"),
		.syscalls = RULES({.names = STRINGS("mseal", "statmount", "listmount", "setxattrat",
						    "open_tree_attr", "file_getattr", "listns"),
				   .action = OCI_ACT_ALLOW}),
	};

	CHECK(build(&c) == 0);
	CHECK_INT(notes.n, 0);
	CHECK(answer(syscall_arch_native()->token, 462, NULL) == SECCOMP_RET_ALLOW);
	CHECK(answer(AUDIT_ARCH_I386, 457, NULL) == SECCOMP_RET_ALLOW);
	CHECK(answer(AUDIT_ARCH_LOONGARCH64, 470, NULL) == SECCOMP_RET_ALLOW);
	CHECK(answer(AUDIT_ARCH_LOONGARCH64, 459, NULL) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(answer(AUDIT_ARCH_LOONGARCH64, 471, NULL) == (SECCOMP_RET_ERRNO | ENOSYS));
}

/* libseccomp 2.5.4 lets arg0 = 4 pass on i386, and never returns for some such profiles. */
TEST(overlapping_rules_of_several_args_are_all_heard)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ALLOW,
		.architectures = STRINGS("SCMP_ARCH_X86"),
		.syscalls = RULES({.names = STRINGS("ioctl"),
				   .action = OCI_ACT_TRAP,
				   .args = ARGS({.index = 0, .value = 2, .op = OCI_OP_NE},
						{.index = 1,
						 .value = 2,
						 .value_two = 2,
						 .op = OCI_OP_MASKED_EQ})},
				  {.names = STRINGS("ioctl"),
				   .action = OCI_ACT_TRAP,
				   .args = ARGS({.index = 0, .value = 0, .op = OCI_OP_GT})}),
	};
	const uint64_t args[6] = {4};

	CHECK(build(&c) == 0);
	CHECK(answer(SCMP_ARCH_X86, 54, args) == SECCOMP_RET_TRAP);
	CHECK(native("ioctl", 4, 0, 0) == SECCOMP_RET_TRAP);
	CHECK(native("ioctl", 0, 0, 0) == SECCOMP_RET_ALLOW);
}

TEST(long_programs_jump_far_and_too_long_ones_are_refused)
{
	struct arena own = {0};
	struct oci_seccomp c = {.set = true, .default_action = OCI_ACT_ERRNO};
	uint64_t args[6] = {0};
	size_t i;

	c.syscalls.n = 600;
	c.syscalls.v = arena_array(&own, 600, struct oci_seccomp_rule);
	for (i = 0; i < c.syscalls.n; i++) {
		struct oci_seccomp_rule *r = &c.syscalls.v[i];

		*r = (struct oci_seccomp_rule){.action = OCI_ACT_ALLOW};
		r->names = (struct strings){1, arena_array(&own, 1, char *)};
		r->names.v[0] = arena_strdup(&own, i % 2 ? "ioctl" : "mkdirat");
		r->args.n = 1;
		r->args.v = arena_array(&own, 1, struct oci_seccomp_arg);
		r->args.v[0] =
			(struct oci_seccomp_arg){.index = 1, .value = 3 * i, .op = OCI_OP_EQ};
	}
	CHECK(build(&c) == 0);
	for (args[1] = 0; args[1] < 1810; args[1]++) {
		compare(&c, (uint32_t)seccomp_syscall_resolve_name("ioctl"), args);
		compare(&c, (uint32_t)seccomp_syscall_resolve_name("mkdirat"), args);
		compare(&c, 2, args);
	}
	for (i = 0; i < c.syscalls.n; i++)
		c.syscalls.v[i].args.v[0].op = OCI_OP_GT;
	CHECK(build(&c) == 0);
	c.architectures = (struct strings)STRINGS("SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64");
	CHECK(build(&c) < 0);
	CHECK_STR(err.text,
		  "linux.seccomp: the filter is longer than the 4096 instructions that the "
		  "kernel takes");
	arena_free(&own);
}

/* In the kernel */

static int in_child(int (*run)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(run());
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int load_and_call(void)
{
	int fd = 7;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return 101;
	if (seccomp_install(&program, &fd, &err) < 0 || fd != -1)
		return 102;
	if (syscall(SYS_mkdirat, AT_FDCWD, "", 0) != -1 || errno != EDOM)
		return 103;
	if (syscall(SYS_unlinkat, AT_FDCWD, "", 1) != -1 || errno != EPERM)
		return 104;
	if (syscall(SYS_unlinkat, AT_FDCWD, "", 0) != -1 || errno != ENOENT)
		return 105;
	if (syscall(600) != -1 || errno != ENOSYS)
		return 106;
	return 0;
}

static int load_and_die(void)
{
	int fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    seccomp_install(&program, &fd, &err) < 0)
		return 101;
	syscall(SYS_symlinkat, "", AT_FDCWD, "");
	return 102;
}

TEST(the_kernel_takes_the_program_and_answers_alike)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ALLOW,
		.syscalls = RULES({.names = STRINGS("mkdirat"),
				   .action = OCI_ACT_ERRNO,
				   .errno_ret = {true, EDOM}},
				  {.names = STRINGS("unlinkat"),
				   .action = OCI_ACT_ERRNO,
				   .args = ARGS({.index = 2, .value = 1, .op = OCI_OP_EQ})},
				  {.names = STRINGS("symlinkat"), .action = OCI_ACT_KILL_PROCESS}),
	};

	CHECK(build(&c) == 0);
	CHECK_INT(in_child(load_and_call), 0);
	CHECK_INT(in_child(load_and_die), 1000 + SIGSYS);
	c.flags = (struct strings)STRINGS("SECCOMP_FILTER_FLAG_TSYNC");
	CHECK(build(&c) == 0);
	CHECK_INT(in_child(load_and_call), 0);
}

static int load_with_listener(void)
{
	struct pollfd p = {.events = POLLIN};
	int status;
	pid_t pid;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return 101;
	if (seccomp_install(&program, &p.fd, &err) < 0 || p.fd < 0)
		return 102;
	if (!(fcntl(p.fd, F_GETFD) & FD_CLOEXEC))
		return 103;
	pid = fork();
	if (pid == 0) {
		syscall(SYS_mkdirat, AT_FDCWD, "", 0);
		_exit(0);
	}
	if (poll(&p, 1, 60000) != 1 || !(p.revents & POLLIN))
		return 104;
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return 0;
}

TEST(a_notify_rule_gives_a_listener)
{
	struct oci_seccomp c = {
		.set = true,
		.default_action = OCI_ACT_ALLOW,
		.listener_path = (char *)(uintptr_t)"/run/agent",
		.syscalls = RULES({.names = STRINGS("mkdirat"), .action = OCI_ACT_NOTIFY}),
	};

	CHECK(build(&c) == 0);
	CHECK_INT(in_child(load_with_listener), 0);
	c.flags = (struct strings)STRINGS("SECCOMP_FILTER_FLAG_TSYNC",
					  "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV");
	if (build(&c) == 0) /* Linux 5.19 */
		CHECK_INT(in_child(load_with_listener), 0);
	else
		CHECK(strstr(err.text, "this kernel lacks"));
}

int main(void)
{
	int rc = unit_main();

	arena_free(&arena);
	return rc;
}
