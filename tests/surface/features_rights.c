/* Attempts at more rights: namespaces, mounts, ids, priorities, limits. */
#define _GNU_SOURCE
#include "probe.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* The errors of arguments that are wrong on purpose. */
static long past_checks(long r)
{
	return r == -EINVAL || r == -ENOTDIR ? 0 : r;
}

#define UNSHARES(name, flag)                                                                       \
	static long name(const void *arg)                                                          \
	{                                                                                          \
		(void)arg;                                                                         \
		return RESULT(unshare(flag));                                                      \
	}
UNSHARES(unshare_user, CLONE_NEWUSER)
UNSHARES(unshare_mount, CLONE_NEWNS)
UNSHARES(unshare_net, CLONE_NEWNET)
UNSHARES(unshare_pid, CLONE_NEWPID)
UNSHARES(unshare_ipc, CLONE_NEWIPC)
UNSHARES(unshare_uts, CLONE_NEWUTS)
UNSHARES(unshare_cgroup, CLONE_NEWCGROUP)
UNSHARES(unshare_time, CLONE_NEWTIME)

static long clone_user(const void *arg)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	(void)arg;
	if (pid == 0)
		_exit(0);
	return RESULT(pid);
}

static long enter(const char *path, int type)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : RESULT(setns(fd, type));
}

static long setns_mount(const void *arg)
{
	(void)arg;
	return enter("/proc/1/ns/mnt", CLONE_NEWNS);
}

static long setns_net(const void *arg)
{
	(void)arg;
	return enter("/proc/1/ns/net", CLONE_NEWNET);
}

/* Mounts are tried where none can be: our program is no directory, and nothing is mounted on it. */
#define TARGET "/proc/self/exe"

static long mount_tmpfs(const void *arg)
{
	(void)arg;
	return past_checks(RESULT(mount("none", TARGET, "tmpfs", 0, "")));
}

static long mount_bind(const void *arg)
{
	(void)arg;
	return past_checks(RESULT(mount("/proc", TARGET, NULL, MS_BIND, NULL)));
}

static long mount_remount(const void *arg)
{
	(void)arg;
	return past_checks(
		RESULT(mount(NULL, TARGET, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL)));
}

static long umount_any(const void *arg)
{
	(void)arg;
	return past_checks(RESULT(umount2(TARGET, 0)));
}

static long fsopen_tmpfs(const void *arg)
{
	(void)arg;
	return RESULT(syscall(SYS_fsopen, "tmpfs", 1 /* FSOPEN_CLOEXEC */));
}

static long open_tree_clone(const void *arg)
{
	(void)arg;
	return RESULT(syscall(SYS_open_tree, AT_FDCWD, "/", O_CLOEXEC | 1 /* OPEN_TREE_CLONE */));
}

static long chroot_here(const void *arg)
{
	(void)arg;
	return RESULT(chroot("/"));
}

/* What may be made is null, and it is removed at once. */
static long mknod_char(const void *arg)
{
	const char *dir = writable_dir();
	char path[64];
	long r;

	(void)arg;
	snprintf(path, sizeof(path), "%s/probe-node-%d", dir ? dir : "", (int)getpid());
	r = RESULT(mknod(path, S_IFCHR | 0600, makedev(1, 3)));
	if (r == 0)
		unlink(path);
	return r;
}

static int copy_self(const char *path)
{
	char bytes[65536];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	ssize_t n = -1;

	while (from >= 0 && to >= 0 && (n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)n) != n)
			return -1;
	if (n == 0 && fchmod(to, 04755) < 0)
		n = -1;
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return n == 0 ? 0 : -1;
}

/* Somebody else runs a setuid copy of us: does he become what we are? */
static long run_as_other(const char *path)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (setuid(65534) < 0)
			_exit(2);
		execl(path, path, "--am-i-setuid", (char *)NULL);
		_exit(3);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EACCES;
}

static long setuid_exec(const void *arg)
{
	const char *dir = writable_dir();
	char path[64];
	long r;

	(void)arg;
	if (!dir)
		return -EROFS;
	snprintf(path, sizeof(path), "%s/probe-setuid-%d", dir, (int)getpid());
	r = RESULT(copy_self(path));
	if (r == 0)
		r = run_as_other(path);
	unlink(path);
	return r;
}

