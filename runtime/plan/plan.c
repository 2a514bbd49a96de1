#include "plan/plan.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "filter/observe.h"
#include "json/json.h"
#include "oci/names.h"
#include "oci/words.h"
#include "plan/namespaces.h"
#include "sys/sys.h"

static void plan_propagation(const struct oci_config *c, struct plan *p)
{
	const char *word = c->linux_.rootfs_propagation;
	const struct json_word *found = word ? oci_word_find(oci_propagations, word) : NULL;

	if (!found)
		return;
	p->root_propagation_all = word[0] == 'r';
	p->root_propagation = (uint64_t)found->value;
	/* Only then may a volume marked shared really be shared with the host. */
	p->keep_host_propagation = p->root_propagation == MS_SHARED;
}

/*
 * These show a namespace, and only who owns it may mount them. Another user namespace does not own
 * those that stay the host's; then what the host has mounted for them is bound, which shows the
 * same.
 */
static void plan_bind_foreign(struct mount_plan *m, struct arena *a, struct plan *p)
{
	static const struct {
		const char *type;
		enum oci_ns ns;
		const char *host;
		uint64_t set_all;
	} rows[] = {
		{"proc", OCI_NS_PID, "/proc", 0},
		/* The cgroup tree and others are mounted below it. */
		{"sysfs", OCI_NS_NETWORK, "/sys", MOUNT_ATTR_RDONLY},
		{"mqueue", OCI_NS_IPC, "/dev/mqueue", 0},
	};
	bool foreign = p->owns_userns || plan_join(p, OCI_NS_USER);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (m->kind != MOUNT_FS || !str_eq(m->type, rows[i].type) || !foreign ||
		    plan_has_new(p, oci_ns_names[rows[i].ns].flag) || plan_join(p, rows[i].ns))
			continue;
		if (m->n_params || (rows[i].set_all & ~m->set))
			notes_add(&p->warnings,
				  arena_printf(
					  a,
					  "%s: it is the host's %s%s, without options of its own",
					  m->field, rows[i].host,
					  rows[i].set_all ? ", read-only" : ""),
				  a);
		m->kind = MOUNT_BIND;
		m->source = rows[i].host;
		m->recursive = true;
		m->stands_in = true;
		m->set_all |= rows[i].set_all;
		m->n_params = 0;
	}
}

/*
 * A source below the root filesystem's path is looked for there when its turn comes, as in runc: it
 * may be in one of the mounts before it. That is by name alone; sources_find_inside() knows other
 * names. Ids are mapped by the parent, which sees the image as it was.
 */
static void plan_source_inside(struct mount_plan *m, struct arena *a, const struct plan *p)
{
	const char *source, *root = path_clean(a, p->rootfs);

	if (m->kind != MOUNT_BIND)
		return;
	source = path_clean(a, m->source);
	if (!path_is_below(source, root))
		return;
	m->inside = source[strlen(root)] ? source + strlen(root) : "/";
	if (m->maps != MAPS_OF_CONFIG)
		m->idmap = IDMAP_NONE; /* it is mapped with the root */
}

/* Names that engines give to directories whose files are containers' own, with ids of images. */
static bool plan_is_of_containers(const char *source)
{
	const char *volumes = strstr(source, "/volumes/"), *name = volumes ? volumes + 9 : NULL;

	if (str_after(source, "/var/lib/kubelet/pods/"))
		return true;
	name = name ? strchr(name, '/') : NULL; /* docker and podman: …/volumes/NAME/_data */
	return name && path_is_below(name, "/_data");
}

/* In a range of its own, the container would see everything of the host as nobody's. What the
 * runtime adds may stay so, and is made later than ids are mapped. */
static void plan_map_bind(struct mount_plan *m, struct arena *a, const struct plan *p)
{
	if (!p->id_range.size || m->kind != MOUNT_BIND || m->idmap != IDMAP_NONE || m->ours)
		return;
	m->idmap = m->recursive ? IDMAP_ALL : IDMAP_TOP;
	m->maps = plan_is_of_containers(m->source) ? MAPS_OF_IMAGE : MAPS_OF_OWNER;
	m->uid_maps = m->gid_maps = ids_map_plainly(p->id_range, a);
}

static int plan_mounts(const struct oci_config *c, struct arena *a, struct plan *p, struct error *e)
{
	size_t i;

	p->n_mounts = c->mounts.n;
	p->mounts = arena_array(a, c->mounts.n + 1, struct mount_plan);
	for (i = 0; i < c->mounts.n; i++) {
		struct mount_plan *m = &p->mounts[i];

		if (plan_mount(&c->mounts.v[i], p->bundle, a, m, &p->warnings, e) < 0)
			return -1;
		m->ours = c->mounts.v[i].ours;
		plan_map_bind(m, a, p);
		plan_bind_foreign(m, a, p);
		plan_source_inside(m, a, p);
		if (m->idmap == IDMAP_NONE || m->uid_maps.n)
			continue;
		/* No maps of its own: the container's. */
		if (!p->owns_userns)
			return err_set(
				e, ERR_CONFIG,
				"%s.options: idmap without mappings needs a new user namespace",
				m->field);
		m->uid_maps = c->linux_.uid_mappings;
		m->gid_maps = c->linux_.gid_mappings;
	}
	return 0;
}

