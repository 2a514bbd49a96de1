/*
 * The compiler against two other judges (seccomp_judge.h): profiles of engines, and random ones.
 *
 *	test_seccomp_differ				as a unit test
 *	test_seccomp_differ random COUNT [SEED]		the long form: 100000 take 15 minutes
 *	test_seccomp_differ config FILE…		the profiles of these config.json
 *	test_seccomp_differ kernel COUNT [SEED]		programs in the kernel, calls made for real
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "oci/oci.h"
#include "seccomp_judge.h"
#include "security/seccomp_install.h"
#include "filter/syscalls.h"

enum { UNIT_PROFILES = 300, UNIT_KERNEL = 100, BYTES = 2048, SEED = 20261117 };

static struct oracle oracle;

/* What a run came to. */
static struct totals {
	unsigned long profiles, too_long;
	unsigned long wrong, refused, hung; /* libseccomp's */
	struct judge_tally tally;
} totals;

static void fill(uint8_t *bytes, uint64_t seed)
{
	uint64_t x;
	size_t i;

	for (i = 0; i < BYTES; i++) {
		seed += UINT64_C(0x9e3779b97f4a7c15);
		x = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		bytes[i] = (uint8_t)(x >> 40);
	}
}

/* NULL, or what is wrong. */
static const char *judge_one(const struct oci_seccomp *c, struct arena *a)
{
	struct seccomp_program p;
	struct notes notes = {0};
	static struct error e;
	enum oracle_verdict verdict;
	struct judge *j;
	uint64_t wrong = totals.tally.oracle_wrong;

	totals.profiles++;
	if (seccomp_program_build(c, a, &p, &notes, &e) < 0) {
		if (!strstr(e.text, "the filter is longer than"))
			return e.text;
		totals.too_long++;
		return NULL;
	}
	j = judge_new(c, a);
	verdict = oracle_make(j, &oracle);
	if (verdict == ORACLE_BROKEN)
		return "libseccomp could not be asked";
	totals.refused += verdict == ORACLE_REFUSED;
	totals.hung += verdict == ORACLE_HUNG;
	judge_compare(j, &p, verdict == ORACLE_MADE ? &oracle : NULL, &totals.tally);
	totals.wrong += totals.tally.oracle_wrong != wrong;
	return totals.tally.why[0] ? totals.tally.why : NULL;
}

static const char *judge_random(uint64_t seed)
{
	struct arena a = {0};
	uint8_t bytes[BYTES];
	struct oci_seccomp c;
	const char *why;

	fill(bytes, seed);
	judge_profile((struct judge_bytes){bytes, BYTES}, &a, &c);
	why = judge_one(&c, &a);
	arena_free(&a);
	return why;
}

/* NULL, or what is wrong. */
static const char *judge_config(const char *path)
{
	static char text[1 << 20];
	struct arena a = {0};
	struct oci_config config;
	static struct error e;
	const char *why = NULL;
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (len <= 0)
		return "can't be read";
	if (oci_config_read(path, text, (size_t)len, &a, &config, &e) < 0)
		why = e.text;
	else if (!config.linux_.seccomp.set)
		why = "has no linux.seccomp";
	else
		why = judge_one(&config.linux_.seccomp, &a);
	arena_free(&a);
	return why;
}

static void totals_print(void)
{
	printf("# %lu profiles (%lu too long), %llu calls judged, %llu of them by libseccomp too: %s\n"
	       "# libseccomp: wrong for %lu, refused %lu, never returned from %lu\n",
	       totals.profiles, totals.too_long, (unsigned long long)totals.tally.calls,
	       (unsigned long long)totals.tally.oracle_calls,
	       totals.tally.why[0] ? totals.tally.why : "0 differences", totals.wrong,
	       totals.refused, totals.hung);
}

/*
 * In the kernel. A child takes the program and makes calls that do no harm whatever their
 * arguments: they ask, or change nothing but the child, or fail at an address where nothing is.
 * What comes back is told through a shared page.
 */

enum { PROBES = 32, OUR_ERRNO = 2000 /* larger than any of the kernel's */ };

static const char *const harmless[] = {
	"getuid",      "getppid", "getpgid", "getsid",
	"getpriority", "umask",	  "chmod",   "sched_getscheduler",
	"eventfd2",    "dup",	  "mkdirat", "sched_get_priority_max"};

static const enum oci_seccomp_action harmless_actions[] = {
	OCI_ACT_ERRNO, OCI_ACT_ERRNO, OCI_ACT_ERRNO, OCI_ACT_ERRNO,
	OCI_ACT_ALLOW, OCI_ACT_TRACE, OCI_ACT_LOG,   OCI_ACT_TRAP,
};

