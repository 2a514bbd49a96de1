#include "rootfs/cover.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "rootfs/mount.h"
#include "rootfs/resolve.h"
#include "sys/sys.h"

/* Each name is a mount, and takes its time: 4096 took a second. */
enum { NAMES_MAX = 1024 };

/* ---- a directory, shown again ---- */

static int cover_show_link(int from_fd, int to_dfd, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from_fd, "", target, sizeof(target) - 1);

	if (n < 0)
		return -1;
	target[n] = '\0';
	return symlinkat(target, to_dfd, name);
}

/* With what is mounted there or below. Trust: whoever owns the root may exchange names meanwhile;
 * what is shown is what was opened. */
static int cover_show(int from_dfd, int to_dfd, const char *name)
{
	autoclose int fd = openat(from_dfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	autoclose int tree_fd = -1, place_fd = -1;
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (S_ISLNK(st.st_mode))
		return cover_show_link(fd, to_dfd, name);
	if ((S_ISDIR(st.st_mode) ? mkdirat(to_dfd, name, 0755) :
				   mknodat(to_dfd, name, S_IFREG | 0644, 0)) < 0)
		return -1;
	place_fd = openat(to_dfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	tree_fd = open_tree(fd, "",
			    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
	return place_fd < 0 || tree_fd < 0 ? -1 : sys_attach(tree_fd, place_fd);
}

static int cover_show_all(int from_dfd, int to_dfd)
{
	int own_dfd = openat(from_dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own_dfd < 0 ? NULL : fdopendir(own_dfd);
	struct dirent *d;
	int result = 0, n = 0;

	if (!dir) {
		fd_close(&own_dfd);
		return -1;
	}
	while (result == 0 && (errno = 0, d = readdir(dir))) {
		if (str_eq(d->d_name, ".") || str_eq(d->d_name, ".."))
			continue;
		if (++n > NAMES_MAX)
			errno = E2BIG;
		result = n > NAMES_MAX ? -1 : cover_show(from_dfd, to_dfd, d->d_name);
	}
	if (result == 0 && errno)
		result = -1;
	closedir(dir);
	return result;
}

/* Attached first: kernels before 6.15 mount on nothing that is attached nowhere. */
static int cover_directory(int dfd)
{
	autoclose int fd = -1;
	char mode[16];
	struct stat st;

	if (fstat(dfd, &st) < 0)
		return -1;
	snprintf(mode, sizeof(mode), "%o", st.st_mode & 07777);
	fd = sys_mount_new("tmpfs", "mode", mode, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (fd < 0 || sys_attach(fd, dfd) < 0 || cover_show_all(dfd, fd) < 0)
		return -1;
	return fd_steal(&fd);
}

/* ---- what is missing ---- */

struct covering {
	const struct plan *p;
	struct rootfs *r;
	int fds[MOUNTED_COVERS_MAX]; /* of the covers, to close them to writing */
};

static bool covering_is_root(const struct rootfs *r, int dfd)
{
	struct stat x, y;

	return sys_mount_id_of(dfd) == r->mounted.root_id && fstat(dfd, &x) == 0 &&
	       fstat(r->dfd, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* The directory that dfd is may be changed afterwards: it is in memory. */
static int covering_cover(struct covering *c, int dfd, const char *path, struct error *e)
{
	struct mounted *m = &c->r->mounted;
	const bool is_root = covering_is_root(c->r, dfd);
	int fd;

	if (mounted_is_cover(m, dfd))
		return 0;
	errno = EMLINK;
	fd = m->n_covers == MOUNTED_COVERS_MAX ? -1 : cover_directory(dfd);
	if (fd < 0)
		return err_set(e, ERR_HOST,
			       "%s is missing in the root filesystem, which is not changed, and can't be made "
			       "in memory: %s: make it in %s",
			       path, err_text(errno), c->p->rootfs);
	c->fds[m->n_covers] = fd;
	m->covers[m->n_covers++] = sys_mount_id_of(fd);
	if (!is_root)
		return 0;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(e, "root.path");
	fd_close(&c->r->dfd);
	c->r->dfd = m->root_dfd = fd;
	m->root_id = sys_mount_id_of(fd);
	return 0;
}

static int covering_make(struct covering *c, const char *path, bool directory, struct error *e)
{
	auto_in_root struct in_root place = IN_ROOT_NONE;
	autoclose int dfd = -1;

	if (resolve_lacks(&c->r->mounted, path, &dfd, e) < 0)
		return -1;
	if (dfd < 0)
		return 0;
	if (covering_cover(c, dfd, path, e) < 0)
		return -1;
	return resolve_make(&c->r->mounted, path, directory, &place, e);
}

/* Places below another mount are made there, when that is mounted. */
static bool covering_is_elsewhere(const struct plan *p, size_t before, const char *path)
{
	size_t i;

	for (i = 0; i < before; i++)
		if (path_is_below(path, p->mounts[i].destination))
			return true;
	return false;
}

/* A source that lies in the root itself is opened when its turn comes. */
static bool covering_wants_directory(const struct covering *c, size_t i, const struct sources *s)
{
	const struct mount_plan *m = &c->p->mounts[i];
	autoclose int fd = -1;

	if (m->kind == MOUNT_BIND && !sources_is_outside(m))
		fd = resolve_open(c->r->dfd, m->inside, O_PATH);
	return mount_wants_directory(m, fd >= 0 ? fd : s->mounts[i]);
}

static int covering_make_all(struct covering *c, const struct sources *s, struct error *e)
{
	const struct plan *p = c->p;
	const char *cwd = p->program.set ? p->program.cwd : "/";
	size_t i;

	for (i = 0; i < p->n_mounts; i++) {
		const struct mount_plan *m = &p->mounts[i];

		if (m->kind != MOUNT_REMOUNT && !covering_is_elsewhere(p, i, m->destination) &&
		    covering_make(c, m->destination, covering_wants_directory(c, i, s), e) < 0)
			return err_wrap(e, "%s.destination", m->field);
	}
	if (!covering_is_elsewhere(p, p->n_mounts, cwd) && covering_make(c, cwd, true, e) < 0)
		return err_wrap(e, "process.cwd");
	return 0;
}

int cover_missing(const struct plan *p, const struct sources *s, struct rootfs *r, struct error *e)
{
	struct covering c = {.p = p, .r = r};
	int result = covering_make_all(&c, s, e);
	size_t i;

	for (i = 0; i < r->mounted.n_covers; i++) {
		if (result == 0 && sys_set_attr(c.fds[i], false, MOUNT_ATTR_RDONLY, 0, 0) < 0)
			result = err_sys(e, "root.path: make it read-only");
		fd_close(&c.fds[i]);
	}
	return result;
}
