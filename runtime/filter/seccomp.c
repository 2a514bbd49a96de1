/*
 * A profile becomes tables of numbers, one an architecture, for the compiler. Names and numbers are
 * those of filter/syscalls.h; libseccomp is asked for names that are missing there.
 * Trust: the profile comes from outside.
 */
#include "filter/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "json/json.h"
#include "filter/seccomp_compile.h"
#include "filter/syscalls.h"
#include "oci/words.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

enum {
	ARGS_MAX = 6,
	ERRNO_MAX = 4095,
	TRACE_MAX = 0xffff,
	TABLES_MAX = 32,
	NAMES_MAX = 1 << 14,   /* of all rules; Docker's profile has 450 */
	ENTRIES_MAX = 1 << 12, /* of one architecture: no filter has more instructions */
};

/* The state of one build. */
struct build {
	const struct oci_seccomp *c;
	uint32_t default_action;
	struct seccomp_table tables[TABLES_MAX];
	size_t table_count;
	uint32_t order;
	struct arena *arena;
	const struct syscall_row *at; /* the call that was found last */
	struct noted_names unknown; /* in rules that would have forbidden what the default allows */
};

/* Actions */

/* clang-format off */
static const struct action {
	uint32_t value;
	uint32_t data_max; /* of errnoRet; 0: the action takes none */
} actions[] = {
	[OCI_ACT_KILL] = {SECCOMP_RET_KILL_THREAD, 0},
	[OCI_ACT_KILL_PROCESS] = {SECCOMP_RET_KILL_PROCESS, 0},
	[OCI_ACT_TRAP] = {SECCOMP_RET_TRAP, 0},
	[OCI_ACT_ERRNO] = {SECCOMP_RET_ERRNO, ERRNO_MAX},
	[OCI_ACT_TRACE] = {SECCOMP_RET_TRACE, TRACE_MAX},
	[OCI_ACT_ALLOW] = {SECCOMP_RET_ALLOW, 0},
	[OCI_ACT_LOG] = {SECCOMP_RET_LOG, 0},
	[OCI_ACT_NOTIFY] = {SECCOMP_RET_USER_NOTIF, 0},
};
/* clang-format on */

static int action_value(const char *field, enum oci_seccomp_action action,
			const struct opt_u32 *data, uint32_t *ret, struct error *e)
{
	const struct action *a = &actions[action];

	if (data->set && !a->data_max)
		return err_set(e, ERR_CONFIG, "%s: this action takes no errno", field);
	if (data->set && data->v > a->data_max)
		return err_set(e, ERR_CONFIG, "%s: %u is above %u", field, data->v, a->data_max);
	*ret = a->value;
	if (a->data_max)
		*ret |= data->set ? data->v : EPERM;
	return 0;
}

/* Architectures */

/* No kernel runs programs of the other byte order. */
static bool arch_can_run(const struct syscall_arch *a)
{
	return !((a->token ^ syscall_arch_native()->token) & __AUDIT_ARCH_LE);
}

static void build_add_table(struct build *b, const struct syscall_arch *arch)
{
	size_t i;

	for (i = 0; i < b->table_count; i++)
		if (b->tables[i].arch == arch)
			return;
	if (b->table_count < TABLES_MAX) /* there are fewer architectures than that */
		b->tables[b->table_count++].arch = arch;
}

static int build_add_arch(struct build *b, size_t i, struct error *e)
{
	const char *given = b->c->architectures.v[i], *name = str_after(given, "SCMP_ARCH_");
	const struct syscall_arch *arch = name ? syscall_arch_find(name) : NULL;

	if (!arch)
		return err_set(e, ERR_CONFIG,
			       "linux.seccomp.architectures[%zu]: unknown value \"%s\"", i, given);
	if (arch_can_run(arch))
		build_add_table(b, arch);
	else
		log_debug("linux.seccomp.architectures[%zu]: %s can't run on this host", i, given);
	return 0;
}

static int build_add_archs(struct build *b, struct error *e)
{
	size_t i;

	build_add_table(b, syscall_arch_native());
	for (i = 0; i < b->c->architectures.n; i++)
		if (build_add_arch(b, i, e) < 0)
			return -1;
	return 0;
}

