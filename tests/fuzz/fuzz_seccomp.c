/*
 * The filter compiler against the meaning of its tables: bytes become tables of calls and
 * conditions, the program is run for calls at and around what they name, and each answer must be
 * the one that reading the tables in order gives.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <string.h>

#include "fuzz.h"
#include "filter/seccomp_compile.h"
#include "filter/seccomp_eval.h"

#define X32_BIT UINT32_C(0x40000000)

enum { ENTRIES = 10, CONDITIONS = 6, CODE_MAX = 4096 };

static const struct syscall_arch archs[] = {
	{.token = AUDIT_ARCH_X86_64, .bits = 64},
	{.token = AUDIT_ARCH_I386, .bits = 32},
	{.token = SYSCALL_TOKEN_X32, .bits = 32},
	{.token = AUDIT_ARCH_AARCH64, .bits = 64},
};
static const uint32_t answers[] = {SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_LOG,
				   SECCOMP_RET_ERRNO | 7};

/* Few different values, and those at which comparisons of halves go wrong. */
static uint64_t take_value(struct bytes *b)
{
	static const uint64_t edges[] = {
		0,	    1,		2,	   UINT32_MAX,	      1ULL << 32, (1ULL << 32) + 1,
		UINT64_MAX, 1ULL << 63, INT32_MAX, 0xff00000000000000};
	uint32_t which = bytes_choose(b, 16);

	return which < ARRAY_SIZE(edges) ? edges[which] :
					   (uint64_t)bytes_take(b, 2) << bytes_choose(b, 49);
}

static void take_entry(struct bytes *b, struct seccomp_table *t, struct arena *a)
{
	struct seccomp_entry *e = &t->entries[t->n];
	struct oci_seccomp_arg *args = arena_array(a, CONDITIONS, struct oci_seccomp_arg);
	size_t i;

	*e = (struct seccomp_entry){.nr = bytes_choose(b, 40), .order = (uint32_t)t->n};
	if (t->arch->token == SYSCALL_TOKEN_X32)
		e->nr |= X32_BIT;
	if (e->nr > t->last)
		t->last = e->nr;
	e->action = answers[bytes_choose(b, ARRAY_SIZE(answers))];
	e->arg_count = bytes_choose(b, CONDITIONS + 1);
	e->vague = e->arg_count && bytes_choose(b, 4) == 0;
	e->args = args;
	for (i = 0; i < ARRAY_SIZE(e->bits); i++)
		e->bits[i] = t->arch->bits >> bytes_choose(b, t->arch->bits == 64 ? 3 : 2);
	for (i = 0; i < e->arg_count; i++)
		args[i] = (struct oci_seccomp_arg){.index = bytes_choose(b, 6),
						   .op = (enum oci_seccomp_op)bytes_choose(b, 7),
						   .value = take_value(b),
						   .value_two = take_value(b)};
	t->n++;
}

