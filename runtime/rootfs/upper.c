#include "rootfs/upper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys/sys.h"

enum { BYTES_A_FILE = 4096, NAME_SIZE = 64 };

/* A file takes a page at least, so this many are never missing for want of a number. */
static int upper_make_memory(int64_t size)
{
	autoclose int fs_fd = fsopen("tmpfs", FSOPEN_CLOEXEC);
	char bytes[24], files[24];

	snprintf(bytes, sizeof(bytes), "%lld", (long long)size);
	snprintf(files, sizeof(files), "%lld", (long long)size / BYTES_A_FILE + 64);
	if (fs_fd < 0 || fsconfig(fs_fd, FSCONFIG_SET_STRING, "mode", "700", 0) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_SET_STRING, "size", bytes, 0) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_SET_STRING, "nr_inodes", files, 0) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return fsmount(fs_fd, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

/* The top of the overlay shows the owner and the permissions of this directory. */
static int upper_make_layer(int dfd, int root_dfd, struct error *e)
{
	autoclose int layer_dfd = -1;
	struct stat st;

	if (fstat(root_dfd, &st) < 0 || mkdirat(dfd, "work", 0700) < 0 ||
	    mkdirat(dfd, "upper", 0700) < 0 ||
	    (layer_dfd = openat(dfd, "upper", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return err_sys(e, "a writable root: make its layer");
	/* An id that the namespace does not have stays its root's. */
	if (fchown(layer_dfd, st.st_uid, st.st_gid) < 0 && errno != EINVAL && errno != EPERM)
		return err_sys(e, "a writable root: make its layer");
	if (fchmod(layer_dfd, st.st_mode & 07777) < 0)
		return err_sys(e, "a writable root: make its layer");
	if (fsetxattr(layer_dfd, "user.sbxrun", "", 0, 0) < 0 && errno == EOPNOTSUPP)
		return err_set(e, ERR_HOST,
			       "a writable root: this kernel's tmpfs keeps no attributes, without "
			       "which an overlay forgets what is deleted (Linux 6.6)");
	fremovexattr(layer_dfd, "user.sbxrun");
	return 0;
}

static int upper_set_layer(int fs_fd, const char *key, int dfd, const char *name)
{
	char path[NAME_SIZE];

	/* By name, which all kernels take. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d%s", dfd, name);
	return fsconfig(fs_fd, FSCONFIG_SET_STRING, key, path, 0);
}

static int upper_make_overlay(int root_dfd, int dfd, struct error *e)
{
	autoclose int fs_fd = fsopen("overlay", FSOPEN_CLOEXEC);
	int fd = -1;

	if (fs_fd < 0)
		return err_sys(e,
			       "a writable root: this kernel gives no overlay (modprobe overlay)");
	if (fsconfig(fs_fd, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) == 0 &&
	    upper_set_layer(fs_fd, "lowerdir", root_dfd, "") == 0 &&
	    upper_set_layer(fs_fd, "upperdir", dfd, "/upper") == 0 &&
	    upper_set_layer(fs_fd, "workdir", dfd, "/work") == 0 &&
	    fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		fd = fsmount(fs_fd, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	return fd < 0 ? err_sys(e, "a writable root: make an overlay") : fd;
}

int upper_add(const struct plan *p, struct sources *s, struct rootfs *r, struct error *e)
{
	autoclose int dfd = s->upper_fd >= 0 ? fd_steal(&s->upper_fd) :
					       upper_make_memory(p->root_upper);
	autoclose int fd = -1;

	if (dfd < 0)
		return err_sys(e, "a writable root: make a tmpfs");
	/* Attached: kernels before 6.15 lay an overlay on nothing that is attached nowhere. */
	if (sys_attach(dfd, r->dfd) < 0)
		return err_sys(e, "a writable root: attach its layer");
	if (upper_make_layer(dfd, r->dfd, e) < 0)
		return -1;
	fd = upper_make_overlay(r->dfd, dfd, e);
	if (fd < 0)
		return -1;
	if (sys_attach(fd, dfd) < 0)
		return err_sys(e, "a writable root: attach it");
	fd_close(&r->dfd);
	r->dfd = fd_steal(&fd);
	return 0;
}
