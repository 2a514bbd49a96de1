/*
 * Runs in the runtime's process, with the caller's rights: of a process that it may not look at
 * nothing is known, and it is left alone.
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
#include "sys/loop.h"

#ifndef NS_GET_MNTNS_ID
#define NS_GET_MNTNS_ID _IOR(NSIO, 0x5, uint64_t)
#endif
#ifndef NS_GET_ID
#define NS_GET_ID _IOR(NSIO, 13, uint64_t)
#endif

enum {
	DEEPEST = 32, /* the kernel's limit for pid and user namespaces in each other */
	KILL_TRIES = 1000, /* 10 s */
	AT_ONCE = 64,
};

/* A main thread that has ended has no namespaces any more, but the others of its process have. */
static int ns_open_thread(pid_t pid, const char *ns)
{
	char path[64], entry_path[300];
	struct dirent *entry;
	int fd = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && fd < 0 && (entry = readdir(dir))) {
		snprintf(entry_path, sizeof(entry_path), "%s/ns/%s", entry->d_name, ns);
		if (entry->d_name[0] != '.')
			fd = openat(dirfd(dir), entry_path, O_RDONLY | O_CLOEXEC);
	}
	if (dir)
		closedir(dir);
	return fd;
}

static int ns_open(pid_t pid, const char *ns)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, ns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 && errno == ENOENT ? ns_open_thread(pid, ns) : fd;
}

static const char *members_ns(const struct members *m)
{
	return m->pid_ns ? "pid" : "mnt";
}

static uint64_t ns_id(int fd, unsigned long request)
{
	uint64_t id;

	return fd >= 0 && ioctl(fd, request, &id) == 0 ? id : 0;
}

