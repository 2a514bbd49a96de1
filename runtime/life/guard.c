#include "life/guard.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"
#include "ns/members.h"
#include "security/caps.h"

enum { STATUS_MAX = 4096 };

/* A number of /proc/PID/status; false if it isn't there. */
static bool guard_field(const char *status, const char *name, int base, uint64_t *ret)
{
	const char *at = strstr(status, name);

	if (at)
		*ret = strtoull(at + strlen(name), NULL, base);
	return at != NULL;
}

static ssize_t guard_read_status(pid_t pid, char text[STATUS_MAX])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return fd_read_at(AT_FDCWD, path, text, STATUS_MAX);
}

/* Until its filter is loaded, init may hold a right that nothing else in the container has, and do what
 * nothing else may: also while hooks of start are at work, when the container counts as running. It has
 * our name until execve. */
int guard_check_init(const struct record *r, const struct plan *p, struct error *e)
{
	uint64_t rights, filter;
	char text[STATUS_MAX];

	if (!(p->caps.bounding & CAPS_BIT(CAP_SYS_PTRACE)) || !p->filter.filter)
		return 0;
	if (guard_read_status(r->pid, text) < 0)
		return err_sys(e, "read /proc/%d/status", r->pid);
	if (!str_after(text, "Name:\t" INIT_NAME "\n"))
		return 0;
	if (guard_field(text, "\nCapPrm:", 16, &rights) &&
	    !(rights & ~p->caps.bounding & CAPS_BIT(CAP_SYS_ADMIN)) &&
	    guard_field(text, "\nSeccomp:", 10, &filter) && filter)
		return 0;
	return err_set(e, ERR_WRONG_STATE,
		       "container not running yet: a process with CAP_SYS_PTRACE could take over the one that "
		       "will load its filter");
}

static bool guard_is_in_our_userns(pid_t pid)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	return stat("/proc/self/ns/user", &own) < 0 || stat(path, &other) < 0 ||
	       (own.st_dev == other.st_dev && own.st_ino == other.st_ino);
}

/* What it holds, or could get by executing something. */
static bool guard_could_trace(pid_t pid)
{
	uint64_t held = 0, bounding = 0;
	char text[STATUS_MAX];

	if (guard_read_status(pid, text) < 0) /* it has ended */
		return false;
	if (!guard_field(text, "\nCapPrm:", 16, &held) || !guard_field(text, "\nCapBnd:", 16, &bounding))
		return true;
	return ((held | bounding) & CAPS_BIT(CAP_SYS_PTRACE)) && guard_is_in_our_userns(pid);
}

/* Whether somebody there may trace what comes in: by the container's config, as a neighbour in the same
 * pid namespace, or since an earlier exec. */
static int guard_find_tracer(const struct join *j, const struct record *r, struct arena *a,
			     bool *ret_found, struct error *e)
{
	struct members m = MEMBERS_NONE;
	size_t i, n = 0;
	pid_t *pids;
	int result;

	*ret_found = false;
	/* In the runtime's own pid namespace the launcher is in sight, too, and so is everything else. */
	if ((j->namespaces & CLONE_NEWUSER) || !(j->namespaces & CLONE_NEWPID))
		return 0;
	*ret_found = (j->init.plan->caps.bounding & CAPS_BIT(CAP_SYS_PTRACE)) || !r->own_pid_ns;
	if (*ret_found)
		return 0;
	if (members_of_init(r->pid, true, false, &m, e) < 0)
		return -1;
	result = members_list(&m, a, &pids, &n, e);
	for (i = 0; result == 0 && i < n && !*ret_found; i++)
		*ret_found = guard_could_trace(pids[i]);
	members_close(&m);
	return result;
}

int guard_check_filter(const struct join *j, const struct record *r, struct arena *a, struct error *e)
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
	if (!danger && guard_find_tracer(j, r, a, &danger, e) < 0)
		return -1;
	return danger ? init_refuse_late_filter(call, e) : 0;
}
