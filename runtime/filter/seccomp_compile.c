/*
 * The program:
 *
 *	ld arch
 *	jeq ARCH, over its section if not	for each architecture
 *	  ld nr
 *	  jge MIDDLE, to the right half		…down to single ranges
 *	  ret ACTION				or the checks of one call, which all end in ret
 *	ret FOREIGN
 *
 * Nothing jumps backwards or out of its own part, so parts can be moved: where a jump of 8 bits
 * falls short, a long one is pushed in front of what it jumps over.
 */
#include "filter/seccomp_compile.h"

#include <endian.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>

#define X32_BIT UINT32_C(0x40000000)
#define NR_SKIP UINT32_C(0xffffffff) /* what a tracer sets to have a call skipped */

enum { SHORT_JUMP_MAX = 255 };

/* Ranges: each reaches to where the next begins. */
struct span {
	uint32_t first;
	uint32_t action;		    /* if none of the entries holds */
	const struct seccomp_entry *entries; /* alternatives of one call, in order */
	size_t n;
};

struct emitter {
	const struct seccomp_code *code;
	struct sock_filter *out;
	size_t len, max;
	bool full;
	struct span *spans;
	size_t span_count;
};

/* Instructions */

static void emit(struct emitter *m, uint16_t op, uint32_t k, size_t yes, size_t no)
{
	if (m->len >= m->max) {
		m->full = true;
		return;
	}
	m->out[m->len++] = (struct sock_filter){op, (uint8_t)yes, (uint8_t)no, k};
}

