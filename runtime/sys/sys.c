#include "sys/sys.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/fd.h"

pid_t sys_clone3(uint64_t flags, int cgroup_dfd, int *ret_pidfd)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = flags | (ret_pidfd ? CLONE_PIDFD : 0),
		.pidfd = (uint64_t)(uintptr_t)&pidfd,
		/* With CLONE_PARENT the exit signal is the caller's own and must be 0. */
		.exit_signal = flags & CLONE_PARENT ? 0 : SIGCHLD,
	};
	long pid;

	if (cgroup_dfd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (unsigned int)cgroup_dfd;
	}
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid > 0 && ret_pidfd)
		*ret_pidfd = pidfd;
	return (pid_t)pid;
}

/* These three arguments are in the same place on every architecture that we know. */
static pid_t sys_clone(unsigned long flags, int *ret_pidfd)
{
	return (pid_t)syscall(SYS_clone, flags | CLONE_PIDFD, NULL, ret_pidfd, NULL, NULL);
}

pid_t sys_clone_sibling(uint64_t flags, int *ret_pidfd)
{
	return sys_clone((unsigned long)flags | CLONE_PARENT, ret_pidfd);
}

pid_t sys_fork(int *ret_pidfd)
{
	return sys_clone(SIGCHLD, ret_pidfd);
}

/* For a path with ".." the kernel says EAGAIN if something was renamed or mounted anywhere on the
 * machine meanwhile. Someone may be doing that on purpose. */
enum { OPEN_TRIES = 128 };

int sys_openat2(int dfd, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve)
{
	/* Never a controlling terminal; openat2() is strict about what goes with O_PATH. */
	struct open_how how = {
		.flags = flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY),
		.mode = mode,
		.resolve = resolve,
	};

	int tries = 0, fd;

	do {
		fd = (int)syscall(SYS_openat2, dfd, path, &how, sizeof(how));
	} while (fd < 0 && errno == EAGAIN && (resolve & (RESOLVE_IN_ROOT | RESOLVE_BENEATH)) &&
		 ++tries < OPEN_TRIES);
	return fd;
}

int sys_pivot_root(const char *new_root, const char *put_old)
{
	return (int)syscall(SYS_pivot_root, new_root, put_old);
}

int sys_set_attr(int tree_fd, bool recursive, uint64_t set, uint64_t clear, uint64_t propagation)
{
	struct mount_attr attr = {.attr_set = set, .attr_clr = clear, .propagation = propagation};
	unsigned int flags = AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0U);

	if (!set && !clear && !propagation)
		return 0;
	return mount_setattr(tree_fd, "", flags, &attr, sizeof(attr));
}

int sys_mount_new(const char *type, const char *key, const char *value, unsigned int attrs)
{
	autoclose int fs_fd = fsopen(type, FSOPEN_CLOEXEC);

	if (fs_fd < 0 || (key && fsconfig(fs_fd, FSCONFIG_SET_STRING, key, value, 0) < 0) ||
	    fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return fsmount(fs_fd, FSMOUNT_CLOEXEC, attrs);
}

static uint64_t sys_mount_id_at(int dfd, const char *path, int flags)
{
	struct statx st;

	if (statx(dfd, path, flags | AT_NO_AUTOMOUNT, STATX_MNT_ID, &st) < 0 ||
	    !(st.stx_mask & STATX_MNT_ID))
		return 0;
	return st.stx_mnt_id;
}

uint64_t sys_mount_id(const char *path)
{
	return sys_mount_id_at(AT_FDCWD, path, 0);
}

uint64_t sys_mount_id_of(int fd)
{
	return sys_mount_id_at(fd, "", AT_EMPTY_PATH);
}

bool sys_is_machine_root(void)
{
	enum {
		FIRST_USER_NS = 0xEFFFFFFD
	}; /* the kernel's number for the one that it boots with */
	struct stat st;

	return geteuid() == 0 &&
	       (stat("/proc/self/ns/user", &st) < 0 || st.st_ino == (ino_t)FIRST_USER_NS);
}

bool sys_can_mount_detached(void)
{
	autoclose int lower_fd = sys_mount_new("tmpfs", NULL, NULL, 0);
	autoclose int upper_fd = sys_mount_new("tmpfs", NULL, NULL, 0);

	return lower_fd >= 0 && upper_fd >= 0 && sys_attach(upper_fd, lower_fd) == 0;
}
