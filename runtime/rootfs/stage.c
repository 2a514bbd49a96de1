#include "rootfs/stage.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "rootfs/cgroup_view.h"
#include "rootfs/mount.h"
#include "sys/sys.h"

#define STAGE_ROOT "root"

#define STAGE_CGROUP "cgroup%zu"
#define WHOLE_TREE \
	((unsigned int)(OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE))

enum { NAME_SIZE = 32 };

/* Takes the rights to pass closed directories from this process, or gives them back. */
static int stage_set_passing(bool may)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	const uint32_t rights = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH;

	if (syscall(SYS_capget, &header, data) < 0)
		return -1;
	data[0].effective = may ? data[0].effective | (rights & data[0].permitted) :
				  data[0].effective & ~rights;
	return (int)syscall(SYS_capset, &header, data);
}

static bool stage_reaches(const char *path)
{
	autoclose int fd = open(path, O_PATH | O_CLOEXEC);

	return fd >= 0 || errno != EACCES;
}

static bool stage_reaches_all(const struct plan *p)
{
	size_t i;

	for (i = 0; i < p->n_mounts; i++)
		if (sources_is_outside(&p->mounts[i]) && !stage_reaches(p->mounts[i].source))
			return false;
	return stage_reaches(p->rootfs);
}

/* Whether a source lies where root gets by its rights alone, which it hasn't in a
 * user namespace. */
static bool stage_is_out_of_reach(const struct plan *p)
{
	bool reached;

	if (stage_set_passing(false) < 0)
		return true;
	reached = stage_reaches_all(p);
	return stage_set_passing(true) < 0 || !reached;
}

static bool stage_keeps_flags(const struct plan *p)
{
	const uint64_t lockable = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
				  MOUNT_ATTR_NOEXEC;
	bool admin = p->caps.bounding & (1ULL << CAP_SYS_ADMIN);
	size_t i;

	for (i = 0; i < p->n_mounts; i++) {
		const struct mount_plan *m = &p->mounts[i];

		if (sources_is_outside(m) &&
		    (m->idmap != IDMAP_NONE || (admin && ((m->set | m->set_all) & lockable))))
			return true;
	}
	return admin && sources_n_cgroups(p) && cgroup_view_is_readonly(p);
}

bool stage_is_wanted(const struct plan *p)
{
	if (!p->new_root || p->rootless || !(p->owns_userns || plan_join(p, OCI_NS_USER)))
		return false;
	return p->id_range.size || stage_keeps_flags(p) || stage_is_out_of_reach(p);
}

/* Modes of access times exclude each other: setting one means clearing the others. */
static uint64_t stage_times(uint64_t set, uint64_t clear)
{
	return set & MOUNT_ATTR__ATIME ? clear & MOUNT_ATTR__ATIME : 0;
}

/* Flags that the config takes off are left to init, whom the kernel lets take off only what the
 * host has not put on. For binds that map ids the parent does all of it. */
static int stage_clone(const struct plan *p, size_t i, struct sources *s, struct error *e)
{
	struct mount_plan now = p->mounts[i];
	autoclose int fd = -1;

	if (s->mounts[i] >= 0)
		return 0;
	now.clear = (now.clear & now.set_all) | stage_times(now.set, now.clear);
	now.clear_all = stage_times(now.set_all, now.clear_all);
	fd = mount_open_source(p, &now, s->looks, e);
	if (fd < 0)
		return -1;
	s->mounts[i] = mount_clone_bind(p, &now, fd, -1, e);
	return s->mounts[i] < 0 ? -1 : 0;
}

static int stage_attach_at(int stage_dfd, const char *name, int tree_fd)
{
	autoclose int place_fd = -1;
	struct stat st;

	if (fstat(tree_fd, &st) < 0 ||
	    (S_ISDIR(st.st_mode) ? mkdirat(stage_dfd, name, 0700) :
				   mknodat(stage_dfd, name, S_IFREG | 0600, 0)) < 0)
		return -1;
	place_fd = openat(stage_dfd, name, O_PATH | O_CLOEXEC);
	return place_fd < 0 ? -1 : sys_attach(tree_fd, place_fd);
}

static int stage_bind(const struct plan *p, size_t i, struct sources *s, int stage_dfd,
		      struct error *e)
{
	const struct mount_plan *m = &p->mounts[i];
	char name[NAME_SIZE];

	if (stage_clone(p, i, s, e) < 0)
		return -1;
	snprintf(name, sizeof(name), "%zu", i);
	if (stage_attach_at(stage_dfd, name, s->mounts[i]) < 0)
		return err_sys(e, "%s: prepare %s", m->field, m->source);
	fd_close(&s->mounts[i]);
	return 0;
}

