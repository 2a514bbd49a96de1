#include "box/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "box/library.h"
#include "state/sweep.h"
#include "sys/child.h"
#include "sys/loopdev.h"
#include "sys/sys.h"

enum { BLOCK = 4096, MAKE_MS = 60000, IMAGE_FD = 3, SWEEP_MOST = 8 };

bool disk_is_wanted(const struct box_request *q)
{
	return !box_workspace_is_volume(q) && box_workspace_size(&q->limits) > q->limits.memory / 2;
}

/* ---- where ---- */

static int disk_open_library(bool make, struct arena *a, const char **ret_path, struct error *e)
{
	const char *path = library_path("SBXRUN_DISK_DIR", "disks", a);
	autoclose int dfd = -1;
	struct stat st;

	if (!path)
		return err_set(e, ERR_HOST, "there is no place for disks: HOME is not set");
	*ret_path = path;
	if (make && library_make(path, 0700, a) < 0)
		return err_sys(e, "--disk: make %s", path);
	dfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dfd < 0 || fstat(dfd, &st) < 0)
		return err_sys(e, "--disk: open %s", path);
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return err_set(e, ERR_HOST,
			       "--disk: %s is somebody else's, or others can write to it: SBXRUN_DISK_DIR "
			       "names another directory",
			       path);
	return fd_steal(&dfd);
}

/* ---- a filesystem in a file ---- */

static int disk_open_file(const char *library, int64_t size, struct error *e)
{
	autoclose int fd = open(library, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, size - size % BLOCK) < 0)
		return err_sys(e, "make a file in %s", library);
	return fd_steal(&fd);
}

