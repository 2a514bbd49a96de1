#include "plan/mounts.h"

#include "base/path.h"
#include "base/str.h"
#include "plan/mount_options.h"
#include "sys/sys.h"

static void mount_add_param(struct mount_plan *p, struct arena *a, const char *option)
{
	struct mount_param *param = &p->params[p->n_params++];
	const char *equals = strchr(option, '=');

	param->key = option;
	if (equals) {
		param->key = arena_strndup(a, option, (size_t)(equals - option));
		param->value = equals + 1;
	}
}

static void mount_add_attr(uint64_t *set, uint64_t *clear, const struct mount_option *o)
{
	/* A later option takes back an earlier one: "ro,rw" is rw. */
	*set = (*set & ~(o->clear & ~(uint64_t)MOUNT_ATTR__ATIME)) | o->set;
	if (o->clear & MOUNT_ATTR__ATIME)
		*set = (*set & ~(uint64_t)MOUNT_ATTR__ATIME) | o->set;
	*clear = (*clear & ~(o->set & ~(uint64_t)MOUNT_ATTR__ATIME)) | o->clear;
}

static void mount_add_option(struct mount_plan *p, struct arena *a, const char *name)
{
	const struct mount_option *o = mount_option_find(name);

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
		p->params[p->n_params++].key = o->fs_flag;
		break;
	case OPT_PROPAGATION:
	case OPT_PROPAGATION_ALL:
		p->propagation = o->set;
		p->propagation_all = o->kind == OPT_PROPAGATION_ALL;
		break;
	case OPT_RBIND:
		p->recursive = true;
		p->kind = MOUNT_BIND;
		break;
	case OPT_BIND:
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
	if (p->kind == MOUNT_BIND && p->n_params)
		return err_set(e, ERR_CONFIG, "%s.options: \"%s\" is unknown and means nothing for a bind mount",
			       p->field, p->params[0].key);
	if (p->tmpcopyup && (p->kind != MOUNT_FS || !str_eq(p->type, "tmpfs")))
		return err_set(e, ERR_CONFIG, "%s.options: tmpcopyup needs a tmpfs", p->field);
	if (p->idmap != IDMAP_NONE && p->kind != MOUNT_BIND)
		return err_set(e, ERR_CONFIG, "%s.options: idmap needs a bind mount", p->field);
	if (path_is_below(p->destination, "/proc") && !str_eq(p->destination, "/proc") &&
	    !mount_below_proc_is_allowed(p->destination))
		return err_set(e, ERR_CONFIG,
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

int plan_mount(const struct oci_mount *m, size_t index, const char *bundle, struct arena *a,
	       struct mount_plan *ret, struct error *e)
{
	struct mount_plan p = {
		.field = arena_printf(a, "mounts[%zu]", index),
		.type = m->type,
		.destination = path_clean(a, m->destination),
		.uid_maps = m->uid_mappings,
		.gid_maps = m->gid_mappings,
		.params = arena_array(a, m->options.n + 1, struct mount_param),
	};
	size_t i;

	if (m->type && (str_eq(m->type, "bind") || str_eq(m->type, "rbind")))
		p.kind = MOUNT_BIND;
	else if (m->type && (str_eq(m->type, "cgroup") || str_eq(m->type, "cgroup2")))
		p.kind = MOUNT_CGROUP;
	p.recursive = m->type && str_eq(m->type, "rbind");
	if (m->uid_mappings.n)
		p.idmap = IDMAP_TOP;
	for (i = 0; i < m->options.n; i++)
		mount_add_option(&p, a, m->options.v[i]);
	p.source = p.kind == MOUNT_BIND && m->source ? path_join(a, bundle, m->source) : m->source;
	if (mount_check(&p, e) < 0)
		return -1;
	*ret = p;
	return 0;
}
