/*
 * Runs in init, before pivot_root, so that the host's /dev is still in sight. A file that stands
 * where a node should be and is something else is an error: an image must not choose what /dev/null
 * is.
 *
 * Trust: the tree comes from the image.
 */
#include "rootfs/devices.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "rootfs/nodes.h"
#include "rootfs/resolve.h"
#include "sys/sys.h"

enum { DEVICE_PATH_SIZE = 4096 };

static bool device_is(int fd, const struct device_plan *d)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || (st.st_mode & S_IFMT) != d->type)
		return false;
	return d->type == S_IFIFO || st.st_rdev == makedev(d->major, d->minor);
}

static int device_open_host(const struct device_plan *d, const char *path, struct error *e)
{
	autoclose int fd = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "%s: open the host's %s", d->field, path);
	if (!device_is(fd, d))
		return err_set(e, ERR_HOST, "%s: the host's %s is not device %u:%u", d->field, path,
			       d->major, d->minor);
	/* Read-only is no matter of reading and writing a device, but of its mode,
	 * owner and times. */
	if (sys_set_attr(fd, false, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, 0,
			 MS_PRIVATE) < 0)
		return err_sys(e, "%s: prepare %s", d->field, path);
	return fd_steal(&fd);
}

int devices_clone_null(struct error *e)
{
	static const struct device_plan null = {
		.field = "linux.maskedPaths", .type = S_IFCHR, .major = 1, .minor = 3};

	return device_open_host(&null, "/dev/null", e);
}

static const char *device_standard_path(dev_t device)
{
	static const struct {
		unsigned int minor;
		const char *path;
	} rows[] = {
		{3, "/dev/null"},   {5, "/dev/zero"},	 {7, "/dev/full"},
		{8, "/dev/random"}, {9, "/dev/urandom"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (device == makedev(1, rows[i].minor))
			return rows[i].path;
	return NULL;
}

bool devices_is_standard(dev_t device)
{
	return device_standard_path(device) != NULL;
}

/* A node on a filesystem that is attached nowhere and gone with the descriptor. */
static int device_open_made(dev_t device, int flags)
{
	autoclose int dfd =
		sys_mount_new("tmpfs", "mode", "700", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);

	if (dfd < 0 || mknodat(dfd, "node", S_IFCHR | 0666, device) < 0)
		return -1;
	return openat(dfd, "node", flags);
}

/* Trust: path leads to whatever the container has there, which must not make us wait. */
int devices_open_own(dev_t device, int flags, struct error *e)
{
	const char *path = device_standard_path(device);
	const int how = flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	autoclose int root_dfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int fd = resolve_open(root_dfd, path, how);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode) || st.st_rdev != device) {
		fd_close(&fd);
		fd = device_open_made(device, how);
	}
	if (fd < 0)
		return err_sys(
			e,
			"the container has no %s to stand for the host's, and none can be made "
			"(a pipe or a file would do instead)",
			path);
	if (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags) < 0)
		return err_sys(e, "%s", path);
	return fd_steal(&fd);
}

/* Where the host has the device: the kernel's own name for it, else the path that
 * the config says. */
static void device_host_path(const struct device_plan *d, char path[DEVICE_PATH_SIZE])
{
	char file[64], text[1024], *name;

	snprintf(path, DEVICE_PATH_SIZE, "%s", d->path);
	snprintf(file, sizeof(file), "/sys/dev/%s/%u:%u/uevent",
		 d->type == S_IFBLK ? "block" : "char", d->major, d->minor);
	if (fd_read_at(AT_FDCWD, file, text, sizeof(text)) < 0)
		return;
	name = strstr(text, "DEVNAME=");
	if (!name)
		return;
	name += strlen("DEVNAME=");
	snprintf(path, DEVICE_PATH_SIZE, "/dev/%.*s", (int)strcspn(name, "\n"), name);
}

static int device_find_host(const struct device_plan *d, struct error *e)
{
	char path[DEVICE_PATH_SIZE];
	int fd;

	device_host_path(d, path);
	fd = device_open_host(d, path, e);
	/* A host that is itself a container may have it under that name alone. */
	return fd < 0 && !str_eq(path, d->path) ? device_open_host(d, d->path, e) : fd;
}

