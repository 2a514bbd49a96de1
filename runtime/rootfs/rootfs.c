#include "rootfs/rootfs.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "rootfs/attach.h"
#include "rootfs/cgroup_view.h"
#include "rootfs/copyup.h"
#include "rootfs/cover.h"
#include "rootfs/devices.h"
#include "rootfs/mask.h"
#include "rootfs/mount.h"
#include "rootfs/move.h"
#include "rootfs/nodes.h"
#include "rootfs/proc_files.h"
#include "rootfs/resolve.h"
#include "rootfs/upper.h"
#include "sys/sys.h"

/* Rule R7: a link of one of these names must not send what is mounted there anywhere else. */
static int rootfs_check_plain(int root_dfd, const struct mount_plan *m, struct error *e)
{
	if (!str_eq(m->destination, "/proc") && !str_eq(m->destination, "/sys") &&
	    !str_eq(m->destination, "/dev"))
		return 0;
	return resolve_check_plain(root_dfd, m->destination, e) < 0 ?
		       err_wrap(e, "%s.destination", m->field) :
		       0;
}

/* A read-only /dev can't be filled; the attribute is put on when the nodes are there. */
static bool rootfs_is_late_readonly(const struct mount_plan *m)
{
	return m->kind == MOUNT_FS && str_eq(m->destination, "/dev") && str_eq(m->type, "tmpfs") &&
	       (m->set & MOUNT_ATTR_RDONLY);
}

/* Where a mount is kept for what comes later, or NULL. */
static int *rootfs_place_to_keep(struct rootfs *r, const struct mount_plan *m)
{
	const struct {
		const char *place;
		int *dfd;
	} kept[] = {{"/proc", &r->proc_dfd}, {"/sys", &r->sys_dfd}, {"/dev/pts", &r->pts_dfd}};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kept); i++)
		if (str_eq(m->destination, kept[i].place))
			return kept[i].dfd;
	return rootfs_is_late_readonly(m) ? &r->dev_dfd : NULL;
}

static int rootfs_attach_mount(struct rootfs *r, const struct mount_plan *m, int *tree_fd,
			       struct in_root target, struct error *e)
{
	int *keep = rootfs_place_to_keep(r, m);

	if (attach_tree(r->peers, *tree_fd, target, e) < 0)
		return err_wrap(e, "%s", m->field);
	if (keep) {
		fd_close(keep);
		*keep = fd_steal(tree_fd);
	}
	return 0;
}

/* Nothing locks the flags of the sysfs that is bound here, so a container that could take them off
 * does not get it. */
static bool rootfs_may_show_outer_sys(const struct plan *p, const struct mount_plan *m)
{
	return str_eq(m->type, "sysfs") && str_eq(m->destination, "/sys") &&
	       (m->set & MOUNT_ATTR_RDONLY) && (p->owns_userns || plan_join(p, OCI_NS_USER)) &&
	       !(p->caps.bounding & (1ULL << CAP_SYS_ADMIN));
}

/* Takes the caller's (life/life.h), or makes a new one. */
static int rootfs_make_fs(const struct plan *p, const struct mount_plan *m,
			  const struct sources *s, struct in_root target, struct error *e)
{
	int *given = &s->mounts[m - p->mounts];

	return *given >= 0 ? fd_steal(given) : mount_make_fs(m, s, target, e);
}

