/*
 * Where a container's cgroups are, and the frame of its plan; the values are in
 * plan/cgroup_resources.c and plan/cgroup_devices.c. Pure.
 *
 * Trust: cgroupsPath comes from config.json. It is cleaned here, and "..", the root cgroup and
 * names that the kernel would refuse are errors, so the mechanism may join it to a mount point.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "oci/oci.h"
#include "plan/cgroup_build.h"

#define PATH_FIELD "linux.cgroupsPath"
#define PATH_LONGEST 2048
#define NAME_LONGEST 255
#define EMPTY_PLAN                                                                                 \
	{                                                                                          \
		.devices_dir = CGROUP_NO_DIR, .cpuset_dir = CGROUP_NO_DIR, .v2_need = "",          \
		.v2_want = ""                                                                      \
	}

/* Controllers of the unified tree that were called otherwise in v1. */
static const char *v2_name(const char *controller)
{
	return str_eq(controller, "blkio") ? "io" : controller;
}

/* A word in a list whose words are split by any of the given characters. */
static bool list_has(const char *list, const char *word, const char *split)
{
	size_t len = strlen(word);

	while (*list) {
		size_t n = strcspn(list, split);

		if (n == len && memcmp(list, word, len) == 0)
			return true;
		list += n + (list[n] != '\0');
	}
	return false;
}

size_t cgroup_build_find(const struct cgroup_build *b, const char *controller)
{
	const struct cgroup_hierarchy *h;
	size_t i;

	for (i = 0; i < b->host->n; i++) {
		h = &b->host->v[i];
		if (h->unified ? list_has(h->v2_controllers, v2_name(controller), " ") :
				 list_has(h->controllers, controller, ","))
			return i;
	}
	return CGROUP_NO_DIR;
}

/* One of v1 costs its making, joining and removing, a tenth of a millisecond. In what is left out
 * the container stays where its caller is, and under his limits. */
void cgroup_host_narrow(struct cgroup_host *host, bool with_named)
{
	static const char *const needed[] = {"cpu",	"cpuacct", "memory",
					     "pids", "devices", "freezer"};
	size_t i, k, n = 0;

	for (i = 0; i < host->n; i++) {
		const struct cgroup_hierarchy *h = &host->v[i];
		bool keep = h->unified || (with_named && str_after(h->controllers, "name="));

		for (k = 0; k < ARRAY_SIZE(needed); k++)
			keep = keep || list_has(h->controllers, needed[k], ",");
		if (keep)
			host->v[n++] = *h;
	}
	host->n = n;
}

bool cgroup_host_gives(const struct cgroup_host *host, const char *controller)
{
	const struct cgroup_build b = {.host = host};

	return cgroup_build_find(&b, controller) != CGROUP_NO_DIR;
}

bool cgroup_host_gives_v1(const struct cgroup_host *host, const char *controller)
{
	const struct cgroup_build b = {.host = host};
	const size_t i = cgroup_build_find(&b, controller);

	return i != CGROUP_NO_DIR && !host->v[i].unified;
}

int cgroup_build_need(struct cgroup_build *b, const char *controller, const char *field,
		      size_t *ret_dir)
{
	size_t i = cgroup_build_find(b, controller);
	const char *name = v2_name(controller);

	if (i == CGROUP_NO_DIR && b->host->mode == CGROUP_V2 && b->host->v[0].base &&
	    *b->host->v[0].base)
		return err_set(b->e, ERR_HOST,
			       "%s: the cgroup controller %s is not delegated to %s", field, name,
			       b->host->v[0].base);
	if (i == CGROUP_NO_DIR)
		return err_set(b->e, ERR_HOST, "%s: this host has no %s cgroup controller", field,
			       b->host->mode == CGROUP_V2 ? name : controller);
	if (b->host->v[i].unified && !list_has(b->p->v2_need, arena_printf(b->a, "+%s", name), " "))
		b->p->v2_need = arena_printf(b->a, "%s%s+%s", b->p->v2_need,
					     *b->p->v2_need ? " " : "", name);
	*ret_dir = i;
	return 0;
}

