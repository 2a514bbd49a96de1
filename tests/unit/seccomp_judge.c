#include "seccomp_judge.h"

#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "filter/seccomp_eval.h"
#include "filter/syscalls.h"

#define X32_BIT UINT32_C(0x40000000)

enum {
	ARGS = 6,
	NUMBERS = 480,	    /* to be tried above an architecture's base */
	ORACLE_SECONDS = 2, /* of processor time; a usual profile takes 0.01 */
	ARCHS_MAX = 32,
};

/* The meaning */

/* A rule for one number. */
struct entry {
	uint32_t nr;
	uint32_t action;
	const struct oci_seccomp_rule *rule;
	const struct syscall_row *row; /* the number's own: socketcall's for a rule on socket */
	int selector;		       /* -1: the rule's own arguments count */
	bool libseccomps;	       /* it means nothing to us */
	bool oracle_knows;
};

struct section {
	const struct syscall_arch *arch;
	uint32_t last;
	bool oracle_knows;
	size_t n;
	struct entry *v;
};

struct judge {
	const struct oci_seccomp *c;
	uint32_t fallback;
	bool enosys;
	struct section sections[ARCHS_MAX];
	size_t n;
};

static uint32_t action_value(enum oci_seccomp_action a, const struct opt_u32 *data)
{
	uint32_t number = data->set ? data->v : EPERM;

	switch (a) {
	case OCI_ACT_KILL:
		return SECCOMP_RET_KILL_THREAD;
	case OCI_ACT_KILL_PROCESS:
		return SECCOMP_RET_KILL_PROCESS;
	case OCI_ACT_TRAP:
		return SECCOMP_RET_TRAP;
	case OCI_ACT_ERRNO:
		return SECCOMP_RET_ERRNO | number;
	case OCI_ACT_TRACE:
		return SECCOMP_RET_TRACE | number;
	case OCI_ACT_ALLOW:
		return SECCOMP_RET_ALLOW;
	case OCI_ACT_LOG:
		return SECCOMP_RET_LOG;
	case OCI_ACT_NOTIFY:
		return SECCOMP_RET_USER_NOTIF;
	}
	return 0;
}

static bool action_stops(enum oci_seccomp_action a)
{
	return a == OCI_ACT_KILL || a == OCI_ACT_KILL_PROCESS || a == OCI_ACT_TRAP ||
	       a == OCI_ACT_ERRNO;
}

/* Less is stricter: the order of the specification's actions in the kernel's documentation. */
static int strictness(uint32_t action)
{
	static const uint32_t order[] = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD,
					 SECCOMP_RET_TRAP,	   SECCOMP_RET_ERRNO,
					 SECCOMP_RET_USER_NOTIF,   SECCOMP_RET_TRACE,
					 SECCOMP_RET_LOG,	   SECCOMP_RET_ALLOW};
	int i = 0;

	while (order[i] != (action & SECCOMP_RET_ACTION_FULL))
		i++;
	return i;
}

static void section_add(struct section *s, struct entry e)
{
	if (e.nr > s->last)
		s->last = e.nr;
	s->v[s->n++] = e;
}

/* Whether libseccomp can be asked about a name. For calls that have no number of their own on an
 * architecture it makes rules on pretended ones, which spoil its programs; and two names share one.
 */
static bool oracle_knows(const struct syscall_arch *arch, const char *name)
{
	char *back = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE,
						      seccomp_syscall_resolve_name(name));
	int theirs = seccomp_syscall_resolve_name_arch(arch->token, name);
	const struct syscall_row *row = syscall_find(name);
	unsigned int selector;
	bool known = row && back && str_eq(back, name) && syscall_number(row, arch) >= 0 &&
		     (theirs == syscall_number(row, arch) ||
		      (theirs < -1 && syscall_via(row, arch, &selector)));

	free(back);
	return known;
}

