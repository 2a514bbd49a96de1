#include "ns/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"
#include "ns/joins.h"
#include "ns/launch.h"
#include "ns/members.h"
#include "ns/userns.h"
#include "oci/names.h"
#include "sys/child.h"
#include "sys/msg.h"
#include "sys/proc.h"
#include "sys/sys.h"

/* Whether the rights over a pid namespace stay until init wants it: no user namespace is entered,
 * or just the one that it belongs to. */
static bool spawn_can_enter_late(const struct plan *p, const struct joins *j)
{
	autoclose int owner_fd = -1;
	struct stat owner, joined;

	if (j->fds[OCI_NS_USER] < 0)
		return !p->owns_userns;
	owner_fd = ioctl(j->fds[OCI_NS_PID], NS_GET_USERNS);
	return owner_fd >= 0 && fstat(owner_fd, &owner) == 0 &&
	       fstat(j->fds[OCI_NS_USER], &joined) == 0 && owner.st_dev == joined.st_dev &&
	       owner.st_ino == joined.st_ino;
}

/* The pid namespace's descriptor is init's from here on; it may not be entered yet. */
static int launcher_keep_pid_ns(const struct plan *p, struct joins *j, struct pid_ns *ret,
				struct error *e)
{
	int *fd = &j->fds[OCI_NS_PID];

	*ret = PID_NS_NONE;
	if (*fd < 0)
		return 0;
	ret->entered = !spawn_can_enter_late(p, j);
	ret->joined = true;
	ret->fd = ret->entered ? fcntl(*fd, F_DUPFD_CLOEXEC, 3) : fd_steal(fd);
	return ret->fd < 0 ? err_sys(e, "linux.namespaces: keep the pid namespace") : 0;
}

static int launcher_join_error(const struct plan *p, enum oci_ns type, struct error *e)
{
	return err_sys(e, "linux.namespaces: join %s namespace %s", oci_ns_names[type].word,
		       plan_join(p, type)->path);
}

/*
 * Two rounds around the user namespace: before it we have the host's rights over namespaces that
 * the host owns, after it those over namespaces that it owns itself.
 */
static int launcher_join(const struct plan *p, struct joins *j, struct error *e)
{
	bool user_joined = j->fds[OCI_NS_USER] < 0;
	int round, type;

	for (round = 0; round < 2; round++) {
		for (type = 0; type < OCI_NS_COUNT; type++) {
			if (j->fds[type] < 0 || type == OCI_NS_USER)
				continue;
			if (setns(j->fds[type], oci_ns_names[type].flag) == 0)
				fd_close(&j->fds[type]);
			else if (user_joined || errno != EPERM)
				return launcher_join_error(p, (enum oci_ns)type, e);
		}
		if (!user_joined && setns(j->fds[OCI_NS_USER], CLONE_NEWUSER) < 0)
			return launcher_join_error(p, OCI_NS_USER, e);
		fd_close(&j->fds[OCI_NS_USER]);
		user_joined = true;
	}
	return 0;
}

static int launcher_set_time_offsets(const struct plan *p, struct error *e)
{
	autoclose int proc_dfd = -1;

	if (!p->time_offsets)
		return 0;
	proc_dfd = proc_open(e);
	if (proc_dfd < 0)
		return -1;
	if (proc_write(proc_dfd, "self/timens_offsets", p->time_offsets) < 0)
		return err_sys(e, "linux.timeOffsets: write");
	return 0;
}

/* The parent may have needed one with the same maps before, for mounts: then it is that one. */
static int launcher_own_userns(int userns_fd, int sock, struct error *e)
{
	if (userns_fd >= 0 && setns(userns_fd, CLONE_NEWUSER) < 0)
		return err_sys(e, "linux.namespaces: enter the user namespace");
	if (userns_fd >= 0) {
		fd_close(&userns_fd);
		return 0;
	}
	if (unshare(CLONE_NEWUSER) < 0)
		return err_sys(e, "linux.namespaces: make a user namespace");
	return launch_ask_for_maps(sock, e);
}

static uint64_t spawn_clone_flags(const struct spawn *s)
{
	uint64_t flags = s->plan->ns.new_flags & ~(uint64_t)CLONE_NEWTIME;

	if (spawn_leaves_cgroup_ns(s))
		flags &= ~(uint64_t)CLONE_NEWCGROUP;
	return flags;
}

struct spawn_context {
	const struct spawn *spawn;
	bool direct; /* no launcher: who asks for maps is init itself, in all its namespaces */
};

