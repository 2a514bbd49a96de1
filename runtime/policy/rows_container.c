/* Rows that say what a container shares with the host: namespaces, devices, cgroups, hooks. */
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "json/json.h"
#include "oci/names.h"
#include "policy/row.h"

/* A namespace is the host's where the config leaves it out, or joins what is the runtime's own or
 * the first process's. Other paths are those of pods and of other containers. */
int row_host_namespaces(struct tightening *t, struct error *e)
{
	static const enum oci_ns kinds[] = {OCI_NS_MOUNT, OCI_NS_PID, OCI_NS_IPC, OCI_NS_UTS,
					    OCI_NS_NETWORK};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct oci_namespace *ns = row_namespace(t, kinds[i]);
		const char *word = oci_ns_names[kinds[i]].word;

		if ((ns && !(ns->path && t->facts->host_ns & 1U << kinds[i])) ||
		    policy_gives(t->p, LIST_HOST_NS, word))
			continue;
		return row_refuse(
			t, e,
			arena_printf(t->a, "\"host-namespaces\": {\"allow\": [\"%s\"]}", word),
			"the host's %s namespace (linux.namespaces): agents of a node belong to "
			"another runtime class",
			word);
	}
	return 0;
}

int row_cgroup_ns(struct tightening *t, struct error *e)
{
	struct oci_linux *l = &t->c->linux_;
	const struct oci_namespace *ns = row_namespace(t, OCI_NS_CGROUP);

	(void)e;
	if (row_level(t, LEVEL_CGROUP_NS) == AS_ASKED ||
	    (ns && !(ns->path && t->facts->host_ns & 1U << OCI_NS_CGROUP)))
		return 0;
	if (ns) {
		row_namespace(t, OCI_NS_CGROUP)->path = NULL;
	} else {
		ROW_EXTEND(t, l->namespaces, 1);
		l->namespaces.v[l->namespaces.n++] = (struct oci_namespace){.type = OCI_NS_CGROUP};
	}
	row_clamped(t, "linux.namespaces: a cgroup namespace of its own");
	return 0;
}

int row_net_devices(struct tightening *t, struct error *e)
{
	if (row_level(t, LEVEL_NET_DEVICES) == AS_ASKED || !t->c->linux_.net_devices.n)
		return 0;
	return row_refuse(t, e, "\"net-devices\": \"as-asked\"",
			  "an interface of the host (linux.netDevices: %s)",
			  json_show(t->c->linux_.net_devices.v[0].host_name).text);
}

int row_hooks(struct tightening *t, struct error *e)
{
	const struct oci_hooks *h = &t->c->hooks;
	const struct oci_hook_list *const lists[] = {&h->prestart,	   &h->create_runtime,
						     &h->create_container, &h->start_container,
						     &h->poststart,	   &h->poststop};
	size_t i;

	if (row_level(t, LEVEL_HOOKS) != HOOKS_NONE)
		return 0;
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		if (lists[i]->n)
			return row_refuse(t, e, "\"hooks\": \"trusted\"", "a hook (hooks: %s)",
					  json_show(lists[i]->v[0].path).text);
	return 0;
}

int row_cgroup_keys(struct tightening *t, struct error *e)
{
	const struct pairs *u = &t->c->linux_.resources.unified;
	size_t i;

	for (i = 0; i < u->n; i++)
		if (!policy_gives(t->p, LIST_CGROUP_KEYS, u->v[i].key))
			return row_refuse(
				t, e,
				arena_printf(t->a, "\"cgroup-keys\": {\"allow\": [\"%s\"]}",
					     json_show(u->v[i].key).text),
				"a key of cgroups (linux.resources.unified: %s)",
				json_show(u->v[i].key).text);
	return 0;
}

/* Without systemd's driver there is no unit, and they are words like any other annotation. What
 * nobody may choose is the plan's to refuse. */
int row_unit_properties(struct tightening *t, struct error *e)
{
	const struct pairs *annotations = &t->c->annotations;
	const char *name;
	size_t i;

	if (t->facts->cgroup.driver != CGROUP_BY_SYSTEMD)
		return 0;
	for (i = 0; i < annotations->n; i++) {
		name = unit_choice_name(annotations->v[i].key);
		if (name && !policy_gives(t->p, LIST_UNIT_PROPERTIES, name))
			return row_refuse(t, e,
					  arena_printf(t->a,
						       "\"unit-properties\": {\"allow\": [\"%s\"]}",
						       name),
					  "a property of the unit (annotations: %s)",
					  json_show(annotations->v[i].key).text);
	}
	return 0;
}