static void section_add_name(struct judge *j, struct section *s, const struct oci_seccomp_rule *r,
			     const char *name)
{
	const struct syscall_row *row = syscall_find(name), *via;
	int nr = row ? syscall_number(row, s->arch) : -1;
	unsigned int selector;
	struct entry e = {.rule = r, .row = row, .selector = -1};

	if (!row)
		return;
	e.action = action_value(r->action, &r->errno_ret);
	via = syscall_via(row, s->arch, &selector);
	e.oracle_knows = oracle_knows(s->arch, name);
	if (nr >= 0) {
		e.nr = (uint32_t)nr;
		section_add(s, e);
	}
	if (via) {
		e.nr = (uint32_t)syscall_number(via, s->arch);
		e.row = via;
		e.selector = (int)selector;
		/* It would open more than the rule says. */
		e.libseccomps = r->args.n && strictness(e.action) > strictness(j->fallback);
		section_add(s, e);
	}
}

static void judge_add_section(struct judge *j, const struct syscall_arch *arch, struct arena *a)
{
	struct section *s = &j->sections[j->n];
	size_t i, k, names = 0;

	for (i = 0; i < j->n; i++)
		if (j->sections[i].arch == arch)
			return;
	j->n++;
	for (i = 0; i < j->c->syscalls.n; i++)
		names += j->c->syscalls.v[i].names.n;
	s->arch = arch;
	s->oracle_knows = seccomp_syscall_resolve_name_arch(arch->token, "read") != __NR_SCMP_ERROR;
	s->v = arena_array(a, 2 * names + 1, struct entry);
	for (i = 0; i < j->c->syscalls.n; i++)
		for (k = 0; k < j->c->syscalls.v[i].names.n; k++)
			section_add_name(j, s, &j->c->syscalls.v[i],
					 j->c->syscalls.v[i].names.v[k]);
}

struct judge *judge_new(const struct oci_seccomp *c, struct arena *a)
{
	struct judge *j = arena_new(a, struct judge);
	const struct syscall_arch *arch;
	size_t i;

	j->c = c;
	j->fallback = action_value(c->default_action, &c->default_errno_ret);
	j->enosys = action_stops(c->default_action);
	judge_add_section(j, syscall_arch_native(), a);
	for (i = 0; i < c->architectures.n; i++) {
		arch = syscall_arch_find(c->architectures.v[i] + strlen("SCMP_ARCH_"));
		if (arch && (arch->token & __AUDIT_ARCH_LE))
			judge_add_section(j, arch, a);
	}
	return j;
}

static bool holds(const struct oci_seccomp_arg *a, unsigned int bits, const __u64 *args)
{
	uint64_t low = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
	uint64_t v = args[a->index] & low, one = a->value & low, two = a->value_two & low;

	switch (a->op) {
	case OCI_OP_NE:
		return v != one;
	case OCI_OP_LT:
		return v < one;
	case OCI_OP_LE:
		return v <= one;
	case OCI_OP_EQ:
		return v == one;
	case OCI_OP_GE:
		return v >= one;
	case OCI_OP_GT:
		return v > one;
	case OCI_OP_MASKED_EQ:
		return (v & one) == (two & one);
	}
	return false;
}

static bool rule_repeats_an_argument(const struct oci_seccomp_rule *r)
{
	unsigned int seen = 0;
	size_t i;

	for (i = 0; i < r->args.n; seen |= 1U << r->args.v[i].index, i++)
		if (seen >> r->args.v[i].index & 1)
			return true;
	return false;
}

/* libseccomp holds the arguments of socketcall and ipc, but for the first, to what a rule says of
 * the call below them. To us they say nothing. */
static bool selector_holds(const struct section *s, const struct entry *e, enum judge_view view,
			   const __u64 *args)
{
	const struct oci_seccomp_arg selector = {.value = (uint64_t)e->selector, .op = OCI_OP_EQ};
	const struct oci_seccomp_arg *a;

	if (view == JUDGE_OURS)
		return holds(&selector, syscall_arg_bits(e->row, s->arch, 0), args);
	if (!holds(&selector, s->arch->bits, args))
		return false;
	for (a = e->rule->args.v; a < e->rule->args.v + e->rule->args.n; a++)
		if (a->index && !holds(a, s->arch->bits, args))
			return false;
	return true;
}

