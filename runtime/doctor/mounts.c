/*
 * Mounts: detached ones, ones with ids mapped, and the filesystems that images come as. All are
 * made in a mount namespace of the check's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "doctor/check.h"
#include "ns/userns.h"
#include "sys/mountinfo.h"
#include "sys/sys.h"

/* Every host has it, and here it is a place to mount on, in a namespace of our own. */
#define PLACE "/sys"

static int say_no_place(struct look *l)
{
	return look_missing(l, "there is no mount namespace to try it in: %s", err_text(errno));
}

/* ---- detached mounts ---- */

static int look_detached(struct look *l)
{
	autoclose int made_fd = -1, cloned_fd = -1;

	if (look_enter(l, 0) < 0)
		return say_no_place(l);
	made_fd = sys_mount_new("tmpfs", NULL, NULL, 0);
	if (made_fd < 0)
		return look_missing(l, "fsopen, fsconfig, fsmount: %s", err_text(errno));
	cloned_fd = open_tree(AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (cloned_fd < 0)
		return look_missing(l, "open_tree: %s", err_text(errno));
	return look_fine(l, "fsopen and open_tree work%s",
			 sys_can_mount_detached() ? ", also a mount on a detached one (6.15)" : "");
}

/* ---- ids ---- */

/* A user namespace with ids that are nobody's. */
static int open_map(struct error *e)
{
	struct oci_id_map map = {.container_id = 0, .host_id = 100000, .size = 65536};
	struct oci_id_maps maps = {.n = 1, .v = &map};

	return userns_open_map(&maps, &maps, false, e);
}

/* A clone of path whose ids are mapped, detached. -1 with errno. */
static int clone_mapped(const char *path, int userns_fd)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP,
				  .userns_fd = (unsigned int)userns_fd};
	autoclose int tree_fd = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree_fd < 0 || mount_setattr(tree_fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return -1;
	return fd_steal(&tree_fd);
}

struct type_of {
	uint64_t id;
	char text[64];
};

static int type_visit(const struct mountinfo_line *line, void *context, struct error *e)
{
	struct type_of *t = context;

	(void)e;
	if (line->id != t->id)
		return 0;
	snprintf(t->text, sizeof(t->text), "%s", line->type);
	return 1;
}

static struct type_of find_type(const char *path)
{
	struct type_of t = {.id = sys_mount_id(path), .text = "its filesystem"};
	struct error ignored;

	mountinfo_each(type_visit, &t, &ignored);
	return t;
}

/* Where the directory will be, if it isn't there yet. */
static const char *nearest(struct look *l, const char *path)
{
	char *dir = arena_strdup(l->arena, path);
	char *slash;

	while (access(dir, F_OK) < 0 && (slash = strrchr(dir, '/')) && slash != dir)
		*slash = '\0';
	return access(dir, F_OK) == 0 ? dir : "/";
}

/* The row names a directory, or "" for that of the state. */
static int look_mapped(struct look *l)
{
	const char *path = l->check->what;
	autoclose int userns_fd = -1, tree_fd = -1;
	struct error e;

	if (!*path && !l->options->root)
		return LOOK_NOTHING;
	path = *path ? path : nearest(l, l->options->root);
	if (access(path, F_OK) < 0)
		return LOOK_NOTHING;
	userns_fd = open_map(&e);
	if (userns_fd < 0)
		return look_missing(l, "%s", e.text);
	tree_fd = clone_mapped(path, userns_fd);
	if (tree_fd >= 0)
		return look_fine(l, "%s on %s", path, find_type(path).text);
	if (errno == EINVAL)
		return look_missing(l, "%s on %s can't have its ids mapped", path,
				    find_type(path).text);
	return look_missing(l, "%s on %s: %s", path, find_type(path).text, err_text(errno));
}

/* ---- overlay ---- */

#define LAYERS "upperdir=" PLACE "/upper,workdir=" PLACE "/work"

static int make_layers(void)
{
	static const char *const dirs[] = {PLACE "/lower", PLACE "/mapped", PLACE "/upper",
					   PLACE "/work", PLACE "/merged"};
	size_t i;

	if (mount("tmpfs", PLACE, "tmpfs", 0, "size=1m") < 0)
		return -1;
	for (i = 0; i < ARRAY_SIZE(dirs); i++)
		if (mkdir(dirs[i], 0755) < 0)
			return -1;
	return 0;
}

static int try_overlay(struct look *l, const char *options)
{
	if (mount("overlay", PLACE "/merged", "overlay", 0, options) == 0)
		return look_fine(l, "can be mounted");
	if (errno == ENODEV) {
		look_remedy(l, "modprobe overlay");
		return look_missing(l, "this kernel knows none, or has not loaded it");
	}
	return look_missing(l, "%s", err_text(errno));
}

static int look_overlay(struct look *l)
{
	bool as_user = l->check->what;

	if (as_user && look_drop(l) < 0)
		return look_less(l, "can't become an ordinary user to try: %s", err_text(errno));
	if (look_enter(l, 0) < 0 || make_layers() < 0)
		return say_no_place(l);
	return try_overlay(l, l->who == WHO_USER ? "userxattr,lowerdir=" PLACE "/lower," LAYERS :
						   "lowerdir=" PLACE "/lower," LAYERS);
}