/* Devices */

static const struct {
	const char *path; /* of a node that each container has; NULL: there is none */
	int64_t major, minor; /* minor -1: all */
} usual_devices[] = {
	{"/dev/null", 1, 3},	{"/dev/zero", 1, 5}, {"/dev/full", 1, 7}, {"/dev/random", 1, 8},
	{"/dev/urandom", 1, 9}, {"/dev/tty", 5, 0},  {NULL, 5, 1},	  {"/dev/ptmx", 5, 2},
	{NULL, 136, -1},
};

static bool device_is_usual(const struct oci_device *d)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(usual_devices); i++)
		if (d->major == usual_devices[i].major && d->minor == usual_devices[i].minor &&
		    str_eq(d->type, "c"))
			return true;
	return str_eq(d->type, "p");
}

static bool rule_is_usual(const struct oci_device_rule *r)
{
	size_t i;

	/* To make a node is not to use it. */
	if (!r->allow || (r->access && str_eq(r->access, "m")))
		return true;
	for (i = 0;
	     r->type && str_eq(r->type, "c") && r->major.set && i < ARRAY_SIZE(usual_devices); i++)
		if (r->major.v == usual_devices[i].major &&
		    (usual_devices[i].minor < 0 ||
		     (r->minor.set && r->minor.v == usual_devices[i].minor)))
			return true;
	return false;
}

/* Is the rule for a device that the policy gives and the config has? */
static bool rule_is_given(const struct tightening *t, const struct oci_device_rule *r)
{
	const struct oci_linux *l = &t->c->linux_;
	size_t i;

	for (i = 0; i < l->devices.n; i++) {
		const struct oci_device *d = &l->devices.v[i];

		if (policy_gives(t->p, LIST_DEVICES, d->path) && r->major.set && r->minor.set &&
		    r->major.v == d->major && r->minor.v == d->minor)
			return true;
	}
	return false;
}

int row_devices(struct tightening *t, struct error *e)
{
	const struct oci_linux *l = &t->c->linux_;
	size_t i;

	if (policy_gives(t->p, LIST_DEVICES, POLICY_ALL))
		return 0;
	for (i = 0; i < l->devices.n; i++)
		if (!device_is_usual(&l->devices.v[i]) &&
		    !policy_gives(t->p, LIST_DEVICES, l->devices.v[i].path))
			return row_refuse(
				t, e,
				arena_printf(t->a, "\"devices\": {\"allow\": [%s]}",
					     json_show(l->devices.v[i].path).text),
				"a device (linux.devices[%zu]: %s)", i,
				json_show(l->devices.v[i].path).text);
	for (i = 0; i < l->resources.devices.n; i++) {
		const struct oci_device_rule *r = &l->resources.devices.v[i];

		if (!rule_is_usual(r) && !rule_is_given(t, r))
			return row_refuse(
				t, e, "\"devices\": {\"allow\": [\"/dev/NAME\"]}",
				"access to devices (linux.resources.devices[%zu]: %s %lld:%lld %s)",
				i, r->type ? r->type : "a",
				(long long)(r->major.set ? r->major.v : -1),
				(long long)(r->minor.set ? r->minor.v : -1),
				r->access ? r->access : "");
	}
	return 0;
}

/* Limits */

int row_limits(struct tightening *t, struct error *e)
{
	enum { PIDS = 64, MEMORY = 512 << 20, PERIOD = 100000 };
	struct oci_resources *r = &t->c->linux_.resources;

	(void)e;
	if (row_level(t, LEVEL_LIMITS) == AS_ASKED)
		return 0;
	if (!r->pids_limit.set || r->pids_limit.v <= 0) {
		r->pids_limit = (struct opt_i64){true, PIDS};
		row_clamped(t, "linux.resources.pids.limit: %d", PIDS);
	}
	if (!r->memory.limit.set || r->memory.limit.v <= 0) {
		r->memory.limit = (struct opt_i64){true, MEMORY};
		row_clamped(t, "linux.resources.memory.limit: %d", MEMORY);
	}
	if (!r->memory.swap.set || r->memory.swap.v != r->memory.limit.v) {
		r->memory.swap = r->memory.limit;
		row_clamped(t, "linux.resources.memory.swap: none");
	}
	if (!r->cpu.quota.set || r->cpu.quota.v <= 0) {
		r->cpu.quota = (struct opt_i64){true, PERIOD};
		r->cpu.period = (struct opt_u64){true, PERIOD};
		row_clamped(t, "linux.resources.cpu: one processor");
	}
	return 0;
}