static bool entry_holds(const struct section *s, const struct entry *e, enum judge_view view,
			const __u64 *args)
{
	const struct oci_seccomp_arg *a = e->rule->args.v;
	size_t n = e->rule->args.n, held = 0, i;
	unsigned int bits;

	if (e->selector >= 0)
		return selector_holds(s, e, view, args);
	for (i = 0; i < n; i++) {
		bits = view == JUDGE_OURS ? syscall_arg_bits(e->row, s->arch, a[i].index) :
					    s->arch->bits;
		held += holds(&a[i], bits, args);
	}
	return rule_repeats_an_argument(e->rule) ? held > 0 : held == n;
}

static bool entry_is_bare(const struct entry *e)
{
	return e->selector < 0 && !e->rule->args.n;
}

/* The section that a call falls into, or NULL. */
static const struct section *judge_section(const struct judge *j, const struct seccomp_data *d)
{
	uint32_t token = d->arch;
	size_t i;

	if (token == AUDIT_ARCH_X86_64 && (uint32_t)d->nr >= X32_BIT && d->nr != -1)
		token = SYSCALL_TOKEN_X32;
	else if (token == SYSCALL_TOKEN_X32) /* the kernel never says that */
		return NULL;
	for (i = 0; i < j->n; i++)
		if (j->sections[i].arch->token == token)
			return &j->sections[i];
	return NULL;
}

/* The first rule without conditions for a number, or NULL. One that does as the default does is
 * none. */
static const struct entry *section_bare(const struct judge *j, const struct section *s, uint32_t nr)
{
	const struct entry *e;

	for (e = s->v; e < s->v + s->n; e++)
		if (e->nr == nr && entry_is_bare(e) && e->action != j->fallback)
			return e;
	return NULL;
}

/* It passes over rules that do as the default does; a rule without conditions comes before all
 * others. */
static uint32_t answer_of_libseccomp(const struct judge *j, const struct section *s,
				     const struct seccomp_data *d)
{
	const struct entry *bare = section_bare(j, s, (uint32_t)d->nr), *e;

	if (bare)
		return bare->action;
	for (e = s->v; e < s->v + s->n; e++)
		if (e->nr == (uint32_t)d->nr && e->action != j->fallback &&
		    entry_holds(s, e, JUDGE_LIBSECCOMPS, d->args))
			return e->action;
	return j->fallback;
}

/* All rules that hold are heard, and the strictest of them decides. */
static uint32_t answer_of_ours(const struct judge *j, const struct section *s,
			       const struct seccomp_data *d)
{
	const struct entry *bare = section_bare(j, s, (uint32_t)d->nr), *e, *found = bare;

	for (e = s->v; e < s->v + s->n; e++) {
		if (e->nr != (uint32_t)d->nr || entry_is_bare(e) || e->libseccomps)
			continue;
		/* Whose arguments are out of sight yields to a word about socketcall itself. */
		if (bare && e->selector >= 0 && e->rule->args.n)
			continue;
		if (entry_holds(s, e, JUDGE_OURS, d->args) &&
		    (!found || strictness(e->action) < strictness(found->action)))
			found = e;
	}
	return found ? found->action : j->fallback;
}

uint32_t judge_answer(const struct judge *j, enum judge_view view, const struct seccomp_data *d)
{
	const struct section *s = judge_section(j, d);
	if (!s)
		return SECCOMP_RET_KILL_PROCESS;
	if (d->nr == -1)
		return j->fallback;
	if (view == JUDGE_LIBSECCOMPS)
		return answer_of_libseccomp(j, s, d);
	if (j->enosys && s->last && (uint32_t)d->nr > s->last)
		return SECCOMP_RET_ERRNO | ENOSYS;
	return answer_of_ours(j, s, d);
}

/* Profiles */

static unsigned int roll(struct judge_bytes *b, unsigned int n)
{
	unsigned int v = 0, take = n > 256 ? 2 : 1;

	while (take-- && b->len) {
		v = v << 8 | *b->data++;
		b->len--;
	}
	return v % n;
}