/* Rules */

/* A rule made ready: the alternatives it stands for. */
struct rule {
	size_t index; /* in linux.seccomp.syscalls */
	uint32_t action;
	const struct oci_seccomp_arg *args;
	size_t arg_count;
	bool apart; /* one alternative per condition */
	bool firm;  /* not left out for doing as the default does */
};

static int rule_check_args(size_t i, const struct oci_seccomp_rule *r, bool *ret_apart,
			   struct error *e)
{
	unsigned int seen = 0;
	bool apart = false;
	size_t k;

	for (k = 0; k < r->args.n; k++) {
		if (r->args.v[k].index >= ARGS_MAX)
			return err_set(e, ERR_CONFIG,
				       "linux.seccomp.syscalls[%zu].args[%zu].index: %u is above 5",
				       i, k, r->args.v[k].index);
		apart |= !r->joint && (seen & 1U << r->args.v[k].index) != 0;
		seen |= 1U << r->args.v[k].index;
	}
	*ret_apart = apart;
	return 0;
}

/* Room for one entry a name: mostly all there is, and cheaper than growing there. */
static int build_size_tables(struct build *b, struct error *e)
{
	size_t i, names = 0;

	for (i = 0; i < b->c->syscalls.n; i++)
		names += b->c->syscalls.v[i].names.n;
	if (names > NAMES_MAX)
		return err_set(e, ERR_CONFIG, "linux.seccomp.syscalls: more than %d names",
			       NAMES_MAX);
	if (names > ENTRIES_MAX)
		names = ENTRIES_MAX;
	for (i = 0; names && i < b->table_count; i++) {
		b->tables[i].entries = arena_array(b->arena, names, struct seccomp_entry);
		b->tables[i].cap = names;
	}
	return 0;
}

/* row: what the call is, or NULL. A rule with args that does as the default does may still be the
 * stricter of two. */
static int table_add(struct build *b, struct seccomp_table *t, const struct syscall_row *row,
		     int nr, const struct rule *r, const struct oci_seccomp_arg *args, size_t n,
		     struct error *e)
{
	struct seccomp_entry *entry;
	unsigned int i;

	if ((uint32_t)nr > t->last)
		t->last = (uint32_t)nr;
	if (r->action == b->default_action && !n && !r->firm)
		return 0;
	if (t->n >= ENTRIES_MAX)
		return err_set(e, ERR_CONFIG, "linux.seccomp.syscalls[%zu]: too many rules",
			       r->index);
	t->entries = arena_grow(b->arena, t->entries, &t->cap, t->n + 1, sizeof(*t->entries));
	entry = &t->entries[t->n++];
	*entry = (struct seccomp_entry){
		.nr = (uint32_t)nr,
		.order = b->order++,
		.action = r->action,
		.arg_count = n,
		.args = args,
	};
	for (i = 0; n && i < ARGS_MAX; i++)
		entry->bits[i] = (uint8_t)(row ? syscall_arg_bits(row, t->arch, i) :
						 syscall_register_bits(t->arch, (uint32_t)nr));
	return 0;
}

static int table_add_direct(struct build *b, struct seccomp_table *t, const struct syscall_row *row,
			    int nr, const struct rule *r, struct error *e)
{
	size_t k;

	if (!r->apart)
		return table_add(b, t, row, nr, r, r->args, r->arg_count, e);
	for (k = 0; k < r->arg_count; k++)
		if (table_add(b, t, row, nr, r, &r->args[k], 1, e) < 0)
			return -1;
	return 0;
}

/* The way through socketcall or ipc, where no filter sees the call's own arguments: a rule that
 * opens the call for some of them does not open this way. */
