#include "rootfs/procfs.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>

#include "base/fd.h"
#include "sys/child.h"
#include "sys/msg.h"
#include "sys/sys.h"

/* An empty directory is all that this process and its children can see. */
static int messenger_leave_the_tree(void)
{
	autoclose int empty_fd = -1;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) < 0)
		return -1;
	empty_fd = sys_mount_new("tmpfs", NULL, NULL, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV);
	if (empty_fd < 0 || move_mount(empty_fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0 ||
	    fchdir(empty_fd) < 0 || sys_pivot_root(".", ".") < 0 || umount2(".", MNT_DETACH) < 0)
		return -1;
	return chdir("/");
}

/* Its child, the only one in sight, has no more than a socket and the right to call fsopen(). The
 * mount namespace must be one that the user namespace owns, or there is no such right. */
__attribute__((noreturn)) static void messenger_main(int pid_ns_fd, int sock)
{
	const int keep[] = {pid_ns_fd, sock};
	struct error none = {0};
	int fs_fd;
	pid_t pid;

	if (fd_close_all_but(0, keep, 2) < 0 || messenger_leave_the_tree() < 0 ||
	    setns(pid_ns_fd, CLONE_NEWPID) < 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		goto fail;
	fd_close(&pid_ns_fd);
	/* Processes inside can stop the child, so it dies with us, and we die with init. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pid = sys_clone3(0, -1, NULL);
	if (pid > 0)
		_exit(child_collect(pid) != 0);
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	fs_fd = pid < 0 ? -1 : fsopen("proc", FSOPEN_CLOEXEC);
	if (fs_fd >= 0)
		_exit(msg_send(sock, 0, NULL, fs_fd) < 0);
fail:
	none.sys = errno;
	_exit(msg_send(sock, 0, &none, -1) < 0);
}

static int procfs_send_for(int pid_ns_fd)
{
	struct error why;
	int socks[2], fs_fd = -1, kind, got;
	pid_t pid;

	if (msg_pair(socks, &why) < 0)
		return -1;
	pid = sys_clone3(0, -1, NULL);
	if (pid == 0)
		messenger_main(pid_ns_fd, socks[1]);
	fd_close(&socks[1]);
	if (pid < 0) {
		fd_close(&socks[0]);
		return -1;
	}
	got = msg_recv(socks[0], &kind, &why, &fs_fd);
	fd_close(&socks[0]);
	child_collect(pid);
	errno = got > 0 && why.sys ? why.sys : EPERM;
	if (got <= 0 || fs_fd < 0)
		return -1;
	/* Trust: who took the messenger over may have sent another filesystem, with parameters that
	 * would be followed with our rights and from our root. This word (the default) is procfs's
	 * alone. */
	if (fsconfig(fs_fd, FSCONFIG_SET_STRING, "hidepid", "0", 0) < 0) {
		fd_close(&fs_fd);
		errno = EPERM;
	}
	return fs_fd;
}

int procfs_open(int pid_ns_fd, bool may_enter)
{
	autoclose int fs_fd = fsopen("proc", FSOPEN_CLOEXEC);

	if (fs_fd < 0)
		return -1;
	if (fsconfig(fs_fd, FSCONFIG_SET_FD, "pidns", NULL, pid_ns_fd) == 0)
		return fd_steal(&fs_fd);
	/* EINVAL: a kernel that doesn't know the word. */
	if (errno == EINVAL && may_enter)
		return procfs_send_for(pid_ns_fd);
	errno = errno == EINVAL ? EPERM : errno;
	return -1;
}
