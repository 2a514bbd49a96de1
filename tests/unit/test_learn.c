/* What is learned of system calls: counted, judged by who would have to give them, and written as a
 * profile; and the profiles of languages. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/str.h"
#include "box/box.h"
#include "box/profiles.h"
#include "filter/seccomp_eval.h"
#include "json/json.h"
#include "learn/needs.h"
#include "learn/report.h"
#include "oci/oci.h"
#include "policy/ceiling.h"
#include "unit.h"

static struct arena arena;
static struct tally tally;
static struct learning learning;

static struct seccomp_data call(const char *name, uint64_t a, uint64_t b, uint64_t c)
{
	return (struct seccomp_data){
		.nr = syscall_number(syscall_find(name), syscall_arch_native()),
		.arch = syscall_arch_native()->token,
		.args = {a, b, c}};
}

static int made(const char *name, uint64_t a, uint64_t b, uint64_t c)
{
	const struct seccomp_data d = call(name, a, b, c);

	return tally_note(&tally, &d, SECCOMP_RET_ALLOW, TALLY_PROGRAM);
}

static void refused(const char *name, uint64_t a, uint32_t verdict)
{
	const struct seccomp_data d = call(name, a, 0, 0);

	CHECK(tally_note(&tally, &d, verdict, TALLY_PROGRAM) == TALLY_NONE);
}

static void begin(const char *policy)
{
	tally = (struct tally){0};
	learning = (struct learning){.tally = &tally, .policy = *policy_preset_find(policy)};
}

static const char *report(enum learn_format format, bool with_refused)
{
	const struct learn_view view = {.learning = &learning, .with_refused = with_refused};
	struct buf b = buf_new(&arena, 1 << 20);

	learn_write(&view, format, &arena, &b);
	return b.data;
}

TEST(calls_are_counted_with_their_values_and_errors)
{
	int which;

	begin("code");
	made("getppid", 0, 0, 0);
	made("getppid", 0, 0, 0);
	which = made("socket", AF_UNIX, 1, 0);
	tally_note_failure(&tally, which, EMFILE, 1);
	made("socket", AF_INET, 1, 0);
	made("socket", AF_INET, 2, 0);
	CHECK(tally.n == 2);
	CHECK(tally.v[0].made[TALLY_PROGRAM] == 2 && tally.v[0].n_values == 0);
	CHECK(tally.v[1].made[TALLY_PROGRAM] == 3 && tally.v[1].failed == 1);
	CHECK(tally.v[1].n_values == 2 && tally.v[1].values[1].count == 2);
}

TEST(more_values_than_there_is_room_for_are_said)
{
	uint64_t i;

	begin("code");
	for (i = 0; i < TALLY_VALUES + 3; i++)
		made("ioctl", 0, i, 0);
	CHECK(tally.v[0].n_values == TALLY_VALUES && tally.v[0].more);
	CHECK(tally.v[0].made[TALLY_PROGRAM] == TALLY_VALUES + 3);
}

/* A program can make up numbers: the table fills, and the rest is counted as lost. */
TEST(a_full_table_loses_calls_and_says_so)
{
	struct seccomp_data d = call("read", 0, 0, 0);
	int i;

	begin("code");
	for (i = 0; i < TALLY_CALLS + 5; i++) {
		d.nr = 100000 + i;
		tally_note(&tally, &d, SECCOMP_RET_ALLOW, TALLY_PROGRAM);
	}
	CHECK(tally.n == TALLY_CALLS && tally.lost == 5);
	CHECK(strstr(report(LEARN_TEXT, false), "5 calls, for want of room"));
	tally_note_failure(&tally, -1, EPERM, 0);
	tally_note_failure(&tally, TALLY_CALLS, EPERM, 0);
}

TEST(refusals_are_no_calls_that_were_made)
{
	begin("code");
	made("socket", AF_UNIX, 1, 0);
	refused("socket", AF_PACKET, SECCOMP_RET_ERRNO | EPERM);
	CHECK(tally.v[0].made[TALLY_PROGRAM] == 1 && tally.v[0].refused == 1);
	CHECK(!tally.v[0].values[0].refused && tally.v[0].values[1].refused);
	CHECK(!tally_refuses(SECCOMP_RET_ALLOW) && !tally_refuses(SECCOMP_RET_LOG) &&
	      !tally_refuses(SECCOMP_RET_USER_NOTIF));
	CHECK(tally_refuses(SECCOMP_RET_ERRNO | ENOSYS) && tally_refuses(SECCOMP_RET_TRAP) &&
	      tally_refuses(SECCOMP_RET_KILL_PROCESS) && tally_refuses(SECCOMP_RET_KILL_THREAD));
}

