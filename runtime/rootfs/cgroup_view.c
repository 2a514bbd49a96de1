/*
 * The container's cgroup directories are bound, in every layout and with or without a cgroup
 * namespace: the namespace decides how paths read, the bind decides what can be reached.
 * Rule R8: they are writable only where the cgroup namespace is the container's own, or where the
 * config gives the program CAP_SYS_ADMIN over the host, with which it has more than that: engines
 * and systemd that run in a privileged container on v1 need them.
 */
#include "rootfs/cgroup_view.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"
#include "rootfs/attach.h"
#include "sys/sys.h"

static bool cgroup_view_is_granted(const struct plan *p)
{
	return !p->owns_userns && !plan_join(p, OCI_NS_USER) &&
	       (p->caps.bounding & (1ULL << CAP_SYS_ADMIN));
}

static uint64_t cgroup_view_attrs(const struct plan *p, const struct mount_plan *m)
{
	bool own = plan_has_new(p, CLONE_NEWCGROUP) && !p->cgroup.skipped_reason;

	return own || cgroup_view_is_granted(p) ? m->set : m->set | MOUNT_ATTR_RDONLY;
}

bool cgroup_view_is_readonly(const struct plan *p)
{
	size_t i;

	for (i = 0; i < p->n_mounts; i++)
		if (p->mounts[i].kind == MOUNT_CGROUP &&
		    !(cgroup_view_attrs(p, &p->mounts[i]) & MOUNT_ATTR_RDONLY))
			return false;
	return true;
}

static int cgroup_view_one(bool peers, int tree_fd, uint64_t attrs, struct in_root target,
			   const struct mount_plan *m, struct error *e)
{
	if (sys_set_attr(tree_fd, true, attrs & ~(uint64_t)MOUNT_ATTR__ATIME, 0, 0) < 0)
		return err_sys(e, "%s: set attributes of the cgroup mount", m->field);
	return attach_tree(peers, tree_fd, target, e) < 0 ? err_wrap(e, "%s", m->field) : 0;
}

/* "cpu" → "cpu,cpuacct", for the halves of hierarchies mounted together. */
static int cgroup_view_links(int dfd, const char *name, struct error *e)
{
	const char *p, *end;
	char part[64];

	if (!strchr(name, ','))
		return 0;
	for (p = name; *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, ',');
		if ((size_t)(end - p) >= sizeof(part))
			continue;
		memcpy(part, p, (size_t)(end - p));
		part[end - p] = '\0';
		if (symlinkat(name, dfd, part) < 0 && errno != EEXIST)
			return err_sys(e, "link %s in the cgroup mount", part);
	}
	return 0;
}

static const char *cgroup_view_name(const struct plan *p, size_t i)
{
	return strrchr(p->cgroup.dirs.v[i].mount, '/') + 1;
}

/* The tmpfs with all its directories, as read-only as they are before anybody sees it. */
static int cgroup_view_top(const struct plan *p, const struct mount_plan *m, struct error *e)
{
	autoclose int top_fd =
		sys_mount_new("tmpfs", "mode", "755",
			      MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	size_t i;

	if (top_fd < 0)
		return err_sys(e, "%s: make a tmpfs for the cgroup mounts", m->field);
	for (i = 0; i < p->cgroup.dirs.n; i++) {
		const char *name = cgroup_view_name(p, i);

		if (mkdirat(top_fd, name, 0755) < 0 && errno != EEXIST)
			return err_sys(e, "%s: make %s", m->field, name);
		if (cgroup_view_links(top_fd, name, e) < 0)
			return -1;
	}
	if (sys_set_attr(top_fd, false, cgroup_view_attrs(p, m) & MOUNT_ATTR_RDONLY, 0, 0) < 0)
		return err_sys(e, "%s: make the cgroup tmpfs read-only", m->field);
	return fd_steal(&top_fd);
}

static int cgroup_view_tree(const struct plan *p, const struct mount_plan *m, struct sources *s,
			    struct in_root target, struct error *e)
{
	autoclose int top_fd = cgroup_view_top(p, m, e);
	size_t i;

	if (top_fd < 0)
		return -1;
	if (attach_tree(s->peers, top_fd, target, e) < 0)
		return err_wrap(e, "%s", m->field);
	for (i = 0; i < p->cgroup.dirs.n; i++) {
		auto_in_root struct in_root dir = IN_ROOT_NONE;

		dir.fd = openat(top_fd, cgroup_view_name(p, i),
				O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (dir.fd < 0)
			return err_sys(e, "%s: open %s", m->field, cgroup_view_name(p, i));
		if (cgroup_view_one(s->peers, s->cgroups[i], cgroup_view_attrs(p, m), dir, m, e) <
		    0)
			return -1;
	}
	return 0;
}

/* The one directory to show, or SIZE_MAX for the tree of all: v2, or what stands for no cgroups of
 * our own, or "cgroup2" where there is a unified tree beside v1 hierarchies. */
static size_t cgroup_view_only(const struct plan *p, const struct mount_plan *m)
{
	const struct cgroup_dirs *d = &p->cgroup.dirs;
	size_t i;

	if (d->n == 0)
		return 0;
	for (i = 0; i < d->n; i++)
		if (d->v[i].unified && (d->n == 1 || str_eq(m->type, "cgroup2")))
			return i;
	return SIZE_MAX;
}

int cgroup_view_mount(const struct plan *p, const struct mount_plan *m, struct sources *s,
		      struct in_root target, struct error *e)
{
	size_t only = cgroup_view_only(p, m);

	if (only == SIZE_MAX && str_eq(m->type, "cgroup2"))
		return err_set(e, ERR_HOST, "%s.type: this host has no unified cgroup tree",
			       m->field);
	if (only != SIZE_MAX)
		return cgroup_view_one(s->peers, s->cgroups[only], cgroup_view_attrs(p, m), target,
				       m, e);
	return cgroup_view_tree(p, m, s, target, e);
}
