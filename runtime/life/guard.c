#include "life/guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"
#include "ns/members.h"
#include "oci/names.h"
#include "security/caps.h"
#include "sys/proc.h"

enum {
	STATUS_MAX = 4096,
	THREAD_TRIES = 100,
	LOOKS = 1000,
	PIDS = 4194304, /* the kernel's limit for kernel.pid_max */
};

/* A number of /proc/PID/status; false if it isn't there. */
static bool guard_field(const char *status, const char *name, int base, uint64_t *ret)
{
	const char *at = strstr(status, name);

	if (at)
		*ret = strtoull(at + strlen(name), NULL, base);
	return at != NULL;
}

/* Of a process or a thread, by its directory in /proc. */
static ssize_t guard_read_status(const char *dir, char text[STATUS_MAX])
{
	char path[96];

	snprintf(path, sizeof(path), "%s/status", dir);
	return fd_read_at(AT_FDCWD, path, text, STATUS_MAX);
}

/* Until its filter is loaded, init may hold a right that nothing else in the container has, and do
 * what nothing else may: also while hooks of start are at work, when the container counts as
 * running. It has our name until execve. */
int guard_check_init(const struct record *r, const struct plan *p, struct error *e)
{
	uint64_t rights, filter;
	char text[STATUS_MAX], dir[64];

	if (!(p->caps.bounding & CAPS_BIT(CAP_SYS_PTRACE)) || !p->filter.filter)
		return 0;
	snprintf(dir, sizeof(dir), "/proc/%d", r->pid);
	if (guard_read_status(dir, text) < 0)
		return err_sys(e, "read %s/status", dir);
	if (!str_after(text, "Name:\t" INIT_NAME "\n"))
		return 0;
	if (guard_field(text, "\nCapPrm:", 16, &rights) &&
	    !(rights & ~p->caps.bounding & CAPS_BIT(CAP_SYS_ADMIN)) &&
	    guard_field(text, "\nSeccomp:", 10, &filter) && filter)
		return 0;
	return err_set(
		e, ERR_WRONG_STATE,
		"container not running yet: a process with CAP_SYS_PTRACE could take over the one that "
		"will load its filter");
}

/* ---- who is there ---- */

/* Asks about everybody who is not among those seen. 1: yes; 0: no; -1: there was nobody new. */
static int guard_look(DIR *proc, bool (*is)(pid_t pid, const void *context), const void *context,
		      uint8_t *seen)
{
	struct dirent *entry;
	int result = -1;
	uint32_t pid;

	rewinddir(proc);
	while (result < 1 && (entry = readdir(proc))) {
		if (!str_to_u32(entry->d_name, &pid) || pid >= PIDS ||
		    seen[pid / 8] & 1U << pid % 8)
			continue;
		seen[pid / 8] |= (uint8_t)(1U << pid % 8);
		result = is((pid_t)pid, context);
	}
	return result;
}

/* A process that forks and ends before we come to it leaves a child, so we look until there is
 * nobody new. If there is always somebody new, the answer is yes. */
static bool guard_walk(DIR *proc, bool (*is)(pid_t pid, const void *context), const void *context)
{
	uint8_t *seen = calloc(PIDS / 8, 1);
	int looks, result = 1;

	for (looks = 0; seen && looks < LOOKS; looks++) {
		result = guard_look(proc, is, context, seen);
		if (result)
			break;
	}
	free(seen);
	return result >= 0;
}

/* Whether anybody in /proc is what is asked for. The kernel lists by rising numbers, and a child
 * has a higher one, unless they begin anew just then; which they don't twice in so short a time. */
static int guard_find(bool (*is)(pid_t pid, const void *context), const void *context,
		      bool *ret_found, struct error *e)
{
	DIR *proc = opendir("/proc");

	if (!proc)
		return err_sys(e, "open /proc");
	*ret_found = guard_walk(proc, is, context) || guard_walk(proc, is, context);
	closedir(proc);
	return 0;
}

/* Whether the process or thread of that directory is in a user namespace. 1 or 0; -1 with errno if
 * it can't be told. */
static int guard_is_in_userns(const char *dir, const struct stat *userns)
{
	struct stat st;
	char path[96];

	snprintf(path, sizeof(path), "%s/ns/user", dir);
	return stat(path, &st) < 0 ? -1 :
				     st.st_dev == userns->st_dev && st.st_ino == userns->st_ino;
}

/* ---- containers in the making ---- */

/* Init, until it executes its program. */
static bool guard_is_in_the_making(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat_read(pid, &stat) == 0 && !stat.executed;
}

/* The name can be had by anybody, who then keeps others out of where he is himself. */
static bool guard_is_init_in(pid_t pid, const void *userns)
{
	char text[STATUS_MAX], dir[64];

	snprintf(dir, sizeof(dir), "/proc/%d", pid);
	return guard_read_status(dir, text) >= 0 && str_after(text, "Name:\t" INIT_NAME "\n") &&
	       guard_is_in_the_making(pid) && guard_is_in_userns(dir, userns) == 1;
}

/* A neighbour in our pid namespace sees hooks of a container in the making, and these, once they
 * have executed, belong to its user namespace. */