static int rootfs_mount_fs(const struct plan *p, struct rootfs *r, const struct mount_plan *m,
			   const struct sources *s, struct in_root target, struct error *e)
{
	struct mount_plan now = *m;
	autoclose int fd = rootfs_make_fs(p, m, s, target, e);

	if (fd < 0 && e->sys == EPERM && rootfs_may_show_outer_sys(p, m)) {
		fd = mount_bind_outer_sys(p, m, e);
		return fd < 0 ? -1 : rootfs_attach_mount(r, m, &fd, target, e);
	}
	if (fd < 0)
		return -1;
	if (rootfs_is_late_readonly(m))
		now.set &= ~(uint64_t)MOUNT_ATTR_RDONLY;
	if (m->tmpcopyup && !target.made && copyup_tree(target.fd, fd, e) < 0)
		return err_wrap(e, "%s", m->field);
	if (mount_change(&now, (struct in_root){.fd = fd}, e) < 0)
		return -1;
	mounted_add(&r->mounted, m, fd);
	if (rootfs_attach_mount(r, m, &fd, target, e) < 0)
		return -1;
	return m->proc_files ? proc_files_cover(p, m, r->peers, r->nodes_fd, r->proc_dfd, e) : 0;
}

/* The rule holds for links on the way, too: what the config calls /data may be /proc in the
 * image. */
static int rootfs_check_not_proc(const struct mount_plan *m, struct in_root target, struct error *e)
{
	struct statfs fs;

	if (path_is_below(m->destination, "/proc"))
		return 0; /* judged by its name, when it was planned */
	if (fstatfs(target.fd, &fs) < 0)
		return err_sys(e, "%s.destination: %s", m->field, m->destination);
	if (fs.f_type == PROC_SUPER_MAGIC)
		return err_set(
			e, ERR_CONFIG,
			"%s.destination: \"%s\" cannot be mounted because it is inside /proc",
			m->field, m->destination);
	return 0;
}

static int rootfs_mount_bind(const struct plan *p, size_t i, struct sources *s, struct rootfs *r,
			     struct in_root target, struct error *e)
{
	const struct mount_plan *m = &p->mounts[i];
	autoclose int fd = s->cloned[i] ? fd_steal(&s->mounts[i]) :
					  mount_clone_bind(p, m, s->mounts[i], -1, e);

	if (fd < 0)
		return -1;
	mounted_add(&r->mounted, m, fd);
	return rootfs_attach_mount(r, m, &fd, target, e);
}

/*
 * Trust: links on the way are the image's. They lead to what the image itself holds, never to what
 * is mounted in it, which would be had without its flags and before it is masked. So a mount is the
 * source, or comes along with it, where the config's own words lead to it.
 */
static int rootfs_find_source(const struct rootfs *r, const struct mount_plan *m, int *ret_fd,
			      struct error *e)
{
	autoclose int fd =
		m->recursive ? -1 : resolve_open_how(r->dfd, m->inside, O_PATH, RESOLVE_NO_XDEV);
	const struct mount_plan *found;

	if (m->recursive || (fd < 0 && errno == EXDEV))
		fd = resolve_open_how(r->dfd, m->inside, O_PATH, RESOLVE_NO_SYMLINKS);
	if (fd < 0 && errno == ELOOP)
		return err_set(
			e, ERR_CONFIG,
			"%s.source: a link in the image is on the way to %s, and it may lead to, or (rbind) "
			"be followed by, what is mounted there: name the place that is meant",
			m->field, m->source);
	if (fd < 0)
		return err_sys(e, "%s.source: open %s", m->field, m->source);
	/* A neighbour who shares the image can rename what is mounted on. */
	found = mounted_find(&r->mounted, fd);
	if (found && !path_is_below(m->inside, found->destination))
		return err_set(
			e, ERR_CONFIG,
			"%s.source: %s leads to what is mounted as %s, and is not below that",
			m->field, m->source, found->destination);
	*ret_fd = fd_steal(&fd);
	return 0;
}

/* The image must not choose whose flags are changed, nor the config the parameters of a filesystem
 * that isn't ours. */
