#include "filter/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <string.h>

#include "base/str.h"

/* Allowed calls that are asked about. */
static const struct observed {
	const char *name;
	enum observe least;
	int flags_at; /* the argument that has the flags of open(); -1: always */
} observed[] = {
	{"connect", OBSERVE_CALLS, -1},
	{"open", OBSERVE_FULL, 1},
	{"openat", OBSERVE_FULL, 2},
	{"creat", OBSERVE_FULL, -1},
	{"truncate", OBSERVE_FULL, -1},
	{"unlink", OBSERVE_FULL, -1},
	{"unlinkat", OBSERVE_FULL, -1},
	{"rmdir", OBSERVE_FULL, -1},
	{"rename", OBSERVE_FULL, -1},
	{"renameat", OBSERVE_FULL, -1},
	{"renameat2", OBSERVE_FULL, -1},
	{"mkdir", OBSERVE_FULL, -1},
	{"mkdirat", OBSERVE_FULL, -1},
	{"link", OBSERVE_FULL, -1},
	{"linkat", OBSERVE_FULL, -1},
	{"symlink", OBSERVE_FULL, -1},
	{"symlinkat", OBSERVE_FULL, -1},
	{"chmod", OBSERVE_FULL, -1},
	{"fchmodat", OBSERVE_FULL, -1},
};

/* One of these in the flags means that something is to be written. */
static const struct {
	uint64_t mask, value;
} writes[] = {{O_ACCMODE, O_WRONLY}, {O_ACCMODE, O_RDWR}};

static void observe_add(struct oci_seccomp *c, const struct observed *o, size_t way,
			struct arena *a)
{
	struct oci_seccomp_rule *r = &c->syscalls.v[c->syscalls.n++];

	*r = (struct oci_seccomp_rule){.action = OCI_ACT_NOTIFY};
	r->names.n = 1;
	r->names.v = arena_array(a, 2, char *);
	r->names.v[0] = arena_strdup(a, o->name);
	r->args.n = 1;
	r->args.v = arena_array(a, 1, struct oci_seccomp_arg);
	/* Always true: a rule without a condition would stand in for the profile's own, and one
	 * with it counts only where that is milder. */
	if (o->flags_at < 0)
		r->args.v[0] = (struct oci_seccomp_arg){.op = OCI_OP_GE};
	else
		r->args.v[0] = (struct oci_seccomp_arg){.index = (uint32_t)o->flags_at,
						.op = OCI_OP_MASKED_EQ,
						.value = writes[way].mask,
						.value_two = writes[way].value};
}

void observe_add_rules(struct oci_seccomp *c, enum observe how, struct arena *a)
{
	const size_t n = c->syscalls.n;
	struct oci_seccomp *profile = arena_new(a, struct oci_seccomp);
	struct oci_seccomp_rule *wider;
	size_t i, way;

	*profile = *c;
	c->profile = profile;
	c->observed = c->set && how != OBSERVE_NOTHING;
	if (!c->observed)
		return;
	wider = arena_array(a, n + ARRAY_SIZE(observed) * ARRAY_SIZE(writes),
			    struct oci_seccomp_rule);
	if (n)
		memcpy(wider, c->syscalls.v, n * sizeof(*wider));
	c->syscalls.v = wider;
	for (i = 0; i < ARRAY_SIZE(observed); i++)
		for (way = 0; way < (observed[i].flags_at < 0 ? 1 : ARRAY_SIZE(writes)); way++)
			if (how >= observed[i].least)
				observe_add(c, &observed[i], way, a);
}

static bool observe_asks(uint32_t action)
{
	switch (action & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_KILL_PROCESS:
	case SECCOMP_RET_KILL_THREAD:
		return true;
	case SECCOMP_RET_ERRNO:
		return (action & SECCOMP_RET_DATA) != ENOSYS;
	default:
		return false;
	}
}

void observe_denials(struct seccomp_program *filter)
{
	struct sock_filter *f;

	for (f = filter->filter; f && f < filter->filter + filter->len; f++)
		if (f->code == (BPF_RET | BPF_K) && observe_asks(f->k))
			f->k = SECCOMP_RET_USER_NOTIF;
}