static bool ns_is(int a_fd, int b_fd)
{
	struct stat a, b;

	return fstat(a_fd, &a) == 0 && fstat(b_fd, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

void members_ids(pid_t pid, uint64_t *ret_mnt, uint64_t *ret_user)
{
	autoclose int mnt_fd = ns_open(pid, "mnt"), user_fd = ns_open(pid, "user");

	*ret_mnt = ns_id(mnt_fd, NS_GET_MNTNS_ID);
	*ret_user = ns_id(user_fd, NS_GET_ID);
}

int members_of_init(pid_t pid, bool pid_ns, bool user_ns, struct members *ret, struct error *e)
{
	struct members m = {.pid_ns = pid_ns, .user_fd = -1};

	m.ns_fd = ns_open(pid, members_ns(&m));
	if (m.ns_fd < 0)
		return err_sys(e, "open the container's namespace");
	if (user_ns && !pid_ns)
		m.user_fd = ns_open(pid, "user");
	*ret = m;
	return 0;
}

void members_close(struct members *m)
{
	fd_close(&m->ns_fd);
	fd_close(&m->user_fd);
}

bool members_have(const struct members *m, pid_t pid)
{
	autoclose int fd = ns_open(pid, members_ns(m));
	int depth, above_fd;

	if (fd < 0)
		return false;
	if (m->ns_fd < 0)
		return m->mnt_id && ns_id(fd, NS_GET_MNTNS_ID) == m->mnt_id;
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

uint64_t members_id_of_user(int user_fd)
{
	return ns_id(user_fd, NS_GET_ID);
}

uint64_t members_user_id(const struct members *m)
{
	return m->user_fd >= 0 ? members_id_of_user(m->user_fd) : m->user_id;
}

static bool members_know_user(const struct members *m)
{
	return m->user_fd >= 0 || m->user_id;
}

/* How deep a user namespace is below the container's own; 0: it is that, -1: it isn't below. Takes
 * fd, which may be -1. */
static int members_depth(const struct members *m, int fd)
{
	int depth, above_fd, result = -1;

	for (depth = 0; fd >= 0 && result < 0 && depth < DEEPEST; depth++) {
		if (m->user_fd >= 0 ? ns_is(fd, m->user_fd) : ns_id(fd, NS_GET_ID) == m->user_id)
			result = depth;
		above_fd = ioctl(fd, NS_GET_PARENT);
		fd_close(&fd);
		fd = above_fd;
	}
	fd_close(&fd);
	return result;
}

enum members_in members_in_user(const struct members *m, pid_t pid)
{
	int fd = members_know_user(m) ? ns_open(pid, "user") : -1;

	if (fd < 0)
		return members_know_user(m) && errno == EACCES ? MEMBERS_UNKNOWN : MEMBERS_OUT;
	return members_depth(m, fd) < 0 ? MEMBERS_OUT : MEMBERS_IN;
}

/* Kinds of processes. */
enum kin {
	STRANGER,
	MEMBER,	   /* in its namespace */
	LEAVER,	   /* has left it, or is another's who joined the user namespace and left his */
	NEIGHBOUR, /* another's who joined the user namespace */
};

/* The dead keep their user namespace until they are buried, but have no other any more. */
static enum kin members_kin(const struct members *m, pid_t pid)
{
	bool have = members_have(m, pid);
	autoclose int mnt_fd = have || !members_know_user(m) ? -1 : ns_open(pid, "mnt");
	int depth = mnt_fd < 0 ? -1 : members_depth(m, ns_open(pid, "user"));

	if (have || depth < 0)
		return have ? MEMBER : STRANGER;
	/* A process that left had the rights to leave in a user namespace of its own, which owns
	 * the mount namespace that it made. */
	if (depth == 0 || members_depth(m, ioctl(mnt_fd, NS_GET_USERNS)) <= 0)
		return NEIGHBOUR;
	return LEAVER;
}

/* A growing list. */
struct pid_list {
	size_t n;
	size_t cap;
	pid_t *v;
};

static void list_add(struct pid_list *l, pid_t pid, struct arena *a)
{
	l->v = arena_grow(a, l->v, &l->cap, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = pid;
}

int members_list(const struct members *m, struct arena *a, pid_t **ret_pids, size_t *ret_n,
		 struct error *e)
{
	struct pid_list found = {0}, leavers = {0};
	bool shared = m->user_shared;
	struct dirent *entry;
	size_t i;
	DIR *dir;

	*ret_pids = NULL;
	*ret_n = 0;
	if (m->ns_fd < 0 && !m->mnt_id)
		return 0;
	dir = opendir("/proc");
	if (!dir)
		return err_sys(e, "open /proc");
	while ((entry = readdir(dir))) {
		enum kin kin;
		uint32_t pid;

		if (!str_to_u32(entry->d_name, &pid))
			continue;
		kin = members_kin(m, (pid_t)pid);
		if (kin == MEMBER || kin == LEAVER)
			list_add(kin == MEMBER ? &found : &leavers, (pid_t)pid, a);
		shared = shared || kin == NEIGHBOUR;
	}
	closedir(dir);
	for (i = 0; i < leavers.n && !shared; i++)
		list_add(&found, leavers.v[i], a);
	*ret_pids = found.v;
	*ret_n = found.n;
	return 0;
}

bool members_exist(const struct members *m)
{
	struct arena a = {0};
	struct error ignored;
	size_t n = 0;
	pid_t *pids;
	bool exist = members_list(m, &a, &pids, &n, &ignored) < 0 || n;

	arena_free(&a);
	return exist;
}

/* The number may be another process's by now; one that is in the namespaces after its pidfd was
 * opened is the one that gets the signal. Its pidfd, or -1. */
static int member_signal(const struct members *m, pid_t pid, int sig)
{
	autoclose int pidfd = pid == getpid() ? -1 : pidfd_open(pid, 0);
	enum kin kin = pidfd < 0 ? STRANGER : members_kin(m, pid);

	if (!(kin == MEMBER || (kin == LEAVER && !m->user_shared)) ||
	    pidfd_send_signal(pidfd, sig, NULL, 0) < 0)
		return -1;
	return fd_steal(&pidfd);
}

/* A few at a time, for there may be thousands. Who is killed is waited for: he is in no namespace
 * for a while before he has ended. */
static void members_signal_some(const struct members *m, const pid_t *pids, size_t n, int sig)
{
	const int64_t until = sig == SIGKILL ? loop_now() + LOOP_SECOND : 0;
	int pidfds[AT_ONCE];
	size_t i;

	for (i = 0; i < n; i++)
		pidfds[i] = member_signal(m, pids[i], sig);
	for (i = 0; i < n; i++) {
		if (pidfds[i] >= 0 && until)
			loop_is_ready(pidfds[i], POLLIN, until);
		fd_close(&pidfds[i]);
	}
}

static int members_signal_once(const struct members *m, int sig, size_t *ret_n, struct error *e)
{
	struct arena a = {0};
	pid_t *pids;
	size_t i;
	int rc = members_list(m, &a, &pids, ret_n, e);

	for (i = 0; rc == 0 && i < *ret_n; i += AT_ONCE)
		members_signal_some(m, pids + i, *ret_n - i < AT_ONCE ? *ret_n - i : AT_ONCE, sig);
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
	/* The next round finds what is forked meanwhile. The dead are in no namespace. */
	for (tries = 0; tries < KILL_TRIES; tries++) {
		if (members_signal_once(m, sig, &n, e) < 0)
			return -1;
		if (!n)
			return 0;
		nanosleep(&pause, NULL);
	}
	return err_set(e, ERR_SYSTEM, "%zu processes are still there after SIGKILL", n);
}
