/* The rest of the linux object: namespaces, maps, devices, paths and the small fields. */
#include <stdio.h>

#include "base/str.h"
#include "oci/names.h"
#include "oci/validate.h"
#include "oci/words.h"

static int validate_namespaces(const struct oci_config *c, struct error *e)
{
	const struct oci_namespace *n = c->linux_.namespaces.v;
	unsigned int seen = 0;
	char at[64];
	size_t i;

	for (i = 0; i < c->linux_.namespaces.n; i++) {
		if (seen & 1U << n[i].type)
			return REFUSE(e, "linux.namespaces[%zu].type: %s is there twice", i,
				      oci_ns_names[n[i].type].word);
		seen |= 1U << n[i].type;
		snprintf(at, sizeof(at), "linux.namespaces[%zu].path", i);
		if (n[i].path && oci_check_absolute(n[i].path, at, e) < 0)
			return -1;
	}
	return 0;
}

static int validate_user_maps(const struct oci_config *c, struct error *e)
{
	const struct oci_namespace *user = oci_namespace_find(c, OCI_NS_USER);
	const struct oci_linux *l = &c->linux_;
	bool any = l->uid_mappings.n > 0 || l->gid_mappings.n > 0;

	if (any && !user)
		return REFUSE(e, "linux.%s: needs a user namespace",
			      l->uid_mappings.n ? "uidMappings" : "gidMappings");
	if ((any || (user && !user->path)) && (l->uid_mappings.n == 0 || l->gid_mappings.n == 0))
		return REFUSE(e, "linux.%s: must have an entry",
			      l->uid_mappings.n == 0 ? "uidMappings" : "gidMappings");
	if (oci_validate_id_maps(&l->uid_mappings, "linux.uidMappings", e) < 0)
		return -1;
	return oci_validate_id_maps(&l->gid_mappings, "linux.gidMappings", e);
}

static int validate_time(const struct oci_config *c, struct error *e)
{
	const struct oci_namespace *ns = oci_namespace_find(c, OCI_NS_TIME);
	const struct oci_time_offset *t;
	size_t i;

	for (i = 0; i < c->linux_.time_offsets.n; i++) {
		t = &c->linux_.time_offsets.v[i];
		if (!ns)
			return REFUSE(e, "linux.timeOffsets: needs a time namespace");
		if (ns->path)
			return REFUSE(e, "linux.timeOffsets: a joined time namespace has its own");
		if (!oci_word_known(oci_clocks, t->clock))
			return REFUSE(e, "linux.timeOffsets: unknown clock %s",
				      json_show(t->clock).text);
		if (t->nanosecs >= 1000000000)
			return REFUSE(e, "linux.timeOffsets.%s.nanosecs: %u is not below 10^9",
				      t->clock, t->nanosecs);
	}
	return 0;
}

static int validate_device(const struct oci_device *d, size_t i, struct error *e)
{
	char at[64];

	snprintf(at, sizeof(at), "linux.devices[%zu].path", i);
	if (oci_check_absolute(d->path, at, e) < 0)
		return -1;
	if (strlen(d->type) != 1 || !strchr("cbup", d->type[0]))
		return REFUSE(e, "linux.devices[%zu].type: unknown value %s", i,
			      json_show(d->type).text);
	if (d->type[0] != 'p' && !oci_is_dev(d->major, d->minor))
		return REFUSE(e, "linux.devices[%zu]: no device has the numbers %lld:%lld", i,
			      (long long)d->major, (long long)d->minor);
	/* Absent numbers look like 0:0, which the kernel takes for a whiteout. */
	if (d->type[0] != 'p' && d->major == 0 && d->minor == 0)
		return REFUSE(e, "linux.devices[%zu].major: required, but missing", i);
	if ((d->uid.set && d->uid.v == UINT32_MAX) || (d->gid.set && d->gid.v == UINT32_MAX))
		return REFUSE(e, "linux.devices[%zu]: %u is not an id", i, UINT32_MAX);
	return 0;
}

static const char *net_device_name(const struct oci_net_device *d)
{
	return d->name && *d->name ? d->name : d->host_name;
}

/* "eth%d": the kernel finds a number. It would take no other use of %. */
static bool is_net_template(const char *name)
{
	const char *percent = strchr(name, '%');

	return percent && percent[1] == 'd' && !strchr(percent + 1, '%');
}

static int validate_net_device(const struct oci_net_device *d, struct error *e)
{
	const char *name = net_device_name(d);

	if (!oci_is_ifname(d->host_name) || strchr(d->host_name, '%'))
		return REFUSE(e, "linux.netDevices: %s is not the name of an interface",
			      json_show(d->host_name).text);
	if (!oci_is_ifname(name) || (strchr(name, '%') && !is_net_template(name)))
		return REFUSE(e, "linux.netDevices[%s].name: %s is not the name of an interface",
			      json_show(d->host_name).text, json_show(name).text);
	return 0;
}

static int validate_net_devices(const struct oci_config *c, struct error *e)
{
	const struct oci_net_device *d;
	size_t i, j;

	for (i = 0; i < c->linux_.net_devices.n; i++) {
		d = &c->linux_.net_devices.v[i];
		if (!oci_namespace_find(c, OCI_NS_NETWORK))
			return REFUSE(e, "linux.netDevices: needs a network namespace");
		if (validate_net_device(d, e) < 0)
			return -1;
		for (j = 0; j < i; j++)
			if (str_eq(net_device_name(d), net_device_name(d - 1 - j)) &&
			    !strchr(net_device_name(d), '%'))
				return REFUSE(e, "linux.netDevices[%s].name: %s is there twice",
					      json_show(d->host_name).text,
					      json_show(net_device_name(d)).text);
	}
	return 0;
}

