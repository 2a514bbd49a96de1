/*
 * The root that a box runs in: an image or a directory that sbxrun-rootfs has built, or that the
 * caller names; and where there is none, a frame of a few directories and links for the host's own
 * /usr.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "box/box.h"
#include "box/library.h"
#include "state/sweep.h"
#include "sys/sys.h"

#define FRAME "host"
enum { REOPENS = 8 };

/* Where sbxrun-rootfs puts what it builds. */
static const char *root_library(struct arena *a)
{
	return library_path("SBXRUN_ROOTFS_DIR", "rootfs", a);
}

/* ---- what was built ---- */

static bool root_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool root_is_still(const char *dir, int dfd)
{
	struct stat held, named;

	return fstat(dfd, &held) == 0 && stat(dir, &named) == 0 && held.st_ino == named.st_ino &&
	       held.st_dev == named.st_dev;
}

/*
 * Opens what sbxrun-rootfs has built, with a lock that says that it is in use: what is replaced or
 * removed meanwhile lies beside, until the last box has ended. Who removes renames first and looks
 * for locks then, so a lock on what still has its name holds. Nobody is waited for: whoever has it
 * to himself keeps it from being removed as well.
 */
static int root_lock(const char *dir)
{
	int tries;

	for (tries = 0; tries < REOPENS; tries++) {
		autoclose int dfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		/* A caller who may not read it can't lock it. */
		if (dfd < 0 && errno == EACCES)
			return open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dfd < 0)
			return -1;
		if (flock(dfd, LOCK_SH | LOCK_NB) < 0 && errno != EWOULDBLOCK)
			return -1;
		if (root_is_still(dir, dfd))
			return fd_steal(&dfd);
	}
	return -1;
}

/* A kernel that knows no images needs no words. */
static bool root_blames_image(const struct error *e)
{
	return e->class == ERR_USAGE || e->sys == EINVAL || e->sys == EUCLEAN || e->sys == EIO;
}

/* The image, if it is to be had, for boxes share its pages; else the directory beside it. */
static int root_choose(const struct box_request *q, const char *dir, const struct manifest *m,
		       struct arena *a, struct box_root *ret, struct error *e)
{
	const char *path = path_join(a, dir, "rootfs");

	if (m->images.erofs.path && sys_is_machine_root() &&
	    image_open(q->state_root, ret->lock_fd, m, a, &ret->image, e) == 0) {
		ret->path = ret->image.path;
		return 0;
	}
	if (!root_is_dir(path) && !m->images.erofs.path)
		return err_set(e, ERR_USAGE, "--rootfs: %s has neither directory nor EROFS image",
			       dir);
	if (!root_is_dir(path) && !sys_is_machine_root())
		return err_set(e, ERR_USAGE,
			       "--rootfs: %s has no directory, and only root mounts its image: "
			       "sbxrun-rootfs build --format dir",
			       dir);
	if (!root_is_dir(path))
		return err_wrap(e, "--rootfs: %s", dir);
	if (m->images.erofs.path && sys_is_machine_root() && root_blames_image(e))
		ret->note = arena_printf(a, "%s: %s", dir, e->text);
	ret->path = path;
	return 0;
}

/* "python@sha256:…"; of a manifest that can't be read the name alone. 0: there is none of that
 * name. */
static int root_built(const struct box_request *q, const char *name, struct arena *a,
		      struct box_root *ret, struct error *e)
{
	const char *library = root_library(a), *dir;
	struct manifest m;

	if (!library || strchr(name, '/') || name[0] == '.')
		return 0;
	dir = path_join(a, library, name);
	ret->lock_fd = root_lock(dir);
	if (ret->lock_fd < 0)
		return 0;
	manifest_read(ret->lock_fd, a, &m);
	if (!m.images.erofs.path && !root_is_dir(path_join(a, dir, "rootfs")))
		return 0;
	ret->name = m.digest ? arena_printf(a, "%s@%s", name, m.digest) : name;
	return root_choose(q, dir, &m, a, ret, e) < 0 ? -1 : 1;
}

