#include "rootfs/sources.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"
#include "rootfs/guard.h"
#include "rootfs/mount.h"
#include "rootfs/stage.h"
#include "sys/sys.h"
#include "sys/walk.h"

struct sources sources_none(const struct plan *p, struct arena *a)
{
	struct sources s = {
		.root_fd = -1,
		.root_at_fd = -1,
		.root_mapped_fd = -1,
		.upper_fd = -1,
		.pid_ns_fd = -1,
		.nodes_fd = -1,
		.peers = p->keep_host_propagation,
		.mounts = arena_array(a, p->n_mounts + 1, int),
		.cloned = arena_array(a, p->n_mounts + 1, bool),
		.mount_ids = arena_array(a, p->n_mounts + 1, uint64_t),
		.cgroups = arena_array(a, p->cgroup.dirs.n + 1, int),
		.looks = guard_new_looks(&p->guard, a),
	};
	size_t i;

	for (i = 0; i < p->n_mounts; i++)
		s.mounts[i] = -1;
	for (i = 0; i <= p->cgroup.dirs.n; i++)
		s.cgroups[i] = -1;
	return s;
}

bool sources_is_outside(const struct mount_plan *m)
{
	return m->kind == MOUNT_BIND && (!m->inside || m->idmap != IDMAP_NONE);
}

/* The rest of a path from the point where it reaches the root filesystem; NULL: it does not reach
 * it. */
static char *source_rest(const char *path, const struct stat *root, struct arena *a)
{
	struct stat st;
	struct walk w;
	char *rest = NULL;
	int kind;

	if (walk_begin(&w, path) < 0)
		return NULL;
	while (!rest && (kind = walk_step(&w, &st)) > 0)
		if (kind == WALK_MOVED && st.st_dev == root->st_dev && st.st_ino == root->st_ino)
			rest = arena_printf(a, "/%s", w.left);
	walk_end(&w);
	return rest;
}

/* Most paths have no links, and then the image has no say in where they lead. */
static bool source_has_links(const char *path)
{
	autoclose int fd = sys_openat2(AT_FDCWD, path, O_PATH, 0, RESOLVE_NO_SYMLINKS);

	return fd < 0;
}

int sources_find_inside(struct plan *p, struct arena *a, struct error *e)
{
	struct stat root;
	size_t i;

	for (i = 0; i < p->n_mounts; i++) {
		struct mount_plan *m = &p->mounts[i];

		if (m->kind != MOUNT_BIND || m->inside || m->pinned || !source_has_links(m->source))
			continue;
		if (stat(p->rootfs, &root) < 0)
			return err_sys(e, "root.path: look at %s", p->rootfs);
		m->inside = source_rest(m->source, &root, a);
		if (m->inside && m->maps != MAPS_OF_CONFIG)
			m->idmap = IDMAP_NONE; /* it is mapped with the root */
	}
	return 0;
}

size_t sources_n_cgroups(const struct plan *p)
{
	size_t i;

	for (i = 0; i < p->n_mounts; i++)
		if (p->mounts[i].kind == MOUNT_CGROUP)
			return p->cgroup.dirs.n ? p->cgroup.dirs.n : 1;
	return 0;
}

int sources_check_root(const struct plan *p, int fd, struct error *e)
{
	struct stat st, host;

	if (fstat(fd, &st) < 0 || stat("/", &host) < 0)
		return err_sys(e, "root.path: %s", p->rootfs);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_CONFIG, "root.path: %s is not a directory", p->rootfs);
	if (st.st_dev == host.st_dev && st.st_ino == host.st_ino)
		return err_set(e, ERR_CONFIG, "root.path: %s is the host's own root", p->rootfs);
	return guard_check_root(&p->guard, fd, e);
}

static int source_open_root(const struct plan *p, int at_fd, struct error *e)
{
	autoclose int fd = open_tree(at_fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
							AT_RECURSIVE | AT_EMPTY_PATH);

	if (fd < 0)
		return err_sys(e, "root.path: open %s", p->rootfs);
	if (sources_check_root(p, fd, e) < 0)
		return -1;
	if (sys_set_attr(fd, true, 0, 0, MS_SLAVE) < 0)
		return err_sys(e, "root.path: detach %s from the host", p->rootfs);
	return fd_steal(&fd);
}

