/*
 * The one file that knows libseccomp: it has the tables of names and architectures and writes the
 * program, which is taken out through a memfd (its export knows only descriptors) and loaded by us.
 */
#include "security/seccomp.h"

#include <ctype.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "plan/security.h"
#include "security/seccomp_enosys.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

enum { ARGS_MAX = 6, ERRNO_MAX = 4095, TRACE_MAX = 0xffff, ARCHS_MAX = 32 };

static void filter_release(scmp_filter_ctx *ctx)
{
	int saved = errno;

	if (*ctx)
		seccomp_release(*ctx);
	errno = saved;
}
#define autofilter __attribute__((cleanup(filter_release)))

/* What one build carries along. */
struct build {
	const struct oci_seccomp *c;
	scmp_filter_ctx ctx;
	uint32_t default_action;
	struct seccomp_last archs[ARCHS_MAX];
	size_t arch_count;
	struct arena *arena;
	struct strings *notes;
};

static int build_error(int rc, const char *what, struct error *e)
{
	errno = -rc;
	return err_sys(e, "linux.seccomp: %s", what);
}

/* Actions */

/* clang-format off */
static const struct action {
	uint32_t value;
	uint32_t data_max; /* of errnoRet; 0: the action takes none */
} actions[] = {
	[OCI_ACT_KILL] = {SCMP_ACT_KILL_THREAD, 0},
	[OCI_ACT_KILL_PROCESS] = {SCMP_ACT_KILL_PROCESS, 0},
	[OCI_ACT_TRAP] = {SCMP_ACT_TRAP, 0},
	[OCI_ACT_ERRNO] = {SCMP_ACT_ERRNO(0), ERRNO_MAX},
	[OCI_ACT_TRACE] = {SCMP_ACT_TRACE(0), TRACE_MAX},
	[OCI_ACT_ALLOW] = {SCMP_ACT_ALLOW, 0},
	[OCI_ACT_LOG] = {SCMP_ACT_LOG, 0},
	[OCI_ACT_NOTIFY] = {SCMP_ACT_NOTIFY, 0},
};

static const enum scmp_compare operators[] = {
	[OCI_OP_NE] = SCMP_CMP_NE,
	[OCI_OP_LT] = SCMP_CMP_LT,
	[OCI_OP_LE] = SCMP_CMP_LE,
	[OCI_OP_EQ] = SCMP_CMP_EQ,
	[OCI_OP_GE] = SCMP_CMP_GE,
	[OCI_OP_GT] = SCMP_CMP_GT,
	[OCI_OP_MASKED_EQ] = SCMP_CMP_MASKED_EQ,
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

/* What the specification names. libseccomp knows them in small letters, without the prefix. */
static const char *const arch_names[] = {
	"X86",	 "X86_64",   "X32",	    "ARM",  "AARCH64", "MIPS",	  "MIPS64",  "MIPS64N32",
	"MIPSEL", "MIPSEL64", "MIPSEL64N32", "PPC",  "PPC64",	"PPC64LE", "S390",    "S390X",
	"PARISC", "PARISC64", "RISCV64",     "M68K", "SH",	"SHEB",	  "LOONGARCH64",
};

static bool arch_is_named(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(arch_names); i++)
		if (str_eq(arch_names[i], name))
			return true;
	return false;
}

/* The token of an architecture, or 0 when libseccomp knows none. */
static uint32_t arch_token(const char *name)
{
	char small[16];
	size_t i;

	for (i = 0; name[i] && i < sizeof(small) - 1; i++)
		small[i] = (char)tolower((unsigned char)name[i]);
	small[i] = '\0';
	return seccomp_arch_resolve_name(small);
}

static void arch_record(struct build *b, uint32_t token)
{
	if (b->arch_count < ARCHS_MAX)
		b->archs[b->arch_count++].arch = token;
}

static int build_add_arch(struct build *b, size_t i, struct error *e)
{
	const char *given = b->c->architectures.v[i], *name = str_after(given, "SCMP_ARCH_");
	uint32_t token;
	int rc;

	if (!name || !arch_is_named(name))
		return err_set(e, ERR_CONFIG, "linux.seccomp.architectures[%zu]: unknown value \"%s\"",
			       i, given);
	token = arch_token(name);
	rc = token ? seccomp_arch_add(b->ctx, token) : -EDOM;
	if (rc == -EEXIST)
		return 0;
	if (rc == -EDOM) { /* also: of the other byte order */
		plan_note(b->notes,
			  arena_printf(b->arena,
				       "linux.seccomp.architectures[%zu]: ignoring %s, which can't "
				       "run on this host",
				       i, given),
			  b->arena);
		return 0;
	}
	if (rc < 0)
		return build_error(rc, given, e);
	arch_record(b, token);
	return 0;
}

static int build_add_archs(struct build *b, struct error *e)
{
	size_t i;

	arch_record(b, seccomp_arch_native());
	for (i = 0; i < b->c->architectures.n; i++)
		if (build_add_arch(b, i, e) < 0)
			return -1;
	return 0;
}