static void emit_load(struct emitter *m, size_t offset)
{
	emit(m, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void emit_return(struct emitter *m, uint32_t action)
{
	emit(m, BPF_RET | BPF_K, action, 0, 0);
}

/* Completes the test at `at`, which goes on with the next instruction if it holds (or doesn't, as
 * `on` says) and else jumps over all that was emitted since. */
static void emit_skip(struct emitter *m, size_t at, bool on)
{
	size_t over = m->len - at - 1;

	if (m->full)
		return;
	if (over <= SHORT_JUMP_MAX) {
		m->out[at].jt = on ? 0 : (uint8_t)over;
		m->out[at].jf = on ? (uint8_t)over : 0;
		return;
	}
	emit(m, 0, 0, 0, 0);
	if (m->full)
		return;
	memmove(&m->out[at + 2], &m->out[at + 1], over * sizeof(*m->out));
	m->out[at].jt = on ? 1 : 0;
	m->out[at].jf = on ? 0 : 1;
	m->out[at + 1] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, (uint32_t)over);
}

/* Conditions */

/* Where a test leads: on to what follows, to the next condition, or to the next alternative. The
 * last two are filled in when those places are known. */
enum target { NEXT = 0, HOLDS = 254, FAILS = 255 };

struct test {
	uint16_t op;
	enum target yes, no;
};

struct comparison {
	struct test high[2]; /* on the upper half, ended by op 0 */
	struct test low;
};

/* clang-format off */
static const struct comparison comparisons[] = {
	[OCI_OP_EQ] = {{{BPF_JEQ, NEXT, FAILS}}, {BPF_JEQ, NEXT, FAILS}},
	[OCI_OP_NE] = {{{BPF_JEQ, NEXT, HOLDS}}, {BPF_JEQ, FAILS, NEXT}},
	[OCI_OP_GT] = {{{BPF_JGT, HOLDS, NEXT}, {BPF_JEQ, NEXT, FAILS}}, {BPF_JGT, NEXT, FAILS}},
	[OCI_OP_GE] = {{{BPF_JGT, HOLDS, NEXT}, {BPF_JEQ, NEXT, FAILS}}, {BPF_JGE, NEXT, FAILS}},
	[OCI_OP_LT] = {{{BPF_JGT, FAILS, NEXT}, {BPF_JEQ, NEXT, HOLDS}}, {BPF_JGE, FAILS, NEXT}},
	[OCI_OP_LE] = {{{BPF_JGT, FAILS, NEXT}, {BPF_JEQ, NEXT, HOLDS}}, {BPF_JGT, FAILS, NEXT}},
	[OCI_OP_MASKED_EQ] = {{{BPF_JEQ, NEXT, FAILS}}, {BPF_JEQ, NEXT, FAILS}},
};
/* clang-format on */

static size_t half_offset(const struct oci_seccomp_arg *a, bool high)
{
	bool second = high == (__BYTE_ORDER == __LITTLE_ENDIAN);

	return offsetof(struct seccomp_data, args) + a->index * sizeof(uint64_t) + (second ? 4 : 0);
}

static void emit_test(struct emitter *m, const struct test *t, uint32_t value)
{
	emit(m, BPF_JMP | BPF_K | t->op, value, t->yes, t->no);
}

/* One half of an argument, of which `bits` count. */
static void emit_half(struct emitter *m, const struct oci_seccomp_arg *a, bool high,
		      unsigned int bits, const struct test *tests, size_t n)
{
	unsigned int shift = high ? 32 : 0;
	bool masked = a->op == OCI_OP_MASKED_EQ;
	uint32_t value = (uint32_t)((masked ? a->value_two : a->value) >> shift);
	uint32_t mask = masked ? (uint32_t)(a->value >> shift) : UINT32_MAX;
	size_t i;

	if (bits < 32)
		mask &= (UINT32_C(1) << bits) - 1;
	emit_load(m, half_offset(a, high));
	if (mask != UINT32_MAX)
		emit(m, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
	for (i = 0; i < n && tests[i].op; i++)
		emit_test(m, &tests[i], value & mask);
}

/* A mask without upper bits says nothing about the upper half. */
static bool high_matters(const struct oci_seccomp_arg *a)
{
	return a->op != OCI_OP_MASKED_EQ || a->value >> 32;
}

static void emit_condition(struct emitter *m, const struct oci_seccomp_arg *a, unsigned int bits)
{
	const struct comparison *c = &comparisons[a->op];
	size_t start = m->len, i;

	if (bits > 32 && high_matters(a))
		emit_half(m, a, true, 32, c->high, 2);
	emit_half(m, a, false, bits, &c->low, 1);
	for (i = start; i < m->len; i++) {
		if (BPF_CLASS(m->out[i].code) != BPF_JMP)
			continue;
		if (m->out[i].jt == HOLDS)
			m->out[i].jt = (uint8_t)(m->len - i - 1);
		if (m->out[i].jf == HOLDS)
			m->out[i].jf = (uint8_t)(m->len - i - 1);
	}
}

/* At most six conditions of seven instructions: every jump in it is short. */
static void emit_alternative(struct emitter *m, const struct seccomp_entry *e)
{
	size_t start = m->len, i;

	for (i = 0; i < e->arg_count; i++)
		emit_condition(m, &e->args[i], e->bits[e->args[i].index]);
	emit_return(m, e->action);
	for (i = start; i < m->len; i++) {
		if (BPF_CLASS(m->out[i].code) != BPF_JMP)
			continue;
		if (m->out[i].jt == FAILS)
			m->out[i].jt = (uint8_t)(m->len - i - 1);
		if (m->out[i].jf == FAILS)
			m->out[i].jf = (uint8_t)(m->len - i - 1);
	}
}

/* Ranges */

static bool span_same(const struct span *a, const struct span *b)
{
	return !a->n && !b->n && a->action == b->action;
}

/* Adds a range behind the others; one that has become empty gives way. */
static void span_add(struct emitter *m, struct span s)
{
	if (m->span_count && m->spans[m->span_count - 1].first == s.first)
		m->span_count--;
	if (m->span_count && span_same(&m->spans[m->span_count - 1], &s))
		return;
	m->spans[m->span_count++] = s;
}

bool seccomp_is_stricter(uint32_t action, uint32_t than)
{
	return (int32_t)(action & SECCOMP_RET_ACTION_FULL) <
	       (int32_t)(than & SECCOMP_RET_ACTION_FULL);
}

static int entry_compare(const void *a, const void *b)
{
	const struct seccomp_entry *x = a, *y = b;

	if (x->nr != y->nr)
		return x->nr < y->nr ? -1 : 1;
	if (seccomp_is_stricter(x->action, y->action))
		return -1;
	if (seccomp_is_stricter(y->action, x->action))
		return 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Keeps those of n entries of one call, sorted, that count, and returns how many. *rest: what the
 * call gets if none holds, which a rule without args may change. */
static size_t entries_settle(struct seccomp_entry *v, size_t n, uint32_t *rest)
{
	const struct seccomp_entry *bare = NULL;
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (!v[i].arg_count && (!bare || v[i].order < bare->order))
			bare = &v[i];
	if (bare) {
		*rest = bare->action; /* its place may be taken below */
		for (i = 0; i < n && seccomp_is_stricter(v[i].action, *rest); i++)
			if (v[i].arg_count && !v[i].vague)
				v[kept++] = v[i];
		return kept;
	}
	while (n && v[n - 1].action == *rest) /* they come last, and change nothing */
		n--;
	return n;
}

static void span_add_table(struct emitter *m, const struct seccomp_table *t, uint32_t first)
{
	const struct span rest = {.first = first, .action = m->code->default_action};
	struct span s;
	size_t i, k;

	span_add(m, rest);
	for (i = 0; i < t->n; i = k) {
		for (k = i; k < t->n && t->entries[k].nr == t->entries[i].nr; k++)
			;
		s = (struct span){.first = t->entries[i].nr, .action = rest.action};
		s.entries = &t->entries[i];
		s.n = entries_settle(&t->entries[i], k - i, &s.action);
		span_add(m, s);
		span_add(m, (struct span){.first = s.first + 1, .action = rest.action});
	}
	if (m->code->enosys && t->last)
		span_add(m,
			 (struct span){.first = t->last + 1, .action = SECCOMP_RET_ERRNO | ENOSYS});
}

static void emit_leaf(struct emitter *m, const struct span *s)
{
	size_t i;

	for (i = 0; i < s->n && !m->full; i++)
		emit_alternative(m, &s->entries[i]);
	emit_return(m, s->action);
}

static void emit_tree(struct emitter *m, size_t from, size_t to)
{
	size_t middle = from + (to - from) / 2, at = m->len;

	if (m->full)
		return;
	if (to - from == 1) {
		emit_leaf(m, &m->spans[from]);
		return;
	}
	emit(m, BPF_JMP | BPF_JGE | BPF_K, m->spans[middle].first, 0, 0);
	emit_tree(m, from, middle);
	emit_skip(m, at, false);
	emit_tree(m, middle, to);
}

/* Architectures */

static const struct seccomp_table *table_find(const struct seccomp_code *c, uint32_t token)
{
	size_t i;

	for (i = 0; i < c->table_count; i++)
		if (c->tables[i].arch->token == token)
			return &c->tables[i];
	return NULL;
}

static void span_add_or_foreign(struct emitter *m, uint32_t token, uint32_t first)
{
	const struct seccomp_table *t = table_find(m->code, token);

	if (t)
		span_add_table(m, t, first);
	else
		span_add(m, (struct span){.first = first, .action = m->code->foreign_action});
}

static void emit_section(struct emitter *m, uint32_t arch)
{
	const struct seccomp_code *c = m->code;
	size_t at = m->len;

	emit(m, BPF_JMP | BPF_JEQ | BPF_K, arch, 0, 0);
	emit_load(m, offsetof(struct seccomp_data, nr));
	m->span_count = 0;
	span_add_or_foreign(m, arch, 0);
	/* x32 is no architecture to the kernel, only a bit of the number. */
	if (arch == AUDIT_ARCH_X86_64)
		span_add_or_foreign(m, SYSCALL_TOKEN_X32, X32_BIT);
	/* Without a table the section is here for x32 alone. */
	span_add(m, (struct span){.first = NR_SKIP,
				  .action = table_find(c, arch) ? c->default_action :
								  c->foreign_action});
	emit_tree(m, 0, m->span_count);
	emit_skip(m, at, true);
}

static uint32_t table_arch(const struct seccomp_table *t)
{
	return t->arch->token == SYSCALL_TOKEN_X32 ? AUDIT_ARCH_X86_64 : t->arch->token;
}

static bool table_shares_arch(const struct seccomp_code *c, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (table_arch(&c->tables[k]) == table_arch(&c->tables[i]))
			return true;
	return false;
}

size_t seccomp_compile(const struct seccomp_code *c, struct arena *a, struct sock_filter *out,
		       size_t max)
{
	struct emitter m = {.code = c, .out = out, .max = max};
	size_t i, most = 0;

	for (i = 0; i < c->table_count; i++) {
		if (c->tables[i].n)
			qsort(c->tables[i].entries, c->tables[i].n, sizeof(struct seccomp_entry),
			      entry_compare);
		if (c->tables[i].n > most)
			most = c->tables[i].n;
	}
	/* For one section at a time: at most two tables, each call with the range behind it. */
	m.spans = arena_array(a, 2 * (2 * most + 2) + 1, struct span);
	emit_load(&m, offsetof(struct seccomp_data, arch));
	for (i = 0; i < c->table_count; i++)
		if (!table_shares_arch(c, i))
			emit_section(&m, table_arch(&c->tables[i]));
	emit_return(&m, c->foreign_action);
	return m.full ? 0 : m.len;
}