static uint64_t roll_value(struct judge_bytes *b)
{
	static const uint64_t bases[] = {
		0,
		1,
		2,
		40,
		0xffff,
		0x10000,
		0x7fffffff,
		0x80000000,
		0xffffffff,
		UINT64_C(1) << 32,
		(UINT64_C(1) << 32) + 40,
		UINT64_C(1) << 63,
		UINT64_MAX,
		0x7e020000,
	};

	return bases[roll(b, ARRAY_SIZE(bases))] + roll(b, 4) - (roll(b, 4) ? 0 : 1);
}

static void profile_args(struct judge_bytes *b, struct arena *a, struct oci_seccomp_rule *r)
{
	size_t i;

	r->args.n = roll(b, 3) ? 1 + roll(b, 3) : 0;
	r->args.v = arena_array(a, r->args.n, struct oci_seccomp_arg);
	for (i = 0; i < r->args.n; i++)
		r->args.v[i] = (struct oci_seccomp_arg){
			/* mostly different arguments, sometimes one twice */
			.index = roll(b, 8) ? (uint32_t)(2 * i + roll(b, 2)) : roll(b, ARGS),
			.op = (enum oci_seccomp_op)roll(b, OCI_OP_MASKED_EQ + 1),
			.value = roll_value(b),
			.value_two = roll_value(b),
		};
}

static void profile_rule(struct judge_bytes *b, struct arena *a, const struct syscall_row *row,
			 struct oci_seccomp_rule *r)
{
	r->action = (enum oci_seccomp_action)roll(b, OCI_ACT_NOTIFY + 1);
	if (r->action == OCI_ACT_NOTIFY && str_eq(row->name, "write"))
		r->action = OCI_ACT_TRAP;
	if (r->action == OCI_ACT_ERRNO || r->action == OCI_ACT_TRACE)
		r->errno_ret = (struct opt_u32){roll(b, 2), roll(b, 4096)};
	r->names = (struct strings){1, arena_array(a, 1, char *)};
	r->names.v[0] = arena_strdup(a, row->name);
	profile_args(b, a, r);
}

void judge_profile(struct judge_bytes bytes, struct arena *a, struct oci_seccomp *ret)
{
	struct judge_bytes *b = &bytes;
	const struct syscall_row *row;
	size_t calls, rules, i, k;

	*ret = (struct oci_seccomp){.set = true};
	ret->listener_path = arena_strdup(a, "/agent");
	ret->default_action = (enum oci_seccomp_action)roll(b, OCI_ACT_NOTIFY); /* which can't be */
	if (ret->default_action == OCI_ACT_ERRNO || ret->default_action == OCI_ACT_TRACE)
		ret->default_errno_ret = (struct opt_u32){roll(b, 2), roll(b, 4096)};
	ret->architectures = (struct strings){roll(b, 6), arena_array(a, 6, char *)};
	for (i = 0; i < ret->architectures.n; i++)
		/* the first three of the table mostly: they run here */
		ret->architectures.v[i] = arena_printf(
			a, "SCMP_ARCH_%s",
			syscall_archs[roll(b, 2) ? roll(b, 3) :
						   roll(b, (unsigned int)syscall_arch_count)]
				.name);
	calls = 1 + roll(b, 32);
	ret->syscalls.v = arena_array(a, calls * 4, struct oci_seccomp_rule);
	for (i = 0; i < calls; i++) {
		row = &syscall_rows[roll(b, (unsigned int)syscall_row_count)];
		rules = roll(b, 2) ? 1 : 1 + roll(b, 4);
		for (k = 0; k < rules; k++)
			profile_rule(b, a, row, &ret->syscalls.v[ret->syscalls.n++]);
	}
}

/* libseccomp */