bool cgroup_build_on_v2(const struct cgroup_build *b, size_t dir)
{
	return b->host->v[dir].unified;
}

int cgroup_build_not_on_v2(struct cgroup_build *b, const char *field)
{
	return err_set(b->e, ERR_HOST, "%s: cgroup v2 has nothing like it", field);
}

int cgroup_build_check_size(struct cgroup_build *b, const char *field, struct opt_i64 n)
{
	if (n.set && n.v < -1)
		return err_set(b->e, ERR_CONFIG, "%s: %lld is neither -1 (unlimited) nor a size",
			       field, (long long)n.v);
	return 0;
}

const char *cgroup_build_v2_size(struct cgroup_build *b, int64_t n)
{
	return n < 0 ? "max" : arena_printf(b->a, "%lld", (long long)n);
}

struct cgroup_write *cgroup_build_put(struct cgroup_build *b, size_t dir, const char *field,
				      const char *file, const char *fmt, ...)
{
	struct cgroup_plan *p = b->p;
	struct cgroup_write *w;
	char value[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	p->writes = arena_grow(b->a, p->writes, &b->cap, p->n_writes + 1, sizeof(*p->writes));
	w = &p->writes[p->n_writes++];
	*w = (struct cgroup_write){
		.hierarchy = dir,
		.file = file,
		.value = arena_strdup(b->a, value),
		.field = field,
	};
	return w;
}

void cgroup_build_note(struct cgroup_build *b, const char *text)
{
	notes_add(&b->p->warnings, arena_strdup(b->a, text), b->a);
}

/* One component of a path, as cgroupfs takes it. */
static int component_check(const char *s, size_t len, struct error *e)
{
	size_t i;

	if (len == 2 && s[0] == '.' && s[1] == '.')
		return err_set(e, ERR_CONFIG, PATH_FIELD ": \"..\" is not allowed in it");
	if (len > NAME_LONGEST)
		return err_set(e, ERR_CONFIG, PATH_FIELD ": a name in it is longer than %d bytes",
			       NAME_LONGEST);
	for (i = 0; i < len; i++)
		if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
			return err_set(e, ERR_CONFIG, PATH_FIELD ": control character in it");
	return 0;
}

/* systemd's form: no slash and two colons ("system.slice:docker:ID"). */
static bool is_systemd_form(const char *s)
{
	const char *colon = strchr(s, ':');

	return colon && strchr(colon + 1, ':') && !strchr(s, '/');
}

/* One directory, not one below a parent that comes and goes with it: each costs a mkdir and a rmdir
 * in every hierarchy. */
static const char *path_by_default(const char *id, struct arena *a)
{
	bool fits = strlen(CGROUP_PARENT) + strlen(id) <= NAME_LONGEST;

	return arena_printf(a, CGROUP_PARENT "%c%s", fits ? '-' : '/', id);
}

int cgroup_plan_path(const char *cgroups_path, const char *id, struct arena *a, char **ret_path,
		     struct error *e)
{
	const char *s = cgroups_path && *cgroups_path ? cgroups_path : path_by_default(id, a);
	char *path, *end;
	size_t len;

	if (is_systemd_form(s))
		return err_set(e, ERR_CONFIG,
			       PATH_FIELD ": \"%s\" is for systemd to make: it takes "
					  "--systemd-cgroup, which engines give with their systemd "
					  "cgroup driver",
			       s);
	if (strlen(s) > PATH_LONGEST)
		return err_set(e, ERR_CONFIG, PATH_FIELD ": longer than %d bytes", PATH_LONGEST);
	path = arena_array(a, strlen(CGROUP_PARENT) + strlen(s) + 2, char);
	end = path;
	if (*s != '/')
		end = stpcpy(end, CGROUP_PARENT);
	for (; *s; s += len + (s[len] == '/')) {
		len = strcspn(s, "/");
		if (len == 0 || (len == 1 && *s == '.'))
			continue;
		if (component_check(s, len, e) < 0)
			return -1;
		*end++ = '/';
		memcpy(end, s, len);
		end += len;
	}
	*end = '\0';
	if (!*path || str_eq(path, CGROUP_PARENT))
		return err_set(e, ERR_CONFIG,
			       PATH_FIELD ": \"%s\" is a cgroup that is not the container's",
			       cgroups_path ? cgroups_path : id);
	*ret_path = path;
	return 0;
}

/* Parents below /sbxrun are ours whoever made them; of others only the mechanism can tell. */
static char *topmost_ours(const char *base, char *path, struct arena *a)
{
	const char *rest = str_after(path, base);

	rest = rest ? str_after(rest, CGROUP_PARENT) : NULL;
	return rest && *rest == '/' ? arena_printf(a, "%s" CGROUP_PARENT, base) : path;
}

/* A path that already is in the delegated subtree is meant as it stands. */
static char *path_below(const char *base, const char *path, struct arena *a)
{
	const char *rest = str_after(path, base);

	if (*base && rest && *rest == '/')
		return arena_strdup(a, path);
	return arena_printf(a, "%s%s", base, path);
}

/*
 * Where a path that is not absolute begins, as with runc: whoever has put the caller into a cgroup
 * means its limits to hold for what he starts. In the unified tree it is the one above, for one
 * with processes has no limits to give on.
 */
static const char *own_base(const struct cgroup_hierarchy *h, struct arena *a)
{
	const char *own = h->own, *slash;

	if (own && h->root && !str_eq(h->root, "/"))
		own = str_after(own, h->root);
	/* Out of sight: it is not below what is mounted. */
	if (!own || *own != '/' || strstr(own, "/.."))
		return "";
	slash = strrchr(own, '/');
	if (h->unified)
		return arena_strndup(a, own, (size_t)(slash - own));
	return own[1] ? own : "";
}

/* Below it the container's path begins. */
static const char *path_base(const struct cgroup_build *b, const struct cgroup_hierarchy *h,
			     bool absolute, bool rootless)
{
	if (b->p->unit.name)
		return h->units ? h->units : "";
	if (rootless)
		return h->base ? h->base : "";
	return absolute ? "" : own_base(h, b->a);
}

static void dirs_make(struct cgroup_build *b, bool absolute, bool rootless)
{
	struct cgroup_dirs *d = &b->p->dirs;
	size_t i;

	d->n = b->host->n;
	d->v = arena_array(b->a, d->n, struct cgroup_dir);
	for (i = 0; i < d->n; i++) {
		const struct cgroup_hierarchy *h = &b->host->v[i];
		const char *base = path_base(b, h, absolute, rootless);

		d->v[i].mount = h->mount;
		d->v[i].path = path_below(base, b->p->path, b->a);
		d->v[i].made = topmost_ours(base, d->v[i].path, b->a);
		d->v[i].unified = h->unified;
		d->v[i].freezer = !h->unified && list_has(h->controllers, "freezer", ",");
		d->v[i].by_systemd = b->p->unit.name && cgroup_unit_is_made_in(h);
		d->v[i].inner = rootless && h->unified;
	}
}

/* On a v2 host the controllers that nothing asks for are switched on too: engines read their
 * statistics. In hybrid layouts only what is asked for: the root's setting outlives us. systemd
 * switches on what it knows by itself. */
static void v2_want(struct cgroup_build *b)
{
	const struct cgroup_hierarchy *h = &b->host->v[b->host->n - 1];
	const char *s;
	size_t len;

	if (b->host->mode != CGROUP_V2 || b->p->unit.name)
		return;
	for (s = h->v2_controllers; *s; s += len + (s[len] == ' ')) {
		const char *word;

		len = strcspn(s, " ");
		word = arena_printf(b->a, "+%.*s", (int)len, s);
		if (len && !list_has(b->p->v2_need, word, " "))
			b->p->v2_want = arena_printf(b->a, "%s%s%s", b->p->v2_want,
						     *b->p->v2_want ? " " : "", word);
	}
}

static bool has_own_cgroup_namespace(const struct oci_config *c)
{
	const struct oci_namespace *ns = oci_namespace_find(c, OCI_NS_CGROUP);

	return ns && !ns->path;
}

/* Its maps are not the config's: nobody knows here who is who. */
static bool joins_user_namespace(const struct oci_config *c)
{
	const struct oci_namespace *ns = oci_namespace_find(c, OCI_NS_USER);

	return ns && ns->path;
}

static bool strings_have(const struct strings *list, const char *word)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (str_eq(list->v[i], word))
			return true;
	return false;
}

