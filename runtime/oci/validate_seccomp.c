/* linux.seccomp: what a filter can be made of. Syscall names are judged where they are resolved. */
#include <stdio.h>

#include "base/str.h"
#include "oci/validate.h"
#include "oci/words.h"

/* The kernel cuts errnos above this one. */
enum { ERRNO_LARGEST = 4095, TRACE_LARGEST = 65535 };

static int validate_errno(enum oci_seccomp_action action, const struct opt_u32 *ret, const char *at,
			  struct error *e)
{
	uint32_t largest = action == OCI_ACT_TRACE ? TRACE_LARGEST : ERRNO_LARGEST;

	if (!ret->set)
		return 0;
	if (action != OCI_ACT_ERRNO && action != OCI_ACT_TRACE)
		return REFUSE(e, "%s: only SCMP_ACT_ERRNO and SCMP_ACT_TRACE return a number", at);
	if (ret->v > largest)
		return REFUSE(e, "%s: %u is above %u", at, ret->v, largest);
	return 0;
}

/* `at` is the rule's name, as in "linux.seccomp.syscalls[3]". */
static int validate_rule(const struct oci_seccomp *s, const struct oci_seccomp_rule *r,
			 const char *at, struct error *e)
{
	char errno_at[80];
	size_t i;

	if (r->names.n == 0)
		return REFUSE(e, "%s.names: must have an entry", at);
	for (i = 0; i < r->names.n; i++)
		if (!*r->names.v[i])
			return REFUSE(e, "%s.names[%zu]: must not be empty", at, i);
	if (r->action == OCI_ACT_NOTIFY && !s->listener_path)
		return REFUSE(e, "%s.action: SCMP_ACT_NOTIFY needs a listenerPath", at);
	for (i = 0; i < r->args.n; i++)
		if (r->args.v[i].index > 5)
			return REFUSE(e, "%s.args[%zu].index: %u is above 5", at, i,
				      r->args.v[i].index);
	snprintf(errno_at, sizeof(errno_at), "%s.errnoRet", at);
	return validate_errno(r->action, &r->errno_ret, errno_at, e);
}

static int validate_archs(const struct strings *l, struct error *e)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (!oci_word_known(oci_seccomp_archs, l->v[i]))
			return REFUSE(e, "linux.seccomp.architectures[%zu]: unknown value %s", i,
				      json_show(l->v[i]).text);
	return 0;
}

static int validate_flags(const struct strings *l, struct error *e)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (!oci_word_find(oci_seccomp_flags, l->v[i]))
			return REFUSE(e, "linux.seccomp.flags[%zu]: unknown value %s", i,
				      json_show(l->v[i]).text);
	return 0;
}

static int validate_listener(const struct oci_seccomp *s, struct error *e)
{
	if (s->listener_metadata && !s->listener_path)
		return REFUSE(e, "linux.seccomp.listenerMetadata: needs a listenerPath");
	/* The call that hands over the listener would itself be notified. */
	if (s->default_action == OCI_ACT_NOTIFY)
		return REFUSE(e, "linux.seccomp.defaultAction: can't be SCMP_ACT_NOTIFY");
	return s->listener_path
		       ? oci_check_absolute(s->listener_path, "linux.seccomp.listenerPath", e)
		       : 0;
}

int oci_validate_seccomp(const struct oci_seccomp *s, struct error *e)
{
	char at[64];
	size_t i;

	if (!s->set)
		return 0;
	if (validate_archs(&s->architectures, e) < 0 ||
	    validate_flags(&s->flags, e) < 0 ||
	    validate_listener(s, e) < 0 ||
	    validate_errno(s->default_action, &s->default_errno_ret,
			   "linux.seccomp.defaultErrnoRet", e) < 0)
		return -1;
	for (i = 0; i < s->syscalls.n; i++) {
		snprintf(at, sizeof(at), "linux.seccomp.syscalls[%zu]", i);
		if (validate_rule(s, &s->syscalls.v[i], at, e) < 0)
			return -1;
	}
	return 0;
}