/* A user namespace makes no nodes. The parent has made them, or they are the host's. */
static int device_bind(const struct plan *p, size_t i, const struct mounted *in, int nodes_fd,
		       struct error *e)
{
	const struct device_plan *d = &p->devices[i];
	autoclose int tree_fd = nodes_fd < 0 ? -1 : nodes_clone_device(nodes_fd, i);
	auto_in_root struct in_root target = IN_ROOT_NONE;

	if (tree_fd < 0)
		tree_fd = device_find_host(d, e);
	if (tree_fd < 0 || resolve_make(in, d->path, false, &target, e) < 0)
		return -1;
	if (sys_attach(tree_fd, target.fd) < 0)
		return err_sys(e, "%s: bind %s", d->field, d->path);
	return 0;
}

static int device_open_existing(const struct device_plan *d, struct in_root dir, const char *name,
				 struct error *e)
{
	autoclose int fd = openat(dir.fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "%s: open %s", d->field, d->path);
	if (!device_is(fd, d))
		return err_set(e, ERR_CONFIG,
			       "%s: the image has something at %s that is not device %u:%u",
			       d->field, d->path, d->major, d->minor);
	return fd_steal(&fd);
}

static int device_check_existing(const struct device_plan *d, struct in_root dir, const char *name,
				 struct error *e)
{
	autoclose int fd = device_open_existing(d, dir, name, e);

	return fd < 0 ? -1 : 0;
}

/* Opens the node that we made, not what a sharer of the directory has put there since. */
static int device_give(const struct device_plan *d, struct in_root dir, const char *name,
		       struct error *e)
{
	autoclose int fd = device_open_existing(d, dir, name, e);

	if (fd < 0)
		return -1;
	if (fchownat(fd, "", d->uid, d->gid, AT_EMPTY_PATH) < 0)
		return err_sys(e, "%s: change the owner of %s", d->field, d->path);
	return 0;
}

static int device_make(const struct plan *p, size_t i, const struct mounted *in, int nodes_fd,
		       struct error *e)
{
	const struct device_plan *d = &p->devices[i];
	auto_in_root struct in_root dir = IN_ROOT_NONE;
	const char *name;

	if (resolve_parent(in, d->path, &dir, &name, e) < 0)
		return err_wrap(e, "%s", d->field);
	if (mknodat(dir.fd, name, d->type | d->mode, makedev(d->major, d->minor)) < 0) {
		if (errno == EEXIST)
			return device_check_existing(d, dir, name, e);
		if (errno == EPERM && d->type != S_IFIFO)
			return device_bind(p, i, in, nodes_fd, e);
		return err_sys(e, "%s: make %s", d->field, d->path);
	}
	return d->uid || d->gid ? device_give(d, dir, name, e) : 0;
}

/* A link that is there already stays, whatever it says: it is resolved inside the container. */
static int device_links(const struct mounted *in, struct error *e)
{
	static const struct {
		const char *name;
		const char *target;
	} links[] = {
		{"fd", "/proc/self/fd"},
		{"stdin", "/proc/self/fd/0"},
		{"stdout", "/proc/self/fd/1"},
		{"stderr", "/proc/self/fd/2"},
		{"ptmx", "pts/ptmx"},
	};
	auto_in_root struct in_root dev = IN_ROOT_NONE;
	const char *name;
	size_t i;

	if (resolve_parent(in, "/dev/fd", &dev, &name, e) < 0)
		return -1;
	for (i = 0; i < ARRAY_SIZE(links); i++)
		if (symlinkat(links[i].target, dev.fd, links[i].name) < 0 && errno != EEXIST)
			return err_sys(e, "link /dev/%s", links[i].name);
	return 0;
}

/* A config that binds a directory to /dev gets that directory, and no nodes of ours in it. */
static bool devices_come_from_host(const struct plan *p)
{
	size_t i;

	for (i = 0; i < p->n_mounts; i++)
		if (p->mounts[i].kind == MOUNT_BIND && str_eq(p->mounts[i].destination, "/dev"))
			return true;
	return false;
}

int devices_make(const struct plan *p, const struct mounted *in, int nodes_fd, struct error *e)
{
	bool host_dev = devices_come_from_host(p);
	size_t i;

	if (!host_dev && resolve_check_plain(in->root_dfd, "/dev", e) < 0)
		return -1;
	for (i = 0; i < p->n_devices; i++) {
		if (host_dev && path_is_below(p->devices[i].path, "/dev"))
			continue;
		if (device_make(p, i, in, nodes_fd, e) < 0)
			return -1;
	}
	return host_dev ? 0 : device_links(in, e);
}
