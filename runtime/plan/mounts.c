#include "plan/mounts.h"

#include "base/path.h"
#include "base/str.h"
#include "oci/mount_options.h"
#include "plan/security.h"
#include "sys/sys.h"

static void mount_add_param(struct mount_plan *p, struct arena *a, const char *option)
{
	struct mount_param *param = &p->params[p->n_params++];
	const char *equals = strchr(option, '=');

	*param = (struct mount_param){.key = option};
	if (equals) {
		param->key = arena_strndup(a, option, (size_t)(equals - option));
		param->value = equals + 1;
	}
}

/* Flags of the filesystem, which later options may take back: a handful, each once. */
struct fs_flags {
	size_t n;
	const char *v[8]; /* sync, dirsync, lazytime, mand */
};

static void fs_flag_clear(struct fs_flags *f, const char *flag)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (str_eq(f->v[i], flag))
			f->v[i--] = f->v[--f->n];
}

static void fs_flag_set(struct fs_flags *f, const char *flag)
{
	fs_flag_clear(f, flag);
	if (f->n < ARRAY_SIZE(f->v))
		f->v[f->n++] = flag;
}

static void mount_add_attr(uint64_t *set, uint64_t *clear, const struct mount_option *o)
{
	/* A later option takes back an earlier one: "ro,rw" is rw. */
	*set = (*set & ~(o->clear & ~(uint64_t)MOUNT_ATTR__ATIME)) | o->set;
	if (o->clear & MOUNT_ATTR__ATIME)
		*set = (*set & ~(uint64_t)MOUNT_ATTR__ATIME) | o->set;
	*clear = (*clear & ~(o->set & ~(uint64_t)MOUNT_ATTR__ATIME)) | o->clear;
}

static void mount_add_option(struct mount_plan *p, struct fs_flags *flags, struct arena *a,
			     const char *name)
{
	const struct mount_option *o = mount_option_find(name);

	if (!*name)
		return; /* podman writes one for every systemd container */
	if (!o) {
		mount_add_param(p, a, name);
		return;
	}
	switch (o->kind) {
	case OPT_NOTHING:
		break;
	case OPT_ATTR:
		mount_add_attr(&p->set, &p->clear, o);
		break;
	case OPT_ATTR_ALL:
		mount_add_attr(&p->set_all, &p->clear_all, o);
		break;
	case OPT_FS_FLAG:
		fs_flag_set(flags, o->fs_flag);
		break;
	case OPT_FS_UNFLAG:
		fs_flag_clear(flags, o->fs_flag);
		break;
	case OPT_PROPAGATION:
	case OPT_PROPAGATION_ALL:
		p->propagation = o->set;
		p->propagation_all = o->kind == OPT_PROPAGATION_ALL;
		break;
	case OPT_RBIND:
	case OPT_BIND:
		p->binds = true;
		p->recursive |= o->kind == OPT_RBIND;
		if (p->kind != MOUNT_REMOUNT)
			p->kind = MOUNT_BIND;
		break;
	case OPT_REMOUNT:
		p->kind = MOUNT_REMOUNT;
		break;
	case OPT_TMPCOPYUP:
		p->tmpcopyup = true;
		break;
	case OPT_IDMAP:
		p->idmap = IDMAP_TOP;
		break;
	case OPT_RIDMAP:
		p->idmap = IDMAP_ALL;
		break;
	}
}

/* Rule R7: what may stand below /proc is a short list of files that lxcfs and others provide. */
static bool mount_below_proc_is_allowed(const char *destination)
{
	static const char *const allowed[] = {
		"/proc/cpuinfo", "/proc/diskstats", "/proc/meminfo",  "/proc/stat",
		"/proc/swaps",	 "/proc/uptime",    "/proc/loadavg",  "/proc/slabinfo",
		"/proc/net/dev", "/proc/sys/kernel/ns_last_pid", "/proc/sys/crypto/fips_enabled",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(allowed); i++)
		if (str_eq(destination, allowed[i]))
			return true;
	return false;
}

/*
 * A bind has no filesystem of its own to give parameters to. Flags that mount(2) ignores there,
 * words of fstab (x-… among them) and parameters of a tmpfs, which tools leave behind, are passed
 * over; any other word may be a misspelt "nosuid", and is refused.
 */
static bool mount_is_harmless_on_bind(const struct mount_param *q)
{
	static const char *const flags[] = {"sync",   "dirsync", "lazytime", "mand",
					    "auto",   "noauto",	 "nofail",   "_netdev",
					    "user",   "nouser",	 "users",    "owner",
					    "noswap", "inode64", "inode32",  "notmpcopyup",
					    "copy",   "nocopy"};
	static const char *const values[] = {"mode", "size", "uid", "gid", "nr_inodes", "nr_blocks",
					     "huge", "comment"};
	size_t i;

	if (str_after(q->key, "x-") || str_after(q->key, "X-"))
		return true;
	for (i = 0; !q->value && i < ARRAY_SIZE(flags); i++)
		if (str_eq(q->key, flags[i]))
			return true;
	for (i = 0; q->value && i < ARRAY_SIZE(values); i++)
		if (str_eq(q->key, values[i]))
			return true;
	return false;
}

static int mount_drop_bind_params(struct mount_plan *p, struct arena *a, struct notes *notes,
				  struct error *e)
{
	struct noted_names dropped = {0};
	size_t i;