static int oracle_add_rule(scmp_filter_ctx ctx, const struct oci_seccomp_rule *r, int nr)
{
	static const enum scmp_compare ops[] = {
		[OCI_OP_NE] = SCMP_CMP_NE,
		[OCI_OP_LT] = SCMP_CMP_LT,
		[OCI_OP_LE] = SCMP_CMP_LE,
		[OCI_OP_EQ] = SCMP_CMP_EQ,
		[OCI_OP_GE] = SCMP_CMP_GE,
		[OCI_OP_GT] = SCMP_CMP_GT,
		[OCI_OP_MASKED_EQ] = SCMP_CMP_MASKED_EQ,
	};
	uint32_t action = action_value(r->action, &r->errno_ret);
	bool apart = rule_repeats_an_argument(r);
	struct scmp_arg_cmp cmp[ARGS];
	unsigned int n = 0;
	size_t i;
	int rc = 0;

	for (i = 0; i < r->args.n && !rc; i++) {
		const struct oci_seccomp_arg *a = &r->args.v[i];

		cmp[n++] = (struct scmp_arg_cmp){a->index, ops[a->op], a->value, a->value_two};
		if (apart) {
			rc = seccomp_rule_add_array(ctx, action, nr, n, cmp);
			n = 0;
		}
	}
	return rc || apart ? rc : seccomp_rule_add_array(ctx, action, nr, n, cmp);
}

/* Whether a rule without conditions for the same name stands before rule `end`: libseccomp refuses
 * what comes after it, and is in disorder from then on. */
static bool rule_comes_too_late(const struct oci_seccomp *c, size_t end, const char *name)
{
	uint32_t fallback = action_value(c->default_action, &c->default_errno_ret);
	size_t i, k;

	for (i = 0; i < end; i++) {
		const struct oci_seccomp_rule *r = &c->syscalls.v[i];

		if (r->args.n || action_value(r->action, &r->errno_ret) == fallback)
			continue;
		for (k = 0; k < r->names.n; k++)
			if (str_eq(r->names.v[k], name))
				return true;
	}
	return false;
}

static int oracle_add(scmp_filter_ctx ctx, const struct oci_seccomp *c,
		      const struct syscall_arch *arch)
{
	uint32_t fallback = action_value(c->default_action, &c->default_errno_ret);
	size_t i, k;
	int nr, rc = 0;

	for (i = 0; i < c->syscalls.n; i++) {
		const struct oci_seccomp_rule *r = &c->syscalls.v[i];

		for (k = 0; k < r->names.n && !rc; k++) {
			nr = seccomp_syscall_resolve_name(r->names.v[k]);
			if (nr != __NR_SCMP_ERROR && oracle_knows(arch, r->names.v[k]) &&
			    action_value(r->action, &r->errno_ret) != fallback &&
			    !rule_comes_too_late(c, i, r->names.v[k]))
				rc = oracle_add_rule(ctx, r, nr);
		}
	}
	return rc;
}

/* A filter of one architecture, or NULL. */
static scmp_filter_ctx oracle_filter(const struct oci_seccomp *c, const struct syscall_arch *arch)
{
	scmp_filter_ctx ctx = seccomp_init(action_value(c->default_action, &c->default_errno_ret));
	bool native = arch == syscall_arch_native();

	if (!ctx || seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) ||
	    (!native && seccomp_arch_remove(ctx, SCMP_ARCH_NATIVE)) ||
	    (!native && seccomp_arch_add(ctx, arch->token)))
		return NULL;
	return oracle_add(ctx, c, arch) ? NULL : ctx;
}

/* In the child: the program goes to `out`. */
static enum oracle_verdict oracle_build(const struct judge *j, int out)
{
	scmp_filter_ctx all = oracle_filter(j->c, j->sections[0].arch), one;
	size_t i;

	for (i = 1; i < j->n && all; i++) {
		if (!j->sections[i].oracle_knows)
			continue;
		one = oracle_filter(j->c, j->sections[i].arch);
		if (!one || seccomp_merge(all, one))
			return ORACLE_REFUSED;
	}
	return all && !seccomp_export_bpf(all, out) ? ORACLE_MADE : ORACLE_REFUSED;
}

enum oracle_verdict oracle_make(const struct judge *j, struct oracle *ret)
{
	const struct rlimit seconds = {ORACLE_SECONDS, ORACLE_SECONDS}, none = {0, 0};
	int fd = memfd_create("oracle", MFD_CLOEXEC), status;
	enum oracle_verdict verdict = ORACLE_BROKEN;
	ssize_t size;
	pid_t pid;

