/*
 * Walks what a process in a container can name, and tries what it could change of it. Statically
 * linked.
 *
 *	prober [DIR…]	without DIR: every mount of its table, /proc/self/{fd,ns,exe,root,cwd} and
 *			/proc/1/{fd,exe,root,cwd}
 *
 * Writes a line to descriptor 3 for each inode at which something succeeds: DEV:INO TYPE PATH
 * OPERATION…, DEV as mountinfo has it. An operation sets what is there already, and what it makes
 * it removes: nothing is different afterwards but times.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

enum { REPORT = 3, DEPTH_MAX = 5, ENTRIES_MAX = 3000, INODES_MAX = 65536 };

/* What is tried: by a name that needs no lookup (/proc/self/fd/N of an O_PATH descriptor). */
struct inode {
	char name[32];
	const char *path;
	struct stat st;
};

static bool is_plain(const struct inode *i)
{
	return S_ISREG(i->st.st_mode) || S_ISDIR(i->st.st_mode);
}

/* Devices and pipes are opened as far as that has no effect of its own. */
static int open_it(const struct inode *i, int flags)
{
	if (S_ISDIR(i->st.st_mode) && flags != O_RDONLY)
		return -1;
	return S_ISSOCK(i->st.st_mode) ? -1 :
					 open(i->name, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static bool try_mode(const struct inode *i)
{
	return chmod(i->name, i->st.st_mode & 07777) == 0;
}

static bool try_owner(const struct inode *i)
{
	return chown(i->name, i->st.st_uid, i->st.st_gid) == 0;
}

static bool try_times(const struct inode *i)
{
	const struct timespec times[2] = {i->st.st_atim, i->st.st_mtim};

	return utimensat(AT_FDCWD, i->name, times, 0) == 0;
}

/* To now, for which the right to write suffices. */
static bool try_touch(const struct inode *i)
{
	return utimensat(AT_FDCWD, i->name, NULL, 0) == 0;
}

static bool try_xattr(const struct inode *i)
{
	static const char *const names[] = {"user.prober", "trusted.prober", "security.prober"};
	size_t n;
	bool hit = false;

	for (n = 0; n < ARRAY_SIZE(names); n++)
		if (setxattr(i->name, names[n], "x", 1, XATTR_CREATE) == 0) {
			removexattr(i->name, names[n]);
			hit = true;
		}
	return hit;
}

/* The three entries that the mode is anyway. */
static bool try_acl(const struct inode *i)
{
	const unsigned int m = i->st.st_mode;
	const struct {
		uint32_t version;
		struct {
			uint16_t tag, perm;
			uint32_t id;
		} entries[3];
	} acl = {2, {{1, m >> 6 & 7, ~0U}, {4, m >> 3 & 7, ~0U}, {32, m & 7, ~0U}}};

	return setxattr(i->name, "system.posix_acl_access", &acl, sizeof(acl), 0) == 0;
}

static bool try_flags(const struct inode *i)
{
	int fd = is_plain(i) ? open_it(i, O_RDONLY) : -1, flags;
	bool hit = fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 &&
		   ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;

	if (fd >= 0)
		close(fd);
	return hit;
}

static bool try_flock(const struct inode *i)
{
	int fd = open_it(i, O_RDONLY);
	bool hit = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

	if (fd >= 0)
		close(fd);
	return hit;
}

static bool try_fcntl_lock(const struct inode *i)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	int fd = open_it(i, O_RDONLY);
	bool hit = fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0;

	if (fd >= 0)
		close(fd);
	return hit;
}

static bool try_lease(const struct inode *i)
{
	int fd = S_ISREG(i->st.st_mode) ? open_it(i, O_RDONLY) : -1;
	bool hit = fd >= 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0;

	if (fd >= 0)
		close(fd);
	return hit;
}

static bool try_watch(const struct inode *i)
{
	static int fd = -1;
	int wd;

	if (fd < 0)
		fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	wd = inotify_add_watch(fd, i->name, IN_ATTRIB | IN_OPEN);
	if (wd >= 0)
		inotify_rm_watch(fd, wd);
	return wd >= 0;
}

static bool try_fanotify(const struct inode *i)
{
	static int fd = -1;

	if (fd < 0)
		fd = fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID | FAN_CLOEXEC | FAN_NONBLOCK,
				   O_RDONLY);
	return fd >= 0 && fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, i->name) == 0;
}