static int spawn_enter(void *context, int sock, struct error *e)
{
	const struct spawn_context *c = context;
	const struct plan *p = c->spawn->plan;

	/* Processes of a user namespace that the launcher joins could see it there and trace it. */
	if (plan_join(p, OCI_NS_USER) && prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_sys(e, "prctl");
	if (c->spawn->before && c->spawn->before(c->spawn->context, e) < 0)
		return -1;
	if (launcher_keep_pid_ns(p, c->spawn->joins, c->spawn->pid_ns, e) < 0 ||
	    launcher_join(p, c->spawn->joins, e) < 0)
		return -1;
	if (p->owns_userns && launcher_own_userns(c->spawn->userns_fd, sock, e) < 0)
		return -1;
	if (plan_has_new(p, CLONE_NEWTIME)) {
		if (unshare(CLONE_NEWTIME) < 0)
			return err_sys(e, "linux.namespaces: make a time namespace");
		if (launcher_set_time_offsets(p, e) < 0)
			return -1;
	}
	/* There may be others in what was joined. After the maps, which could not be written
	 * otherwise; init inherits it. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_sys(e, "prctl");
	return 0;
}

static int spawn_write_maps(void *context, pid_t pid, struct error *e)
{
	const struct spawn_context *c = context;
	const struct plan *p = c->spawn->plan;

	/* Now, while it waits: once it has hidden itself, an ordinary user sees nothing of it. */
	if (c->spawn->ret_mnt_id && c->direct)
		members_ids(pid, c->spawn->ret_mnt_id, c->spawn->ret_user_id);
	return userns_write_maps(pid, &p->uid_maps, &p->gid_maps, p->rootless, e);
}

__attribute__((noreturn)) static void spawn_main(void *context)
{
	const struct spawn *s = ((struct spawn_context *)context)->spawn;

	s->main(s->context);
}

static pid_t spawn_directly(const struct launch *l, bool userns, int *ret_pidfd, struct error *e)
{
	int socks[2] = {-1, -1};
	struct error why;
	pid_t pid;

	if (userns && msg_pair(socks, e) < 0)
		return -1;
	pid = sys_clone3(l->clone_flags, l->unified_dfd, ret_pidfd);
	if (pid == 0) {
		fd_close(&socks[0]);
		if (userns && launch_ask_for_maps(socks[1], &why) < 0)
			_exit(1);
		fd_close(&socks[1]);
		l->main(l->context);
	}
	fd_close(&socks[1]);
	if (pid < 0 && userns && (errno == EPERM || errno == ENOSPC))
		err_set(e, ERR_HOST,
			"this host lets the caller make no user namespace (%s): see the sysctls "
			"user.max_user_namespaces, kernel.unprivileged_userns_clone and "
			"kernel.apparmor_restrict_unprivileged_userns",
			err_text(errno));
	else if (pid < 0 && errno == EACCES && l->unified_dfd >= 0)
		err_set(e, ERR_HOST,
			"clone init into its cgroup: permission denied: the kernel lets an ordinary user's "
			"processes enter his cgroups only from a cgroup that is his, too: call sbxrun by "
			"systemd-run --user --scope");
	else if (pid < 0)
		err_sys(e, "clone init into its namespaces");
	if (pid > 0 && userns && launch_answer_maps(l, pid, socks[0], e) < 0) {
		child_end(pid);
		fd_close(ret_pidfd);
		pid = -1;
	}
	fd_close(&socks[0]);
	return pid;
}

bool spawn_leaves_cgroup_ns(const struct spawn *s)
{
	const struct cgroup_dirs *d = &s->plan->cgroup.dirs;

	return !(d->n == 1 && d->v[0].unified && s->unified_dfd >= 0);
}

pid_t spawn_init(const struct spawn *s, int *ret_pidfd, struct error *e)
{
	bool launcher = s->plan->ns.n_joins || plan_has_new(s->plan, CLONE_NEWTIME) || s->before;
	struct spawn_context context = {.spawn = s, .direct = !launcher};
	struct launch l = {
		.context = &context,
		.enter = spawn_enter,
		.write_maps = spawn_write_maps,
		.main = spawn_main,
		.clone_flags = spawn_clone_flags(s),
		.unified_dfd = s->unified_dfd,
		.ret_ended = s->ret_launcher,
	};

	*ret_pidfd = -1;
	if (!launcher)
		return spawn_directly(&l, s->plan->owns_userns, ret_pidfd, e);
	/* The launcher makes the user namespace, so that what it makes itself belongs to it. */
	l.clone_flags &= ~(uint64_t)CLONE_NEWUSER;
	l.launcher_runs_main = plan_join(s->plan, OCI_NS_PID) != NULL;
	return launch(&l, ret_pidfd, e);
}
