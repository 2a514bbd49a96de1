/*
 * Runs in init, single-threaded; each function is a step of its table. The payload's ids are taken
 * by raw system calls: the C library's wrappers would look for threads to bring along.
 */
#include "security/identity.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/proc.h"

int identity_new_keyring(int *ret_skipped, struct error *e)
{
	int why;

	*ret_skipped = 0;
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL, 0, 0, 0) >= 0)
		return 0;
	why = errno;
	/* No keyrings at all, or a filter around us that closes them to everybody below it, the
	 * program too. Where only this call fails, going on would share the caller's keys. */
	if ((why == ENOSYS || why == EPERM || why == EACCES) &&
	    syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0, 0, 0) < 0 &&
	    errno == why) {
		*ret_skipped = why;
		return 0;
	}
	errno = why;
	return err_sys(e, "new session keyring");
}

int identity_set_groups(const struct ids *groups, bool allowed, struct error *e)
{
	if (!allowed && groups->n)
		return err_set(
			e, ERR_CONFIG,
			"process.user.additionalGids: this user namespace forbids setgroups");
	if (allowed && syscall(SYS_setgroups, groups->n, groups->v) < 0)
		return err_sys(e, "process.user.additionalGids: setgroups");
	return 0;
}

static int identity_id_failed(const char *kind, uint32_t id, struct error *e)
{
	if (errno != EINVAL)
		return err_sys(e, "process.user.%s: set %u", kind, id);
	return err_set(
		e, ERR_CONFIG,
		"process.user.%s: set %u: invalid argument (it is not among those that linux.%sMappings maps; an "
		"ordinary user has more than one with ranges in /etc/sub%s)",
		kind, id, kind, kind);
}

int identity_set_ids(uint32_t uid, uint32_t gid, struct error *e)
{
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
		return err_sys(e, "keep capabilities");
	if (syscall(SYS_setresgid, gid, gid, gid) < 0)
		return identity_id_failed("gid", gid, e);
	if (syscall(SYS_setresuid, uid, uid, uid) < 0)
		return identity_id_failed("uid", uid, e);
	/* execve clears it too; until then nothing else should find it on. */
	if (prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) < 0)
		return err_sys(e, "keep capabilities");
	return 0;
}

void identity_set_umask(const struct opt_u32 *mask)
{
	umask(mask->set ? mask->v & 0777 : 022);
}

int identity_set_no_new_privs(struct error *e)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(e, "process.noNewPrivileges");
	return 0;
}

int identity_raise_rlimits(const struct rlimit_plans *limits, struct error *e)
{
	struct rlimit now;
	size_t i;

	for (i = 0; i < limits->n; i++) {
		const struct rlimit_plan *r = &limits->v[i];

		if (getrlimit((__rlimit_resource_t)r->resource, &now) < 0)
			return err_sys(e, "process.rlimits: read %s", r->name);
		if (r->hard <= now.rlim_max)
			continue;
		now.rlim_max = r->hard;
		if (setrlimit((__rlimit_resource_t)r->resource, &now) < 0 &&
		    !(errno == EPERM && r->resource == RLIMIT_MEMLOCK))
			return err_sys(e, "process.rlimits: set %s", r->name);
	}
	return 0;
}

int identity_set_rlimits(const struct rlimit_plans *limits, struct error *e)
{
	struct rlimit now;
	size_t i;

	for (i = 0; i < limits->n; i++) {
		const struct rlimit_plan *r = &limits->v[i];
		struct rlimit want = {.rlim_cur = r->soft, .rlim_max = r->hard};

		if (r->resource == RLIMIT_MEMLOCK && getrlimit(RLIMIT_MEMLOCK, &now) == 0 &&
		    now.rlim_max < r->hard) {
			want.rlim_max = now.rlim_max;
			want.rlim_cur = r->soft < now.rlim_max ? r->soft : now.rlim_max;
		}
		if (setrlimit((__rlimit_resource_t)r->resource, &want) < 0)
			return err_sys(e, "process.rlimits: set %s", r->name);
	}
	return 0;
}

int identity_set_personality(const struct personality_plan *p, struct error *e)
{
	/* Without one in the config it is the plain one, not the caller's: that may switch off
	 * address randomisation, or make everything readable executable. */
	if (personality(p->set ? p->persona : PER_LINUX) < 0)
		return err_sys(e, "linux.personality");
	return 0;
}

int identity_set_oom_score_adj(int proc_dfd, pid_t pid, int32_t value, struct error *e)
{
	char text[16], path[64] = "self/oom_score_adj";

	snprintf(text, sizeof(text), "%d", value);
	if (pid)
		snprintf(path, sizeof(path), "%d/oom_score_adj", pid);
	if (proc_write(proc_dfd, path, text) == 0)
		return 0;
	/* Not in errno's words: docker takes "permission denied" for a program that is not
	 * executable. */
	if (errno == EACCES)
		return err_set(e, ERR_HOST,
			       "process.oomScoreAdj: set %d: who lowers it needs CAP_SYS_RESOURCE",
			       value);
	return err_sys(e, "process.oomScoreAdj: set %d", value);
}

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

int identity_deny_write_execute(struct error *e)
{
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) == 0)
		return 0;
	if (errno == EINVAL)
		return err_set(e, ERR_HOST,
			       "policy: this kernel can't deny memory that is writable and "
			       "executable [write-execute]: Linux 6.3 is needed");
	return err_sys(e, "prctl(PR_SET_MDWE)");
}
