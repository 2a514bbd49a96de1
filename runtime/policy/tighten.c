/* The rows in the order in which they work on a config. */
#include "policy/tighten.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "oci/oci.h"
#include "policy/row.h"

struct step {
	size_t row; /* in policy_rows */
	int (*work)(struct tightening *t, struct error *e);
	bool exec; /* concerns a further process, too */
};

static const struct step steps[] = {
	/* Refusals of whole containers come first, so that nobody reads of details. */
	{LEVEL_COUNT + LIST_HOST_NS, row_host_namespaces, false},
	/* Others are milder with a container that has one. */
	{LEVEL_USER_NS, row_user_ns, false},
	{LEVEL_COUNT + LIST_CAPS, row_caps, true},
	{LEVEL_COUNT + LIST_DEVICES, row_devices, false},
	{LEVEL_NET_DEVICES, row_net_devices, false},
	{LEVEL_HOOKS, row_hooks, false},
	{LEVEL_PROPAGATION, row_propagation, false},
	{LEVEL_COUNT + LIST_CGROUP_KEYS, row_cgroup_keys, false},
	{LEVEL_COUNT + LIST_UNIT_PROPERTIES, row_unit_properties, false},
	/* Mounts that a row takes away have no type or flags to judge. */
	{LEVEL_SYS, row_sys, false},
	{LEVEL_CGROUP_MOUNTS, row_cgroup_mounts, false},
	{LEVEL_COUNT + LIST_FILESYSTEMS, row_filesystems, false},
	{LEVEL_PROC, row_proc, false},
	{LEVEL_MOUNT_FLAGS, row_mount_flags, false},
	{LEVEL_ROOT, row_root, false},
	{LEVEL_CGROUP_NS, row_cgroup_ns, false},
	{LEVEL_NO_NEW_PRIVS, row_no_new_privs, true},
	{LEVEL_LANDLOCK, row_landlock, true},
	{LEVEL_SECCOMP, row_seccomp, true},
	{LEVEL_FOREIGN_ABI, row_foreign_abi, true},
	{LEVEL_RLIMITS, row_rlimits, true},
	{LEVEL_OOM_SCORE, row_oom_score, true},
	{LEVEL_LIMITS, row_limits, false},
};

void policy_clamps_write(const struct policy_clamps *l, struct buf *b)
{
	size_t i;

	buf_char(b, '[');
	for (i = 0; i < l->n; i++) {
		buf_str(b, i ? ",{\"row\":" : "{\"row\":");
		json_write_string(b, l->v[i].row);
		buf_str(b, ",\"text\":");
		json_write_string(b, l->v[i].text);
		buf_char(b, '}');
	}
	buf_char(b, ']');
}

void policy_clamps_add(struct policy_clamps *l, const char *row, const char *text, struct arena *a)
{
	l->v = arena_grow(a, l->v, &l->cap, l->n + 1, sizeof(*l->v));
	l->v[l->n++] =
		(struct policy_clamp){.row = arena_strdup(a, row), .text = arena_strdup(a, text)};
}

void row_clamped(struct tightening *t, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	policy_clamps_add(t->clamps, t->row, text, t->a);
}

int row_refuse(const struct tightening *t, struct error *e, const char *how, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(e, ERR_CONFIG,
		       "policy %s refuses %s [%s]; to allow it, an administrator gives %s to a "
		       "policy in " POLICY_FILE ", or runs this with --policy oci",
		       t->p->name, text, t->row, how);
}

struct oci_namespace *row_namespace(const struct tightening *t, enum oci_ns type)
{
	size_t i;

	for (i = 0; i < t->c->linux_.namespaces.n; i++)
		if (t->c->linux_.namespaces.v[i].type == type)
			return &t->c->linux_.namespaces.v[i];
	return NULL;
}

bool row_has_user_ns(const struct tightening *t)
{
	const struct oci_namespace *ns = row_namespace(t, OCI_NS_USER);

	return ns && !(ns->path && t->facts->own_ns & 1U << OCI_NS_USER);
}

void row_extend(struct arena *a, void **v, size_t n, size_t more, size_t size)
{
	void *wider = arena_alloc(a, n + more + 1, size);

	if (n)
		memcpy(wider, *v, n * size);
	*v = wider;
}

static int tighten(const struct policy *p, const struct host_facts *facts, struct oci_config *c,
		   bool exec, struct arena *a, struct policy_clamps *ret, struct error *e)
{
	struct tightening t = {.p = p, .facts = facts, .c = c, .a = a, .clamps = ret};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		t.row = policy_rows[steps[i].row].id;
		if ((!exec || steps[i].exec) && steps[i].work(&t, e) < 0)
			return -1;
	}
	return 0;
}

void policy_tighten_all(const struct policy *p, const struct host_facts *facts,
			struct oci_config *c, struct arena *a, struct policy_clamps *ret,
			struct policy_clamps *ret_refusals)
{
	struct tightening t = {.p = p, .facts = facts, .c = c, .a = a, .clamps = ret};
	struct error e;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		t.row = policy_rows[steps[i].row].id;
		if (steps[i].work(&t, &e) < 0)
			policy_clamps_add(ret_refusals, t.row, e.text, a);
	}
}

int policy_tighten(const struct policy *p, const struct host_facts *facts, struct oci_config *c,
		   struct arena *a, struct policy_clamps *ret, struct error *e)
{
	return tighten(p, facts, c, false, a, ret, e);
}

int policy_tighten_exec(const struct policy *p, const struct host_facts *facts,
			struct oci_config *c, struct arena *a, struct policy_clamps *ret,
			struct error *e)
{
	return tighten(p, facts, c, true, a, ret, e);
}