static bool try_write(const struct inode *i)
{
	int fd = S_ISREG(i->st.st_mode) ? open_it(i, O_WRONLY) : -1;

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool try_truncate(const struct inode *i)
{
	return S_ISREG(i->st.st_mode) && truncate(i->name, i->st.st_size) == 0;
}

/* Something new in a directory: a name that could as well be renamed or removed. */
static bool try_entry(const struct inode *i)
{
	int dfd = S_ISDIR(i->st.st_mode) ? open_it(i, O_RDONLY) : -1;
	bool hit = dfd >= 0 && mkdirat(dfd, "prober-entry", 0700) == 0;

	if (hit)
		unlinkat(dfd, "prober-entry", AT_REMOVEDIR);
	if (dfd >= 0)
		close(dfd);
	return hit;
}

/* A second name of what is no directory, beside the first. */
static bool try_link(const struct inode *i)
{
	char other[PATH_MAX];

	if (S_ISDIR(i->st.st_mode) ||
	    snprintf(other, sizeof(other), "%s.prober", i->path) >= PATH_MAX ||
	    linkat(AT_FDCWD, i->name, AT_FDCWD, other, AT_SYMLINK_FOLLOW) < 0)
		return false;
	unlink(other);
	return true;
}

// clang-format off
static const struct {
	const char *name;
	bool (*try)(const struct inode *i);
} operations[] = {
	{"mode", try_mode}, {"owner", try_owner}, {"times", try_times}, {"touch", try_touch}, {"xattr", try_xattr}, {"acl", try_acl},
	{"flags", try_flags}, {"flock", try_flock}, {"lock", try_fcntl_lock}, {"lease", try_lease},
	{"watch", try_watch}, {"fanotify", try_fanotify}, {"write", try_write}, {"truncate", try_truncate},
	{"entry", try_entry}, {"link", try_link},
};
// clang-format on

static char type_of(mode_t mode)
{
	return "?pc?d?b?f?l?s???"[mode >> 12 & 15];
}

/* Once for each inode on each mount: another mount of it may allow more. */
static bool is_new(const struct stat *st, uint64_t mount)
{
	static struct {
		dev_t dev;
		ino_t ino;
		uint64_t mount;
	} seen[INODES_MAX];
	size_t at = (st->st_ino * 31 + st->st_dev + mount * 7) % INODES_MAX, n;

	for (n = 0; n < INODES_MAX && seen[at].ino; n++, at = (at + 1) % INODES_MAX)
		if (seen[at].dev == st->st_dev && seen[at].ino == st->st_ino &&
		    seen[at].mount == mount)
			return false;
	seen[at].dev = st->st_dev;
	seen[at].ino = st->st_ino;
	seen[at].mount = mount;
	return true;
}

/* follow: a link of procfs leads to the thing itself. */
static void probe(const char *path, bool follow)
{
	int fd = open(path, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
	struct inode i = {.path = path};
	struct statx x;
	char hits[256] = "";
	size_t n;

	if (fd < 0 || fstat(fd, &i.st) < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &x) < 0)
		goto out;
	snprintf(i.name, sizeof(i.name), "/proc/self/fd/%d", fd);
	if (S_ISLNK(i.st.st_mode) || !is_new(&i.st, x.stx_mnt_id))
		goto out;
	for (n = 0; n < ARRAY_SIZE(operations); n++)
		if (operations[n].try(&i)) {
			strcat(hits, " ");
			strcat(hits, operations[n].name);
		}
	if (hits[0])
		dprintf(REPORT, "%u:%u:%lu %c %s%s\n", major(i.st.st_dev), minor(i.st.st_dev),
			(unsigned long)i.st.st_ino, type_of(i.st.st_mode), path, hits);
out:
	if (fd >= 0)
		close(fd);
}

/* Other processes have what we have. */
static bool is_skipped(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 &&
	       (strspn(path + 6, "0123456789") > 0 || strncmp(path + 6, "thread-self", 11) == 0);
}

static void walk(const char *path, int depth, int *left)
{
	char below[PATH_MAX];
	const struct dirent *d;
	struct stat st;
	DIR *dir;

	probe(path, false);
	if (depth == 0 || lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || !(dir = opendir(path)))
		return;
	while (*left > 0 && (d = readdir(dir))) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 ||
		    snprintf(below, sizeof(below), "%s/%s", strcmp(path, "/") ? path : "",
			     d->d_name) >= PATH_MAX ||
		    is_skipped(below))
			continue;
		(*left)--;
		walk(below, depth - 1, left);
	}
	closedir(dir);
}

static void follow_all(const char *dir_name)
{
	DIR *dir = opendir(dir_name);
	char path[PATH_MAX];
	const struct dirent *d;

	/* Not those that are our own: the report, the directory and what is being tried. */
	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.' && atoi(d->d_name) < REPORT) {
			snprintf(path, sizeof(path), "%s/%s", dir_name, d->d_name);
			probe(path, true);
		}
	if (dir)
		closedir(dir);
}

static void walk_mounts(void)
{
	FILE *table = fopen("/proc/self/mountinfo", "re");
	char line[8192], point[PATH_MAX];
	int left;

	while (table && fgets(line, sizeof(line), table))
		if (sscanf(line, "%*s %*s %*s %*s %4095s", point) == 1) {
			left = ENTRIES_MAX;
			walk(point, DEPTH_MAX, &left);
		}
	if (table)
		fclose(table);
}

int main(int argc, char **argv)
{
	static const char *const links[] = {"/proc/self/exe", "/proc/self/root", "/proc/self/cwd",
					    "/proc/1/exe", "/proc/1/root", "/proc/1/cwd"};
	size_t n;
	int i, left;

	for (i = 1; i < argc; i++) {
		left = ENTRIES_MAX;
		walk(argv[i], DEPTH_MAX, &left);
	}
	if (argc > 1)
		return 0;
	follow_all("/proc/self/fd");
	follow_all("/proc/1/fd");
	follow_all("/proc/self/ns");
	for (n = 0; n < ARRAY_SIZE(links); n++)
		probe(links[n], true);
	walk_mounts();
	dprintf(REPORT, "done\n");
	return 0;
}
