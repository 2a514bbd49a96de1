/* The pure parts of the code runner: questions for names, words that are shown, sizes, results, and
 * filters that ask. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/str.h"
#include "box/box.h"
#include "box/denials.h"
#include "box/disk.h"
#include "box/hints.h"
#include "box/resolver.h"
#include "filter/observe.h"
#include "filter/seccomp_eval.h"
#include "filter/syscalls.h"
#include "plan/ids.h"
#include "unit.h"

static struct arena arena;

/* ---- names ---- */

static const unsigned char question[] = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
					"\x04" "evil" "\x03" "com" "\x00" "\x00\x01\x00\x01";
enum { QUESTION = sizeof(question) - 1 };

TEST(a_question_gets_no_for_an_answer)
{
	unsigned char p[RESOLVER_PACKET_MAX];
	char name[RESOLVER_NAME_MAX];

	memcpy(p, question, QUESTION);
	CHECK(resolver_answer(p, QUESTION, name) == QUESTION);
	CHECK_STR(name, "evil.com");
	CHECK(p[0] == 0x12 && p[1] == 0x34);
	CHECK((p[2] & 0x80) && (p[3] & 0x0f) == 3);
	CHECK(memcmp(p + 6, "\0\0\0\0\0\0", 6) == 0);
}

TEST(what_is_no_question_gets_none)
{
	unsigned char p[RESOLVER_PACKET_MAX];
	char name[RESOLVER_NAME_MAX];
	size_t len, i;

	for (len = 0; len < QUESTION; len++) {
		memcpy(p, question, QUESTION);
		CHECK(resolver_answer(p, len, name) == 0);
	}
	memcpy(p, question, QUESTION);
	p[2] |= 0x80; /* an answer */
	CHECK(resolver_answer(p, QUESTION, name) == 0);
	memcpy(p, question, QUESTION);
	p[12] = 0xc0; /* a pointer */
	CHECK(resolver_answer(p, QUESTION, name) == 0);
	memset(p, 0, sizeof(p));
	p[5] = 1;
	for (i = 12; i + 64 < sizeof(p); i += 64)
		p[i] = 63; /* longer than a name may be */
	CHECK(resolver_answer(p, sizeof(p), name) == 0);
}

/* ---- words ---- */

TEST(names_are_shown_without_what_hides)
{
	char longer[1000];

	CHECK_STR(hint_clean("/etc/x y", &arena), "/etc/x y");
	CHECK_STR(hint_clean("a\nb\033[1mc<i>", &arena), "a?b?[1mc?i?");
	CHECK_STR(hint_clean("a\xe2\x80\xae"
			     "b\xe2\x80\x8b"
			     "c\xef\xbb\xbf"
			     "d\xc2\x85"
			     "e\xff",
			     &arena),
		  "a?b?c?d?e?");
	CHECK_STR(hint_clean("\xc3\xa4\xe4\xbd\xa0", &arena), "\xc3\xa4\xe4\xbd\xa0");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	CHECK(strlen(hint_clean(longer, &arena)) == HINT_TEXT_MAX + 3);
}

TEST(no_hint_says_to_turn_anything_off)
{
	static const char *const bad[] = {"disable", "unconfined", "--policy oci", "privileged",
					  NULL};
	size_t i, k;

	for (i = 0; i < syscall_row_count; i++)
		for (k = 0; bad[k]; k++)
			CHECK(!strstr(hint_of_call(syscall_rows[i].name), bad[k]));
}

/* ---- requests ---- */

TEST(languages_have_names_of_their_own)
{
	size_t i, k;

	for (i = 0; i < box_n_languages; i++) {
		CHECK(box_language_find(box_languages[i].name) == &box_languages[i]);
		for (k = 0; k < 6 && box_languages[i].aliases[k]; k++)
			CHECK(box_language_find(box_languages[i].aliases[k]) == &box_languages[i]);
	}
	CHECK(!box_language_find("cobol"));
}