static bool has_writable_cgroup_mount(const struct oci_config *c, struct arena *a)
{
	size_t i;

	for (i = 0; i < c->mounts.n; i++) {
		const struct oci_mount *m = &c->mounts.v[i];

		if (m->type && (str_eq(m->type, "cgroup") || str_eq(m->type, "cgroup2")) &&
		    str_eq(path_clean(a, m->destination), "/sys/fs/cgroup") &&
		    !strings_have(&m->options, "ro"))
			return true;
	}
	return false;
}

/* The host's id for an id in the container; false when it has none. */
static bool id_on_host(const struct oci_id_maps *maps, uint32_t id, uint32_t *ret)
{
	size_t i;

	if (!maps->n) {
		*ret = id;
		return true;
	}
	for (i = 0; i < maps->n; i++) {
		const struct oci_id_map *m = &maps->v[i];

		if (id >= m->container_id && id - m->container_id < m->size) {
			*ret = m->host_id + (id - m->container_id);
			return true;
		}
	}
	return false;
}

/* The spec's condition for giving the container its cgroup, and no other. */
static void ownership(struct cgroup_build *b, const struct oci_config *c, bool rootless)
{
	b->p->chown = b->host->mode == CGROUP_V2 && !rootless && c->process.set &&
		      has_own_cgroup_namespace(c) && !joins_user_namespace(c) &&
		      has_writable_cgroup_mount(c, b->a) &&
		      id_on_host(&c->linux_.uid_mappings, c->process.user.uid, &b->p->owner_uid);
}