static int guard_find_init(const struct plan *p, const struct joins *j, bool *ret_found,
			   struct error *e)
{
	struct stat userns;

	*ret_found = false;
	if (j->fds[OCI_NS_USER] < 0 || j->fds[OCI_NS_PID] >= 0 || plan_has_new(p, CLONE_NEWPID))
		return 0;
	if (fstat(j->fds[OCI_NS_USER], &userns) < 0)
		return err_sys(e, "look at the user namespace");
	return guard_find(guard_is_init_in, &userns, ret_found, e);
}

static int guard_refuse_join(const struct plan *p, enum oci_ns type, struct error *e)
{
	return err_set(
		e, ERR_CONFIG,
		"linux.namespaces: the container of %s namespace %s does not run its program yet, and whoever "
		"joins it could take over what is there in its place: start that container first",
		oci_ns_names[type].word, plan_join(p, type)->path);
}

int guard_check_joins(const struct plan *p, const struct joins *j, struct error *e)
{
	int pid_ns_fd = j->fds[OCI_NS_PID];
	pid_t first = pid_ns_fd < 0 ? -1 : proc_first_of_pid_ns(pid_ns_fd);
	bool found;

	if (first > 0 && guard_is_in_the_making(first))
		return guard_refuse_join(p, OCI_NS_PID, e);
	if (guard_find_init(p, j, &found, e) < 0)
		return -1;
	return found ? guard_refuse_join(p, OCI_NS_USER, e) : 0;
}

/* ---- tracers ---- */

/* Whether a thread holds the right to trace, or could get it by executing something. 1 or 0; -1: it
 * ended while we looked. */
static int guard_thread_could_trace(const char *dir)
{
	uint64_t held = 0, heritable = 0, bounding = 0;
	char text[STATUS_MAX], *state;
	struct stat own;
	int ours;

	if (guard_read_status(dir, text) < 0)
		return -1;
	state = strstr(text, "\nState:\t");
	if (state && strchr("ZX", state[strlen("\nState:\t")]))
		return 0;
	if (!guard_field(text, "\nCapPrm:", 16, &held) ||
	    !guard_field(text, "\nCapInh:", 16, &heritable) ||
	    !guard_field(text, "\nCapBnd:", 16, &bounding) || stat("/proc/self/ns/user", &own) < 0)
		return 1;
	if (!((held | heritable | bounding) & CAPS_BIT(CAP_SYS_PTRACE)))
		return 0;
	ours = guard_is_in_userns(dir, &own);
	return ours < 0 && errno != ENOENT && errno != ESRCH ? 1 : ours;
}

/* Each of its threads has rights of its own. -1: one has ended, and may have left another that we
 * missed. */
static int guard_threads_could_trace(pid_t pid)
{
	struct dirent *entry;
	char path[64], thread[96];
	int result = 0;
	uint32_t tid;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && result == 0 && (entry = readdir(dir))) {
		if (!str_to_u32(entry->d_name, &tid))
			continue;
		snprintf(thread, sizeof(thread), "%s/%u", path, tid);
		result = guard_thread_could_trace(thread);
	}
	if (dir)
		closedir(dir);
	return result;
}

static bool guard_could_trace(pid_t pid, const void *members)
{
	int tries, result;

	for (tries = 0; tries < THREAD_TRIES; tries++) {
		if (!members_have(members, pid)) /* or it has ended */
			return false;
		result = guard_threads_could_trace(pid);
		if (result >= 0)
			return result;
	}
	return true;
}

/* Whether somebody there may trace what comes in: by the container's config, as a neighbour in the
 * same pid namespace, or since an earlier exec. What the container's first process has entered
 * since says nothing: others of it may have stayed in our user namespace. */
static int guard_find_tracer(const struct join *j, const struct record *r, bool *ret_found,
			     struct error *e)
{
	const struct plan *p = j->init.plan;
	bool has_userns = p->owns_userns || plan_join(p, OCI_NS_USER);
	struct members m = MEMBERS_NONE;
	int result;

	*ret_found = false;
	/* In the runtime's own pid namespace the launcher is in sight, too, and so is everything
	 * else. */
	if (!(j->namespaces & CLONE_NEWPID))
		return 0;
	*ret_found =
		(!has_userns && (p->caps.bounding & CAPS_BIT(CAP_SYS_PTRACE))) || !r->own_pid_ns;
	if (*ret_found)
		return 0;
	if (members_of_init(r->pid, true, false, &m, e) < 0)
		return -1;
	result = guard_find(guard_could_trace, &m, ret_found, e);
	members_close(&m);
	return result;
}

int guard_check_filter(const struct join *j, const struct record *r, struct error *e)
{
	const struct init *in = &j->init;
	const char *call;
	bool danger;

	if (!in->plan->filter.filter)
		return 0;
	if (init_check_filter(in, e) < 0)
		return -1;
	call = init_filter_obstacle(in);
	if (!call)
		return 0;
	/* An ordinary user's parent takes a listener only from a process that others may trace. */
	danger = in->plan->filter.notify && !in->plan->by_machine_root;
	if (!danger && guard_find_tracer(j, r, &danger, e) < 0)
		return -1;
	return danger ? init_refuse_late_filter(call, e) : 0;
}