static int rootfs_remount(const struct rootfs *r, const struct mount_plan *m, struct error *e)
{
	auto_in_root struct in_root target = IN_ROOT_NONE;
	const struct mount_plan *found;
	bool linked;

	target.fd = resolve_open_how(r->dfd, m->destination, O_PATH, RESOLVE_NO_SYMLINKS);
	linked = target.fd < 0 && errno == ELOOP;
	if (linked)
		target.fd = resolve_open(r->dfd, m->destination, O_PATH);
	if (target.fd < 0)
		return err_sys(e, "%s.destination: %s", m->field, m->destination);
	found = mounted_find(&r->mounted, target.fd);
	if (found ? !str_eq(found->destination, m->destination) : linked)
		return err_set(
			e, ERR_CONFIG,
			"%s.destination: nothing was mounted as %s before that is there now (it is in %s): a remount "
			"needs the name that the mount has",
			m->field, m->destination, found ? found->destination : "the image");
	if (m->n_params && (!found || found->kind != MOUNT_FS))
		return err_set(
			e, ERR_CONFIG,
			"%s.options: \"%s\" is for a whole filesystem, and the one on %s is not the container's own",
			m->field, m->params[0].key, m->destination);
	return mount_change(m, target, e);
}

static int rootfs_mount(const struct plan *p, size_t i, struct sources *s, struct rootfs *r,
			struct error *e)
{
	const struct mount_plan *m = &p->mounts[i];
	auto_in_root struct in_root target = IN_ROOT_NONE;

	if (rootfs_check_plain(r->dfd, m, e) < 0)
		return -1;
	if (m->kind == MOUNT_REMOUNT)
		return rootfs_remount(r, m, e);
	if (m->kind == MOUNT_BIND && !sources_is_outside(m) &&
	    rootfs_find_source(r, m, &s->mounts[i], e) < 0)
		return -1;
	if (resolve_make(&r->mounted, m->destination, mount_wants_directory(m, s->mounts[i]),
			 &target, e) < 0)
		return err_wrap(e, "%s.destination", m->field);
	if (rootfs_check_not_proc(m, target, e) < 0)
		return -1;
	switch (m->kind) {
	case MOUNT_BIND:
		return rootfs_mount_bind(p, i, s, r, target, e);
	case MOUNT_CGROUP:
		return cgroup_view_mount(p, m, s, target, e);
	case MOUNT_FS:
	case MOUNT_REMOUNT:
		break;
	}
	return rootfs_mount_fs(p, r, m, s, target, e);
}

static int rootfs_mount_all(const struct plan *p, struct sources *s, struct rootfs *r,
			    struct error *e)
{
	size_t i;

	for (i = 0; i < p->n_mounts; i++)
		if (rootfs_mount(p, i, s, r, e) < 0)
			return -1;
	return 0;
}

/*
 * Puts the clone of the root onto the directory it is a clone of, in this mount namespace. Without
 * a namespace of the container's own that would show in somebody else's mount table: there the tree
 * stays detached if the kernel can mount into such a one, and is gone with its last process.
 */
static int rootfs_attach(const struct plan *p, const struct sources *s, struct error *e)
{
	if (p->root_detached)
		return 0;
	if (sys_attach(s->root_fd, s->root_at_fd) < 0)
		return err_sys(e, "root.path: attach %s", p->rootfs);
	return 0;
}

/* Below the root, where it goes away with the host's tree. */
static int rootfs_take_nodes(const struct plan *p, struct sources *s, struct rootfs *r,
			     struct error *e)
{
	r->nodes_fd = fd_steal(&s->nodes_fd);
	if (r->nodes_fd < 0 && (p->masked_paths.n || p->proc_files.n) &&
	    ((r->nodes_fd = nodes_new()) < 0 ||
	     proc_files_write(&p->proc_files, r->nodes_fd) < 0))
		return err_sys(e, "linux.maskedPaths: make a tmpfs");
	if (r->nodes_fd >= 0)
		nodes_settle(r->nodes_fd, p->new_root ? s->root_at_fd : -1);
	return p->masked_paths.n ? mask_prepare(p, r, e) : 0;
}