/* Devices by path: numbers in plan.devices, one above, in a table that is at most half full. */
struct device_index {
	size_t mask;
	uint32_t *slots;
};

static struct device_index device_index_new(size_t n, struct arena *a)
{
	size_t size = 16;

	while (size < 2 * n)
		size *= 2;
	return (struct device_index){.mask = size - 1, .slots = arena_array(a, size, uint32_t)};
}

/* Where the path stands, or would. */
static uint32_t *device_slot(const struct device_index *x, const struct plan *p, const char *path)
{
	uint32_t hash = 2166136261U; /* FNV-1a */
	const char *c;
	size_t i;

	for (c = path; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619U;
	for (i = hash & x->mask; x->slots[i]; i = (i + 1) & x->mask)
		if (str_eq(p->devices[x->slots[i] - 1].path, path))
			break;
	return &x->slots[i];
}

/* A device of the config stands for the default one of that path. */
static void plan_add_device(struct plan *p, const struct device_index *x, struct device_plan d)
{
	uint32_t *slot = device_slot(x, p, d.path);

	if (!*slot)
		*slot = (uint32_t)++p->n_devices;
	p->devices[*slot - 1] = d;
}

/* In a user namespace it is the host's own node, bound. */
static bool device_is_foreign(const struct oci_device *d, const struct plan *p)
{
	return (p->owns_userns || !p->by_machine_root) && !str_eq(d->type, "p") &&
	       (d->file_mode.set || d->uid.set || d->gid.set);
}

static void plan_devices(const struct oci_config *c, struct arena *a, struct plan *p)
{
	static const struct {
		const char *path;
		unsigned int major, minor;
	} defaults[] = {
		{"/dev/null", 1, 3},   {"/dev/zero", 1, 5},    {"/dev/full", 1, 7},
		{"/dev/random", 1, 8}, {"/dev/urandom", 1, 9}, {"/dev/tty", 5, 0},
	};
	size_t room = ARRAY_SIZE(defaults) + c->linux_.devices.n, i;
	const struct device_index x = device_index_new(room, a);
	struct noted_names foreign = {0};

	p->devices = arena_array(a, room, struct device_plan);
	for (i = 0; i < ARRAY_SIZE(defaults); i++)
		plan_add_device(p, &x, (struct device_plan){.field = "default devices",
							    .path = defaults[i].path,
							    .type = S_IFCHR,
							    .major = defaults[i].major,
							    .minor = defaults[i].minor,
							    .mode = 0666});
	for (i = 0; i < c->linux_.devices.n; i++) {
		const struct oci_device *d = &c->linux_.devices.v[i];

		if (device_is_foreign(d, p))
			notes_take_name(&foreign, d->path);
		plan_add_device(p, &x, (struct device_plan){
					   .field = arena_printf(a, "linux.devices[%zu]", i),
					   .path = path_clean(a, d->path),
					   .type = str_eq(d->type, "b") ? S_IFBLK :
						   str_eq(d->type, "p") ? S_IFIFO :
									  S_IFCHR,
					   .major = (unsigned int)d->major,
					   .minor = (unsigned int)d->minor,
					   .mode = d->file_mode.set ? d->file_mode.v & 07777 : 0666,
					   .uid = d->uid.set ? d->uid.v : 0,
					   .gid = d->gid.set ? d->gid.v : 0,
				   });
	}
	notes_add_names(&p->warnings,
			"linux.devices: mode and owner are those of the host's device:", &foreign,
			a);
}

static int plan_netdevs(const struct oci_config *c, struct arena *a, struct plan *p,
			struct error *e)
{
	size_t i;

	p->n_netdevs = c->linux_.net_devices.n;
	if (!p->n_netdevs)
		return 0;
	if (p->rootless)
		return err_set(e, ERR_HOST,
			       "linux.netDevices: an ordinary user has no interfaces to give away");
	p->netdevs = arena_array(a, p->n_netdevs, struct netdev_plan);
	for (i = 0; i < p->n_netdevs; i++) {
		const struct oci_net_device *d = &c->linux_.net_devices.v[i];

		p->netdevs[i] = (struct netdev_plan){
			.field = arena_printf(a, "linux.netDevices[%s]",
					      json_show(d->host_name).text),
			.host_name = d->host_name,
			.name = d->name && *d->name ? d->name : d->host_name,
		};
	}
	return 0;
}

/* Where calls are asked about besides, the profile itself is the judge, and the filter asks about
 * what it denies (filter/observe.h). */
static int plan_filter(const struct oci_seccomp *c, const struct host_facts *facts,
		       struct arena *a, struct plan *p, struct error *e)
{
	struct notes said = {0}; /* by the filter, too */

	if ((c->profile && seccomp_program_build(c->profile, a, &p->judge, &said, e) < 0) ||
	    seccomp_program_build(c, a, &p->filter, &p->warnings, e) < 0)
		return -1;
	if (c->observed) {
		observe_denials(&p->filter);
		p->filter.flags |= facts->seccomp_waits;
	}
	return 0;
}

static int plan_confinement(const struct oci_config *c, const struct host_facts *facts,
			    struct arena *a, struct plan *p, struct error *e)
{
	bool own_userns = p->owns_userns || plan_join(p, OCI_NS_USER);
	const struct cap_host *caps = own_userns ? &facts->caps_userns : &facts->caps;
	size_t i;

	if (plan_personality(&c->linux_.personality, &p->personality, e) < 0 ||
	    plan_memory_policy(&c->linux_.memory_policy, &p->memory_policy, e) < 0)
		return -1;
	plan_lsm(c, &facts->lsm, a, &p->lsm, &p->warnings);
	for (i = 0; p->lsm.mount_label && i < p->n_mounts; i++)
		plan_mount_label(&p->mounts[i], p->lsm.mount_label, a);
	p->program = plan_program(&c->process);
	if (plan_filter(&c->linux_.seccomp, facts, a, p, e) < 0)
		return -1;
	if (!c->process.set)
		return 0;
	if (plan_caps(&c->process.capabilities, caps, a, &p->caps, &p->warnings, e) < 0 ||
	    plan_rlimits(&c->process, a, &p->rlimits, e) < 0 ||
	    plan_scheduler(&c->process.scheduler, &p->scheduler, e) < 0 ||
	    plan_io_priority(&c->process.io_priority, &p->io_priority, e) < 0)
		return -1;
	return 0;
}

bool plan_has_dev_mount(const struct plan *p)
{
	bool found = false;
	size_t i;

	for (i = 0; i < p->n_mounts; i++)
		found = found || str_eq(p->mounts[i].destination, "/dev");
	for (i = 0; i < p->n_devices; i++)
		found = found && path_is_below(p->devices[i].path, "/dev");
	return found;
}

int plan_make(const struct oci_config *c, const char *id, const char *bundle,
	      const struct host_facts *facts, struct arena *a, struct plan *ret, struct error *e)
{
	struct plan p = {
		.id = id,
		.bundle = bundle,
		.rootfs = path_join(a, bundle, c->root.path),
		.root_readonly = c->root.readonly,
		.hostname = c->hostname,
		.domainname = c->domainname,
		.uid_maps = c->linux_.uid_mappings,
		.gid_maps = c->linux_.gid_mappings,
		.time_offsets = plan_time_offsets(&c->linux_, a),
		.hooks = c->hooks,
		.rootless = !facts->privileged,
		.by_machine_root = facts->machine_root,
	};

	if (plan_namespaces(c, facts, &p, e) < 0 || plan_check_shared(c, facts, e) < 0)
		return -1;
	if (p.owns_userns)
		p.id_range = facts->id_range;
	plan_propagation(c, &p);
	if (plan_mounts(c, a, &p, e) < 0)
		return -1;
	p.masked_paths = plan_paths(&c->linux_.masked_paths, a);
	p.readonly_paths = plan_paths(&c->linux_.readonly_paths, a);
	plan_devices(c, a, &p);
	if (plan_sysctls(&c->linux_.sysctl, a, &p.sysctls, e) < 0 ||
	    plan_netdevs(c, a, &p, e) < 0 ||
	    plan_rdt(&c->linux_.intel_rdt, id, facts->resctrl, a, &p.rdt, e) < 0)
		return -1;
	if (cgroup_plan_make(c, id, &facts->cgroup, !facts->machine_root, a, &p.cgroup, e) < 0)
		return -1;
	p.root_nodev = p.cgroup.devices_unenforced && plan_has_dev_mount(&p);
	if (plan_confinement(c, facts, a, &p, e) < 0)
		return -1;
	*ret = p;
	return 0;
}

int plan_make_exec(const struct oci_config *c, const char *id, const struct host_facts *facts,
		   struct arena *a, struct plan *ret, struct error *e)
{
	struct plan p = {.id = id,
			 .rootless = !facts->privileged,
			 .by_machine_root = facts->machine_root};

	if (plan_namespaces(c, facts, &p, e) < 0 || plan_confinement(c, facts, a, &p, e) < 0)
		return -1;
	*ret = p;
	return 0;
}