	for (i = 0; i < p->n_params; i++) {
		if (!mount_is_harmless_on_bind(&p->params[i]))
			return err_set(
				e, ERR_CONFIG,
				"%s.options: \"%s\" is unknown, and a bind mount takes no options "
				"of a filesystem",
				p->field, p->params[i].key);
		notes_take_name(&dropped, p->params[i].key);
	}
	p->n_params = 0;
	if (dropped.n)
		notes_add_names(notes,
				arena_printf(a, "%s.options: without meaning for a bind mount:",
					     p->field),
				&dropped, a);
	return 0;
}

static int mount_check(const struct mount_plan *p, struct error *e)
{
	if (str_eq(p->destination, "/"))
		return err_set(e, ERR_CONFIG, "%s.destination: \"/\" is the root filesystem itself",
			       p->field);
	if (p->kind == MOUNT_BIND && !p->source)
		return err_set(e, ERR_CONFIG, "%s.source: a bind mount needs a source", p->field);
	if (p->kind == MOUNT_FS && (!p->type || !*p->type))
		return err_set(e, ERR_CONFIG, "%s.type: missing, and no bind option is given",
			       p->field);
	if (p->tmpcopyup && (p->kind != MOUNT_FS || !str_eq(p->type, "tmpfs")))
		return err_set(e, ERR_CONFIG, "%s.options: tmpcopyup needs a tmpfs", p->field);
	if (p->idmap != IDMAP_NONE && p->kind != MOUNT_BIND)
		return err_set(e, ERR_CONFIG, "%s.options: idmap needs a bind mount", p->field);
	if (path_is_below(p->destination, "/proc") && !str_eq(p->destination, "/proc") &&
	    !mount_below_proc_is_allowed(p->destination))
		return err_set(
			e, ERR_CONFIG,
			"%s.destination: \"%s\" cannot be mounted because it is inside /proc",
			p->field, p->destination);
	if (p->kind == MOUNT_FS && str_eq(p->destination, "/proc") && !str_eq(p->type, "proc"))
		return err_set(e, ERR_CONFIG, "%s.type: only a procfs may be mounted on /proc",
			       p->field);
	if (p->kind == MOUNT_FS && str_eq(p->destination, "/sys") && !str_eq(p->type, "sysfs"))
		return err_set(e, ERR_CONFIG, "%s.type: only a sysfs may be mounted on /sys",
			       p->field);
	return 0;
}

struct strings plan_paths(const struct strings *paths, struct arena *a)
{
	struct strings plain = {.v = arena_array(a, 2 * paths->n + 1, char *)};
	size_t i;

	for (i = 0; i < paths->n; i++)
		plain.v[plain.n++] = path_tidy(a, paths->v[i]);
	for (i = 0; i < paths->n; i++)
		if (strstr(paths->v[i], "/.."))
			plain.v[plain.n++] = path_clean(a, paths->v[i]);
	return plain;
}

int plan_mount(const struct oci_mount *m, const char *bundle, struct arena *a,
	       struct mount_plan *ret, struct notes *notes, struct error *e)
{
	struct mount_plan p = {
		.field = arena_printf(a, "mounts[%zu]", m->at),
		.type = m->type,
		.destination = path_clean(a, m->destination),
		.uid_maps = m->uid_mappings,
		.gid_maps = m->gid_mappings,
		.params = arena_array(a, m->options.n + 1, struct mount_param),
	};
	struct fs_flags flags = {0};
	size_t i;

	p.binds = m->type && (str_eq(m->type, "bind") || str_eq(m->type, "rbind"));
	if (p.binds)
		p.kind = MOUNT_BIND;
	else if (m->type && (str_eq(m->type, "cgroup") || str_eq(m->type, "cgroup2")))
		p.kind = MOUNT_CGROUP;
	p.recursive = m->type && str_eq(m->type, "rbind");
	if (m->uid_mappings.n)
		p.idmap = IDMAP_TOP;
	for (i = 0; i < m->options.n; i++)
		mount_add_option(&p, &flags, a, m->options.v[i]);
	for (i = 0; i < flags.n; i++)
		p.params[p.n_params++] = (struct mount_param){.key = flags.v[i]};
	p.source = p.kind == MOUNT_BIND && m->source ? path_join(a, bundle, m->source) : m->source;
	if (p.binds && mount_drop_bind_params(&p, a, notes, e) < 0)
		return -1;
	if (mount_check(&p, e) < 0)
		return -1;
	*ret = p;
	return 0;
}

void plan_mount_label(struct mount_plan *m, const char *label, struct arena *a)
{
	static const char *const labelled_by_policy[] = {"proc", "sysfs", "mqueue"};
	struct mount_param *params;
	size_t i;

	if (m->kind != MOUNT_FS)
		return;
	for (i = 0; i < ARRAY_SIZE(labelled_by_policy); i++)
		if (str_eq(m->type, labelled_by_policy[i]))
			return;
	for (i = 0; i < m->n_params; i++)
		if (str_ends(m->params[i].key, "context"))
			return;
	params = arena_array(a, m->n_params + 1, struct mount_param);
	memcpy(params, m->params, m->n_params * sizeof(*params));
	params[m->n_params++] = (struct mount_param){"context", label};
	m->params = params;
}
