#include "ns/userns.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "sys/child.h"
#include "sys/patience.h"
#include "sys/proc.h"
#include "sys/sys.h"

enum { LINES_MAX = 340 /* the kernel's own limit for a map */, HOLDER_STACK = 4096 };

static size_t userns_format(const struct oci_id_maps *maps, char *text, size_t size)
{
	size_t i, len = 0;

	for (i = 0; i < maps->n && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%u %u %u\n",
					maps->v[i].container_id, maps->v[i].host_id,
					maps->v[i].size);
	return len;
}

static int userns_write_file(int proc_dfd, pid_t pid, const char *name, const char *text,
			     struct error *e)
{
	char path[64];

	snprintf(path, sizeof(path), "%d/%s", pid, name);
	if (proc_write(proc_dfd, path, text) < 0)
		return err_sys(e, "write /proc/%s", path);
	return 0;
}

/* They are set-user-ID, and what the caller's PATH leads to may be anything: fixed places. */
static const char *userns_find_helper(const char *name)
{
	static const char *const places[][2] = {
		{"/usr/bin/newuidmap", "/usr/bin/newgidmap"},
		{"/usr/local/bin/newuidmap", "/usr/local/bin/newgidmap"},
		{"/run/wrappers/bin/newuidmap", "/run/wrappers/bin/newgidmap"}, /* NixOS */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		const char *path = places[i][str_eq(name, "newgidmap")];

		if (access(path, X_OK) == 0)
			return path;
	}
	return NULL;
}

/* It may ask a directory server about the user, and that one may not answer. */
static int userns_await_helper(pid_t child, int *ret_status, struct error *e)
{
	autoclose int pidfd = pidfd_open(child, 0);
	struct error ignored;

	if (pidfd >= 0 && patience_wait(pidfd, POLLIN, 0, e) < 0) {
		kill(child, SIGKILL);
		child_collect_within(child, PATIENCE_PEER_MS, ret_status, &ignored);
		return -1;
	}
	return child_collect_within(child, PATIENCE_PEER_MS, ret_status, e);
}

/* newuidmap PID inside outside count …: set-user-ID helpers that know /etc/subuid. */
static int userns_call_helper(const char *name, pid_t pid, const struct oci_id_maps *maps,
			      struct error *e)
{
	char numbers[LINES_MAX * 3 + 1][12], *argv[LINES_MAX * 3 + 3];
	char own_name[16];
	char *const envp[] = {(char[]){"PATH=/usr/bin:/usr/sbin:/bin:/sbin"}, NULL};
	const char *helper = userns_find_helper(name);
	size_t i, n = 0;
	int status;
	pid_t child;

	if (!helper)
		return err_set(e, ERR_HOST,
			       "this host has no %s, which maps more than the caller's own id "
			       "(Debian package uidmap)",
			       name);
	snprintf(numbers[n], sizeof(numbers[n]), "%d", pid);
	argv[1] = numbers[n++];
	for (i = 0; i < maps->n; i++) {
		const uint32_t v[] = {maps->v[i].container_id, maps->v[i].host_id, maps->v[i].size};
		size_t k;

		for (k = 0; k < 3; k++, n++) {
			snprintf(numbers[n], sizeof(numbers[n]), "%u", v[k]);
			argv[n + 1] = numbers[n];
		}
	}
	argv[n + 1] = NULL;
	snprintf(own_name, sizeof(own_name), "%s", name);
	argv[0] = own_name;
	errno = posix_spawn(&child, helper, NULL, NULL, argv, envp);
	if (errno)
		return err_sys(e, "%s", helper);
	if (userns_await_helper(child, &status, e) < 0)
		return err_wrap(e, "%s", helper);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_set(
			e, ERR_HOST,
			"%s refused the mapping: the ids must be in a range that /etc/subuid or "
			"/etc/subgid gives to this user",
			helper);
	return 0;
}

static bool userns_is_own_id(const struct oci_id_maps *maps, uint32_t id)
{
	return maps->n == 1 && maps->v[0].size == 1 && maps->v[0].host_id == id;
}

static int userns_write_rootless(int proc_dfd, pid_t pid, const struct oci_id_maps *uids,
				 const struct oci_id_maps *gids, struct error *e)
{
	char text[64];

	if (userns_is_own_id(gids, getegid())) {
		/* The kernel's condition for an ordinary user to map his own group. */
		userns_format(gids, text, sizeof(text));
		if (userns_write_file(proc_dfd, pid, "setgroups", "deny", e) < 0 ||
		    userns_write_file(proc_dfd, pid, "gid_map", text, e) < 0)
			return -1;
	} else if (userns_call_helper("newgidmap", pid, gids, e) < 0) {
		return -1;
	}
	if (!userns_is_own_id(uids, geteuid()))
		return userns_call_helper("newuidmap", pid, uids, e);
	userns_format(uids, text, sizeof(text));
	return userns_write_file(proc_dfd, pid, "uid_map", text, e);
}

int userns_write_maps(pid_t pid, const struct oci_id_maps *uids, const struct oci_id_maps *gids,
		      bool rootless, struct error *e)
{
	char text[LINES_MAX * 36];
	autoclose int proc_dfd = proc_open_for(pid, "uid_map", e);

	if (proc_dfd < 0)
		return -1;
	if (uids->n > LINES_MAX || gids->n > LINES_MAX)
		return err_set(e, ERR_CONFIG, "linux.uidMappings: more than %d mappings",
			       LINES_MAX);
	if (rootless)
		return userns_write_rootless(proc_dfd, pid, uids, gids, e);
	userns_format(gids, text, sizeof(text));
	if (userns_write_file(proc_dfd, pid, "gid_map", text, e) < 0)
		return err_wrap(e, "linux.gidMappings");
	userns_format(uids, text, sizeof(text));
	if (userns_write_file(proc_dfd, pid, "uid_map", text, e) < 0)
		return err_wrap(e, "linux.uidMappings");
	return 0;
}

/* Holds the namespace until it is open. No life without the parent. Nothing here can fail: errno is
 * the parent's, too. */
static int userns_linger(void *parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == *(const pid_t *)parent)
		pause();
	_exit(0);
}

/*
 * A process that shares our memory and descriptors: a copy of them costs three times as much as all
 * else here, and leaves us each page that is written afterwards to be copied. There is no copy of
 * our locks either. Its stack is the caller's, who must end it before that is gone; no handler of
 * ours runs on it, for it hears no signal but SIGKILL.
 */
static pid_t userns_start_holder(char *stack_end, pid_t *parent)
{
	const int flags = CLONE_NEWUSER | CLONE_VM | CLONE_FILES | SIGCHLD;
	sigset_t all, old;
	pid_t pid;
	int why;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	pid = clone(userns_linger, stack_end, flags, parent);
	why = errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	errno = why;
	return pid;
}

int userns_open_map(const struct oci_id_maps *uids, const struct oci_id_maps *gids, bool rootless,
		    struct error *e)
{
	_Alignas(16) char stack[HOLDER_STACK];
	pid_t parent = getpid(), pid = userns_start_holder(stack + sizeof(stack), &parent);
	char path[64];
	int ns_fd = -1;

	if (pid < 0)
		return err_sys(e, "make a user namespace for a mount's ids");
	if (userns_write_maps(pid, uids, gids, rootless, e) == 0) {
		snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
		ns_fd = open(path, O_RDONLY | O_CLOEXEC);
		if (ns_fd < 0)
			err_sys(e, "open %s", path);
	}
	child_end(pid);
	return ns_fd;
}
