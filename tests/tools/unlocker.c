/*
 * Takes flags and covers off mounts in every way that there is. Statically linked.
 *
 *	unlocker [-i] [-n] write FILE	FILE is on a mount that must stay read-only: prints each way
 *					by which it could be opened for writing
 *	unlocker [-n] show FILE [COVER]	FILE is covered by the mount COVER, itself if it is a mask:
 *					prints each way by which it is seen
 *	unlocker [-n] proc FILE		as `show`, on a procfs that is mounted anew
 *
 * -n: in a user namespace made for it, with all its rights there. Each way is tried by a child with
 * a mount namespace of its own. -i: in place, if it gets none; for policies that give no namespace,
 * under which each way must fail by itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* As in the C library's header, which doesn't get on with the kernel's. */
int mount(const char *source, const char *target, const char *type, unsigned long flags,
	  const void *data);
int umount2(const char *target, int flags);

enum {
	BIND = 4096,
	REMOUNT = 32,
	MOVE = 8192,
	REC = 16384,
	PRIVATE = 1 << 18,
	DETACH = 2,
	RECURSIVE = 0x8000,
	EMPTY = 0x1000
};

static const char *file, *dir, *base, *cover, *top;

static long clear(int fd, const char *path, unsigned int flags)
{
	struct mount_attr all = {.attr_clr = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
					     MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC};
	struct mount_attr one = {.attr_clr = MOUNT_ATTR_RDONLY};

	syscall(SYS_mount_setattr, fd, path, flags, &all, sizeof(all));
	return syscall(SYS_mount_setattr, fd, path, flags, &one, sizeof(one));
}

static int opened(int dfd, const char *path)
{
	return openat(dfd, path, O_WRONLY | O_CLOEXEC);
}

static int by_remount(void)
{
	mount(NULL, dir, NULL, REMOUNT | BIND, NULL);
	return opened(AT_FDCWD, file);
}

static int by_attribute(void)
{
	clear(AT_FDCWD, dir, 0);
	clear(AT_FDCWD, dir, RECURSIVE);
	return opened(AT_FDCWD, file);
}

