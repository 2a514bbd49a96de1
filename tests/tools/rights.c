/*
 * rights WHAT [ARG…]: one system call on a file, as the kernel's list of rights has them, so that a
 * right that is missing shows in one call alone. Prints "done", or the error. Names may be relative
 * to a descriptor that was left open: @3/name.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int at(const char **path)
{
	char *end;
	int dfd;

	if (**path != '@')
		return AT_FDCWD;
	dfd = (int)strtol(*path + 1, &end, 10);
	*path = end + 1;
	return dfd;
}

static int opens(const char *path, int flags)
{
	int dfd = at(&path);

	return openat(dfd, path, flags, 0644);
}

static int makes(const char *path, mode_t mode, dev_t dev)
{
	int dfd = at(&path);

	return mknodat(dfd, path, mode | 0644, dev);
}

static int entropy(const char *path)
{
	int fd = open(path, O_RDONLY), n;

	return fd < 0 ? -1 : ioctl(fd, RNDGETENTCNT, &n);
}

static int executes(const char *path)
{
	char *const args[] = {"busybox", "echo", "done", NULL};
	int dfd = at(&path);

	return execveat(dfd, path, args, NULL, 0);
}

static int act(const char *what, const char *x, const char *y)
{
	if (!strcmp(what, "write"))
		return opens(x, O_WRONLY);
	if (!strcmp(what, "read"))
		return opens(x, O_RDONLY);
	if (!strcmp(what, "list"))
		return opens(x, O_RDONLY | O_DIRECTORY);
	if (!strcmp(what, "execute"))
		return executes(x);
	if (!strcmp(what, "truncate"))
		return truncate(x, 0);
	if (!strcmp(what, "file"))
		return opens(x, O_RDONLY | O_CREAT | O_EXCL);
	if (!strcmp(what, "directory"))
		return mkdir(x, 0755);
	if (!strcmp(what, "socket"))
		return makes(x, S_IFSOCK, 0);
	if (!strcmp(what, "pipe"))
		return makes(x, S_IFIFO, 0);
	if (!strcmp(what, "link"))
		return symlink("/x", x);
	if (!strcmp(what, "character-device"))
		return makes(x, S_IFCHR, makedev(1, 3));
	if (!strcmp(what, "block-device"))
		return makes(x, S_IFBLK, makedev(7, 0));
	if (!strcmp(what, "remove"))
		return unlink(x);
	if (!strcmp(what, "remove-directory"))
		return rmdir(x);
	if (!strcmp(what, "rename"))
		return rename(x, y);
	if (!strcmp(what, "ioctl"))
		return entropy(x);
	if (!strcmp(what, "make-writable")) /* a mount of another's, by who may */
		return mount(NULL, x, NULL, MS_REMOUNT | MS_BIND, NULL);
	errno = EINVAL;
	return -1;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (act(argv[1], argv[2], argc > 3 ? argv[3] : "") < 0)
		printf("%s\n", strerror(errno));
	else
		printf("done\n");
	return 0;
}
