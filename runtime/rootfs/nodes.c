#include "rootfs/nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "rootfs/proc_files.h"
#include "sys/sys.h"

enum { NAME_SIZE = 32 };

/* The caller's umask has no say. */
static int node_make(int nodes_fd, const char *name, mode_t mode, dev_t device)
{
	return mknodat(nodes_fd, name, mode, device) < 0 ?
		       -1 :
		       fchmodat(nodes_fd, name, mode & 07777, 0);
}

int nodes_new(void)
{
	autoclose int fd = sys_mount_new("tmpfs", "mode", "755", 0);

	if (fd < 0 || mkdirat(fd, "empty", 0755) < 0 ||
	    node_make(fd, "blank", S_IFREG | 0444, 0) < 0 ||
	    (node_make(fd, "null", S_IFCHR | 0666, makedev(1, 3)) < 0 && errno != EPERM))
		return -1;
	return fd_steal(&fd);
}

static void node_name(size_t i, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "device%zu", i);
}

int nodes_new_for(const struct plan *p)
{
	autoclose int fd = -1;
	char name[NAME_SIZE];
	size_t i;

	if (p->rootless || !(p->owns_userns || plan_join(p, OCI_NS_USER)))
		return -1;
	fd = nodes_new();
	if (fd < 0 || faccessat(fd, "null", F_OK, 0) < 0)
		return -1;
	for (i = 0; i < p->n_devices; i++) {
		const struct device_plan *d = &p->devices[i];

		node_name(i, name);
		if (d->type != S_IFIFO &&
		    node_make(fd, name, d->type | d->mode, makedev(d->major, d->minor)) < 0)
			return -1;
	}
	return proc_files_write(&p->proc_files, fd) < 0 ? -1 : fd_steal(&fd);
}

void nodes_settle(int nodes_fd, int place_fd)
{
	if (place_fd >= 0)
		sys_attach(nodes_fd, place_fd);
}

int nodes_clone(int nodes_fd, const char *name, uint64_t attrs)
{
	const uint64_t closed = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
	autoclose int fd = open_tree(nodes_fd, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (fd < 0 || sys_set_attr(fd, false, closed | attrs, 0, MS_PRIVATE) < 0)
		return -1;
	return fd_steal(&fd);
}

int nodes_clone_device(int nodes_fd, size_t i)
{
	char name[NAME_SIZE];

	node_name(i, name);
	return nodes_clone(nodes_fd, name, 0);
}
