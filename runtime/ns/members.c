/*
 * Runs in the runtime's process, with the caller's rights: of a process that it may not look at nothing
 * is known, and it is left alone.
 */
#include "ns/members.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#ifndef NS_GET_MNTNS_ID
#define NS_GET_MNTNS_ID _IOR(NSIO, 0x5, uint64_t)
#endif

enum {
	DEEPEST = 32, /* the kernel's limit for pid namespaces in each other */
	KILL_TRIES = 1000, /* 10 s */
};

static int ns_open(pid_t pid, bool pid_ns)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, pid_ns ? "pid" : "mnt");
	return open(path, O_RDONLY | O_CLOEXEC);
}

static uint64_t ns_mnt_id(int fd)
{
	uint64_t id;

	return fd >= 0 && ioctl(fd, NS_GET_MNTNS_ID, &id) == 0 ? id : 0;
}

static bool ns_is(int a_fd, int b_fd)
{
	struct stat a, b;

	return fstat(a_fd, &a) == 0 && fstat(b_fd, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

uint64_t members_mnt_id(pid_t pid)
{
	autoclose int fd = ns_open(pid, false);

	return ns_mnt_id(fd);
}

int members_of_init(pid_t pid, bool pid_ns, struct members *ret, struct error *e)
{
	int fd = ns_open(pid, pid_ns);

	if (fd < 0)
		return err_sys(e, "open the container's namespace");
	*ret = (struct members){.ns_fd = fd, .pid_ns = pid_ns};
	return 0;
}

void members_close(struct members *m)
{
	fd_close(&m->ns_fd);
}

static bool members_have(const struct members *m, pid_t pid)
{
	autoclose int fd = ns_open(pid, m->pid_ns);
	int depth, above_fd;

	if (fd < 0)
		return false;
	if (m->ns_fd < 0)
		return m->mnt_id && ns_mnt_id(fd) == m->mnt_id;
	for (depth = 0; depth < DEEPEST; depth++) {
		if (ns_is(fd, m->ns_fd))
			return true;
		above_fd = m->pid_ns ? ioctl(fd, NS_GET_PARENT) : -1;
		if (above_fd < 0)
			return false;
		fd_close(&fd);
		fd = above_fd;
	}
	return false;
}

int members_list(const struct members *m, struct arena *a, pid_t **ret_pids, size_t *ret_n,
		 struct error *e)
{
	size_t n = 0, cap = 0;
	struct dirent *entry;
	pid_t *pids = NULL;
	DIR *dir;

	*ret_pids = NULL;
	*ret_n = 0;
	if (m->ns_fd < 0 && !m->mnt_id)
		return 0;
	dir = opendir("/proc");
	if (!dir)
		return err_sys(e, "open /proc");
	while ((entry = readdir(dir))) {
		uint32_t pid;

		if (!str_to_u32(entry->d_name, &pid) || !members_have(m, (pid_t)pid))
			continue;
		pids = arena_grow(a, pids, &cap, n + 1, sizeof(*pids));
		pids[n++] = (pid_t)pid;
	}
	closedir(dir);
	*ret_pids = pids;
	*ret_n = n;
	return 0;
}

/* The number may be another process's by now; one that is in the namespace after its pidfd was opened
 * is the one that gets the signal. */
static void member_signal(const struct members *m, pid_t pid, int sig)
{
	autoclose int pidfd = pid == getpid() ? -1 : pidfd_open(pid, 0);

	if (pidfd >= 0 && members_have(m, pid))
		pidfd_send_signal(pidfd, sig, NULL, 0);
}

static int members_signal_once(const struct members *m, int sig, size_t *ret_n, struct error *e)
{
	struct arena a = {0};
	pid_t *pids;
	size_t i;
	int rc = members_list(m, &a, &pids, ret_n, e);

	for (i = 0; rc == 0 && i < *ret_n; i++)
		member_signal(m, pids[i], sig);
	arena_free(&a);
	return rc;
}

int members_signal(const struct members *m, int sig, struct error *e)
{
	static const struct timespec pause = {.tv_nsec = 10000000};
	size_t n = 0;
	int tries;

	if (sig != SIGKILL)
		return members_signal_once(m, sig, &n, e);
	/* What is forked meanwhile is found the next time. The dead are in no namespace. */
	for (tries = 0; tries < KILL_TRIES; tries++) {
		if (members_signal_once(m, sig, &n, e) < 0)
			return -1;
		if (!n)
			return 0;
		nanosleep(&pause, NULL);
	}
	return err_set(e, ERR_SYSTEM, "%zu processes are still there after SIGKILL", n);
}