int sources_open_cgroup(const struct plan *p, size_t i, struct error *e)
{
	const struct cgroup_dirs *d = &p->cgroup.dirs;
	unsigned int flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
	autoclose int dfd = open(i < d->n ? d->v[i].mount : "/sys/fs/cgroup",
				 O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int fd = -1;
	char path[PATH_MAX];

	if (i < d->n)
		snprintf(path, sizeof(path), "%s%s", d->v[i].path + 1,
			 d->v[i].inner ? CGROUP_INNER : "");
	if (dfd >= 0)
		fd = i < d->n ? open_tree(dfd, path, flags) :
				open_tree(dfd, "", flags | AT_RECURSIVE | AT_EMPTY_PATH);
	if (fd < 0)
		return err_sys(e, "open the container's cgroup");
	if (sys_set_attr(fd, true, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, 0,
			 MS_PRIVATE) < 0)
		return err_sys(e, "prepare the container's cgroup");
	return fd_steal(&fd);
}

static int sources_open_cgroups(const struct plan *p, struct sources *s, struct error *e)
{
	size_t i;

	for (i = 0; i < sources_n_cgroups(p); i++)
		if (s->cgroups[i] < 0 && (s->cgroups[i] = sources_open_cgroup(p, i, e)) < 0)
			return -1;
	return 0;
}

/* A mount that is to stay in the host's peer group is cloned before init leaves that group. */
static int source_open_bind(const struct plan *p, size_t i, struct sources *s, struct error *e)
{
	const struct mount_plan *m = &p->mounts[i];
	autoclose int fd = mount_open_source(p, m, s->looks, e);

	if (fd < 0)
		return -1;
	s->cloned[i] = p->keep_host_propagation;
	s->mounts[i] = s->cloned[i] ? mount_clone_bind(p, m, fd, -1, e) : fd_steal(&fd);
	return s->mounts[i] < 0 ? -1 : 0;
}

int sources_open(const struct plan *p, struct sources *s, struct error *e)
{
	size_t i;

	s->root_at_fd = open(p->rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->root_at_fd < 0 && errno == EACCES && s->cwd)
		s->root_at_fd = stage_open_root();
	if (s->root_at_fd < 0)
		return err_sys(e, "root.path: open %s", p->rootfs);
	s->root_fd = source_open_root(p, s->root_at_fd, e);
	if (s->root_fd < 0)
		return -1;
	if (s->cwd && stage_take(p, s, e) < 0)
		return -1;
	for (i = 0; i < p->n_mounts; i++) {
		if (!sources_is_outside(&p->mounts[i]) || s->mounts[i] >= 0)
			continue;
		if (source_open_bind(p, i, s, e) < 0)
			return -1;
	}
	return sources_open_cgroups(p, s, e);
}

void sources_close_spent(struct spent_trees *spent)
{
	while (spent->n)
		fd_close(&spent->v[--spent->n]);
}

void sources_keep_spent(struct spent_trees *spent, int *tree_fd)
{
	if (spent->n < ARRAY_SIZE(spent->v))
		spent->v[spent->n++] = fd_steal(tree_fd);
	else
		fd_close(tree_fd);
}

void sources_close(const struct plan *p, struct sources *s)
{
	size_t i;

	if (!s->mounts) /* there is no plan yet, and nothing was opened for one */
		return;
	fd_close(&s->root_fd);
	fd_close(&s->root_at_fd);
	fd_close(&s->root_mapped_fd);
	fd_close(&s->upper_fd);
	sources_close_spent(&s->spent);
	fd_close(&s->nodes_fd);
	for (i = 0; i < p->n_mounts; i++)
		fd_close(&s->mounts[i]);
	for (i = 0; i <= p->cgroup.dirs.n; i++)
		fd_close(&s->cgroups[i]);
}