/* To what it is. */
static long set_hostname(const void *arg)
{
	struct utsname u;

	(void)arg;
	return uname(&u) < 0 ? -errno : RESULT(sethostname(u.nodename, strlen(u.nodename)));
}

static long sched_fifo(const void *arg)
{
	const struct sched_param param = {.sched_priority = 1};

	(void)arg;
	return RESULT(sched_setscheduler(0, SCHED_FIFO, &param));
}

static long priority_up(const void *arg)
{
	(void)arg;
	return RESULT(setpriority(PRIO_PROCESS, 0, -10));
}

static long lock_all_memory(const void *arg)
{
	(void)arg;
	return RESULT(mlockall(MCL_CURRENT | MCL_FUTURE));
}

static long raise_rlimit(const void *arg)
{
	struct rlimit l;

	(void)arg;
	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return -errno;
	l.rlim_max++;
	return RESULT(setrlimit(RLIMIT_NOFILE, &l));
}

/* Our own, which ends with us. */
static long lower_oom_score(const void *arg)
{
	char text[16] = "";
	int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);

	(void)arg;
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		return -errno;
	snprintf(text, sizeof(text), "%d", (int)strtol(text, NULL, 10) - 1);
	return RESULT(pwrite(fd, text, strlen(text), 0));
}

static long open_to_write(const char *path)
{
	return RESULT(open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK));
}

static long core_pattern(const void *arg)
{
	(void)arg;
	return open_to_write("/proc/sys/kernel/core_pattern");
}

static long sysrq_trigger(const void *arg)
{
	(void)arg;
	return open_to_write("/proc/sysrq-trigger");
}

static const char *const cgroup_roots[] = {
	"/sys/fs/cgroup",	  "/sys/fs/cgroup/memory",  "/sys/fs/cgroup/pids",
	"/sys/fs/cgroup/cpu",	  "/sys/fs/cgroup/devices", "/sys/fs/cgroup/freezer",
	"/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/rdma",
};

static long release_agent(const void *arg)
{
	char path[128];
	long r = -ENOENT;

	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(cgroup_roots) && r < 0; i++) {
		snprintf(path, sizeof(path), "%s/release_agent", cgroup_roots[i]);
		r = open_to_write(path);
	}
	return r;
}

/* Only a real cgroup: some mount a tmpfs there. */
static long cgroup_mkdir(const void *arg)
{
	char path[128], inside[192];
	long r = -ENOENT;

	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(cgroup_roots) && r < 0; i++) {
		snprintf(path, sizeof(path), "%s/probe-%d", cgroup_roots[i], (int)getpid());
		snprintf(inside, sizeof(inside), "%s/cgroup.procs", path);
		if (mkdir(path, 0755) < 0) {
			r = -errno;
			continue;
		}
		r = RESULT(access(inside, F_OK));
		rmdir(path);
	}
	return r;
}

const struct feature features_rights[] = {
	{"unshare_user", unshare_user},
	{"unshare_mount", unshare_mount},
	{"unshare_net", unshare_net},
	{"unshare_pid", unshare_pid},
	{"unshare_ipc", unshare_ipc},
	{"unshare_uts", unshare_uts},
	{"unshare_cgroup", unshare_cgroup},
	{"unshare_time", unshare_time},
	{"clone_user", clone_user},
	{"setns_mount", setns_mount},
	{"setns_net", setns_net},
	{"mount_tmpfs", mount_tmpfs},
	{"mount_bind", mount_bind},
	{"mount_remount", mount_remount},
	{"umount", umount_any},
	{"fsopen", fsopen_tmpfs},
	{"open_tree", open_tree_clone},
	{"chroot", chroot_here},
	{"mknod_char", mknod_char},
	{"setuid_exec", setuid_exec},
	{"sethostname", set_hostname},
	{"sched_fifo", sched_fifo},
	{"setpriority_negative", priority_up},
	{"mlockall", lock_all_memory},
	{"rlimit_raise", raise_rlimit},
	{"oom_score_lower", lower_oom_score},
	{"core_pattern", core_pattern},
	{"sysrq_trigger", sysrq_trigger},
	{"release_agent", release_agent},
	{"cgroup_mkdir", cgroup_mkdir},
	{NULL, NULL},
};