static int stage_cgroup(const struct plan *p, size_t i, int stage_dfd, struct error *e)
{
	autoclose int fd = sources_open_cgroup(p, i, e);
	char name[NAME_SIZE];

	if (fd < 0)
		return -1;
	snprintf(name, sizeof(name), STAGE_CGROUP, i);
	if ((cgroup_view_is_readonly(p) && sys_set_attr(fd, true, MOUNT_ATTR_RDONLY, 0, 0) < 0) ||
	    stage_attach_at(stage_dfd, name, fd) < 0)
		return err_sys(e, "prepare the container's cgroup");
	return 0;
}

/* The place that init finds by the root's path must still be the root; and there is another one,
 * for an init that can't go that way. */
static int stage_attach(const struct plan *p, struct sources *s, int stage_dfd, struct error *e)
{
	autoclose int at_fd = open(p->rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int root_fd = fd_steal(&s->root_mapped_fd), again_fd = -1;

	if (at_fd >= 0 && root_fd < 0)
		root_fd = open_tree(at_fd, "", WHOLE_TREE);
	if (at_fd < 0 || root_fd < 0)
		return err_sys(e, "root.path: open %s", p->rootfs);
	if (sys_attach(stage_dfd, at_fd) < 0 || sys_attach(root_fd, stage_dfd) < 0 ||
	    (again_fd = open_tree(root_fd, "", WHOLE_TREE)) < 0 ||
	    stage_attach_at(stage_dfd, STAGE_ROOT, again_fd) < 0)
		return err_sys(e, "root.path: attach %s", p->rootfs);
	return 0;
}

int stage_set(const struct plan *p, struct sources *s, struct arena *a, struct error *e)
{
	autoclose int stage_dfd = -1;
	char cwd[4096];
	size_t i;

	/* First, and before the parent does: whoever is last waits. */
	sources_close_spent(&s->spent);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) < 0)
		return err_sys(e, "make a mount namespace to prepare binds in");
	stage_dfd = sys_mount_new("tmpfs", "mode", "755", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	if (stage_dfd < 0)
		return err_sys(e, "make a tmpfs to prepare binds in");
	if (stage_attach(p, s, stage_dfd, e) < 0)
		return -1;
	for (i = 0; i < p->n_mounts; i++)
		if (sources_is_outside(&p->mounts[i]) && stage_bind(p, i, s, stage_dfd, e) < 0)
			return -1;
	for (i = 0; i < sources_n_cgroups(p); i++)
		if (stage_cgroup(p, i, stage_dfd, e) < 0)
			return -1;
	s->cwd = arena_strdup(a, getcwd(cwd, sizeof(cwd)) ? cwd : "/");
	if (fchdir(stage_dfd) < 0)
		return err_sys(e, "enter the tmpfs with the binds");
	return 0;
}

int stage_open_root(void)
{
	return open(STAGE_ROOT, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int stage_take_bind(const struct plan *p, size_t i, struct sources *s, struct error *e)
{
	const struct mount_plan *m = &p->mounts[i];
	autoclose int fd = -1;
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%zu", i);
	fd = open(name, O_PATH | O_CLOEXEC);
	s->cloned[i] = m->idmap != IDMAP_NONE;
	s->mounts[i] = fd < 0 || !s->cloned[i] ? fd_steal(&fd) : open_tree(fd, "", WHOLE_TREE);
	/* The copy of a mount namespace for another user namespace shares nothing, whatever was
	 * asked for. */
	if (s->mounts[i] < 0 || (s->cloned[i] && sys_set_attr(s->mounts[i], m->propagation_all, 0,
							      0, m->propagation) < 0))
		return err_sys(e, "%s: take %s", m->field, m->source);
	return 0;
}

static int stage_take_cgroup(size_t i, struct sources *s, struct error *e)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), STAGE_CGROUP, i);
	s->cgroups[i] = open_tree(AT_FDCWD, name, WHOLE_TREE & ~(unsigned int)AT_EMPTY_PATH);
	return s->cgroups[i] < 0 ? err_sys(e, "take the container's cgroup") : 0;
}

int stage_take(const struct plan *p, struct sources *s, struct error *e)
{
	size_t i;

	for (i = 0; i < p->n_mounts; i++)
		if (sources_is_outside(&p->mounts[i]) && stage_take_bind(p, i, s, e) < 0)
			return -1;
	for (i = 0; i < sources_n_cgroups(p); i++)
		if (stage_take_cgroup(i, s, e) < 0)
			return -1;
	/* Hooks are run from where the caller is. */
	if (chdir(s->cwd) < 0 && chdir("/") < 0)
		return err_sys(e, "chdir to %s", s->cwd);
	s->cwd = NULL;
	return 0;
}