/* tmpfs can't be mapped before 6.3, so a directory of the machine's own is tried as well. */
static int look_overlay_mapped(struct look *l)
{
	autoclose int userns_fd = -1, tree_fd = -1, place_dfd = -1;
	struct error e;

	userns_fd = open_map(&e);
	if (userns_fd < 0)
		return look_missing(l, "%s", e.text);
	if (look_enter(l, 0) < 0 || make_layers() < 0)
		return say_no_place(l);
	tree_fd = clone_mapped(PLACE "/lower", userns_fd);
	if (tree_fd < 0)
		tree_fd = clone_mapped("/usr", userns_fd);
	place_dfd = open(PLACE "/mapped", O_PATH | O_CLOEXEC);
	if (tree_fd < 0 || place_dfd < 0 || sys_attach(tree_fd, place_dfd) < 0)
		return look_missing(l, "no layer can have its ids mapped: %s", err_text(errno));
	return try_overlay(l, "lowerdir=" PLACE "/mapped," LAYERS);
}

/* ---- EROFS ---- */

static bool is_registered(struct look *l, const char *line)
{
	const char *text = look_file(l, "/proc/filesystems", NULL);

	return text && strstr(text, line);
}

/* Our own program is no image. A kernel that mounts files finds that out; an older one wants a
 * block device. -1 with errno. */
static int refuse_program(void)
{
	autoclose int fs_fd = fsopen("erofs", FSOPEN_CLOEXEC);

	if (fs_fd < 0)
		return -1;
	fsconfig(fs_fd, FSCONFIG_SET_FLAG, "ro", NULL, 0);
	if (fsconfig(fs_fd, FSCONFIG_SET_STRING, "source", "/proc/self/exe", 0) < 0)
		return -1;
	return fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}

static int look_erofs(struct look *l)
{
	if (!is_registered(l, "\terofs\n")) {
		look_remedy(l, "modprobe erofs");
		return look_missing(l, "this kernel knows none, or has not loaded it");
	}
	if (refuse_program() < 0 && errno == ENOTBLK)
		return look_less(l, "by a block device alone; from a file since Linux 6.12");
	if (errno == EINVAL)
		return look_fine(l, "also from a file");
	return look_less(l, "whether from a file can't be told: %s", err_text(errno));
}

/* ---- /proc ---- */

struct covers {
	struct buf points;
	size_t n;
	bool plain; /* names that a shell takes as they are */
};

static int cover_visit(const struct mountinfo_line *line, void *context, struct error *e)
{
	static const char usual[] = "/ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_.-";
	struct covers *c = context;

	(void)e;
	/* The kernel lets a mount on an empty directory of procfs count for nothing. */
	if (!str_after(line->point, "/proc/") || str_eq(line->point, "/proc/sys/fs/binfmt_misc"))
		return 0;
	c->n++;
	c->plain = c->plain && !line->point[strspn(line->point, usual)];
	buf_printf(&c->points, " %s", line->point);
	return 0;
}

static int mount_proc(void *context)
{
	autoclose int fd = sys_mount_new("proc", NULL, NULL, 0);

	(void)context;
	return fd < 0 ? errno : 0;
}

static int explain_proc(struct look *l, int why)
{
	struct covers c = {.points = buf_new(l->arena, 400), .plain = true};
	struct error ignored;

	mountinfo_each(cover_visit, &c, &ignored);
	if (!c.n || why != EPERM)
		return look_missing(l, "a procfs in a user namespace: %s", err_text(why));
	if (!look_remedy_container(l, "--security-opt systempaths=unconfined",
				   "--security-opt unmask=ALL") &&
	    c.plain && !c.points.overflow)
		look_remedy(l, "umount%s", c.points.data);
	return look_missing(l,
			    "covered in %zu places (%s%s), so that no user namespace gets one of "
			    "its own",
			    c.n, c.points.data + 1, c.points.overflow ? " …" : "");
}

/* It needs a pid namespace, and that a process in it. */
static int look_proc(struct look *l)
{
	int why;

	if (look_enter_userns(l, CLONE_NEWPID) < 0)
		return look_missing(l, "there is no user namespace to try it in: %s",
				    err_text(errno));
	why = look_in_child(mount_proc, NULL);
	if (why == 0)
		return look_fine(l, "user namespaces get one of their own");
	return explain_proc(l, why < 0 ? EIO : why);
}

static const struct doctor_check checks[] = {
	{"mount.detached", "detached mounts", WHO_ALL, WHO_ALL, look_detached},
	{"mount.proc", "/proc in user namespaces", WHO_ALL, WHO_USER | WHO_INNER_ROOT, look_proc},
	{"mount.overlay", "overlay", WHO_ALL, 0, look_overlay},
	{"mount.overlay.user", "overlay of ordinary users", WHO_ROOT, 0, look_overlay, "user"},
	{"mount.overlay.idmap", "overlay with mapped ids", WHO_ROOT, 0, look_overlay_mapped},
	{"mount.idmap.state", "mapped ids: the state", WHO_ROOT, 0, look_mapped, ""},
	{"mount.idmap.docker", "mapped ids: docker's images", WHO_ROOT, 0, look_mapped,
	 "/var/lib/docker"},
	{"mount.idmap.containers", "mapped ids: podman's images", WHO_ROOT, 0, look_mapped,
	 "/var/lib/containers"},
	{"mount.idmap.here", "mapped ids: this directory", WHO_ROOT, 0, look_mapped, "."},
	{"mount.erofs", "EROFS", WHO_ROOT, 0, look_erofs},
};

const struct doctor_group doctor_mounts = {checks, ARRAY_SIZE(checks)};