static int by_clone_of(const char *path, unsigned int rec, bool attach)
{
	int fd = (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | rec);

	if (fd < 0)
		return -1;
	clear(fd, "", EMPTY | rec);
	if (attach &&
	    syscall(SYS_move_mount, fd, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -1;
	if (attach)
		clear(AT_FDCWD, "/tmp", rec);
	return opened(fd, strcmp(path, file) ? base : "") >= 0 ? 0 : opened(AT_FDCWD, "/tmp/file");
}

static int by_clone(void)
{
	return by_clone_of(dir, 0, false);
}

static int by_recursive_clone(void)
{
	return by_clone_of(dir, RECURSIVE, false);
}

static int by_attached_clone(void)
{
	return by_clone_of(dir, 0, true);
}

static int by_recursive_attached_clone(void)
{
	return by_clone_of(dir, RECURSIVE, true);
}

static int by_bind(void)
{
	if (mount(dir, "/tmp", NULL, BIND, NULL) < 0)
		return -1;
	mount(NULL, "/tmp", NULL, REMOUNT | BIND, NULL);
	return openat(open("/tmp", O_PATH), base, O_WRONLY);
}

static int by_recursive_bind(void)
{
	if (mount(dir, "/tmp", NULL, BIND | REC, NULL) < 0)
		return -1;
	mount(NULL, "/tmp", NULL, REMOUNT | BIND, NULL);
	clear(AT_FDCWD, "/tmp", RECURSIVE);
	return openat(open("/tmp", O_PATH), base, O_WRONLY);
}

/* A part of it: the file alone, bound somewhere else. */
static int by_part(void)
{
	int at = open("/tmp/part", O_CREAT | O_WRONLY, 0600);

	if (at < 0 || mount(file, "/tmp/part", NULL, BIND, NULL) < 0)
		return -1;
	mount(NULL, "/tmp/part", NULL, REMOUNT | BIND, NULL);
	return opened(AT_FDCWD, "/tmp/part");
}

static int by_move(void)
{
	if (mount(dir, "/tmp", NULL, MOVE, NULL) < 0)
		return -1;
	mount(NULL, "/tmp", NULL, REMOUNT | BIND, NULL);
	return openat(open("/tmp", O_PATH), base, O_WRONLY);
}

/* The new layer is above: what is opened must not be the one below. */
static int by_reconfiguring(void)
{
	int fd = (int)syscall(SYS_fspick, AT_FDCWD, dir, 0);

	if (fd < 0 || syscall(SYS_fsconfig, fd, FSCONFIG_SET_FLAG, "rw", NULL, 0) < 0 ||
	    syscall(SYS_fsconfig, fd, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
		return -1;
	return opened(AT_FDCWD, file);
}

/* What is looked for under a cover: something that is no device, and no empty file, which masks are
 * where no mount has devices. */
static int shown(int dfd, const char *path)
{
	struct stat st;
	char byte;
	int fd;

	if (fstatat(dfd, path, &st, 0) < 0 || S_ISCHR(st.st_mode))
		return -1;
	if (!S_ISREG(st.st_mode))
		return 0;
	fd = openat(dfd, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 || read(fd, &byte, 1) == 0 ? -1 : 0;
}

static int by_unmount(void)
{
	while (umount2(cover, DETACH) == 0)
		;
	return shown(AT_FDCWD, file);
}

static int by_unmount_in_clone_of(const char *path, unsigned int rec)
{
	int fd = (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | rec);
	const size_t skip = strcmp(path, "/") ? strlen(path) : 0;
	const char *below = file + skip;
	char name[256];

	if (fd < 0)
		return -1;
	if (shown(fd, below + 1) == 0)
		return 0;
	snprintf(name, sizeof(name), "/proc/self/fd/%d%s", fd, cover + skip);
	while (umount2(name, DETACH) == 0)
		;
	if (shown(fd, below + 1) == 0)
		return 0;
	if (syscall(SYS_move_mount, fd, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -1;
	snprintf(name, sizeof(name), "/tmp%s", cover + skip);
	while (umount2(name, DETACH) == 0)
		;
	snprintf(name, sizeof(name), "/tmp%s", below);
	return shown(AT_FDCWD, name);
}

static int by_clone_of_the_top(void)
{
	return by_unmount_in_clone_of(top, 0) == 0 ? 0 : by_unmount_in_clone_of("/", 0);
}

static int by_recursive_clone_of_the_top(void)
{
	return by_unmount_in_clone_of(top, RECURSIVE) == 0 ? 0 :
							     by_unmount_in_clone_of("/", RECURSIVE);
}

static int by_clone_of_the_cover(void)
{
	int fd = (int)syscall(SYS_open_tree, AT_FDCWD, cover, OPEN_TREE_CLONE);

	return fd >= 0 && umount2(cover, DETACH) == 0 ? shown(AT_FDCWD, file) : -1;
}

static int by_moving_the_cover(void)
{
	int made = strcmp(cover, file) ? mkdir("/tmp/part", 0700) :
					 open("/tmp/part", O_CREAT | O_WRONLY, 0600);

	if (made < 0 || mount(cover, "/tmp/part", NULL, MOVE, NULL) < 0)
		return -1;
	return shown(AT_FDCWD, file);
}

static int by_bind_of_the_top(void)
{
	if (mount(top, "/tmp", NULL, BIND, NULL) < 0)
		return -1;
	return shown(open("/tmp", O_PATH), file + strlen(top) + 1);
}

static int by_a_new_file_system(const char *type)
{
	int fs = (int)syscall(SYS_fsopen, type, 0), fd;

	if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0 ||
	    (fd = (int)syscall(SYS_fsmount, fs, 0, 0)) < 0)
		return -1;
	return shown(fd, file + 1 + strcspn(file + 1, "/") + 1);
}

static int by_a_new_proc(void)
{
	return by_a_new_file_system("proc");
}

static int by_mounting_proc(void)
{
	if (mount("proc", "/tmp", "proc", 0, NULL) < 0)
		return -1;
	return shown(open("/tmp", O_PATH), file + strlen("/proc/"));
}

// clang-format off
struct way {
	const char *name;
	int (*go)(void);
};
static const struct way writing[] = {
	{"remount", by_remount}, {"attribute", by_attribute}, {"clone", by_clone}, {"recursive-clone", by_recursive_clone},
	{"attached-clone", by_attached_clone}, {"recursive-attached-clone", by_recursive_attached_clone}, {"bind", by_bind},
	{"recursive-bind", by_recursive_bind}, {"part", by_part}, {"move", by_move}, {"reconfigure", by_reconfiguring}, {0}
}, showing[] = {
	{"unmount", by_unmount}, {"clone", by_clone_of_the_top}, {"recursive-clone", by_recursive_clone_of_the_top},
	{"clone-of-cover", by_clone_of_the_cover}, {"move", by_moving_the_cover}, {"bind", by_bind_of_the_top}, {0}
}, anew[] = {
	{"fsmount", by_a_new_proc}, {"mount", by_mounting_proc}, {0}
};
// clang-format on

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return;
	close(fd);
}

/* The parent's ids stay what they are. */
static int nest(void)
{
	char map[64];
	unsigned int uid = getuid(), gid = getgid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
		return -1;
	put("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	put("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	put("/proc/self/gid_map", map);
	return 0;
}

static bool in_place;

/* Calls that a policy closes may end the process. */
static bool was_ended(int status)
{
	return WIFSIGNALED(status) && !(in_place && WTERMSIG(status) == SIGSYS);
}

static void try(const struct way *w, bool nested)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (nested && nest() < 0 && !in_place)
			_exit(2);
		pid = nested ? fork() : 0;
		if (pid > 0)
			_exit(waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) ?
				      1 :
				      WEXITSTATUS(status));
		if ((unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, REC | PRIVATE, NULL) < 0 ||
		     (strncmp(w->name, "attached", 8) &&
		      mount("tmpfs", "/tmp", "tmpfs", 0, NULL) < 0)) &&
		    !in_place)
			_exit(3);
		_exit(w->go() >= 0 ? 0 : 1);
	}
	if (waitpid(pid, &status, 0) < 0 || was_ended(status) || WEXITSTATUS(status) > 1)
		printf("%s was not tried (%d)\n", w->name, WEXITSTATUS(status));
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		printf("%s\n", w->name);
}

int main(int argc, char **argv)
{
	const struct way *w;
	bool nested;

	in_place = argc > 1 && strcmp(argv[1], "-i") == 0;
	argv += in_place;
	argc -= in_place;
	nested = argc > 1 && strcmp(argv[1], "-n") == 0;
	argv += nested;
	argc -= nested;
	if (argc < 3)
		return 2;
	file = argv[2];
	dir = dirname(strdup(file));
	base = basename(strdup(file));
	cover = argc > 3 ? argv[3] : file;
	top = strndup(file, 1 + strcspn(file + 1, "/"));
	w = strcmp(argv[1], "write") == 0 ? writing : strcmp(argv[1], "show") == 0 ? showing : anew;
	setvbuf(stdout, NULL, _IONBF, 0);
	for (; w->name; w++)
		try(w, nested);
	puts("done");
	return 0;
}