static int table_add_via(struct build *b, struct seccomp_table *t, const struct syscall_row *row,
			 const struct rule *r, struct error *e)
{
	unsigned int number;
	const struct syscall_row *through = syscall_via(row, t->arch, &number);
	struct oci_seccomp_arg *selector;

	if (!through || (r->arg_count && seccomp_is_stricter(b->default_action, r->action)))
		return 0;
	selector = arena_new(b->arena, struct oci_seccomp_arg);
	*selector = (struct oci_seccomp_arg){.value = number, .op = OCI_OP_EQ};
	if (table_add(b, t, through, syscall_number(through, t->arch), r, selector, 1, e) < 0)
		return -1;
	t->entries[t->n - 1].vague = r->arg_count > 0;
	return 0;
}

static int rule_add_row(struct build *b, const struct rule *r, const struct syscall_row *row,
			struct error *e)
{
	struct seccomp_table *t;
	int nr;

	for (t = b->tables; t < b->tables + b->table_count; t++) {
		nr = syscall_number(row, t->arch);
		if (nr >= 0 && table_add_direct(b, t, row, nr, r, e) < 0)
			return -1;
		if (table_add_via(b, t, row, r, e) < 0)
			return -1;
	}
	return 0;
}

/* A library that is newer than our table may know more. */
static int rule_add_foreign(struct build *b, const struct rule *r, const char *name,
			    bool *ret_known, struct error *e)
{
	struct seccomp_table *t;
	int nr;

	*ret_known = false;
	for (t = b->tables; t < b->tables + b->table_count; t++) {
		nr = seccomp_syscall_resolve_name_arch(t->arch->token, name);
		*ret_known |= nr != __NR_SCMP_ERROR;
		if (nr >= 0 && table_add_direct(b, t, NULL, nr, r, e) < 0)
			return -1;
	}
	return 0;
}

static int rule_add_name(struct build *b, const struct rule *r, const char *name, struct error *e)
{
	const struct syscall_row *row = syscall_find_next(name, &b->at);
	bool known;

	if (row)
		return rule_add_row(b, r, row, e);
	if (rule_add_foreign(b, r, name, &known, e) < 0)
		return -1;
	if (!known && seccomp_is_stricter(r->action, b->default_action))
		notes_take_name(&b->unknown, name);
	else if (!known)
		log_debug("linux.seccomp.syscalls[%zu].names: %s is unknown here", r->index,
			  json_show(name).text);
	return 0;
}

static int build_add_rule(struct build *b, size_t i, struct error *e)
{
	const struct oci_seccomp_rule *r = &b->c->syscalls.v[i];
	struct rule ready = {
		.index = i, .args = r->args.v, .arg_count = r->args.n, .firm = r->firm};
	char field[64];
	size_t k;

	snprintf(field, sizeof(field), "linux.seccomp.syscalls[%zu].errnoRet", i);
	if (action_value(field, r->action, &r->errno_ret, &ready.action, e) < 0 ||
	    rule_check_args(i, r, &ready.apart, e) < 0)
		return -1;
	for (k = 0; k < r->names.n; k++)
		if (rule_add_name(b, &ready, r->names.v[k], e) < 0)
			return -1;
	return 0;
}

/* Notification */

/* Until somebody holds the listener, init must be able to say that it is there. */
static int build_check_notify(const struct oci_seccomp *c, bool *ret_notify, struct error *e)
{
	size_t i, k;

	*ret_notify = c->observed;
	if (c->default_action == OCI_ACT_NOTIFY)
		return err_set(e, ERR_CONFIG,
			       "linux.seccomp.defaultAction: SCMP_ACT_NOTIFY can't be the default");
	for (i = 0; i < c->syscalls.n; i++) {
		const struct oci_seccomp_rule *r = &c->syscalls.v[i];

		if (r->action != OCI_ACT_NOTIFY)
			continue;
		*ret_notify = true;
		for (k = 0; k < r->names.n; k++)
			if (str_eq(r->names.v[k], "write"))
				return err_set(
					e, ERR_CONFIG,
					"linux.seccomp.syscalls[%zu]: SCMP_ACT_NOTIFY can't be "
					"used for write",
					i);
	}
	if (*ret_notify && !c->listener_path && !c->observed)
		return err_set(e, ERR_CONFIG,
			       "linux.seccomp.listenerPath: missing, but SCMP_ACT_NOTIFY is used");
	if (c->listener_metadata && !c->listener_path)
		return err_set(e, ERR_CONFIG,
			       "linux.seccomp.listenerMetadata: given without listenerPath");
	return 0;
}

