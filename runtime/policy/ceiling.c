/*
 * A config's profile, and nothing beyond the policy's list. Rules that open something lose the
 * calls that the policy does not give; a call that is given for some arguments moves to rules of
 * its own, whose conditions hold beside the profile's. Rules that close something stay as they are.
 * A profile that opens everything by default becomes one that opens the list.
 */
#include "policy/ceiling.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/str.h"
#include "filter/syscalls.h"
#include "policy/row.h"
#include "policy/words.h"

/* Names and reasons apart: reasons are for people, and most runs touch none of their pages. */
static const struct call {
	char name[30];
	uint8_t engine, code; /* enum ceiling_verdict */
} calls[] = {
#define CALL(name, engine, code, why) {#name, CALL_##engine, CALL_##code},
#include "../spec/seccomp/calls.def"
#undef CALL
};

static const char reasons[][96] = {
#define CALL(name, engine, code, why) why,
#include "../spec/seccomp/calls.def"
#undef CALL
};

/* Profiles are sorted, mostly, and so the search goes on from the last hit. */
static const struct call *call_find(const char *name, size_t *at)
{
	size_t low = 0, high = ARRAY_SIZE(calls), middle;
	int order;

	for (middle = at ? *at + 1 : 0; at && middle < ARRAY_SIZE(calls) && middle < *at + 4;
	     middle++)
		if (str_eq(calls[middle].name, name)) {
			*at = middle;
			return &calls[middle];
		}
	while (low < high) {
		middle = (low + high) / 2;
		order = strcmp(name, calls[middle].name);
		if (order == 0) {
			if (at)
				*at = middle;
			return &calls[middle];
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static enum ceiling_verdict call_verdict(const struct policy *p, const struct call *c,
					 const char *name)
{
	enum ceiling_verdict v = CALL_no;

	if (c)
		v = p->level[LEVEL_SECCOMP] == SECCOMP_CODE ? c->code : c->engine;
	return v != CALL_yes && p->list[LIST_CALLS].n && policy_gives(p, LIST_CALLS, name) ?
		       CALL_yes :
		       v;
}

enum ceiling_verdict ceiling_verdict(const struct policy *p, const char *name)
{
	return call_verdict(p, call_find(name, NULL), name);
}

const char *ceiling_reason(const char *name)
{
	const struct call *c = call_find(name, NULL);

	return c ? reasons[c - calls] : NULL;
}

const char *ceiling_name(size_t i)
{
	return i < ARRAY_SIZE(calls) ? calls[i].name : NULL;
}

/* Conditions: a call is given where all args of one of its rows hold. */

enum { CONDITION_ARGS = 4, CONDITIONS_MAX = 64 };

struct condition {
	size_t n;
	struct oci_seccomp_arg args[CONDITION_ARGS];
};

/* Namespaces that clone could make. Its lowest byte is a signal. */
#define CLONE_NEW_ANY                                                                              \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)

static size_t conditions_of_clone(struct condition *v)
{
	uint8_t column = syscall_arch_native()->column;

	v[0] = (struct condition){
		1,
		{{.index = column == COLUMN_S390 || column == COLUMN_S390X,
		  .value = CLONE_NEW_ANY,
		  .op = OCI_OP_MASKED_EQ}}};
	return 1;
}

static size_t conditions_of_ioctl(struct condition *v)
{
	enum { TIOCLINUX_ = 0x541c };

	v[0] = (struct condition){2,
				  {{.index = 1, .value = TIOCSTI, .op = OCI_OP_NE},
				   {.index = 1, .value = TIOCLINUX_, .op = OCI_OP_NE}}};
	return 1;
}

static size_t conditions_of_personality(const struct policy *p, struct condition *v)
{
	/* PER_LINUX, PER_LINUX32, the same with old uname, and a question. */
	static const uint32_t values[] = {0, 0xffffffff, 0x8, 0x20000, 0x20008};
	size_t n = p->level[LEVEL_SECCOMP] == SECCOMP_CODE ? 2 : ARRAY_SIZE(values), i;

	for (i = 0; i < n; i++)
		v[i] = (struct condition){1, {{.value = values[i], .op = OCI_OP_EQ}}};
	return n;
}

static size_t conditions_of_sockets(const struct policy *p, struct condition *v)
{
	const struct policy_words *words = &p->list[LIST_SOCKETS];
	const struct policy_socket *s;
	size_t n = 0, i;

	for (i = 0; i < words->n && n < CONDITIONS_MAX; i++) {
		s = policy_socket_find(words->v[i]);
		if (!s)
			continue;
		v[n] = (struct condition){1, {{.value = s->family, .op = OCI_OP_EQ}}};
		if (s->protocol >= 0)
			v[n].args[v[n].n++] = (struct oci_seccomp_arg){
				.index = 2, .value = (uint32_t)s->protocol, .op = OCI_OP_EQ};
		n++;
	}
	return n;
}

/* Calls that give a file its mode, and where the flags are that say whether they do. */
static const struct mode_call {
	const char *name;
	uint32_t mode_at;
	int flags_at; /* -1: they always do */
} mode_calls[] = {
	{"chmod", 1, -1}, {"fchmod", 1, -1}, {"fchmodat", 2, -1}, {"creat", 1, -1},
	{"mknodat", 2, -1}, {"open", 2, 1},	{"openat", 3, 2},
};

/* A file that is made in a volume may belong to root outside, where its bits would count. */
static size_t conditions_of_mode(const char *name, struct condition *v)
{
	const struct mode_call *c;

	for (c = mode_calls; c < mode_calls + ARRAY_SIZE(mode_calls); c++) {
		if (!str_eq(c->name, name))
			continue;
		v[0] = (struct condition){1,
					  {{.index = c->mode_at,
					    .value = S_ISUID | S_ISGID,
					    .op = OCI_OP_MASKED_EQ}}};
		if (c->flags_at < 0)
			return 1;
		v[1] = (struct condition){1,
					  {{.index = (uint32_t)c->flags_at,
					    .value = O_CREAT | (O_TMPFILE & ~O_DIRECTORY),
					    .op = OCI_OP_MASKED_EQ}}};
		return 2;
	}
	return 0;
}

/* The effective id alone, as seteuid() and posix_spawn() set it. Who has no capabilities can make
 * it nothing but one of his own. */
static size_t conditions_of_effective_id(struct condition *v)
{
	v[0] = (struct condition){2,
				  {{.value = UINT32_MAX, .op = OCI_OP_EQ},
				   {.index = 2, .value = UINT32_MAX, .op = OCI_OP_EQ}}};
	return 1;
}

/* 0: none of its arguments are given. */
static size_t conditions(const struct policy *p, const char *name, struct condition *v)
{
	size_t n = conditions_of_mode(name, v);

	if (n)
		return n;
	if (str_after(name, "setresuid") || str_after(name, "setresgid"))
		return conditions_of_effective_id(v);
	if (str_eq(name, "clone"))
		return conditions_of_clone(v);
	if (str_eq(name, "ioctl"))
		return conditions_of_ioctl(v);
	if (str_eq(name, "personality"))
		return conditions_of_personality(p, v);
	if (policy_gives(p, LIST_SOCKETS, POLICY_ALL)) {
		v[0] = (struct condition){0};
		return 1;
	}
	return conditions_of_sockets(p, v);
}

/* A profile that is rewritten. */
struct rewriting {
	struct tightening *t;
	struct oci_seccomp *c;
	size_t cap;
	LIST(struct oci_seccomp_rule) rules;
	size_t n_taken;
	struct buf taken; /* names, for the clamp */
	bool namespaces;  /* can't be made any more */
	size_t at;	  /* call_find()'s */
};

enum { TAKEN_SHOWN = 12, TAKEN_TEXT = 1 << 10 };

static void add_rule(struct rewriting *w, struct oci_seccomp_rule rule)
{
	w->rules.v = arena_grow(w->t->a, w->rules.v, &w->cap, w->rules.n + 1,
				sizeof(*w->rules.v));
	w->rules.v[w->rules.n++] = rule;
}

static struct strings one_name(struct arena *a, const char *name)
{
	struct strings s = {.n = 1, .v = arena_array(a, 2, char *)};

	s.v[0] = arena_strdup(a, name);
	return s;
}

/* The call under the rule's own args and one of its conditions. */
static void add_joint(struct rewriting *w, const char *name, const struct oci_seccomp_rule *from,
		      const struct oci_seccomp_arg *args, size_t n, const struct condition *c)
{
	struct oci_seccomp_rule r = {.names = one_name(w->t->a, name),
				     .action = from->action,
				     .errno_ret = from->errno_ret,
				     .joint = true};

	r.args.v = arena_array(w->t->a, n + c->n + 1, struct oci_seccomp_arg);
	if (n)
		memcpy(r.args.v, args, n * sizeof(*args));
	memcpy(r.args.v + n, c->args, c->n * sizeof(*args));
	r.args.n = n + c->n;
	add_rule(w, r);
}

/* Does the profile take each condition of the rule for a rule of its own (filter/seccomp.h)? */
static bool rule_is_apart(const struct oci_seccomp_rule *r)
{
	unsigned int seen = 0;
	size_t i;

	for (i = 0; i < r->args.n; i++) {
		if (seen & 1U << (r->args.v[i].index & 31))
			return !r->joint;
		seen |= 1U << (r->args.v[i].index & 31);
	}
	return false;
}

static void add_conditions(struct rewriting *w, const char *name,
			   const struct oci_seccomp_rule *from)
{
	struct condition v[CONDITIONS_MAX];
	size_t n = conditions(w->t->p, name, v), i, k;

	for (i = 0; i < n; i++) {
		if (!rule_is_apart(from)) {
			add_joint(w, name, from, from->args.v, from->args.n, &v[i]);
			continue;
		}
		for (k = 0; k < from->args.n; k++)
			add_joint(w, name, from, &from->args.v[k], 1, &v[i]);
	}
}

static void take_name(struct rewriting *w, const char *name)
{
	w->namespaces = w->namespaces || str_eq(name, "unshare");
	if (w->n_taken++ < TAKEN_SHOWN)
		buf_printf(&w->taken, "%s%s", w->n_taken > 1 ? ", " : "", name);
}

/* A rule that opens calls, with those that are given. */
static void rewrite_opening(struct rewriting *w, const struct oci_seccomp_rule *r)
{
	struct oci_seccomp_rule given = *r;
	const struct syscall_row *row;
	const struct call *c;
	const char *name;
	size_t i;

	given.names = (struct strings){.v = arena_array(w->t->a, r->names.n + 1, char *)};
	for (i = 0; i < r->names.n; i++) {
		name = r->names.v[i];
		c = call_find(name, &w->at);
		switch (call_verdict(w->t->p, c, name)) {
		case CALL_yes:
			given.names.v[given.names.n++] = r->names.v[i];
			break;
		case CALL_some:
			add_conditions(w, name, r);
			break;
		case CALL_no:
		case CALL_nosys:
		case CALL_kill:
			/* One that this machine does not have is no loss. */
			row = c ? syscall_find(name) : NULL;
			if (row && syscall_number(row, syscall_arch_native()) >= 0)
				take_name(w, name);
			break;
		}
	}
	if (given.names.n)
		add_rule(w, given);
}

static bool action_opens(enum oci_seccomp_action action)
{
	return action == OCI_ACT_ALLOW || action == OCI_ACT_LOG || action == OCI_ACT_TRACE ||
	       action == OCI_ACT_NOTIFY;
}

/* All names of the policy's list, and what it adds. */
static struct strings all_names(const struct rewriting *w)
{
	const struct policy_words *more = &w->t->p->list[LIST_CALLS];
	struct strings s = {.v = arena_array(w->t->a, ARRAY_SIZE(calls) + more->n + 1, char *)};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		s.v[s.n++] = arena_strdup(w->t->a, calls[i].name);
	for (i = 0; i < more->n; i++)
		if (!call_find(more->v[i], NULL))
			s.v[s.n++] = arena_strdup(w->t->a, more->v[i]);
	return s;
}

/* A closed call fails in one of two ways, or ends the process. */
static void add_closing(struct rewriting *w, enum ceiling_verdict which, struct oci_seccomp_rule r)
{
	size_t i;

	r.names = (struct strings){.v = arena_array(w->t->a, ARRAY_SIZE(calls) + 1, char *)};
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (call_verdict(w->t->p, &calls[i], calls[i].name) == which)
			r.names.v[r.names.n++] = arena_strdup(w->t->a, calls[i].name);
	if (r.names.n)
		add_rule(w, r);
}

static void rewrite_default(struct rewriting *w)
{
	struct oci_seccomp *c = w->c;
	struct oci_seccomp_rule all = {.action = c->set ? c->default_action : OCI_ACT_ALLOW};
	size_t taken = w->n_taken;

	if (c->set && !action_opens(c->default_action))
		return;
	all.names = all_names(w);
	rewrite_opening(w, &all);
	w->n_taken = taken;
	row_clamped(w->t, c->set ? "linux.seccomp allows by default: only the list \"%s\" is open" :
				   "linux.seccomp is absent: the list \"%s\" holds",
		    policy_level_word(LEVEL_SECCOMP, row_level(w->t, LEVEL_SECCOMP)));
	c->default_action = OCI_ACT_ERRNO;
	c->default_errno_ret = (struct opt_u32){.set = true, .v = EPERM};
	c->set = true;
}

/* A rule that closes calls stays. Where the default becomes another, it holds though that may be
 * its own action. */
static void keep_closing(struct rewriting *w, struct oci_seccomp_rule rule)
{
	rule.firm = action_opens(w->c->default_action);
	add_rule(w, rule);
}

/* One that says nothing, for it does as the default does (filter/seccomp.h). With another default
 * it would. */
static bool says_nothing(const struct oci_seccomp *c, const struct oci_seccomp_rule *r)
{
	return !r->args.n && r->action == c->default_action &&
	       r->errno_ret.set == c->default_errno_ret.set &&
	       r->errno_ret.v == c->default_errno_ret.v;
}

/* The newest call of this machine. */
static const char *newest_call(void)
{
	const struct syscall_arch *arch = syscall_arch_native();
	size_t best = 0, i;

	for (i = 1; i < syscall_row_count; i++)
		if (syscall_number(&syscall_rows[i], arch) >
		    syscall_number(&syscall_rows[best], arch))
			best = i;
	return syscall_rows[best].name;
}

/* Numbers above all that a profile names fail with ENOSYS (filter/seccomp.h). Names that come or go
 * must not move that border to where the profile kills. */
static void keep_border(struct rewriting *w)
{
	const struct oci_seccomp *c = w->c;

	if (c->set && c->default_action != OCI_ACT_ERRNO)
		add_rule(w, (struct oci_seccomp_rule){.names = one_name(w->t->a, newest_call()),
						      .action = c->default_action});
}

static bool rule_has(const struct oci_seccomp_rule *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->names.n; i++)
		if (str_eq(r->names.v[i], name))
			return true;
	return false;
}

/* As of a kernel without an audit system: useradd and others then do without. Any other error makes
 * them give up. What a profile itself says against sockets stays as it is. */
static void add_no_audit(struct rewriting *w)
{
	static struct oci_seccomp_arg args[] = {
		{.index = 0, .value = AF_NETLINK, .op = OCI_OP_EQ},
		{.index = 2, .value = NETLINK_AUDIT, .op = OCI_OP_EQ},
	};
	const struct policy *p = w->t->p;
	size_t i;

	for (i = 0; i < w->rules.n; i++)
		if (!action_opens(w->rules.v[i].action) && rule_has(&w->rules.v[i], "socket"))
			return;
	if (p->level[LEVEL_SECCOMP] != SECCOMP_ENGINE || policy_gives(p, LIST_SOCKETS, "netlink") ||
	    policy_gives(p, LIST_SOCKETS, "netlink-audit"))
		return;
	add_rule(w, (struct oci_seccomp_rule){
			    .names = one_name(w->t->a, "socket"),
			    .action = OCI_ACT_ERRNO,
			    .errno_ret = {.set = true, .v = EPROTONOSUPPORT},
			    .args = {.n = ARRAY_SIZE(args), .v = args},
			    .joint = true,
		    });
}

/* Also where the row seccomp leaves the profile as it is: then this may be all that it says. */
int row_foreign_abi(struct tightening *t, struct error *e)
{
	struct oci_seccomp *c = &t->c->linux_.seccomp;

	(void)e;
	if (row_level(t, LEVEL_FOREIGN_ABI) == AS_ASKED)
		return 0;
	if (!c->set) {
		c->set = true;
		c->default_action = OCI_ACT_ALLOW;
		row_clamped(t, "linux.seccomp is absent: calls of other architectures are closed");
	} else if (c->architectures.n > 1) {
		row_clamped(t, "linux.seccomp.architectures: only this machine's own");
	}
	c->architectures.n = 0;
	c->foreign_enosys = row_level(t, LEVEL_FOREIGN_ABI) == ABI_ENOSYS;
	return 0;
}

int row_seccomp(struct tightening *t, struct error *e)
{
	struct oci_seccomp *c = &t->c->linux_.seccomp;
	struct rewriting w = {.t = t, .c = c};
	const struct oci_seccomp_rule nosys = {.action = OCI_ACT_ERRNO,
					       .errno_ret = {.set = true, .v = ENOSYS}};
	const struct oci_seccomp_rule kill = {.action = OCI_ACT_KILL_PROCESS};
	size_t i;

	(void)e;
	/* A profile that opens nothing is as strict as can be. */
	if (row_level(t, LEVEL_SECCOMP) == AS_ASKED ||
	    (c->set && !c->syscalls.n && !action_opens(c->default_action)))
		return 0;
	w.taken = buf_new(t->a, TAKEN_TEXT);
	for (i = 0; c->set && i < c->syscalls.n; i++)
		if (action_opens(c->default_action) && says_nothing(c, &c->syscalls.v[i]))
			continue;
		else if (action_opens(c->syscalls.v[i].action))
			rewrite_opening(&w, &c->syscalls.v[i]);
		else
			keep_closing(&w, c->syscalls.v[i]);
	rewrite_default(&w);
	keep_border(&w);
	if (c->default_action == OCI_ACT_ERRNO) {
		add_closing(&w, CALL_nosys, nosys);
		add_no_audit(&w);
	}
	add_closing(&w, CALL_kill, kill);
	c->syscalls.n = w.rules.n;
	c->syscalls.v = w.rules.v;
	if (w.n_taken)
		row_clamped(t, "linux.seccomp: not allowed: %s%s", w.taken.data,
			    w.n_taken > TAKEN_SHOWN ? " and others" : "");
	if (w.namespaces)
		row_clamped(t, "linux.seccomp: no namespaces can be made inside; rootless builders "
			       "(buildkit, buildah, podman) need a user namespace and fail, kaniko "
			       "needs none");
	return 0;
}