/* The limits that the config asks for, device rules aside, in one text; "" for none. */
static const char *limits_asked(const struct oci_resources *r, struct arena *a)
{
	const struct oci_memory *m = &r->memory;
	const struct oci_cpu *c = &r->cpu;
	const struct {
		bool asked;
		const char *field;
	} limits[] = {
		{m->limit.set && m->limit.v > 0, "memory.limit"},
		{m->reservation.set && m->reservation.v > 0, "memory.reservation"},
		{m->swap.set && m->swap.v > 0, "memory.swap"},
		{m->kernel.set && m->kernel.v > 0, "memory.kernel"},
		{m->kernel_tcp.set && m->kernel_tcp.v > 0, "memory.kernelTCP"},
		{m->swappiness.set, "memory.swappiness"},
		{m->disable_oom_killer, "memory.disableOOMKiller"},
		{c->shares.set && c->shares.v, "cpu.shares"},
		{c->quota.set && c->quota.v > 0, "cpu.quota"},
		{c->burst.set && c->burst.v, "cpu.burst"},
		{c->realtime_runtime.set && c->realtime_runtime.v, "cpu.realtimeRuntime"},
		{c->realtime_period.set && c->realtime_period.v, "cpu.realtimePeriod"},
		{c->cpus && *c->cpus, "cpu.cpus"},
		{c->mems && *c->mems, "cpu.mems"},
		{c->idle.set && c->idle.v, "cpu.idle"},
		{r->pids_limit.set && r->pids_limit.v >= 0, "pids.limit"},
		{r->block_io.weight.set && r->block_io.weight.v, "blockIO.weight"},
		{r->block_io.leaf_weight.set && r->block_io.leaf_weight.v, "blockIO.leafWeight"},
		{r->block_io.weight_device.n, "blockIO.weightDevice"},
		{r->block_io.throttle_read_bps.n, "blockIO.throttleReadBpsDevice"},
		{r->block_io.throttle_write_bps.n, "blockIO.throttleWriteBpsDevice"},
		{r->block_io.throttle_read_iops.n, "blockIO.throttleReadIOPSDevice"},
		{r->block_io.throttle_write_iops.n, "blockIO.throttleWriteIOPSDevice"},
		{r->hugepage_limits.n, "hugepageLimits"},
		{r->network.class_id.set && r->network.class_id.v, "network.classID"},
		{r->network.priorities.n, "network.priorities"},
		{r->rdma.n, "rdma"},
		{r->unified.n, "unified"},
	};
	const char *text = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limits); i++)
		if (limits[i].asked)
			text = arena_printf(a, "%s%slinux.resources.%s", text, *text ? ", " : "",
					    limits[i].field);
	return text;
}