/* The whole of it, with what is mounted in it: a root that is kept is not changed by us either. */
static int rootfs_restrict(const struct plan *p, const struct rootfs *r, struct error *e)
{
	const uint64_t set = (p->root_nodev ? MOUNT_ATTR_NODEV : 0) |
			     (p->root_nosuid ? MOUNT_ATTR_NOSUID : 0) |
			     (p->root_kept ? MOUNT_ATTR_RDONLY : 0);

	if (set && sys_set_attr(r->dfd, true, set, 0, 0) < 0)
		return err_sys(e, "root.path: mount it without %s",
			       p->root_kept ? "writing" : "devices and setuid programs");
	return 0;
}

int rootfs_build(const struct plan *p, struct sources *s, struct rootfs *ret, struct error *e)
{
	*ret = ROOTFS_NONE;
	ret->peers = s->peers;
	/* The mounts that follow must not reach the host's mount tables; unmounts of the host still
	 * reach ours. */
	if (p->new_root && mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) < 0)
		return err_sys(e, "detach the mount namespace from the host's");
	if (rootfs_take_nodes(p, s, ret, e) < 0)
		return -1;
	if (rootfs_attach(p, s, e) < 0)
		return -1;
	ret->dfd = fd_steal(&s->root_fd);
	if (p->root_upper && upper_add(p, s, ret, e) < 0)
		return -1;
	ret->mounted = mounted_begin(p, ret->dfd, s->mount_ids);
	if (rootfs_restrict(p, ret, e) < 0 || (p->root_kept && cover_missing(p, s, ret, e) < 0))
		return -1;
	if (rootfs_mount_all(p, s, ret, e) < 0 ||
	    devices_make(p, &ret->mounted, ret->nodes_fd, e) < 0)
		return -1;
	return 0;
}

/* The old root ends up under the new one and is let go there: no directory is needed for it. */
static int rootfs_pivot(const struct plan *p, const struct rootfs *r, struct error *e)
{
	if (sys_pivot_root(".", ".") == 0)
		return umount2(".", MNT_DETACH) < 0 ? err_sys(e, "unmount the host's root") : 0;
	/* The caller may say --no-pivot where it isn't necessary; it never protects as well. */
	if (p->no_pivot && errno == EINVAL)
		return move_root(p, r, e);
	return err_sys(e, "pivot_root");
}

static int rootfs_change(const struct plan *p, const struct rootfs *r, struct error *e)
{
	if (!p->new_root)
		return chroot(".") < 0 ? err_sys(e, "chroot") : 0;
	return rootfs_pivot(p, r, e);
}

int rootfs_enter(const struct plan *p, struct rootfs *r, struct error *e)
{
	if (fchdir(r->dfd) < 0)
		return err_sys(e, "enter the root filesystem");
	if (rootfs_change(p, r, e) < 0)
		return -1;
	if (chdir("/") < 0)
		return err_sys(e, "enter the root filesystem");
	return 0;
}

int rootfs_finish(const struct plan *p, struct rootfs *r, struct error *e)
{
	if (r->dev_dfd >= 0 && sys_set_attr(r->dev_dfd, false, MOUNT_ATTR_RDONLY, 0, 0) < 0)
		return err_sys(e, "mounts: make /dev read-only");
	if (mask_readonly_paths(r, &p->readonly_paths, e) < 0 ||
	    mask_paths(r, &p->masked_paths, e) < 0)
		return -1;
	if (p->root_readonly && sys_set_attr(r->dfd, false, MOUNT_ATTR_RDONLY, 0, 0) < 0)
		return err_sys(e, "root.readonly");
	/* Last: what is unbindable could not be bound read-only above. */
	if (sys_set_attr(r->dfd, p->root_propagation_all, 0, 0, p->root_propagation) < 0)
		return err_sys(e, "linux.rootfsPropagation");
	return 0;
}

void rootfs_close(struct rootfs *r)
{
	fd_close(&r->dfd);
	fd_close(&r->nodes_fd);
	fd_close(&r->null_fd);
	fd_close(&r->empty_dfd);
	fd_close(&r->proc_dfd);
	fd_close(&r->sys_dfd);
	fd_close(&r->pts_dfd);
	fd_close(&r->dev_dfd);
}