TEST(a_workspace_leaves_half_of_the_memory)
{
	struct box_request q;
	size_t i;

	box_request_default(&q);
	for (i = 0; i < box_n_presets; i++) {
		q.limits = box_presets[i].limits;
		CHECK(disk_is_wanted(&q) == str_eq(box_presets[i].name, "harombe"));
	}
}

/* ---- results ---- */

static const char *shown(const struct box_result *r)
{
	struct buf b = buf_new(&arena, 1 << 20);

	box_result_write(r, &b);
	return b.data;
}

TEST(bytes_that_are_no_text_are_base64_in_both_streams)
{
	const struct box_result r = {
		.id = "x",
		.rootfs = "y",
		.out = {{.data = "a\xff", .len = 2}, {.data = "abc", .len = 3}}};

	CHECK(strstr(shown(&r), "\"stdout\":\"Yf8=\",\"stderr\":\"YWJj\",\"encoding\":\"base64\""));
}

TEST(exit_statuses_are_those_of_the_page)
{
	CHECK(box_exit_status(&(struct box_result){.status = BOX_ERROR, .exit_code = 3}) == 3);
	CHECK(box_exit_status(&(struct box_result){.status = BOX_TIMEOUT, .exit_code = 3}) == 124);
	CHECK(box_exit_status(&(struct box_result){.status = BOX_OOM, .signal = 9}) == 137);
	CHECK(box_exit_status(&(struct box_result){.status = BOX_SANDBOX_ERROR}) == 125);
	CHECK(box_exit_status(&(struct box_result){.status = BOX_SANDBOX_ERROR,
						   .error_class = ERR_NO_PROGRAM}) == 127);
	CHECK(box_exit_status(&(struct box_result){.status = BOX_OK, .interrupted = 2}) == 130);
}

/* ---- filters ---- */

static uint32_t verdict(const struct seccomp_program *p, int nr, uint64_t a0, uint64_t a1,
			uint64_t a2)
{
	const struct seccomp_data d = {
		.nr = nr, .arch = syscall_arch_native()->token, .args = {a0, a1, a2}};

	return bpf_eval(p->filter, p->len, &d).action;
}

static struct oci_seccomp_rule rule(const char *name, enum oci_seccomp_action action)
{
	struct oci_seccomp_rule r = {.action = action};

	r.names.n = 1;
	r.names.v = arena_array(&arena, 2, char *);
	r.names.v[0] = arena_strdup(&arena, name);
	return r;
}

/* What is denied is asked about, and the judge still says what it was; what is allowed is left
 * alone unless it is watched. */