/* Rules */

static int rule_conditions(size_t i, const struct oci_seccomp_rule *r, struct scmp_arg_cmp *out,
			   bool *ret_repeated, struct error *e)
{
	unsigned int seen = 0;
	size_t k;

	*ret_repeated = false;
	for (k = 0; k < r->args.n; k++) {
		const struct oci_seccomp_arg *a = &r->args.v[k];

		if (a->index >= ARGS_MAX)
			return err_set(e, ERR_CONFIG,
				       "linux.seccomp.syscalls[%zu].args[%zu].index: %u is above 5", i,
				       k, a->index);
		*ret_repeated |= (seen & 1U << a->index) != 0;
		seen |= 1U << a->index;
		out[k] = (struct scmp_arg_cmp){a->index, operators[a->op], a->value, a->value_two};
	}
	return 0;
}

static int rule_add_call(struct build *b, int nr, uint32_t action, const struct scmp_arg_cmp *conds,
			 size_t n, bool apart)
{
	size_t k;
	int rc;

	if (!apart)
		return seccomp_rule_add_array(b->ctx, action, nr, (unsigned int)n, conds);
	for (k = 0; k < n; k++) {
		rc = seccomp_rule_add_array(b->ctx, action, nr, 1, &conds[k]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The number is the newest of its architecture that the profile names, or isn't. */
static void rule_note_last(struct build *b, const char *name)
{
	size_t k;
	int nr;

	for (k = 0; k < b->arch_count; k++) {
		nr = seccomp_syscall_resolve_name_arch(b->archs[k].arch, name);
		if (nr > 0 && (uint32_t)nr > b->archs[k].last)
			b->archs[k].last = (uint32_t)nr;
	}
}

static int rule_add_name(struct build *b, size_t i, const char *name, uint32_t action,
			 const struct scmp_arg_cmp *conds, bool apart, struct error *e)
{
	int rc, nr = seccomp_syscall_resolve_name(name);

	if (nr == __NR_SCMP_ERROR) {
		plan_note(b->notes,
			  arena_printf(b->arena,
				       "linux.seccomp.syscalls[%zu].names: ignoring \"%s\", which is "
				       "unknown here",
				       i, name),
			  b->arena);
		return 0;
	}
	rule_note_last(b, name);
	if (action == b->default_action)
		return 0;
	rc = rule_add_call(b, nr, action, conds, b->c->syscalls.v[i].args.n, apart);
	if (rc == -EEXIST)
		return err_set(e, ERR_CONFIG,
			       "linux.seccomp.syscalls[%zu]: contradicts an earlier rule for %s", i,
			       name);
	if (rc < 0) {
		errno = -rc;
		return err_sys(e, "linux.seccomp.syscalls[%zu]: %s", i, name);
	}
	return 0;
}

static int build_add_rule(struct build *b, size_t i, struct error *e)
{
	const struct oci_seccomp_rule *r = &b->c->syscalls.v[i];
	struct scmp_arg_cmp *conds = arena_array(b->arena, r->args.n, struct scmp_arg_cmp);
	char field[64];
	uint32_t action = 0;
	bool apart = false;
	size_t k;

	snprintf(field, sizeof(field), "linux.seccomp.syscalls[%zu].errnoRet", i);
	if (action_value(field, r->action, &r->errno_ret, &action, e) < 0 ||
	    rule_conditions(i, r, conds, &apart, e) < 0)
		return -1;
	for (k = 0; k < r->names.n; k++)
		if (rule_add_name(b, i, r->names.v[k], action, conds, apart, e) < 0)
			return -1;
	return 0;
}

/* Notification */

/* Until somebody holds the listener, init must be able to say that it is there. */
static int build_check_notify(const struct oci_seccomp *c, bool *ret_notify, struct error *e)
{
	size_t i, k;

	*ret_notify = false;
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
				return err_set(e, ERR_CONFIG,
					       "linux.seccomp.syscalls[%zu]: SCMP_ACT_NOTIFY can't be "
					       "used for write",
					       i);
	}
	if (*ret_notify && !c->listener_path)
		return err_set(e, ERR_CONFIG,
			       "linux.seccomp.listenerPath: missing, but SCMP_ACT_NOTIFY is used");
	if (c->listener_metadata && !c->listener_path)
		return err_set(e, ERR_CONFIG,
			       "linux.seccomp.listenerMetadata: given without listenerPath");
	return 0;
}

/* Flags */

static const struct flag {
	const char *name;
	unsigned int value;
} flags[] = {
	{"SECCOMP_FILTER_FLAG_TSYNC", SECCOMP_FILTER_FLAG_TSYNC},
	{"SECCOMP_FILTER_FLAG_LOG", SECCOMP_FILTER_FLAG_LOG},
	{"SECCOMP_FILTER_FLAG_SPEC_ALLOW", SECCOMP_FILTER_FLAG_SPEC_ALLOW},
	{"SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV", SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV},
};

static int flag_value(size_t i, const char *name, unsigned int *ret, struct error *e)
{
	size_t k;

	for (k = 0; k < ARRAY_SIZE(flags); k++) {
		if (str_eq(flags[k].name, name)) {
			*ret |= flags[k].value;
			return 0;
		}
	}
	return err_set(e, ERR_CONFIG, "linux.seccomp.flags[%zu]: unknown value \"%s\"", i, name);
}

/* The kernel looks at the flags before the program: EFAULT means that it knows them. */
static bool flags_supported(unsigned int f)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, f, NULL) < 0 && errno == EFAULT;
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
	if ((f & SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) && !flags_supported(f))
		return err_set(e, ERR_HOST,
			       "linux.seccomp.flags: this kernel lacks "
			       "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV");
	*ret = f;
	return 0;
}

