#include "sys/proc.h"

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/str.h"
#include "sys/sys.h"

#ifndef NS_GET_PID_FROM_PIDNS
#define NS_GET_PID_FROM_PIDNS _IOR(NSIO, 0x6, int)
#endif

/* The inode number of every procfs root. */
enum { PROC_ROOT_INO = 1 };

static bool proc_is_root(int dfd)
{
	struct statfs fs;
	struct stat st;

	return fstatfs(dfd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC && fstat(dfd, &st) == 0 &&
	       st.st_ino == PROC_ROOT_INO;
}

int proc_open_host(struct error *e)
{
	autoclose int dfd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (dfd < 0)
		return err_sys(e, "open /proc");
	if (!proc_is_root(dfd))
		return err_set(e, ERR_HOST, "/proc is not a procfs");
	return fd_steal(&dfd);
}

/* A procfs that shows us by one number is that of our own pid namespace, and not one above it. If
 * we have so many groups that the numbers come too late, it counts as another's. */
static bool proc_is_own(int dfd)
{
	autoclose int fd = proc_openat(dfd, "self/status", O_RDONLY);
	char text[4096], *at;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "\nNSpid:\t");
	if (!at)
		return false;
	at += strlen("\nNSpid:\t");
	return at[strspn(at, "0123456789")] == '\n';
}

int proc_open_for(pid_t pid, const char *name, struct error *e)
{
	autoclose int dfd = proc_open_host(e), fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "%d/%s", pid, name);
	if (dfd >= 0 && proc_is_own(dfd))
		fd = proc_openat(dfd, path, O_WRONLY);
	return fd >= 0 ? fd_steal(&dfd) : proc_open(e);
}

int proc_open(struct error *e)
{
	int dfd = sys_mount_new("proc", NULL, NULL,
				MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);

	/* An ordinary user, or a container whose /proc is partly masked. */
	return dfd < 0 ? proc_open_host(e) : dfd;
}

int proc_openat(int proc_dfd, const char *path, int flags)
{
	char own[256];
	const char *rest;

	rest = str_after(path, "self/");
	if (rest) {
		ssize_t n = readlinkat(proc_dfd, "self", own, 32);

		if (n <= 0 || n >= 32)
			return -1;
		snprintf(own + n, sizeof(own) - (size_t)n, "/%s", rest);
		path = own;
	}
	return sys_openat2(proc_dfd, path, (uint64_t)flags, 0,
			   RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);
}

int proc_write(int proc_dfd, const char *path, const char *text)
{
	autoclose int fd = proc_openat(proc_dfd, path, O_WRONLY);
	size_t len = strlen(text);
	ssize_t n;

	if (fd < 0)
		return -1;
	do
		n = write(fd, text, len);
	while (n < 0 && errno == EINTR);
	if (n >= 0 && (size_t)n != len)
		errno = EIO;
	return n >= 0 && (size_t)n == len ? 0 : -1;
}

int proc_stat_parse(const char *text, struct proc_stat *ret)
{
	enum {
		FORKED_NOT_EXECUTED = 0x40
	}; /* PF_FORKNOEXEC: until the first execve, also of a zombie */
	unsigned long long start;
	unsigned int flags;
	const char *p;
	char state;

	/* The second field is the command in brackets, which may itself hold
	 * brackets and spaces. */
	p = strrchr(text, ')');
	if (!p || sscanf(p + 1,
			 " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d"
			 " %*d %llu",
			 &state, &flags, &start) != 3) {
		errno = EINVAL;
		return -1;
	}
	ret->state = state;
	ret->start = start;
	ret->executed = !(flags & FORKED_NOT_EXECUTED);
	return 0;
}

int proc_stat_read(pid_t pid, struct proc_stat *ret)
{
	char path[64], text[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (fd_read_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return -1;
	return proc_stat_parse(text, ret);
}

pid_t proc_pid_of(int pidfd)
{
	char path[64], text[512], *at;
	uint64_t pid;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	if (fd_read_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return -1;
	errno = ESRCH;
	at = strstr(text, "\nPid:");
	if (!at)
		return -1;
	at += strspn(at + 5, " \t") + 5;
	at[strcspn(at, "\n")] = '\0';
	return str_to_u64(at, INT32_MAX, &pid) && pid ? (pid_t)pid : -1;
}

pid_t proc_pid_of_child(int pidfd)
{
	siginfo_t info;

	if (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0)
		return -1;
	return proc_pid_of(pidfd);
}

static bool proc_is_first_of(const char *pid, const struct stat *ns)
{
	static char text[1 << 20]; /* its groups, 65536 at most, come first */
	char path[300], *at;
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	if (fd_read_at(AT_FDCWD, path, text, sizeof(text)) < 0 || !(at = strstr(text, "\nNSpid:")))
		return false;
	at[1 + strcspn(at + 1, "\n")] = '\0';
	at = strrchr(at, '\t');
	if (!at || strcmp(at, "\t1") != 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%s/ns/pid", pid);
	return stat(path, &st) == 0 && st.st_dev == ns->st_dev && st.st_ino == ns->st_ino;
}

/* Before Linux 6.11, which can be asked. */
static pid_t proc_search_first(int ns_fd)
{
	struct dirent *entry;
	struct stat ns;
	pid_t found = -1;
	uint32_t pid;
	DIR *dir;

	if (fstat(ns_fd, &ns) < 0 || !(dir = opendir("/proc")))
		return -1;
	while (found < 0 && (entry = readdir(dir)))
		if (str_to_u32(entry->d_name, &pid) && proc_is_first_of(entry->d_name, &ns))
			found = (pid_t)pid;
	closedir(dir);
	errno = ESRCH;
	return found;
}

pid_t proc_first_of_pid_ns(int ns_fd)
{
	pid_t pid = ioctl(ns_fd, NS_GET_PID_FROM_PIDNS, 1);

	return pid < 0 && errno != ESRCH ? proc_search_first(ns_fd) : pid;
}

int proc_boot_id(char id[37], struct error *e)
{
	static char known[37]; /* it stays what it is for as long as we can run */

	if (!known[0] && fd_read_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", known, 37) < 0)
		return err_sys(e, "read the boot id");
	memcpy(id, known, sizeof(known));
	return 0;
}