const char *cgroup_plan_skips(const struct cgroup_host *host, bool rootless)
{
	size_t i;

	if (host->mode == CGROUP_NONE)
		return "no cgroup hierarchy is mounted";
	if (host->mode == CGROUP_DISABLED)
		return "--cgroup-manager disabled";
	for (i = 0; rootless && i < host->n; i++)
		if (!host->v[i].base)
			return host->mode == CGROUP_V2 ?
				       "no cgroup is delegated to this user" :
				       "cgroup v1 is not for ordinary users";
	return NULL;
}

/* In the machine's own user namespace, where a node is a device. */
static bool can_make_nodes(const struct oci_config *c)
{
	return c->process.set && !oci_namespace_find(c, OCI_NS_USER) &&
	       strings_have(&c->process.capabilities.bounding, "CAP_MKNOD");
}

/*
 * Device rules that nobody will enforce. Engines send "deny all" also for containers that they want
 * without cgroups, so that is no reason to fail where the program can't make a device itself.
 */
static int devices_unenforced(struct cgroup_build *b, const struct oci_config *c, bool rootless,
			      const char *why)
{
	bool denies;

	if (cgroup_build_denies_devices(b, &c->linux_.resources, &denies) < 0)
		return -1;
	if (!denies)
		return 0;
	if (!rootless && can_make_nodes(c))
		return err_set(
			b->e, ERR_HOST,
			"linux.resources.devices: can't be enforced, and the program may make any device "
			"by CAP_MKNOD: %s",
			why);
	b->p->devices_unenforced = true;
	cgroup_build_note(b,
			  arena_printf(b->a, "linux.resources.devices: without effect: %s", why));
	return 0;
}

/*
 * A container without cgroups. Who asked for that, and the machine's root, who can mend what is
 * amiss, get an error for limits that can't be had; an ordinary user gets his container without
 * them, and a warning. So does everybody who said that he takes what can be had.
 */
#define INSTEAD "; instead RLIMIT_DATA holds for each process, RLIMIT_NPROC for their number"
static int plan_skipped(struct cgroup_build *b, const struct oci_config *c, bool rootless)
{
	const char *asked = limits_asked(&c->linux_.resources, b->a);

	if (devices_unenforced(b, c, rootless,
			       arena_printf(b->a, "no cgroups here: %s", b->p->skipped_reason)) < 0)
		return -1;
	if (!*asked)
		return 0;
	if (!b->host->limits_if_possible && (!rootless || b->host->mode == CGROUP_DISABLED))
		return err_set(b->e, ERR_HOST, "%s: no cgroups here: %s", asked,
			       b->p->skipped_reason);
	cgroup_build_note(b,
			  arena_printf(b->a,
				       b->host->limits_if_possible ?
					       "%s: there are no cgroups to hold this: %s" INSTEAD :
					       "%s: without effect, for there are no cgroups: %s",
				       asked, b->p->skipped_reason));
	return 0;
}

