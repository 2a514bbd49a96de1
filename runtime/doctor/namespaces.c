/* Namespaces, each made for a moment: as the caller makes them, and as root's users would. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/str.h"
#include "doctor/check.h"
#include "sys/sys.h"

struct kind {
	const char *name;
	int flag;
};

static const struct kind user_kind = {"user", CLONE_NEWUSER};

static const struct kind kinds[] = {
	{"mnt", CLONE_NEWNS},	 {"pid", CLONE_NEWPID}, {"net", CLONE_NEWNET},
	{"ipc", CLONE_NEWIPC},	 {"uts", CLONE_NEWUTS}, {"cgroup", CLONE_NEWCGROUP},
	{"time", CLONE_NEWTIME},
};

/* ---- why one can't be made ---- */

static int explain_limit(struct look *l, const struct kind *k)
{
	char path[64];
	long limit;

	snprintf(path, sizeof(path), "/proc/sys/user/max_%s_namespaces", k->name);
	limit = look_sysctl(path);
	if (limit >= 0)
		look_remedy(l, "sysctl -w user.max_%s_namespaces=65536", k->name);
	if (limit == 0)
		return look_missing(l, "user.max_%s_namespaces is 0", k->name);
	return look_missing(l,
			    "user.max_%s_namespaces (%ld here) is reached, or that of a user "
			    "namespace around this one",
			    k->name, limit);
}

#define PACKAGED_PROFILE "/usr/share/sbxrun/apparmor/sbxrun"
#define LINKED_PROFILE "/etc/apparmor.d/sbxrun"

/* The package has a profile that lifts the restriction for sbxrun alone. */
static int explain_apparmor(struct look *l)
{
	if (access(LINKED_PROFILE, F_OK) == 0)
		look_remedy(l, "apparmor_parser -r " LINKED_PROFILE);
	else if (access(PACKAGED_PROFILE, F_OK) == 0)
		look_remedy(l, "ln -s " PACKAGED_PROFILE " /etc/apparmor.d/ && "
			       "apparmor_parser -r " LINKED_PROFILE);
	else
		look_remedy(l, "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
	return look_missing(l, "kernel.apparmor_restrict_unprivileged_userns is on, and no profile "
			       "permits user namespaces to this program");
}

static int explain_refusal(struct look *l, const struct kind *k)
{
	if (look_sysctl("/proc/sys/kernel/unprivileged_userns_clone") == 0 && l->who == WHO_USER) {
		look_remedy(l, "sysctl -w kernel.unprivileged_userns_clone=1");
		return look_missing(l, "kernel.unprivileged_userns_clone is 0");
	}
	if (l->who == WHO_USER &&
	    look_sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
		return explain_apparmor(l);
	if (look_remedy_container(l, "--privileged", "--privileged"))
		return look_missing(l, "%s namespaces are forbidden by the container around us",
				    k->name);
	return look_missing(l,
			    "%s namespaces are forbidden: this process is in a chroot, or lacks "
			    "CAP_SYS_ADMIN, or has a seccomp filter",
			    k->name);
}

static int explain(struct look *l, const struct kind *k, int why)
{
	if (why == ENOSPC || why == EUSERS)
		return explain_limit(l, k);
	if (why == EINVAL || why == ENOSYS)
		return look_missing(l, "this kernel has no %s namespaces", k->name);
	if (why == EPERM || why == EACCES)
		return explain_refusal(l, k);
	return look_missing(l, "unshare fails: %s", err_text(why));
}

/* ---- the checks ---- */

/* AppArmor lets one be made, and takes away all that it is good for: another one in it tells. */
static int look_user(struct look *l)
{
	if (unshare(CLONE_NEWUSER) < 0 || (unshare(CLONE_NEWUTS) < 0 && errno == EPERM))
		return explain(l, &user_kind, errno);
	return look_fine(l, "can be made");
}

static int look_kind(struct look *l)
{
	const struct kind *k = l->check->what;

	if (l->who == WHO_USER && unshare(CLONE_NEWUSER) < 0)
		return look_missing(l, "there is no user namespace to make it in");
	if (unshare(k->flag) < 0)
		return explain(l, k, errno);
	return look_fine(l, "can be made");
}

/* All kinds as root's ordinary users find them. What the kernel hasn't has a line of its own. */
static int look_as_user(struct look *l)
{
	size_t i, n = 1;

	if (look_drop(l) < 0)
		return look_less(l, "can't become an ordinary user to try: %s", err_text(errno));
	if (unshare(CLONE_NEWUSER) < 0)
		return explain(l, &user_kind, errno);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (unshare(kinds[i].flag) == 0)
			n++;
		else if (errno != EINVAL)
			return explain(l, &kinds[i], errno);
	}
	return look_fine(l, "%zu kinds can be made", n);
}

static const struct doctor_check checks[] = {
	/* Root's containers do without one. */
	{"ns.user", "user namespace", WHO_ALL, WHO_USER, look_user},
	{"ns.mnt", "mount namespace", WHO_ALL, WHO_ALL, look_kind, &kinds[0]},
	{"ns.pid", "pid namespace", WHO_ALL, WHO_ALL, look_kind, &kinds[1]},
	{"ns.net", "network namespace", WHO_ALL, WHO_ALL, look_kind, &kinds[2]},
	{"ns.ipc", "ipc namespace", WHO_ALL, WHO_ALL, look_kind, &kinds[3]},
	{"ns.uts", "uts namespace", WHO_ALL, WHO_ALL, look_kind, &kinds[4]},
	{"ns.cgroup", "cgroup namespace", WHO_ALL, WHO_ALL, look_kind, &kinds[5]},
	{"ns.time", "time namespace", WHO_ALL, 0, look_kind, &kinds[6]},
	{"user.namespaces", "namespaces of ordinary users", WHO_ROOT, 0, look_as_user},
};

const struct doctor_group doctor_namespaces = {checks, ARRAY_SIZE(checks)};