static bool holds(const struct oci_seccomp_arg *c, unsigned int bits, const __u64 *args)
{
	uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
	uint64_t v = args[c->index] & mask, one = c->value & mask, two = c->value_two & mask;

	switch (c->op) {
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

static bool all_hold(const struct seccomp_entry *e, const __u64 *args)
{
	size_t i;

	for (i = 0; i < e->arg_count; i++)
		if (!holds(&e->args[i], e->bits[e->args[i].index], args))
			return false;
	return true;
}

/* What the tables say, read as seccomp_compile.h has it. */
static uint32_t meant(const struct seccomp_code *c, const struct seccomp_data *d)
{
	uint32_t nr = (uint32_t)d->nr, token = d->arch;
	const struct seccomp_entry *bare = NULL, *best = NULL;
	const struct seccomp_table *t = NULL;
	size_t i;

	if (token == AUDIT_ARCH_X86_64 && nr >= X32_BIT)
		token = SYSCALL_TOKEN_X32;
	for (i = 0; i < c->table_count; i++) {
		if (c->tables[i].arch->token == token)
			t = &c->tables[i];
		/* A tracer's "skip this call" is judged like any other number wherever it is known.
		 */
		if (nr == UINT32_MAX &&
		    (c->tables[i].arch->token == d->arch || c->tables[i].arch->token == token))
			return c->default_action;
	}
	if (!t)
		return c->foreign_action;
	for (i = 0; i < t->n; i++)
		if (t->entries[i].nr == nr && !t->entries[i].arg_count &&
		    (!bare || t->entries[i].order < bare->order))
			bare = &t->entries[i];
	for (i = 0; i < t->n; i++) {
		const struct seccomp_entry *e = &t->entries[i];

		if (e->nr != nr || !e->arg_count || !all_hold(e, d->args) ||
		    (bare && (e->vague || !seccomp_is_stricter(e->action, bare->action))))
			continue;
		if (!best || seccomp_is_stricter(e->action, best->action) ||
		    (!seccomp_is_stricter(best->action, e->action) && e->order < best->order))
			best = e;
	}
	if (best || bare)
		return best ? best->action : bare->action;
	return c->enosys && t->last && nr > t->last ? SECCOMP_RET_ERRNO | ENOSYS :
						      c->default_action;
}

static void compare(const struct seccomp_code *c, const struct sock_filter *code, size_t len,
		    const struct seccomp_data *d)
{
	struct bpf_result r = bpf_eval(code, len, d);

	DEMAND(!r.error);
	DEMAND(r.action == meant(c, d));
}

/* A call that fulfils the conditions of an entry as far as one value can, then one argument a
 * little off. */
static void try_entry(const struct seccomp_code *c, const struct sock_filter *code, size_t len,
		      uint32_t arch, const struct seccomp_entry *e, uint32_t chosen)
{
	static const uint64_t off[] = {0, 1, UINT64_MAX, 1ULL << 32, 1ULL << 16};
	struct seccomp_data d = {.nr = (int)e->nr, .arch = arch};
	uint64_t value;
	size_t i, index;

	for (i = 0; i < e->arg_count; i++)
		d.args[e->args[i].index] =
			e->args[i].op == OCI_OP_MASKED_EQ ? e->args[i].value_two : e->args[i].value;
	index = e->arg_count ? e->args[chosen % e->arg_count].index : 0;
	value = d.args[index];
	for (i = 0; i < ARRAY_SIZE(off); i++) {
		d.args[index] = value + off[i];
		compare(c, code, len, &d);
	}
	d.nr++;
	compare(c, code, len, &d);
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	static struct sock_filter code[CODE_MAX];
	struct bytes b = {text, len};
	struct seccomp_table tables[ARRAY_SIZE(archs)] = {0};
	struct seccomp_table
		given[ARRAY_SIZE(archs)]; /* the compiler sorts and thins out its own */
	struct seccomp_code c = {.tables = tables};
	size_t i, k, n;

	c.table_count = 1 + bytes_choose(&b, ARRAY_SIZE(archs));
	c.default_action = answers[bytes_choose(&b, ARRAY_SIZE(answers))];
	c.foreign_action = SECCOMP_RET_KILL_PROCESS;
	c.enosys = bytes_choose(&b, 2);
	for (i = 0; i < c.table_count; i++) {
		tables[i].arch = &archs[i];
		tables[i].entries = arena_array(a, ENTRIES, struct seccomp_entry);
	}
	for (i = 0; b.left && i < ENTRIES; i++)
		take_entry(&b, &tables[bytes_choose(&b, (uint32_t)c.table_count)], a);
	memcpy(given, tables, sizeof(given));
	for (i = 0; i < c.table_count; i++) {
		given[i].entries = arena_array(a, ENTRIES, struct seccomp_entry);
		memcpy(given[i].entries, tables[i].entries, ENTRIES * sizeof(*given[i].entries));
	}
	n = seccomp_compile(&c, a, code, CODE_MAX);
	if (!n)
		return;
	c.tables = given;
	for (i = 0; i < ARRAY_SIZE(archs); i++) {
		uint32_t arch =
			archs[i].token == SYSCALL_TOKEN_X32 ? AUDIT_ARCH_X86_64 : archs[i].token;

		for (k = 0; i < c.table_count && k < given[i].n; k++)
			try_entry(&c, code, n, arch, &given[i].entries[k], (uint32_t)(len + k));
		compare(&c, code, n, &(struct seccomp_data){.nr = -1, .arch = arch});
		compare(&c, code, n, &(struct seccomp_data){.nr = 1000, .arch = arch});
		compare(&c, code, n, &(struct seccomp_data){.nr = (int)X32_BIT + 3, .arch = arch});
	}
}