static int validate_paths(const struct oci_config *c, const struct strings *l, const char *name,
			  struct error *e)
{
	char at[64];
	size_t i;

	for (i = 0; i < l->n; i++) {
		snprintf(at, sizeof(at), "linux.%s[%zu]", name, i);
		if (oci_check_absolute(l->v[i], at, e) < 0)
			return -1;
	}
	if (l->n > 0 && !oci_namespace_find(c, OCI_NS_MOUNT))
		return REFUSE(e, "linux.%s: needs a mount namespace", name);
	return 0;
}

static int validate_cgroups_path(const char *path, struct error *e)
{
	if (!path)
		return 0;
	if (strlen(path) > PATH_LONGEST)
		return REFUSE(e, "linux.cgroupsPath: longer than %d bytes", PATH_LONGEST);
	if (oci_path_climbs(path) || strchr(path, '\n'))
		return REFUSE(e, "linux.cgroupsPath: %s is not a path of a cgroup",
			      json_show(path).text);
	return 0;
}

static int validate_memory_policy(const struct oci_memory_policy *p, struct error *e)
{
	bool bare, relative = false, fixed = false;
	size_t i;

	if (!p->set)
		return 0;
	if (!oci_word_find(oci_memory_modes, p->mode))
		return REFUSE(e, "linux.memoryPolicy.mode: unknown value %s",
			      json_show(p->mode).text);
	for (i = 0; i < p->flags.n; i++) {
		if (!oci_word_find(oci_memory_flags, p->flags.v[i]))
			return REFUSE(e, "linux.memoryPolicy.flags[%zu]: unknown value %s", i,
				      json_show(p->flags.v[i]).text);
		relative |= str_eq(p->flags.v[i], "MPOL_F_RELATIVE_NODES");
		fixed |= str_eq(p->flags.v[i], "MPOL_F_STATIC_NODES");
	}
	if (relative && fixed)
		return REFUSE(e, "linux.memoryPolicy.flags: nodes can't be static and relative");
	if (p->nodes && !oci_is_number_list(p->nodes))
		return REFUSE(e, "linux.memoryPolicy.nodes: %s is not a list of nodes",
			      json_show(p->nodes).text);
	bare = str_eq(p->mode, "MPOL_DEFAULT") || str_eq(p->mode, "MPOL_LOCAL");
	if (bare && p->nodes)
		return REFUSE(e, "linux.memoryPolicy.nodes: %s takes none", p->mode);
	if (!bare && !p->nodes && !str_eq(p->mode, "MPOL_PREFERRED"))
		return REFUSE(e, "linux.memoryPolicy.nodes: %s needs some", p->mode);
	return 0;
}

static int validate_intel_rdt(const struct oci_intel_rdt *r, struct error *e)
{
	const char *id = r->clos_id;
	size_t i;

	/* "/" alone is the root class. */
	if (id && !str_eq(id, "/") &&
	    (strpbrk(id, "/\n") || str_eq(id, ".") || str_eq(id, "..") || strlen(id) > 255))
		return REFUSE(e, "linux.intelRdt.closID: %s is not the name of a class",
			      json_show(id).text);
	if (r->mem_bw_schema &&
	    (!str_after(r->mem_bw_schema, "MB:") || strchr(r->mem_bw_schema, '\n')))
		return REFUSE(e,
			      "linux.intelRdt.memBwSchema: %s is not a line that begins with MB:",
			      json_show(r->mem_bw_schema).text);
	for (i = 0; i < r->schemata.n; i++)
		if (!*r->schemata.v[i] || strchr(r->schemata.v[i], '\n'))
			return REFUSE(e, "linux.intelRdt.schemata[%zu]: must be one line", i);
	return 0;
}

static int validate_personality(const struct oci_personality *p, struct error *e)
{
	if (!p->set)
		return 0;
	if (!oci_word_find(oci_personality_domains, p->domain))
		return REFUSE(e, "linux.personality.domain: unknown value %s",
			      json_show(p->domain).text);
	if (p->flags.n > 0)
		return REFUSE(e, "linux.personality.flags: none are supported");
	return 0;
}

static int validate_rootfs_propagation(const struct oci_config *c, struct error *e)
{
	const char *word = c->linux_.rootfs_propagation;

	if (word && !oci_word_find(oci_propagations, word))
		return REFUSE(e, "linux.rootfsPropagation: unknown value %s", json_show(word).text);
	return 0;
}

int oci_validate_linux(const struct oci_config *c, struct error *e)
{
	const struct oci_linux *l = &c->linux_;
	size_t i;

	if (validate_namespaces(c, e) < 0 || validate_user_maps(c, e) < 0 ||
	    validate_time(c, e) < 0 || validate_net_devices(c, e) < 0)
		return -1;
	for (i = 0; i < l->devices.n; i++)
		if (validate_device(&l->devices.v[i], i, e) < 0)
			return -1;
	if (validate_cgroups_path(l->cgroups_path, e) < 0 ||
	    oci_resources_validate(&l->resources, "linux.resources.", e) < 0 ||
	    oci_validate_sysctl(c, e) < 0 || oci_validate_seccomp(&l->seccomp, e) < 0)
		return -1;
	if (validate_paths(c, &l->masked_paths, "maskedPaths", e) < 0 ||
	    validate_paths(c, &l->readonly_paths, "readonlyPaths", e) < 0 ||
	    validate_rootfs_propagation(c, e) < 0)
		return -1;
	if (validate_memory_policy(&l->memory_policy, e) < 0 ||
	    validate_intel_rdt(&l->intel_rdt, e) < 0)
		return -1;
	return validate_personality(&l->personality, e);
}