static void cpuset_find(struct cgroup_build *b)
{
	size_t dir = cgroup_build_find(b, "cpuset");

	if (dir != CGROUP_NO_DIR && !b->host->v[dir].unified)
		b->p->cpuset_dir = dir;
}

/* By the driver's own rules for names. */
static int plan_path(struct cgroup_build *b, const struct oci_config *c, const char *id,
		     bool rootless)
{
	char *path;

	id = b->host->name ? b->host->name : id;
	if (b->host->driver == CGROUP_BY_SYSTEMD)
		return cgroup_build_unit(b, c, id, rootless);
	if (cgroup_plan_path(c->linux_.cgroups_path, id, b->a, &path, b->e) < 0)
		return -1;
	b->p->path = path;
	return 0;
}

int cgroup_plan_make(const struct oci_config *c, const char *id, const struct cgroup_host *host,
		     bool rootless, struct arena *a, struct cgroup_plan *ret, struct error *e)
{
	struct cgroup_plan plan = EMPTY_PLAN;
	struct cgroup_build b = {.host = host, .a = a, .p = &plan, .e = e};
	const struct oci_resources *r = &c->linux_.resources;

	if (plan_path(&b, c, id, rootless) < 0)
		return -1;
	plan.skipped_reason = cgroup_plan_skips(host, rootless);
	if (plan.skipped_reason) {
		plan.path = NULL;
		plan.unit = (struct cgroup_unit){0};
		if (plan_skipped(&b, c, rootless) < 0)
			return -1;
		*ret = plan;
		return 0;
	}
	dirs_make(&b, c->linux_.cgroups_path && *c->linux_.cgroups_path == '/', rootless);
	cpuset_find(&b);
	if (cgroup_build_devices(&b, r) < 0 || cgroup_build_resources(&b, r) < 0)
		return -1;
	/* He can't load the program. He can't make device nodes either, but is given some. */
	if (rootless && plan.devices_dir != CGROUP_NO_DIR) {
		plan.devices_dir = CGROUP_NO_DIR;
		if (devices_unenforced(&b, c, true,
				       "device rules of cgroup v2 are for root alone") < 0)
			return -1;
	}
	v2_want(&b);
	ownership(&b, c, rootless);
	if (plan.unit.name && cgroup_build_properties(&b, c, rootless) < 0)
		return -1;
	*ret = plan;
	return 0;
}

/* The hierarchies in which the container is, and its dirs, in the same order. */
static void pair_up(const struct cgroup_host *host, const struct cgroup_dirs *d, struct arena *a,
		    struct cgroup_host *ret_host, struct cgroup_dirs *ret_dirs)
{
	size_t i, k;

	*ret_host = (struct cgroup_host){
		.mode = host->mode, .v = arena_array(a, host->n + 1, struct cgroup_hierarchy)};
	*ret_dirs = (struct cgroup_dirs){0, arena_array(a, host->n + 1, struct cgroup_dir)};
	for (i = 0; i < host->n; i++) {
		for (k = 0; k < d->n && !str_eq(d->v[k].mount, host->v[i].mount); k++)
			;
		if (k == d->n)
			continue;
		ret_host->v[ret_host->n++] = host->v[i];
		ret_dirs->v[ret_dirs->n++] = d->v[k];
	}
}

int cgroup_plan_update(const struct oci_resources *r, const struct cgroup_dirs *d,
		       const struct cgroup_unit *u, const struct cgroup_host *host,
		       struct arena *a, struct cgroup_plan *ret, struct error *e)
{
	struct cgroup_plan plan = EMPTY_PLAN;
	struct cgroup_host joined;
	struct cgroup_build b = {.host = &joined, .a = a, .p = &plan, .e = e};

	pair_up(host, d, a, &joined, &plan.dirs);
	cpuset_find(&b);
	if (r->devices.n && cgroup_build_devices(&b, r) < 0)
		return -1;
	if (cgroup_build_resources(&b, r) < 0)
		return -1;
	plan.unit = *u;
	if (u->name)
		cgroup_build_changes(&b);
	*ret = plan;
	return 0;
}
