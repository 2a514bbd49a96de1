/*
 * Trust: the tree comes from the image, the list from the config. The image's own /dev/null plays
 * no part (rule R9, CVE-2025-31133).
 */
#include "rootfs/mask.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "rootfs/attach.h"
#include "rootfs/devices.h"
#include "rootfs/nodes.h"
#include "rootfs/resolve.h"
#include "sys/sys.h"

/* Something to cover places with. The first use attaches the tree itself, later ones clones of it:
 * kernels before 6.15 can't clone a tree that is attached nowhere. */
struct cover {
	int fd;
	struct stat st;
	bool attached;
};

/* A path may be listed twice, and several may lead to one place. */
static bool mask_is_covered(const struct cover *c, struct in_root target, const struct stat *st)
{
	struct statvfs fs;

	return c->st.st_ino == st->st_ino && c->st.st_dev == st->st_dev &&
	       fstatvfs(target.fd, &fs) == 0 && (fs.f_flag & ST_RDONLY);
}

/* The cover of the next place, or -1 with errno. *clone_fd is the caller's to close. */
static int cover_take(struct cover *c, int *clone_fd)
{
	if (!c->attached) {
		c->attached = true;
		return c->fd;
	}
	return *clone_fd =
		       open_tree(c->fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
}

static int mask_cover(bool peers, struct cover *c, struct in_root target, const struct stat *st,
		      struct error *e)
{
	autoclose int clone_fd = -1;
	int fd;

	if (mask_is_covered(c, target, st))
		return 0;
	fd = cover_take(c, &clone_fd);
	if (fd < 0)
		return err_sys(e, "clone");
	return attach_tree(peers, fd, target, e);
}

int mask_prepare(const struct plan *p, struct rootfs *r, struct error *e)
{
	r->empty_dfd = nodes_clone(r->nodes_fd, "empty", MOUNT_ATTR_NODEV);
	if (r->empty_dfd < 0)
		return err_sys(e, "linux.maskedPaths: make an empty directory");
	/* A device needs a mount with devices. */
	r->null_fd = p->root_nosuid ? nodes_clone(r->nodes_fd, "blank", MOUNT_ATTR_NODEV) :
				      nodes_clone(r->nodes_fd, "null", 0);
	if (r->null_fd < 0 && errno == ENOENT)
		return (r->null_fd = devices_clone_null(e)) < 0 ? -1 : 0;
	return r->null_fd < 0 ? err_sys(e, "linux.maskedPaths: make a null device") : 0;
}

/* Where to look for path, and under which name. */
static int mask_base(const struct rootfs *r, const char **path)
{
	const struct {
		const char *place;
		int dfd;
	} mounted[] = {{"/proc", r->proc_dfd}, {"/sys", r->sys_dfd}};
	size_t i;

	/* ".." may lead out of the mount again. */
	for (i = 0; i < ARRAY_SIZE(mounted) && !strstr(*path, "/.."); i++)
		if (mounted[i].dfd >= 0 && path_is_below(*path, mounted[i].place)) {
			*path += strlen(mounted[i].place);
			return mounted[i].dfd;
		}
	return r->dfd;
}

static int mask_find(const struct rootfs *r, const struct stat *root, const char *path,
		     struct in_root *ret, struct stat *ret_st, const char *field, size_t i,
		     struct error *e)
{
	const char *name = path;
	int base_dfd = mask_base(r, &name);

	if (resolve_in_root(base_dfd, *name ? name : "/", ret) < 0)
		return errno == ENOENT || errno == ENOTDIR ?
			       0 :
			       err_sys(e, "%s[%zu]: resolve %s", field, i, path);
	if (fstat(ret->fd, ret_st) < 0)
		return err_sys(e, "%s[%zu]: stat %s", field, i, path);
	/* A cover on top of a root that was entered before covers nothing. */
	if (ret_st->st_ino == root->st_ino && ret_st->st_dev == root->st_dev)
		return err_set(e, ERR_CONFIG,
			       "%s[%zu]: \"%s\" is the root itself: use root.readonly", field, i,
			       path);
	return 1;
}

struct covers {
	struct cover null;
	struct cover empty;
	struct stat root;
};

static struct cover *covers_for(struct covers *c, const struct stat *st)
{
	return S_ISDIR(st->st_mode) ? &c->empty : &c->null;
}

/*
 * Nearly all paths are names in the first directory of our own /proc or /sys, where only the kernel
 * makes names. They need no descriptor, which saves a fourth of the time. 1: it is done, 0: this is
 * none of them, or is a link.
 */
static int mask_own_name(const struct rootfs *r, struct covers *c, const char *path,
			 struct error *e)
{
	int base_dfd = mask_base(r, &path), fd;
	autoclose int clone_fd = -1;
	struct cover *cover;
	struct stat st;

	if (base_dfd == r->dfd || r->peers || path[0] != '/' || !path[1] || strchr(path + 1, '/'))
		return 0;
	path++;
	if (fstatat(base_dfd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	if (S_ISLNK(st.st_mode))
		return 0;
	cover = covers_for(c, &st);
	if (st.st_ino == cover->st.st_ino && st.st_dev == cover->st.st_dev)
		return 1; /* listed twice */
	fd = cover_take(cover, &clone_fd);
	if (fd < 0)
		return err_sys(e, "clone");
	return move_mount(fd, "", base_dfd, path, MOVE_MOUNT_F_EMPTY_PATH) < 0 ?
		       err_sys(e, "attach") :
		       1;
}

/* Any path: by what it leads to, however it is spelt. */
static int mask_path(const struct rootfs *r, struct covers *c, const char *path, const char *field,
		     size_t i, struct error *e)
{
	auto_in_root struct in_root target = IN_ROOT_NONE;
	struct stat st;
	int found = mask_own_name(r, c, path, e);

	if (found == 0) {
		found = mask_find(r, &c->root, path, &target, &st, field, i, e);
		if (found <= 0)
			return found;
		found = mask_cover(r->peers, covers_for(c, &st), target, &st, e);
	}
	return found < 0 ? err_wrap(e, "%s[%zu]: mask %s", field, i, path) : 0;
}

int mask_paths(const struct rootfs *r, const struct strings *paths, struct error *e)
{
	static const char field[] = "linux.maskedPaths";
	struct covers c = {.null = {.fd = r->null_fd}, .empty = {.fd = r->empty_dfd}};
	size_t i;

	if (paths->n && (fstat(r->dfd, &c.root) < 0 || fstat(c.null.fd, &c.null.st) < 0 ||
			 fstat(c.empty.fd, &c.empty.st) < 0))
		return err_sys(e, "%s: look at what covers", field);
	for (i = 0; i < paths->n; i++)
		if (mask_path(r, &c, paths->v[i], field, i, e) < 0)
			return -1;
	return 0;
}

/* The mounts that were made read-only, with all that is on them. Of a list longer than engines'
 * are, some may be made so twice: that is no harm, and a search in all of them would be. */
struct closed {
	uint64_t mounts[64];
	size_t n;
};

static bool mask_is_closed(const struct closed *c, uint64_t mount)
{
	size_t i;

	for (i = 0; mount && i < c->n; i++)
		if (c->mounts[i] == mount)
			return true;
	return false;
}

static int mask_close(bool peers, struct closed *c, struct in_root target, struct error *e)
{
	autoclose int fd = -1;

	if (mask_is_closed(c, sys_mount_id_of(target.fd)))
		return 0;
	fd = open_tree(target.fd, "",
		       OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
	if (fd < 0 || sys_set_attr(fd, true, MOUNT_ATTR_RDONLY, 0, 0) < 0)
		return err_sys(e, "set its attributes");
	if (attach_tree(peers, fd, target, e) < 0)
		return -1;
	if (c->n < ARRAY_SIZE(c->mounts))
		c->mounts[c->n++] = sys_mount_id_of(fd);
	return 0;
}

int mask_readonly_paths(const struct rootfs *r, const struct strings *paths, struct error *e)
{
	static const char field[] = "linux.readonlyPaths";
	struct closed closed = {.n = 0};
	struct stat root;
	size_t i;

	if (paths->n && fstat(r->dfd, &root) < 0)
		return err_sys(e, "%s: look at the root", field);
	for (i = 0; i < paths->n; i++) {
		auto_in_root struct in_root target = IN_ROOT_NONE;
		struct stat st;
		int found = mask_find(r, &root, paths->v[i], &target, &st, field, i, e);

		if (found < 0)
			return -1;
		if (found && mask_close(r->peers, &closed, target, e) < 0)
			return err_wrap(e, "%s[%zu]: make %s read-only", field, i, paths->v[i]);
	}
	return 0;
}
