/* The plan as text: one fact a line, in the order in which it will be carried out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/str.h"
#include "oci/names.h"
#include "plan/plan.h"
#include "sys/sys.h"

struct bit_name {
	uint64_t bit;
	const char *name;
};

static void print_bits(struct buf *b, const char *label, uint64_t bits, const struct bit_name *names,
		       size_t n)
{
	const char *between = "";
	size_t i;

	if (!bits)
		return;
	buf_printf(b, " %s", label);
	for (i = 0; i < n; i++)
		if (bits & names[i].bit) {
			buf_printf(b, "%s%s", between, names[i].name);
			between = ",";
		}
}

static const struct bit_name attr_names[] = {
	{MOUNT_ATTR_RDONLY, "ro"},	   {MOUNT_ATTR_NOSUID, "nosuid"},
	{MOUNT_ATTR_NODEV, "nodev"},	   {MOUNT_ATTR_NOEXEC, "noexec"},
	{MOUNT_ATTR_NOATIME, "noatime"},   {MOUNT_ATTR_STRICTATIME, "strictatime"},
	{MOUNT_ATTR_NODIRATIME, "nodiratime"}, {MOUNT_ATTR_NOSYMFOLLOW, "nosymfollow"},
};

static const struct bit_name propagation_names[] = {
	{MS_PRIVATE, "private"},
	{MS_SHARED, "shared"},
	{MS_SLAVE, "slave"},
	{MS_UNBINDABLE, "unbindable"},
};

static void print_attrs(struct buf *b, const char *label, uint64_t bits)
{
	print_bits(b, label, bits, attr_names, ARRAY_SIZE(attr_names));
}

static void print_namespaces(const struct plan *p, struct buf *b)
{
	size_t i;

	for (i = 0; i < OCI_NS_COUNT; i++)
		if (plan_has_new(p, oci_ns_names[i].flag))
			buf_printf(b, "namespace %s new\n", oci_ns_names[i].word);
	for (i = 0; i < p->ns.n_joins; i++)
		buf_printf(b, "namespace %s join %.200s\n", oci_ns_names[p->ns.joins[i].type].word,
			   p->ns.joins[i].path);
}

/* Options of a file system may be secret, and plans go to logs. */
static bool is_secret(const char *key)
{
	static const char *const words[] = {"pass", "secret", "key", "cred", "token"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasestr(key, words[i]))
			return true;
	return false;
}

static void print_mount(const struct mount_plan *m, struct buf *b)
{
	static const char *const kinds[] = {"fs", "bind", "cgroup", "remount"};
	size_t i;

	buf_printf(b, "mount %s %s", kinds[m->kind], m->recursive ? "rec " : "");
	buf_str(b, m->destination);
	buf_printf(b, " type=%s source=", m->type ? m->type : "-");
	buf_str(b, m->source ? m->source : "-");
	print_attrs(b, "set=", m->set);
	print_attrs(b, "clear=", m->clear);
	print_attrs(b, "set-all=", m->set_all);
	print_attrs(b, "clear-all=", m->clear_all);
	print_bits(b, m->propagation_all ? "propagation-all=" : "propagation=", m->propagation,
		   propagation_names, ARRAY_SIZE(propagation_names));
	if (m->tmpcopyup)
		buf_str(b, " tmpcopyup");
	if (m->idmap != IDMAP_NONE)
		buf_printf(b, " %s", m->idmap == IDMAP_ALL ? "ridmap" : "idmap");
	for (i = 0; i < m->n_params; i++) {
		buf_printf(b, " %s", m->params[i].key);
		if (m->params[i].value) {
			buf_char(b, '=');
			buf_str(b, is_secret(m->params[i].key) ? "***" : m->params[i].value);
		}
	}
	buf_char(b, '\n');
}

static void print_device(const struct device_plan *d, struct buf *b)
{
	buf_printf(b, "device %c ", S_ISCHR(d->type) ? 'c' : S_ISBLK(d->type) ? 'b' : 'p');
	buf_str(b, d->path);
	buf_printf(b, " %u:%u mode=%o owner=%u:%u\n", d->major, d->minor, d->mode, d->uid, d->gid);
}

static void print_cgroup(const struct cgroup_plan *c, struct buf *b)
{
	size_t i;

	if (c->skipped_reason) {
		buf_printf(b, "cgroup none: %s\n", c->skipped_reason);
		return;
	}
	for (i = 0; i < c->dirs.n; i++) {
		buf_str(b, "cgroup make ");
		buf_str(b, c->dirs.v[i].mount);
		buf_str(b, c->dirs.v[i].path);
		buf_char(b, '\n');
	}
	for (i = 0; i < c->n_writes; i++) {
		const struct cgroup_write *w = &c->writes[i];

		buf_str(b, "cgroup write ");
		buf_str(b, c->dirs.v[w->hierarchy].mount);
		buf_printf(b, " %s = ", w->file);
		buf_str(b, w->value);
		buf_char(b, '\n');
	}
	for (i = 0; c->devices_dir != SIZE_MAX && i < c->devices.n; i++) {
		const struct cgroup_device_rule *r = &c->devices.v[i];

		buf_printf(b, "cgroup device %s %c %" PRId64 ":%" PRId64 " %u\n",
			   r->allow ? "allow" : "deny", r->type, r->major, r->minor, r->access);
	}
}

static void print_rdt(const struct rdt_plan *r, struct buf *b)
{
	if (!r->group.set)
		return;
	buf_printf(b, "rdt class %s%s\n", r->group.class,
		   r->group.ours ? " own" : r->may_make ? " make" : "");
	if (r->schemata)
		buf_printf(b, "rdt schemata %s", r->schemata);
	if (r->group.monitor)
		buf_printf(b, "rdt monitor %s\n", r->group.monitor);
}

static void print_security(const struct plan *p, struct buf *b)
{
	size_t i;

	buf_printf(b, "caps bounding=%" PRIx64 " effective=%" PRIx64 " permitted=%" PRIx64, p->caps.bounding,
		   p->caps.effective, p->caps.permitted);
	buf_printf(b, " inheritable=%" PRIx64 " ambient=%" PRIx64 "\n", p->caps.inheritable,
		   p->caps.ambient);
	for (i = 0; i < p->rlimits.n; i++)
		buf_printf(b, "rlimit %s %" PRIu64 " %" PRIu64 "\n", p->rlimits.v[i].name,
			   p->rlimits.v[i].soft, p->rlimits.v[i].hard);
	for (i = 0; i < p->warnings.n; i++) {
		buf_str(b, "warning ");
		buf_str(b, p->warnings.v[i]);
		buf_char(b, '\n');
	}
}

void plan_print(const struct plan *p, struct buf *b)
{
	size_t i;

	buf_printf(b, "root %s%s\n", p->new_root ? "pivot" : "chroot",
		   p->root_readonly ? " readonly" : "");
	print_namespaces(p, b);
	for (i = 0; i < p->n_mounts; i++)
		print_mount(&p->mounts[i], b);
	for (i = 0; i < p->n_devices; i++)
		print_device(&p->devices[i], b);
	for (i = 0; i < p->n_netdevs; i++)
		buf_printf(b, "interface %s as %s\n", p->netdevs[i].host_name, p->netdevs[i].name);
	print_cgroup(&p->cgroup, b);
	print_rdt(&p->rdt, b);
	print_security(p, b);
}