TEST(a_filter_asks_where_it_denied)
{
	struct oci_seccomp c = {.set = true, .default_action = OCI_ACT_ERRNO};
	struct oci_seccomp_arg plain = {.index = 2, .value = 06000, .op = OCI_OP_MASKED_EQ};
	struct oci_seccomp_rule rules[6] = {
		rule("openat", OCI_ACT_ALLOW),	rule("getpid", OCI_ACT_ALLOW),
		rule("connect", OCI_ACT_ERRNO), rule("mkdirat", OCI_ACT_ALLOW),
		rule("clone3", OCI_ACT_ERRNO),	rule("fchmodat", OCI_ACT_ALLOW)};
	struct seccomp_program p, judge;
	struct notes notes = {0};
	struct error e;

	rules[2].errno_ret = (struct opt_u32){true, EACCES};
	rules[4].errno_ret = (struct opt_u32){true, ENOSYS};
	rules[5].args.n = 1;
	rules[5].args.v = &plain;
	c.syscalls.n = 6;
	c.syscalls.v = rules;
	CHECK(seccomp_program_build(&c, &arena, &judge, &notes, &e) == 0);
	observe_add_rules(&c, OBSERVE_FULL, &arena);
	CHECK(seccomp_program_build(&c, &arena, &p, &notes, &e) == 0);
	observe_denials(&p);
	CHECK(p.notify);
	CHECK(verdict(&p, SYS_getpid, 0, 0, 0) == SECCOMP_RET_ALLOW);
	CHECK(verdict(&p, SYS_openat, 0, 0, O_RDONLY) == SECCOMP_RET_ALLOW);
	CHECK(verdict(&p, SYS_openat, 0, 0, O_WRONLY | O_CREAT) == SECCOMP_RET_USER_NOTIF);
	CHECK(verdict(&judge, SYS_openat, 0, 0, O_RDWR) == SECCOMP_RET_ALLOW);
	CHECK(verdict(&p, SYS_mkdirat, 0, 0, 0) == SECCOMP_RET_USER_NOTIF);
	/* A watched call that the profile denies stays denied. */
	CHECK(verdict(&p, SYS_connect, 0, 0, 0) == SECCOMP_RET_USER_NOTIF);
	CHECK(verdict(&judge, SYS_connect, 0, 0, 0) == (SECCOMP_RET_ERRNO | EACCES));
	/* A watched call that is allowed for some arguments is denied for the others. */
	CHECK(verdict(&p, SYS_fchmodat, 0, 0, 04755) == SECCOMP_RET_USER_NOTIF);
	CHECK(verdict(&judge, SYS_fchmodat, 0, 0, 04755) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(verdict(&judge, SYS_fchmodat, 0, 0, 0755) == SECCOMP_RET_ALLOW);
	CHECK(verdict(&p, SYS_ptrace, 0, 0, 0) == SECCOMP_RET_USER_NOTIF);
	CHECK(verdict(&judge, SYS_ptrace, 0, 0, 0) == (SECCOMP_RET_ERRNO | EPERM));
	CHECK(verdict(&p, SYS_clone3, 0, 0, 0) == (SECCOMP_RET_ERRNO | ENOSYS));
	CHECK(verdict(&p, 4000, 0, 0, 0) == (SECCOMP_RET_ERRNO | ENOSYS));
}

/* ---- volumes ---- */

static bool maps(const struct oci_id_maps *m, uint32_t disk, uint32_t *ret)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (disk >= m->v[i].container_id && disk - m->v[i].container_id < m->v[i].size) {
			*ret = m->v[i].host_id + (disk - m->v[i].container_id);
			return true;
		}
	return false;
}

/* The owner on the disk is the program, nobody else is either, and nobody is the disk's root unless
 * that owns it. */
/* Past a rate whoever asks waits, and not who answers. */
TEST(answers_have_a_rate)
{
	struct loop_source source = {.fd = 7};
	struct denials *d = arena_new(&arena, struct denials);

	*d = (struct denials){.listener_fd = 7,
			      .source = &source,
			      .in_window = DENIALS_A_WINDOW - 2,
			      .window_ends = loop_now() + LOOP_SECOND};
	denials_spend(d);
	denials_settle(d);
	CHECK(source.fd == 7);
	denials_spend(d);
	denials_settle(d);
	CHECK(source.fd == -1);
	CHECK(d->pause_until == d->window_ends);
	d->pause_until = d->window_ends = loop_now() - 1;
	denials_settle(d);
	CHECK(source.fd == 7);
	denials_spend(d);
	CHECK(d->in_window == 1);
}

TEST(a_volume_belongs_to_the_program)
{
	static const uint32_t ids[] = {0, 1, 33, 1000, 65533, 65534, 65535, 65536, 100000};
	const struct id_range range = {.first = 1000000, .size = 65536};
	size_t i, k, n;
	uint32_t a, b;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		struct oci_id_maps m = ids_map_to_program(range, ids[i], 65534, &arena);

		CHECK(maps(&m, ids[i], &a) && a == 1000000 + 65534);
		for (k = 0, n = 0; k < ARRAY_SIZE(ids); k++)
			if (maps(&m, ids[k], &b)) {
				n += b == 1000000 + 65534;
				CHECK(b >= 1000000 && b < 1065536);
			}
		CHECK(n == 1);
		CHECK(ids[i] == 0 || !maps(&m, 0, &b));
	}
}

int main(void)
{
	return unit_main();
}
