#include "learn/needs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "filter/seccomp_eval.h"
#include "json/json.h"
#include "policy/ceiling.h"
#include "policy/words.h"

enum { ROWS_MAX = 64 << 10 };

const struct needs_assumed needs_assumed[] = {
	{"clock_getres", "as clock_gettime"},
	{"clock_gettime", "the C library has it without the kernel on this machine (vDSO)"},
	{"execve", "it begins the program"},
	{"exit", "threads end by it"},
	{"exit_group", "programs end by it"},
	{"getcpu", "as clock_gettime"},
	{"gettimeofday", "as clock_gettime"},
	{"restart_syscall", "the kernel makes it, after a program was stopped"},
	{"rt_sigreturn", "the end of every handler of a signal"},
	{"time", "as clock_gettime"},
	{NULL, NULL},
};

bool needs_made(const struct tally_call *c)
{
	return c->made[TALLY_PROGRAM] || c->made[TALLY_OURS];
}

static int call_order(const void *x, const void *y)
{
	const struct tally_call *const *a = x, *const *b = y;

	return strcmp((*a)->row->name, (*b)->row->name);
}

static bool is_assumed(const char *name)
{
	const struct needs_assumed *s;

	for (s = needs_assumed; s->name; s++)
		if (str_eq(s->name, name))
			return true;
	return false;
}

static bool was_made(const struct needs *n, const struct syscall_row *row)
{
	size_t i;

	for (i = 0; i < n->n; i++)
		if (n->v[i]->row == row)
			return needs_made(n->v[i]);
	return false;
}

/* A call that is given for some arguments counts as given. */
static void find_unused(const struct learning *l, struct arena *a, struct needs *n)
{
	const struct syscall_arch *arch = syscall_arch_native();
	const struct seccomp_program *judge = &l->judge;
	size_t i;
	int nr;

	n->unused.v = arena_array(a, syscall_row_count + 1, char *);
	for (i = 0; judge->len && i < syscall_row_count; i++) {
		nr = syscall_number(&syscall_rows[i], arch);
		if (nr < 0 || bpf_forbids_always(judge->filter, judge->len, nr) ||
		    was_made(n, &syscall_rows[i]) || is_assumed(syscall_rows[i].name))
			continue;
		n->unused.v[n->unused.n++] = arena_strdup(a, syscall_rows[i].name);
	}
}

void needs_find(const struct learning *l, struct arena *a, struct needs *ret)
{
	const struct tally *t = l->tally;
	uint32_t i;

	*ret = (struct needs){0};
	ret->v = arena_array(a, t->n + 1, const struct tally_call *);
	ret->other = arena_array(a, t->n + 1, const struct tally_call *);
	for (i = 0; i < t->n; i++) {
		ret->exec_gain |= t->v[i].exec_gain;
		if (t->v[i].row && t->v[i].arch == syscall_arch_native())
			ret->v[ret->n++] = &t->v[i];
		else
			ret->other[ret->n_other++] = &t->v[i];
	}
	qsort(ret->v, ret->n, sizeof(const struct tally_call *), call_order);
	find_unused(l, a, ret);
}

enum needs_giver needs_giver_of(const struct learning *l, const struct tally_call *c)
{
	const struct policy *p = &l->policy;

	if (c->verdict == (SECCOMP_RET_ERRNO | ENOSYS))
		return GIVER_NOBODY;
	if (c->arch != syscall_arch_native())
		return p->level[LEVEL_FOREIGN_ABI] == AS_ASKED ? GIVER_CONFIG : GIVER_ABI;
	if (!c->row || p->level[LEVEL_SECCOMP] == AS_ASKED)
		return GIVER_CONFIG;
	switch (ceiling_verdict(p, c->row->name)) {
	case CALL_yes:
		return GIVER_CONFIG;
	case CALL_some:
		return str_after(c->row->name, "socket") ? GIVER_SOCKETS : GIVER_CALLS;
	default:
		return GIVER_CALLS;
	}
}

/* ---- rows ---- */

static const char *row_id(enum policy_list list)
{
	return policy_rows[LEVEL_COUNT + list].id;
}

static void row_begin(struct buf *b, const char *id)
{
	if (b->len)
		buf_str(b, ", ");
	buf_printf(b, "\"%s\": ", id);
}

static void row_word(struct buf *words, const char *word)
{
	buf_str(words, words->len ? ", " : "");
	json_write_string(words, word);
}

static void sockets_of(const struct tally_call *c, struct buf *words)
{
	uint32_t i, k;

	for (i = 0; i < c->n_values; i++)
		for (k = 0; c->values[i].refused && k < policy_socket_count; k++)
			if (policy_sockets[k].family == c->values[i].value)
				row_word(words, policy_sockets[k].word);
}

static void row_list(struct buf *b, enum policy_list list, const struct buf *words)
{
	if (!words->len)
		return;
	row_begin(b, row_id(list));
	buf_printf(b, "{\"allow\": [%s]}", words->data);
}

static void row_as_asked(struct buf *b, enum policy_level row)
{
	row_begin(b, policy_rows[row].id);
	buf_printf(b, "\"%s\"", policy_level_word(row, AS_ASKED));
}

const char *needs_rows(const struct learning *l, const struct needs *n, struct arena *a)
{
	struct buf b = buf_new(a, ROWS_MAX), calls = buf_new(a, ROWS_MAX),
		   sockets = buf_new(a, ROWS_MAX);
	bool foreign = false;
	size_t i;

	for (i = 0; i < n->n; i++) {
		if (!n->v[i]->refused)
			continue;
		if (needs_giver_of(l, n->v[i]) == GIVER_CALLS)
			row_word(&calls, n->v[i]->row->name);
		else if (needs_giver_of(l, n->v[i]) == GIVER_SOCKETS && !sockets.len)
			sockets_of(n->v[i], &sockets);
	}
	for (i = 0; i < n->n_other; i++)
		foreign |= n->other[i]->refused && needs_giver_of(l, n->other[i]) == GIVER_ABI;
	row_list(&b, LIST_CALLS, &calls);
	row_list(&b, LIST_SOCKETS, &sockets);
	if (foreign)
		row_as_asked(&b, LEVEL_FOREIGN_ABI);
	if (n->exec_gain && l->policy.level[LEVEL_WRITE_EXECUTE] != AS_ASKED)
		row_as_asked(&b, LEVEL_WRITE_EXECUTE);
	return b.len ? b.data : "";
}
