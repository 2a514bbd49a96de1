#include "plan/namespaces.h"

#include <sched.h>
#include <stdio.h>

#include "base/str.h"
#include "json/json.h"
#include "oci/names.h"
#include "oci/oci.h"

const struct ns_join *plan_join(const struct plan *p, enum oci_ns type)
{
	size_t i;

	for (i = 0; i < p->ns.n_joins; i++)
		if (p->ns.joins[i].type == type)
			return &p->ns.joins[i];
	return NULL;
}

static int plan_namespace_list(const struct oci_config *c, const struct host_facts *facts,
			       struct ns_plan *ret, struct error *e)
{
	size_t i;

	for (i = 0; i < c->linux_.namespaces.n; i++) {
		const struct oci_namespace *ns = &c->linux_.namespaces.v[i];

		if (ns->type == OCI_NS_TIME && !facts->has_time_ns)
			return err_set(e, ERR_HOST,
				       "linux.namespaces[%zu]: this kernel has no time namespaces",
				       i);
		if (!ns->path)
			ret->new_flags |= (uint64_t)oci_ns_names[ns->type].flag;
		else if (!(facts->own_ns & 1U << ns->type))
			ret->joins[ret->n_joins++] =
				(struct ns_join){.type = ns->type, .path = ns->path};
	}
	return 0;
}

int plan_namespaces(const struct oci_config *c, const struct host_facts *facts, struct plan *p,
		    struct error *e)
{
	if (plan_namespace_list(c, facts, &p->ns, e) < 0)
		return -1;
	p->new_root = plan_has_new(p, CLONE_NEWNS);
	p->root_detached = !p->new_root && facts->can_mount_detached;
	p->attach_on_host = !p->new_root && !p->root_detached && !plan_join(p, OCI_NS_MOUNT);
	p->owns_userns = plan_has_new(p, CLONE_NEWUSER);
	if (plan_join(p, OCI_NS_MOUNT) && !p->root_detached)
		return err_set(
			e, ERR_HOST,
			"linux.namespaces: joining a mount namespace needs Linux 6.15: before, the "
			"container's mounts would stay in it");
	if (!facts->privileged && !p->owns_userns && !plan_join(p, OCI_NS_USER))
		return err_set(e, ERR_CONFIG,
			       "linux.namespaces: an ordinary user needs a user namespace "
			       "(`sbxrun spec --rootless` makes such a config)");
	if (p->owns_userns && (!c->linux_.uid_mappings.n || !c->linux_.gid_mappings.n))
		return err_set(
			e, ERR_CONFIG,
			"linux.uidMappings: a new user namespace needs uid and gid mappings");
	return 0;
}

static int refuse_shared(const struct oci_config *c, const char *field, enum oci_ns type,
			 struct error *e)
{
	return err_set(
		e, ERR_CONFIG,
		"%s: %s is the %s namespace of the host, where nothing may be changed: drop the "
		"path for a new one",
		field, json_show(oci_namespace_find(c, type)->path).text, oci_ns_names[type].word);
}

static int check_shared_sysctls(const struct oci_config *c, unsigned int shared, struct error *e)
{
	const struct pairs *sysctl = &c->linux_.sysctl;
	char field[128];
	enum oci_ns type;
	size_t i;

	for (i = 0; shared && i < sysctl->n; i++) {
		type = oci_sysctl_ns(sysctl->v[i].key);
		if (!(shared & 1U << type))
			continue;
		snprintf(field, sizeof(field), "linux.sysctl[%s]",
			 json_show(sysctl->v[i].key).text);
		return refuse_shared(c, field, type, e);
	}
	return 0;
}

int plan_check_shared(const struct oci_config *c, const struct host_facts *facts, struct error *e)
{
	const struct oci_linux *l = &c->linux_;
	const struct {
		const char *field;
		bool given;
		enum oci_ns type;
		unsigned int shared;
	} rows[] = {
		{"hostname", c->hostname, OCI_NS_UTS, facts->host_ns},
		{"domainname", c->domainname, OCI_NS_UTS, facts->host_ns},
		{"linux.netDevices", l->net_devices.n, OCI_NS_NETWORK, facts->host_ns},
		/* In another one they lie in a tree that is attached nowhere. */
		{"linux.maskedPaths", l->masked_paths.n, OCI_NS_MOUNT, facts->own_ns},
		{"linux.readonlyPaths", l->readonly_paths.n, OCI_NS_MOUNT, facts->own_ns},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].given && rows[i].shared & 1U << rows[i].type)
			return refuse_shared(c, rows[i].field, rows[i].type, e);
	return check_shared_sysctls(c, facts->host_ns, e);
}