/* Flags */

static int flag_value(size_t i, const char *name, unsigned int *ret, struct error *e)
{
	const struct json_word *found = oci_word_find(oci_seccomp_flags, name);

	if (!found)
		return err_set(e, ERR_CONFIG, "linux.seccomp.flags[%zu]: unknown value \"%s\"", i,
			       name);
	*ret |= (unsigned int)found->value;
	return 0;
}

static int build_flags(const struct oci_seccomp *c, bool notify, unsigned int *ret, struct error *e)
{
	unsigned int f = 0;
	size_t i;

	for (i = 0; i < c->flags.n; i++)
		if (flag_value(i, c->flags.v[i], &f, e) < 0)
			return -1;
	if (!c->flags.n)
		f = SECCOMP_FILTER_FLAG_SPEC_ALLOW;
	if (notify) {
		f |= SECCOMP_FILTER_FLAG_NEW_LISTENER;
		/* Together with a listener, a failed TSYNC has no thread id to return. */
		if (f & SECCOMP_FILTER_FLAG_TSYNC)
			f |= SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
	} else {
		/* It speaks of waiting for a listener: nothing to do without one. */
		f &= ~(unsigned int)SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	}
	*ret = f;
	return 0;
}

/* The program */

/* Default actions that let a call pass, or hand it to someone who knows more than the profile. */
static bool build_wants_enosys(const struct build *b)
{
	switch (b->c->default_action) {
	case OCI_ACT_ALLOW:
	case OCI_ACT_LOG:
	case OCI_ACT_TRACE:
	case OCI_ACT_NOTIFY:
		return false;
	case OCI_ACT_KILL:
	case OCI_ACT_KILL_PROCESS:
	case OCI_ACT_TRAP:
	case OCI_ACT_ERRNO:
		break;
	}
	return b->default_action != (SECCOMP_RET_ERRNO | ENOSYS);
}

static int build_compile(struct build *b, struct seccomp_program *p, struct error *e)
{
	const struct seccomp_code code = {
		.tables = b->tables,
		.table_count = b->table_count,
		.default_action = b->default_action,
		.foreign_action = b->c->foreign_enosys ? SECCOMP_RET_ERRNO | ENOSYS :
							 SECCOMP_RET_KILL_PROCESS,
		.enosys = build_wants_enosys(b),
	};
	size_t len;

	p->filter = arena_array(b->arena, BPF_MAXINSNS, struct sock_filter);
	len = seccomp_compile(&code, b->arena, p->filter, BPF_MAXINSNS);
	if (!len)
		return err_set(
			e, ERR_CONFIG,
			"linux.seccomp: the filter is longer than the %d instructions that the "
			"kernel takes",
			BPF_MAXINSNS);
	p->len = (unsigned short)len;
	return 0;
}

int seccomp_program_build(const struct oci_seccomp *c, struct arena *a,
			  struct seccomp_program *ret_program, struct notes *ret_notes,
			  struct error *e)
{
	struct build b = {.c = c, .arena = a};
	struct seccomp_program p = {0};
	size_t i;

	if (!c->set) {
		*ret_program = p;
		return 0;
	}
	if (build_check_notify(c, &p.notify, e) < 0 || build_flags(c, p.notify, &p.flags, e) < 0 ||
	    action_value("linux.seccomp.defaultErrnoRet", c->default_action, &c->default_errno_ret,
			 &b.default_action, e) < 0 ||
	    build_add_archs(&b, e) < 0 || build_size_tables(&b, e) < 0)
		return -1;
	for (i = 0; i < c->syscalls.n; i++)
		if (build_add_rule(&b, i, e) < 0)
			return -1;
	if (build_compile(&b, &p, e) < 0)
		return -1;
	notes_add_names(ret_notes, "linux.seccomp.syscalls: unknown here, and so not restricted:",
			&b.unknown, a);
	p.listener_path = c->listener_path;
	p.listener_metadata = c->listener_metadata;
	*ret_program = p;
	return 0;
}
