#include "box/image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "state/store.h"
#include "sys/lockfile.h"
#include "sys/loopdev.h"
#include "sys/patience.h"
#include "sys/sys.h"

#define PREFIX "image:"
#define MOUNTED ":root"
enum { NAME_SIZE = 128, PLACE_SIZE = NAME_SIZE + 8, LOCK_MS = 5000, KEEP_S = 60 };

/* ---- what may be mounted ---- */

static int image_open_file(int dfd, const struct manifest *m, struct error *e)
{
	const struct manifest_image *known = &m->images.erofs;
	autoclose int fd = -1;
	struct stat st;

	if (!known->path || !known->sha256 || strchr(known->path, '/'))
		return err_set(e, ERR_USAGE, "its manifest knows of no EROFS image");
	fd = openat(dfd, known->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open %s", known->path);
	if (!S_ISREG(st.st_mode) || !m->is_roots || !manifest_is_roots(fd))
		return err_set(e, ERR_USAGE,
			       "%s, its manifest or their directory is not root's, or others can write to it: "
			       "it is not mounted",
			       known->path);
	if (st.st_size != known->size)
		return err_set(e, ERR_USAGE,
			       "%s is not what its manifest says (sbxrun-rootfs verify): it is not "
			       "mounted",
			       known->path);
	return fd_steal(&fd);
}

/* ---- mounting ---- */

static int image_mount_source(const char *source)
{
	autoclose int fs_fd = fsopen("erofs", FSOPEN_CLOEXEC);

	if (fs_fd < 0 || fsconfig(fs_fd, FSCONFIG_SET_STRING, "source", source, 0) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_SET_FLAG, "ro", NULL, 0) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return fsmount(fs_fd, FSMOUNT_CLOEXEC,
		       MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

/* Before Linux 5.19 EROFS maps no ids, and a box would lose its private ones for the image. */
static bool image_maps_ids(void)
{
	struct utsname u;
	int major, minor;

	return uname(&u) == 0 && sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
	       (major > 5 || (major == 5 && minor >= 19));
}

/* From the file itself, which Linux 6.12 and later can; else by a block device. The name is that of
 * the descriptor: what was judged is what is mounted. */
static int image_mount(int file_fd)
{
	autoclose int device_fd = -1;
	char name[LOOPDEV_NAME];
	int fd;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", file_fd);
	fd = image_mount_source(name);
	if (fd >= 0 || errno == ENODEV)
		return fd;
	if (!image_maps_ids())
		return errno = EOPNOTSUPP, -1;
	device_fd = loopdev_open(file_fd, true, name);
	return device_fd < 0 ? -1 : image_mount_source(name);
}

static bool image_is_mounted(int root_dfd, const char *place)
{
	autoclose int fd = openat(root_dfd, place, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs fs;

	return fd >= 0 && fstatfs(fd, &fs) == 0 &&
	       (unsigned long)fs.f_type == EROFS_SUPER_MAGIC_V1;
}

static int image_mount_at(int root_dfd, const char *place, int file_fd)
{
	autoclose int tree_fd = -1, place_fd = -1;

	if (mkdirat(root_dfd, place, 0755) < 0 && errno != EEXIST)
		return -1;
	place_fd = openat(root_dfd, place, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	tree_fd = place_fd < 0 ? -1 : image_mount(file_fd);
	return tree_fd < 0 ? -1 : sys_attach(tree_fd, place_fd);
}

/* ---- who uses it ---- */

static int image_lock_root(int root_dfd, struct error *e)
{
	const int64_t until = patience_until(LOCK_MS);

	while (flock(root_dfd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(e, "lock the state root");
		if (patience_nap(until, e) < 0)
			return err_wrap(e, "wait for another sbxrun that mounts an image");
	}
	return 0;
}

static void image_unmount(int root_dfd, const char *name)
{
	char place[PLACE_SIZE], path[64];
	autoclose int fd = -1, lock_fd = lockfile_open(root_dfd, name, 0, LOCK_EX);

	if (lock_fd < 0)
		return;
	snprintf(place, sizeof(place), "%.*s" MOUNTED, NAME_SIZE - 1, name);
	fd = openat(root_dfd, place, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && image_is_mounted(root_dfd, place))
		umount2(path, MNT_DETACH);
	fd_close(&fd);
	/* Where another mount namespace has it mounted, this unmounts it there. */
	if (unlinkat(root_dfd, place, AT_REMOVEDIR) == 0 || errno == ENOENT)
		unlinkat(root_dfd, name, 0);
}

/* The first one who comes mounts it. */
static int image_use(int root_dfd, const char *name, const char *place, int file_fd,
		     struct error *e)
{
	autoclose int fd = lockfile_open(root_dfd, name, 0, LOCK_SH);

	if (fd >= 0 && image_is_mounted(root_dfd, place))
		return fd_steal(&fd);
	fd_close(&fd);
	if (image_lock_root(root_dfd, e) < 0)
		return -1;
	fd = lockfile_open(root_dfd, name, O_CREAT, LOCK_SH);
	if (fd < 0 || (!image_is_mounted(root_dfd, place) &&
		       image_mount_at(root_dfd, place, file_fd) < 0)) {
		err_sys(e, "mount the EROFS image");
		e->class = ERR_HOST;
		fd_close(&fd);
		image_unmount(root_dfd, name); /* what there is of it */
	}
	flock(root_dfd, LOCK_UN);
	return fd_steal(&fd);
}

int image_open(const char *state_root, int dfd, const struct manifest *m, struct arena *a,
	       struct image *ret, struct error *e)
{
	autoclose int file_fd = -1, root_dfd = -1;
	char name[NAME_SIZE], place[PLACE_SIZE];
	struct stat st;

	*ret = IMAGE_NONE;
	if (!sys_is_machine_root())
		return err_set(e, ERR_HOST, "only root mounts images");
	file_fd = image_open_file(dfd, m, e);
	if (file_fd < 0)
		return -1;
	if (fstat(file_fd, &st) < 0)
		return err_sys(e, "look at %s", m->images.erofs.path);
	/* A file that was written to since is another one. */
	snprintf(name, sizeof(name), PREFIX "%" PRIx64 "-%" PRIx64 "-%" PRIx64 ".%lx",
		 (uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_ctim.tv_sec,
		 (unsigned long)st.st_ctim.tv_nsec);
	snprintf(place, sizeof(place), "%s" MOUNTED, name);
	root_dfd = store_open_root(state_root, true, e);
	if (root_dfd < 0)
		return -1;
	ret->lock_fd = image_use(root_dfd, name, place, file_fd, e);
	if (ret->lock_fd < 0)
		return -1;
	ret->path = path_join(a, state_root, place);
	return 0;
}

void image_close(struct image *i)
{
	if (i->lock_fd >= 0)
		futimens(i->lock_fd, NULL);
	fd_close(&i->lock_fd);
}

/* ---- its end ---- */

static int64_t image_keep_s(void)
{
	const char *word = getenv("SBXRUN_IMAGE_KEEP");
	uint32_t n;

	return word && str_to_u32(word, &n) ? n : KEEP_S;
}

static bool image_is_unused(int root_dfd, const char *name, int64_t keep_s)
{
	struct stat st;

	return str_after(name, PREFIX) && !str_ends(name, MOUNTED) &&
	       strlen(name) < NAME_SIZE && fstatat(root_dfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (time(NULL) < st.st_mtim.tv_sec || time(NULL) - st.st_mtim.tv_sec >= keep_s);
}

void image_sweep(const char *state_root)
{
	const int64_t keep_s = image_keep_s();
	struct error ignored;
	autoclose int root_dfd = -1;
	struct dirent *d;
	DIR *dir;

	if (!sys_is_machine_root())
		return;
	root_dfd = store_open_root(state_root, false, &ignored);
	dir = root_dfd < 0 ? NULL : opendir(state_root);
	while (dir && (d = readdir(dir)))
		if (image_is_unused(root_dfd, d->d_name, keep_s) &&
		    image_lock_root(root_dfd, &ignored) == 0) {
			image_unmount(root_dfd, d->d_name);
			flock(root_dfd, LOCK_UN);
		}
	if (dir)
		closedir(dir);
}