	if (fd < 0)
		return ORACLE_BROKEN;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &none);
		setrlimit(RLIMIT_CPU, &seconds);
		_exit((int)oracle_build(j, fd));
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid)
		verdict =
			WIFEXITED(status) ? (enum oracle_verdict)WEXITSTATUS(status) : ORACLE_HUNG;
	if (verdict == ORACLE_MADE) {
		size = pread(fd, ret->filter, sizeof(ret->filter), 0);
		if (size <= 0)
			verdict = ORACLE_BROKEN;
		else
			ret->len = (size_t)size / sizeof(ret->filter[0]);
	}
	close(fd);
	return verdict;
}

/* Comparison */

struct comparison {
	const struct judge *j;
	const struct seccomp_program *p;
	const struct oracle *o;
	struct judge_tally *t;
};

/* Whether libseccomp has to be right about a number: it knows all its names, and at most one rule
 * speaks of it, or several that are apart by socketcall's or ipc's selector. */
static void oracle_standing(const struct judge *j, const struct section *s, uint32_t nr,
			    bool *ret_knows, bool *ret_plain)
{
	const struct entry *e, *f;

	*ret_knows = s->oracle_knows;
	*ret_plain = true;
	for (e = s->v; e < s->v + s->n; e++) {
		if (e->nr != nr || e->action == j->fallback)
			continue;
		*ret_knows &= e->oracle_knows;
		*ret_plain &= !rule_repeats_an_argument(e->rule);
		for (f = s->v; f < e; f++)
			*ret_plain &= f->nr != nr || f->action == j->fallback ||
				      (e->selector >= 0 && f->selector >= 0 &&
				       e->selector != f->selector);
	}
}

static void say(struct comparison *c, const struct seccomp_data *d, const char *who, uint32_t got,
		uint32_t want)
{
	if (!c->t->why[0])
		snprintf(
			c->t->why, sizeof(c->t->why),
			"arch %#x call %#x args %llx %llx %llx %llx %llx %llx: %s says %#x, the profile "
			"means %#x",
			d->arch, (unsigned int)d->nr, (unsigned long long)d->args[0],
			(unsigned long long)d->args[1], (unsigned long long)d->args[2],
			(unsigned long long)d->args[3], (unsigned long long)d->args[4],
			(unsigned long long)d->args[5], who, got, want);
}

static void compare_oracle(struct comparison *c, const struct seccomp_data *d)
{
	const struct section *s = judge_section(c->j, d);
	bool knows = true, plain = true;
	struct bpf_result r;
	uint32_t want;

	if (s)
		oracle_standing(c->j, s, (uint32_t)d->nr, &knows, &plain);
	if (!knows)
		return;
	want = judge_answer(c->j, JUDGE_LIBSECCOMPS, d);
	r = bpf_eval(c->o->filter, c->o->len, d);
	c->t->oracle_calls++;
	if (!r.error && r.action == want)
		return;
	if (plain)
		say(c, d, "libseccomp", r.action, want);
	else
		c->t->oracle_wrong++;
}

static void compare_call(struct comparison *c, const struct seccomp_data *d)
{
	uint32_t want = judge_answer(c->j, JUDGE_OURS, d);
	struct bpf_result r = bpf_eval(c->p->filter, c->p->len, d);

	c->t->calls++;
	if (r.error || r.action != want)
		say(c, d, r.error ? r.error : "the program", r.action, want);
	if (c->o)
		compare_oracle(c, d);
}

/* Values around what a condition mentions, with bits on that the kernel may drop. */
static size_t bounds_of(const struct oci_seccomp_arg *a, uint64_t *out)
{
	static const uint64_t flips[] = {0,
					 UINT64_C(1) << 15,
					 UINT64_C(1) << 16,
					 UINT64_C(1) << 31,
					 UINT64_C(1) << 32,
					 UINT64_C(1) << 63};
	uint64_t v = a->op == OCI_OP_MASKED_EQ ? a->value & a->value_two : a->value;
	size_t n = 0, i;

	for (i = 0; i < ARRAY_SIZE(flips); i++) {
		out[n++] = v ^ flips[i];
		out[n++] = (v - 1) ^ flips[i];
		out[n++] = (v + 1) ^ flips[i];
	}
	if (a->op == OCI_OP_MASKED_EQ) {
		out[n++] = v | ~a->value;
		out[n++] = a->value;
		out[n++] = a->value_two;
	}
	out[n++] = 0;
	out[n++] = UINT32_MAX;
	out[n++] = UINT64_MAX;
	return n;
}