struct probes {
	size_t n, done;
	struct {
		struct seccomp_data d;
		uint32_t want;
		int got; /* errno, or 0 */
	} v[PROBES];
};

static uint32_t random_at(uint64_t *state, uint32_t n)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33) % n;
}

/* Random rules, but for harmless calls, and with errnos that tell them apart. */
static void kernel_profile(uint64_t *state, struct arena *a, struct oci_seccomp *ret)
{
	uint8_t bytes[BYTES];
	size_t i;

	fill(bytes, *state);
	judge_profile((struct judge_bytes){bytes, BYTES}, a, ret);
	ret->default_action = OCI_ACT_ALLOW;
	ret->default_errno_ret.set = false;
	for (i = 0; i < ret->syscalls.n; i++) {
		struct oci_seccomp_rule *r = &ret->syscalls.v[i];
		const char *name = harmless[random_at(state, ARRAY_SIZE(harmless))];

		r->names.v[0] = arena_strdup(a, name);
		r->action = harmless_actions[random_at(state, ARRAY_SIZE(harmless_actions))];
		r->errno_ret =
			(struct opt_u32){r->action == OCI_ACT_ERRNO, OUR_ERRNO + (uint32_t)i};
	}
}

/* A call that some rule speaks of, its arguments at or beside the rule's values. */
static struct seccomp_data kernel_call(uint64_t *state, const struct oci_seccomp *c)
{
	const struct oci_seccomp_rule *r =
		&c->syscalls.v[random_at(state, (uint32_t)c->syscalls.n)];
	const struct syscall_arch *arch = syscall_arch_native();
	struct seccomp_data d = {.arch = arch->token};
	size_t i;

	d.nr = syscall_number(syscall_find(r->names.v[0]), arch);
	for (i = 0; i < r->args.n; i++) {
		uint64_t v = r->args.v[i].value + random_at(state, 3) - 1;

		if (!random_at(state, 4))
			v ^= UINT64_C(1) << (random_at(state, 2) ? 32 : 16);
		d.args[r->args.v[i].index] = v;
	}
	return d;
}

static int kernel_child(const struct seccomp_program *p, struct probes *probes)
{
	struct error e;
	size_t i;
	int fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || seccomp_install(p, &fd, &e) < 0)
		return 101;
	for (i = 0; i < probes->n; i++) {
		const struct seccomp_data *d = &probes->v[i].d;

		errno = 0;
		probes->v[i].got = syscall(d->nr, d->args[0], d->args[1], d->args[2], d->args[3],
					   d->args[4], d->args[5]) < 0 ?
					   errno :
					   0;
		probes->done++;
	}
	return 0;
}

static bool kernel_agrees(uint32_t want, int got)
{
	switch (want & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ERRNO:
		return got == (int)(want & SECCOMP_RET_DATA);
	case SECCOMP_RET_TRACE: /* nobody traces */
		return got == ENOSYS;
	default: /* the call was made */
		return got < OUR_ERRNO && got != ENOSYS;
	}
}