TEST(who_would_have_to_give_it)
{
	struct tally_call *c = tally.v;

	begin("code");
	refused("chroot", 0, SECCOMP_RET_ERRNO | EPERM);
	refused("socket", AF_PACKET, SECCOMP_RET_ERRNO | EPERM);
	refused("mkdir", 0, SECCOMP_RET_ERRNO | EPERM); /* the policy gives it */
	refused("clone3", 0, SECCOMP_RET_ERRNO | ENOSYS);
	CHECK(needs_giver_of(&learning, &c[0]) == GIVER_CALLS);
	CHECK(needs_giver_of(&learning, &c[1]) == GIVER_SOCKETS);
	CHECK(needs_giver_of(&learning, &c[2]) == GIVER_CONFIG);
	CHECK(needs_giver_of(&learning, &c[3]) == GIVER_NOBODY);
	learning.policy = *policy_preset_find("oci");
	CHECK(needs_giver_of(&learning, &c[0]) == GIVER_CONFIG);
}

/* What is told for a file of policies is one, and gives it. */
TEST(rows_are_a_policy_that_gives_it)
{
	struct policy_file file;
	struct policy p;
	struct needs n;
	struct error e;
	char *text;

	begin("code");
	refused("chroot", 0, SECCOMP_RET_ERRNO | EPERM);
	refused("ptrace", 0, SECCOMP_RET_ERRNO | EPERM);
	refused("socket", AF_PACKET, SECCOMP_RET_ERRNO | EPERM);
	refused("mkdir", 0, SECCOMP_RET_ERRNO | EPERM);
	refused("clone3", 0, SECCOMP_RET_ERRNO | ENOSYS);
	needs_find(&learning, &arena, &n);
	text = arena_printf(&arena,
			    "{\"version\": 1, \"policies\": {\"x\": {\"base\": \"code\", %s}}}",
			    needs_rows(&learning, &n, &arena));
	CHECK(policy_file_read(text, strlen(text), &arena, &file, &e) == 0);
	CHECK(policy_find(&file, "x", &arena, &p, &e) == 0);
	CHECK(ceiling_verdict(&p, "chroot") == CALL_yes &&
	      ceiling_verdict(&p, "ptrace") == CALL_yes);
	CHECK(ceiling_verdict(&p, "clone3") == CALL_nosys);
	CHECK(policy_gives(&p, LIST_SOCKETS, "packet") && !policy_gives(&p, LIST_SOCKETS, "vsock"));
	begin("code");
	needs_find(&learning, &arena, &n);
	CHECK_STR(needs_rows(&learning, &n, &arena), "");
}