/* A value for which the condition holds, if there is one. */
static uint64_t value_that_holds(const struct oci_seccomp_arg *a)
{
	switch (a->op) {
	case OCI_OP_NE:
	case OCI_OP_GT:
		return a->value + 1;
	case OCI_OP_LT:
		return a->value - 1;
	case OCI_OP_MASKED_EQ:
		return a->value & a->value_two;
	case OCI_OP_LE:
	case OCI_OP_EQ:
	case OCI_OP_GE:
		break;
	}
	return a->value;
}

/* All conditions of a rule hold, and then one argument after the other moves. */
static void compare_rule(struct comparison *c, struct seccomp_data *d,
			 const struct oci_seccomp_arg *v, size_t n)
{
	uint64_t bounds[32], before;
	size_t i, k, count;

	for (i = 0; i < n; i++)
		d->args[v[i].index] = value_that_holds(&v[i]);
	compare_call(c, d);
	for (i = 0; i < n; i++) {
		before = d->args[v[i].index];
		count = bounds_of(&v[i], bounds);
		for (k = 0; k < count; k++) {
			d->args[v[i].index] = bounds[k];
			compare_call(c, d);
		}
		d->args[v[i].index] = before;
	}
}

static void compare_number(struct comparison *c, uint32_t arch, uint32_t nr)
{
	struct seccomp_data d = {.nr = (int)nr, .arch = arch, .instruction_pointer = 0x1000};
	const struct section *s = judge_section(c->j, &d);
	const struct entry *e;

	compare_call(c, &d);
	for (e = s ? s->v : NULL; s && e < s->v + s->n; e++) {
		const struct oci_seccomp_arg selector = {.value = (uint64_t)e->selector,
							 .op = OCI_OP_EQ};

		if (e->nr != nr)
			continue;
		if (e->selector < 0)
			compare_rule(c, &d, e->rule->args.v, e->rule->args.n);
		else
			compare_rule(c, &d, &selector, 1);
	}
}

static void compare_arch(struct comparison *c, const struct syscall_arch *a)
{
	static const uint32_t odd[] = {0x0effff,   0x0f0000,   0x0f0001,   0x0f0005,   0x3fffffff,
				       0x40000000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
	uint32_t arch = a->token == SYSCALL_TOKEN_X32 ? AUDIT_ARCH_X86_64 : a->token, i;

	for (i = 0; i < NUMBERS; i++)
		compare_number(c, arch, a->base + i);
	if (a->token == SYSCALL_TOKEN_X32) /* where it keeps what differs from x86_64 */
		for (i = 512; i < 560; i++)
			compare_number(c, arch, a->base + i);
	for (i = 0; i < ARRAY_SIZE(odd); i++)
		compare_number(c, arch, odd[i]);
}

void judge_compare(const struct judge *j, const struct seccomp_program *p, const struct oracle *o,
		   struct judge_tally *t)
{
	struct comparison c = {j, p, o, t};
	size_t i;

	for (i = 0; i < j->n; i++)
		compare_arch(&c, j->sections[i].arch);
	/* Those that the profile leaves out kill. */
	for (i = 0; i < syscall_arch_count; i++) {
		compare_number(&c, syscall_archs[i].token, 1);
		compare_number(&c, syscall_archs[i].token, X32_BIT | 1);
	}
	compare_number(&c, 0x12345678, 1);
}

bool judge_run(struct judge_bytes bytes, struct judge_tally *t)
{
	struct arena a = {0};
	struct oci_seccomp c;
	struct seccomp_program p;
	struct notes notes = {0};
	struct error e = {0};

	judge_profile(bytes, &a, &c);
	if (seccomp_program_build(&c, &a, &p, &notes, &e) == 0)
		judge_compare(judge_new(&c, &a), &p, NULL, t);
	else if (!strstr(e.text, "the filter is longer than"))
		snprintf(t->why, sizeof(t->why), "refused: %.200s", e.text);
	arena_free(&a);
	return !t->why[0];
}