/* The probes of one program; one that kills comes last. NULL, or what is wrong. */
static const char *kernel_try(const struct judge *j, const struct seccomp_program *p,
			      uint64_t *state, const struct oci_seccomp *c, struct probes *probes)
{
	static char why[128];
	bool dies = false;
	int status;
	size_t i;
	pid_t pid;

	probes->n = probes->done = 0;
	while (probes->n < PROBES && !dies) {
		struct seccomp_data d = kernel_call(state, c);
		uint32_t want = judge_answer(j, JUDGE_OURS, &d);

		dies = want == SECCOMP_RET_TRAP && probes->n > PROBES / 2;
		if (want == SECCOMP_RET_TRAP && !dies)
			d.nr = SYS_getpid, want = SECCOMP_RET_ALLOW;
		probes->v[probes->n].d = d;
		probes->v[probes->n++].want = want;
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(kernel_child(p, probes));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return "no child";
	if (dies ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS ||
			    probes->done != probes->n - 1 :
		   !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		snprintf(why, sizeof(why), "the child ended with %#x after %zu of %zu calls",
			 (unsigned int)status, probes->done, probes->n);
		return why;
	}
	for (i = 0; i < probes->done; i++) {
		if (kernel_agrees(probes->v[i].want, probes->v[i].got))
			continue;
		snprintf(why, sizeof(why),
			 "call %d with %llx, %llx: errno %d, the profile means %#x",
			 probes->v[i].d.nr, (unsigned long long)probes->v[i].d.args[0],
			 (unsigned long long)probes->v[i].d.args[1], probes->v[i].got,
			 probes->v[i].want);
		return why;
	}
	return NULL;
}

static const char *kernel_one(uint64_t seed, struct probes *probes)
{
	struct arena a = {0};
	struct oci_seccomp c;
	struct seccomp_program p;
	struct notes notes = {0};
	static struct error e;
	const char *why = e.text;

	kernel_profile(&seed, &a, &c);
	if (seccomp_program_build(&c, &a, &p, &notes, &e) == 0)
		why = kernel_try(judge_new(&c, &a), &p, &seed, &c, probes);
	arena_free(&a);
	return why;
}

static const char *kernel_many(unsigned long count, uint64_t seed, unsigned long *ret_calls)
{
	struct probes *probes = mmap(NULL, sizeof(*probes), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *why = probes == MAP_FAILED ? "no memory" : NULL;
	unsigned long i;

	*ret_calls = 0;
	for (i = 0; i < count && !why; i++) {
		why = kernel_one(seed + i, probes);
		*ret_calls += probes->done;
	}
	if (probes != MAP_FAILED)
		munmap(probes, sizeof(*probes));
	return why;
}

/* As a unit test */

TEST(docker_s_profile_means_the_same_to_all_judges)
{
	const char *why = judge_config("spec/bundles/docker/config.json");

	if (why)
		FAIL("%s", why);
	CHECK_INT(totals.wrong + totals.refused + totals.hung, 0);
	CHECK(totals.tally.oracle_calls > 1000);
}

TEST(random_profiles_mean_the_same_to_all_judges)
{
	uint64_t i;

	for (i = 0; i < UNIT_PROFILES; i++) {
		const char *why = judge_random(SEED + i);

		if (why)
			FAIL("seed %llu: %s", (unsigned long long)(SEED + i), why);
	}
	totals_print();
	/* If libseccomp were of no use the comparison would be hollow. */
	CHECK(totals.refused + totals.hung < UNIT_PROFILES / 4);
	CHECK(totals.too_long < UNIT_PROFILES / 20);
	CHECK(totals.tally.oracle_calls > totals.tally.calls / 2);
}

TEST(a_wrong_program_is_noticed)
{
	struct arena a = {0};
	struct oci_seccomp c;
	struct seccomp_program p;
	struct notes notes = {0};
	struct error e;
	uint8_t bytes[BYTES];
	unsigned int i, noticed = 0, tried = 0;

	fill(bytes, SEED);
	judge_profile((struct judge_bytes){bytes, BYTES}, &a, &c);
	CHECK(seccomp_program_build(&c, &a, &p, &notes, &e) == 0);
	for (i = 0; i < p.len; i++) {
		struct judge_tally t = {0};
		uint32_t before = p.filter[i].k;

		if (BPF_CLASS(p.filter[i].code) != BPF_RET)
			continue;
		p.filter[i].k ^= 1;
		judge_compare(judge_new(&c, &a), &p, NULL, &t);
		p.filter[i].k = before;
		tried++;
		noticed += t.why[0] != '\0';
	}
	arena_free(&a);
	/* Some returns can't be reached: rules that never hold, or come too late. */
	CHECK(tried > 20);
	if (noticed * 10 < tried * 8)
		FAIL("%u of %u changed returns were noticed", noticed, tried);
}

TEST(the_kernel_answers_random_programs_as_meant)
{
	unsigned long calls;
	const char *why = kernel_many(UNIT_KERNEL, SEED, &calls);

	if (why)
		FAIL("%s", why);
	CHECK(calls > UNIT_KERNEL * PROBES / 2);
}

/* The long forms */

static int verdict(const char *what, const char *why)
{
	if (!why)
		printf("ok %s\n", what);
	else
		printf("not ok %s: %s\n", what, why);
	return why != NULL;
}

static int main_random(unsigned long count, uint64_t seed)
{
	const char *why = NULL;
	unsigned long i;

	for (i = 0; i < count && !why; i++)
		why = judge_random(seed + i);
	if (why)
		printf("# seed %llu\n", (unsigned long long)(seed + i - 1));
	totals_print();
	return verdict("random", why);
}

static int main_configs(char **paths)
{
	int failed = 0;

	for (; *paths; paths++)
		failed |= verdict(*paths, judge_config(*paths));
	totals_print();
	return failed;
}

static int main_kernel(unsigned long count, uint64_t seed)
{
	unsigned long calls;
	const char *why = kernel_many(count, seed, &calls);

	printf("# %lu programs, %lu calls in the kernel\n", count, calls);
	return verdict("kernel", why);
}

int main(int argc, char **argv)
{
	const char *form = argc > 2 ? argv[1] : "";
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : SEED;

	if (argc == 1)
		return unit_main();
	if (str_eq(form, "random"))
		return main_random(count, seed);
	if (str_eq(form, "config"))
		return main_configs(argv + 2);
	if (str_eq(form, "kernel"))
		return main_kernel(count, seed);
	fprintf(stderr, "usage: the head of %s\n", __FILE__);
	return 2;
}