TEST(memory_that_is_written_and_executed_is_noticed)
{
	struct needs n;
	int which;

	begin("code");
	which = made("mprotect", 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	tally_note_failure(&tally, which, EACCES, PROT_READ | PROT_WRITE | PROT_EXEC);
	needs_find(&learning, &arena, &n);
	CHECK(n.exec_gain);
	begin("code");
	which = made("mprotect", 0, 4096, PROT_READ);
	tally_note_failure(&tally, which, EACCES, PROT_READ);
	needs_find(&learning, &arena, &n);
	CHECK(!n.exec_gain);
}

/* The profile lets through what was seen, and no more. */
TEST(a_profile_gives_what_was_seen_and_no_more)
{
	const uint64_t none[6] = {0}, unix_[6] = {AF_UNIX}, inet[6] = {AF_INET},
		       packet[6] = {AF_PACKET};
	const uint64_t thread[6] = {CLONE_THREAD}, new_user[6] = {CLONE_NEWUSER};
	const struct syscall_arch *arch = syscall_arch_native();
	struct oci_config *config = arena_new(&arena, struct oci_config);
	struct seccomp_program p;
	struct notes notes = {0};
	struct error e;
	char *text;

	begin("oci");
	made("getppid", 0, 0, 0);
	made("socket", AF_UNIX, 1, 0);
	made("clone", CLONE_THREAD, 0, 0);
	refused("mkdir", 0, SECCOMP_RET_ERRNO | EPERM);
	refused("socket", AF_PACKET, SECCOMP_RET_ERRNO | EPERM);
	text = arena_printf(&arena,
			    "{\"ociVersion\": \"1.0.0\", \"root\": {\"path\": \"x\"}, \"linux\": {\"seccomp\": %s}}",
			    report(LEARN_OCI, false));
	CHECK(oci_config_read("config", text, strlen(text), &arena, config, &e) == 0);
	CHECK(seccomp_program_build(&config->linux_.seccomp, &arena, &p, &notes, &e) == 0);
#define ALLOWS(name, args)                                                                         \
	bpf_allows(p.filter, p.len, syscall_number(syscall_find(name), arch), args)
	CHECK(ALLOWS("getppid", none) && ALLOWS("execve", none) && ALLOWS("rt_sigreturn", none));
	CHECK(ALLOWS("socket", unix_) && !ALLOWS("socket", inet) && !ALLOWS("socket", packet));
	CHECK(ALLOWS("clone", thread) && !ALLOWS("clone", new_user));
	CHECK(!ALLOWS("mkdir", none) && !ALLOWS("getpid", none));
}

/* ---- profiles of languages ---- */

static bool has(const struct strings *calls, const char *name)
{
	size_t i;

	for (i = 0; i < calls->n; i++)
		if (str_eq(calls->v[i], name))
			return true;
	return false;
}

/* A name that the policy does not give would be left out without a word. */
TEST(all_that_was_recorded_is_known_and_given)
{
#define USES(name, why)                                                                            \
	CHECK(syscall_find(#name) && *(why));                                                      \
	CHECK(ceiling_verdict(policy_preset_find("code"), #name) >= CALL_some);
#include "../spec/seccomp/bash.def"
#include "../spec/seccomp/c.def"
#include "../spec/seccomp/node.def"
#include "../spec/seccomp/python.def"
#include "../spec/seccomp/r.def"
#undef USES
}

TEST(families_are_of_calls_that_there_are)
{
	static const char *const families[] = {
#define FAMILY(why, names) names,
#include "../spec/seccomp/siblings.def"
#undef FAMILY
	};
	char *copy, *name;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		copy = arena_strdup(&arena, families[i]);
		while ((name = strsep(&copy, " ")))
			CHECK(syscall_find(name));
	}
}

TEST(a_profile_has_a_shells_calls_siblings_and_nothing_beyond_the_policy)
{
	struct strings calls, bash;
	size_t i, k;

	box_profile_calls("bash", &arena, &bash);
	CHECK(bash.n > 100);
	for (i = 0; box_profiles[i]; i++) {
		box_profile_calls(box_profiles[i], &arena, &calls);
		for (k = 0; k < bash.n; k++)
			CHECK(has(&calls, bash.v[k]));
		for (k = 0; k < calls.n; k++)
			CHECK(ceiling_verdict(policy_preset_find("code"), calls.v[k]) >= CALL_some);
		CHECK(has(&calls, "fork") && has(&calls, "tkill") && has(&calls, "execve") &&
		      has(&calls, "clock_getres") && has(&calls, "lstat"));
		CHECK(!has(&calls, "chroot") && !has(&calls, "ptrace") && !has(&calls, "clone3"));
	}
	CHECK(!has(&bash, "timerfd_create") && !has(&bash, "epoll_create1"));
	CHECK(box_profile_refuses(&bash, "timerfd_create") &&
	      !box_profile_refuses(&bash, "chroot"));
	CHECK(!box_profile_refuses(&bash, "read"));
	CHECK(!box_profile_refuses(&(struct strings){0}, "timerfd_create"));
}

TEST(every_language_has_a_profile)
{
	size_t i;

	for (i = 0; i < box_n_languages; i++)
		CHECK(box_profile_exists(box_languages[i].profile));
	CHECK(!box_profile_exists("cobol") && box_profile_exists("none"));
}

int main(void)
{
	return unit_main();
}