/* ---- the frame ---- */

static const struct {
	const char *path;
	mode_t mode;
	const char *text; /* NULL: a directory */
} frame[] = {
	{"usr", 0755, NULL},
	{"etc", 0755, NULL},
	{"etc/alternatives", 0755, NULL},
	{"etc/R", 0755, NULL},
	{"etc/ssl", 0755, NULL},
	{"etc/ssl/certs", 0755, NULL},
	{"proc", 0755, NULL},
	{"dev", 0755, NULL},
	{"tmp", 01777, NULL},
	{"var", 0755, NULL},
	{"workspace", 0755, NULL},
	{"etc/ld.so.cache", 0644, ""},
	{"etc/hosts", 0644, "127.0.0.1 localhost box\n::1 localhost box\n"},
	{"etc/hostname", 0644, "box\n"},
	{"etc/resolv.conf", 0644, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"},
	{"etc/nsswitch.conf", 0644, "passwd: files\ngroup: files\nhosts: files dns\n"},
	{"etc/passwd", 0644,
	 "root:x:0:0:root:/workspace:/bin/sh\nnobody:x:65534:65534:nobody:/workspace:/bin/sh\n"},
	{"etc/group", 0644, "root:x:0:\nnogroup:x:65534:\n"},
};
static const char *const frame_links[] = {"bin", "sbin", "lib", "lib32", "lib64"};

static int frame_file(int dfd, const char *path, mode_t mode, const char *text)
{
	autoclose int fd =
		openat(dfd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -1 : fd_write_all(fd, text, strlen(text));
}

/* As the host has them: links into /usr, or directories to bind on. */
static int frame_link(int dfd, const char *name)
{
	char from[16], target[64];
	ssize_t n;

	snprintf(from, sizeof(from), "/%s", name);
	n = readlink(from, target, sizeof(target) - 1);
	if (n < 0)
		return access(from, F_OK) < 0 ? 0 : mkdirat(dfd, name, 0755);
	target[n] = '\0';
	return symlinkat(target, dfd, name);
}

static int frame_fill(int dfd)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(frame); i++)
		if ((frame[i].text ? frame_file(dfd, frame[i].path, frame[i].mode, frame[i].text) :
				     mkdirat(dfd, frame[i].path, frame[i].mode)) < 0)
			return -1;
	for (i = 0; i < ARRAY_SIZE(frame_links); i++)
		if (frame_link(dfd, frame_links[i]) < 0)
			return -1;
	return fchmodat(dfd, "tmp", 01777, 0);
}