/* The program */

static int memfd_open(void)
{
	int fd = memfd_create("seccomp", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create("seccomp", MFD_CLOEXEC);
	return fd;
}

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
	return b->default_action != SCMP_ACT_ERRNO(ENOSYS);
}

static int build_export(struct build *b, struct seccomp_program *p, struct error *e)
{
	autoclose int fd = memfd_open();
	struct sock_filter *filter;
	size_t head = 0, len;
	off_t size;
	int rc;

	if (fd < 0)
		return err_sys(e, "linux.seccomp: memfd_create");
	rc = seccomp_export_bpf(b->ctx, fd);
	if (rc < 0)
		return build_error(rc, "build the filter", e);
	size = lseek(fd, 0, SEEK_END);
	if (size <= 0 || (size_t)size % sizeof(*filter))
		return err_set(e, ERR_BUG, "linux.seccomp: the filter has an odd size");
	len = (size_t)size / sizeof(*filter);
	filter = arena_array(b->arena, seccomp_enosys_max(b->arch_count) + len, struct sock_filter);
	if (build_wants_enosys(b))
		head = seccomp_enosys_write(b->archs, b->arch_count, filter);
	if (head + len > BPF_MAXINSNS)
		return err_set(e, ERR_CONFIG,
			       "linux.seccomp: the filter has %zu instructions, the kernel takes %d",
			       head + len, BPF_MAXINSNS);
	if (pread(fd, filter + head, (size_t)size, 0) != size)
		return err_sys(e, "linux.seccomp: read the filter");
	p->filter = filter;
	p->len = (unsigned short)(head + len);
	return 0;
}

static int build_set_attributes(struct build *b, struct error *e)
{
	int rc;

	rc = seccomp_attr_set(b->ctx, SCMP_FLTATR_CTL_NNP, 0);
	if (rc == 0)
		rc = seccomp_attr_set(b->ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	/* A tree of numbers: 15 steps a call where a list takes hundreds. */
	if (rc == 0)
		rc = seccomp_attr_set(b->ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	return rc < 0 ? build_error(rc, "set up the filter", e) : 0;
}

static int build_run(struct build *b, struct seccomp_program *p, struct error *e)
{
	size_t i;

	/* Architectures come first: rules go to those that are there already. */
	if (build_set_attributes(b, e) < 0 || build_add_archs(b, e) < 0)
		return -1;
	for (i = 0; i < b->c->syscalls.n; i++)
		if (build_add_rule(b, i, e) < 0)
			return -1;
	return build_export(b, p, e);
}

int seccomp_program_build(const struct oci_seccomp *c, struct arena *a,
			  struct seccomp_program *ret_program, struct strings *ret_notes,
			  struct error *e)
{
	autofilter scmp_filter_ctx ctx = NULL;
	struct build b = {.c = c, .arena = a, .notes = ret_notes};
	struct seccomp_program p = {0};

	if (!c->set) {
		*ret_program = p;
		return 0;
	}
	if (build_check_notify(c, &p.notify, e) < 0 || build_flags(c, p.notify, &p.flags, e) < 0 ||
	    action_value("linux.seccomp.defaultErrnoRet", c->default_action, &c->default_errno_ret,
			 &b.default_action, e) < 0)
		return -1;
	ctx = seccomp_init(b.default_action);
	if (!ctx)
		return err_set(e, ERR_HOST, "linux.seccomp.defaultAction: not available here");
	b.ctx = ctx;
	if (build_run(&b, &p, e) < 0)
		return -1;
	p.listener_path = c->listener_path;
	p.listener_metadata = c->listener_metadata;
	*ret_program = p;
	return 0;
}

int seccomp_program_load(const struct seccomp_program *p, int *ret_listener_fd, struct error *e)
{
	const struct sock_fprog prog = {.len = p->len, .filter = p->filter};
	bool listens = p->flags & SECCOMP_FILTER_FLAG_NEW_LISTENER;
	long rc = 0;

	if (p->filter)
		rc = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, p->flags, &prog);
	if (rc < 0)
		return err_sys(e, "linux.seccomp: load the filter");
	if (rc > 0 && !listens)
		return err_set(e, ERR_SYSTEM, "linux.seccomp: thread %ld can't take the filter", rc);
	*ret_listener_fd = listens ? (int)rc : -1;
	return 0;
}