static const char *disk_find_maker(void)
{
	static const char *const places[] = {"/usr/sbin/mke2fs", "/sbin/mke2fs", "/usr/bin/mke2fs",
					     "/run/current-system/sw/bin/mke2fs"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return NULL;
}

const char *disk_holder(const struct box_request *q)
{
	if (box_workspace_is_volume(q))
		return NULL;
	if (!disk_is_wanted(q))
		return "the size of " BOX_WORKSPACE ", in memory";
	if (!sys_is_machine_root() || !disk_find_maker() || access("/dev/loop-control", W_OK) < 0)
		return NULL;
	return "the size of " BOX_WORKSPACE ", a filesystem on disk";
}

static int disk_start_maker(const char *program, int file_fd, pid_t *ret_pid)
{
	/* No journal: nobody reads it after a crash. And the owner of all is told by a chown. */
	char *const argv[] = {(char[]){"mke2fs"},
			      (char[]){"-qF"},
			      (char[]){"-text4"},
			      (char[]){"-b4096"},
			      (char[]){"-i16384"},
			      (char[]){"-m0"},
			      (char[]){"-eremount-ro"},
			      (char[]){"-O^has_journal,^resize_inode"},
			      (char[]){"-Elazy_itable_init=1,nodiscard"},
			      (char[]){"/proc/self/fd/3"},
			      NULL};
	char *const envp[] = {(char[]){"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, NULL};
	posix_spawn_file_actions_t actions;
	int why = posix_spawn_file_actions_init(&actions), i;

	for (i = 0; i < 3 && !why; i++)
		why = posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_RDWR, 0);
	if (!why)
		why = posix_spawn_file_actions_adddup2(&actions, file_fd, IMAGE_FD);
	if (!why)
		why = posix_spawn(ret_pid, program, &actions, NULL, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	errno = why;
	return why ? -1 : 0;
}

static int disk_format(int file_fd, struct error *e)
{
	const char *program = disk_find_maker();
	int status;
	pid_t pid;

	if (!program)
		return err_set(e, ERR_HOST, "this host has no mke2fs (Debian package e2fsprogs)");
	if (disk_start_maker(program, file_fd, &pid) < 0)
		return err_sys(e, "%s", program);
	if (child_collect_within(pid, MAKE_MS, &status, e) < 0) {
		child_end(pid);
		return err_wrap(e, "%s", program);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_set(e, ERR_HOST, "%s fails", program);
	return 0;
}

static int disk_mount(int file_fd, struct error *e)
{
	autoclose int device_fd = -1, fs_fd = -1, tree_fd = -1;
	char name[LOOPDEV_NAME];

	device_fd = loopdev_open(file_fd, false, name);
	if (device_fd < 0)
		return err_sys(e, "make a loop device");
	fs_fd = fsopen("ext4", FSOPEN_CLOEXEC);
	/* Its tables are empty because the file is: nobody has to write zeros to it. */
	if (fs_fd < 0 || fsconfig(fs_fd, FSCONFIG_SET_STRING, "source", name, 0) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_SET_FLAG, "noinit_itable", NULL, 0) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0 ||
	    (tree_fd = fsmount(fs_fd, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)) < 0)
		return err_sys(e, "mount ext4 on %s", name);
	if (unlinkat(tree_fd, "lost+found", AT_REMOVEDIR) < 0 && errno != ENOENT)
		return err_sys(e, "remove lost+found");
	return fd_steal(&tree_fd);
}

static int disk_make_filesystem(const char *library, int64_t size, struct error *e)
{
	autoclose int file_fd = -1;

	if (!sys_is_machine_root())
		return err_set(e, ERR_HOST, "only root mounts a filesystem of that size");
	file_fd = disk_open_file(library, size, e);
	return file_fd < 0 || disk_format(file_fd, e) < 0 ? -1 : disk_mount(file_fd, e);
}

/* ---- a directory ---- */

/* Locked, and still there: a sweep may have come upon it before. */
static int disk_make_directory(const struct box_request *q, int library_dfd, const char *name,
			       struct error *e)
{
	autoclose int dfd = -1;
	struct stat st;

	if (mkdirat(library_dfd, name, 0700) == 0)
		dfd = openat(library_dfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Where no ids are mapped, the program has its own. */
	if (dfd >= 0 && sys_is_machine_root() && fchown(dfd, q->uid, q->gid) < 0)
		return err_sys(e, "--disk: give a directory to the program");
	if (dfd < 0 || flock(dfd, LOCK_SH | LOCK_NB) < 0 || fstatat(library_dfd, name, &st, 0) < 0)
		return err_sys(e, "--disk: make a directory");
	return fd_steal(&dfd);
}

static int disk_fall_back(const struct box_request *q, const char *library, const char *name,
			  int library_dfd, struct arena *a, struct disk *ret, struct error *e)
{
	if (q->strict_limits)
		return err_wrap(e, "--strict-limits: --disk can't be held here");
	ret->note = arena_printf(
		a, "--disk: without effect, the workspace is a directory on disk: %s", e->text);
	ret->lock_fd = disk_make_directory(q, library_dfd, name, e);
	if (ret->lock_fd < 0)
		return -1;
	ret->path = path_join(a, library, name);
	ret->parent_dfd = fcntl(library_dfd, F_DUPFD_CLOEXEC, 3);
	return ret->parent_dfd < 0 ? err_sys(e, "--disk") : 0;
}

/* A file with holes takes what is written to it, and the host may run out of space first. */
static void disk_note_room(const char *library, int64_t size, struct arena *a, struct disk *ret)
{
	struct statvfs vfs;

	if (statvfs(library, &vfs) == 0 &&
	    (uint64_t)vfs.f_bavail * vfs.f_frsize < (uint64_t)size)
		ret->note = arena_printf(
			a, "--disk: %s has less room than that: writing may fail before", library);
}

int disk_make(const struct box_request *q, const char *name, struct arena *a, struct disk *ret,
	      struct error *e)
{
	const int64_t size = box_workspace_size(&q->limits);
	autoclose int library_dfd = -1;
	const char *library;

	library_dfd = disk_open_library(true, a, &library, e);
	if (library_dfd < 0)
		return -1;
	ret->tree_fd = disk_make_filesystem(library, size, e);
	if (ret->tree_fd < 0)
		return disk_fall_back(q, library, name, library_dfd, a, ret, e);
	disk_note_room(library, size, a, ret);
	return 0;
}

int disk_make_tree(const char *option, int64_t size, struct arena *a, int *ret_tree_fd,
		   const char **ret_note, struct error *e)
{
	struct disk disk = DISK_NONE;
	autoclose int library_dfd = -1;
	const char *library;

	if (!sys_is_machine_root())
		return err_set(e, ERR_HOST, "%s: only root mounts a filesystem of that size",
			       option);
	library_dfd = disk_open_library(true, a, &library, e);
	if (library_dfd < 0)
		return -1;
	disk.tree_fd = disk_make_filesystem(library, size, e);
	if (disk.tree_fd < 0)
		return err_wrap(e, "%s", option);
	disk_note_room(library, size, a, &disk);
	*ret_note = disk.note;
	*ret_tree_fd = disk.tree_fd;
	return 0;
}

/* ---- its end ---- */

/* Nobody wants what is in it any more: what is not written yet need not be. */
static void disk_drop(int tree_fd)
{
	const uint32_t no_flush = 2; /* EXT4_GOING_FLAGS_NOLOGFLUSH */
	autoclose int dfd = openat(tree_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dfd >= 0)
		ioctl(dfd, _IOR('X', 125, uint32_t), &no_flush); /* EXT4_IOC_SHUTDOWN */
}

void disk_remove(struct disk *d, bool (*stop)(void *context), void *context)
{
	if (d->tree_fd >= 0)
		disk_drop(d->tree_fd);
	fd_close(&d->tree_fd);
	if (d->path && d->parent_dfd >= 0)
		sweep_directory_until(d->parent_dfd, strrchr(d->path, '/') + 1, stop, context);
	fd_close(&d->lock_fd);
	fd_close(&d->parent_dfd);
}

static bool disk_is_left(int library_dfd, const char *name)
{
	autoclose int dfd = openat(library_dfd, name,
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return dfd >= 0 && flock(dfd, LOCK_EX | LOCK_NB) == 0;
}

void disk_sweep(void)
{
	struct arena memory = {0};
	struct error ignored;
	const char *library;
	autoclose int dfd = disk_open_library(false, &memory, &library, &ignored);
	DIR *dir = dfd < 0 ? NULL : opendir(library);
	struct dirent *d;
	int n = 0;

	while (dir && n < SWEEP_MOST && (d = readdir(dir)))
		if (str_after(d->d_name, BOX_ID_PREFIX) && disk_is_left(dfd, d->d_name)) {
			sweep_directory(dfd, d->d_name);
			n++;
		}
	if (dir)
		closedir(dir);
	arena_free(&memory);
}