/* Beside its place first, so that nobody ever sees half of it. */
static int frame_make(const char *library, struct arena *a, struct error *e)
{
	char *beside = arena_printf(a, ".%s.%d", FRAME, getpid());
	autoclose int dfd = -1, new_dfd = -1, root_dfd = -1;
	int result = -1;

	if (library_make(library, 0755, a) == 0)
		dfd = open(library, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dfd >= 0 && sweep_directory(dfd, beside) == 0 && mkdirat(dfd, beside, 0755) == 0)
		new_dfd = openat(dfd, beside, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (new_dfd >= 0 && mkdirat(new_dfd, "rootfs", 0755) == 0)
		root_dfd = openat(new_dfd, "rootfs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root_dfd >= 0)
		result = frame_fill(root_dfd);
	if (result == 0 && renameat(dfd, beside, dfd, FRAME) < 0 && errno != EEXIST &&
	    errno != ENOTEMPTY)
		result = -1;
	if (result < 0)
		err_sys(e, "make a root for the host's programs in %s", library);
	if (dfd >= 0)
		sweep_directory(dfd, beside);
	return result;
}

static int root_of_host(struct arena *a, struct box_root *ret, struct error *e)
{
	const char *library = root_library(a), *path;

	if (!library)
		return err_set(e, ERR_HOST,
			       "there is no place for root filesystems: HOME is not set");
	path = path_join(a, library, FRAME "/rootfs");
	if (!root_is_dir(path) && frame_make(library, a, e) < 0)
		return -1;
	ret->path = path;
	ret->name = FRAME;
	ret->host = true;
	return 0;
}

/* ---- finding one ---- */

/* FILE.erofs, beside its manifest. */
static int root_of_image(const struct box_request *q, const char *path, struct arena *a,
			 struct box_root *ret, struct error *e)
{
	const char *slash = strrchr(path, '/');
	const char *dir = arena_strndup(a, path, (size_t)(slash - path));
	struct manifest m;

	ret->lock_fd = root_lock(*dir ? dir : "/");
	if (ret->lock_fd < 0)
		return err_sys(e, "--rootfs: open %s", dir);
	if (!manifest_read(ret->lock_fd, a, &m) || !m.images.erofs.path ||
	    !str_eq(m.images.erofs.path, slash + 1))
		return err_set(e, ERR_USAGE,
			       "--rootfs: %s is neither a directory nor an image that a manifest.json "
			       "beside it names (sbxrun-rootfs build --format erofs)",
			       path);
	if (image_open(q->state_root, ret->lock_fd, &m, a, &ret->image, e) < 0)
		return err_wrap(e, "--rootfs: %s", path);
	ret->path = ret->image.path;
	ret->name = m.digest ? arena_printf(a, "%s@%s", m.name ? m.name : slash + 1, m.digest) :
			       slash + 1;
	return 0;
}

/* Below a manifest it is one that sbxrun-rootfs has built, and may remove. */
static void root_lock_around(const char *path, struct arena *a, struct box_root *ret)
{
	const char *slash = strrchr(path, '/');
	const char *dir = arena_strndup(a, path, (size_t)(slash - path));

	if (str_eq(slash, "/rootfs") && access(path_join(a, dir, "manifest.json"), F_OK) == 0)
		ret->lock_fd = root_lock(dir);
}

static int root_at(const struct box_request *q, const char *path, struct arena *a,
		   struct box_root *ret, struct error *e)
{
	char *real = realpath(path, NULL);
	const char *own = real ? arena_strdup(a, real) : NULL;

	free(real);
	if (!own)
		return err_sys(e, "--rootfs: %s", path);
	if (!root_is_dir(own))
		return root_of_image(q, own, a, ret, e);
	root_lock_around(own, a, ret);
	ret->path = own;
	ret->name = path;
	return 0;
}

static int root_named(const struct box_request *q, const char *name, struct arena *a,
		      struct box_root *ret, struct error *e)
{
	int found = root_built(q, name, a, ret, e);

	if (found)
		return found < 0 ? -1 : 0;
	if (!strchr(name, '/') && !str_eq(name, "."))
		return err_set(e, ERR_USAGE,
			       "--rootfs: there is no rootfs called %s: sbxrun-rootfs build %s, or "
			       "name a directory (./%s)",
			       name, name, name);
	return root_at(q, name, a, ret, e);
}

int box_root_find(const struct box_request *q, struct arena *a, struct box_root *ret,
		  struct error *e)
{
	int found;

	*ret = BOX_ROOT_NONE;
	if (q->rootfs && str_eq(q->rootfs, FRAME))
		return root_of_host(a, ret, e);
	if (q->rootfs)
		return root_named(q, q->rootfs, a, ret, e);
	found = q->language ? root_built(q, q->language->rootfs, a, ret, e) : 0;
	if (found)
		return found < 0 ? -1 : 0;
	box_root_close(ret);
	return root_of_host(a, ret, e);
}

void box_root_close(struct box_root *root)
{
	image_close(&root->image);
	fd_close(&root->lock_fd);
}
