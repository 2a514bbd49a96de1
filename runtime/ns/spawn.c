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
#include <sys/wait.h>

#include "base/fd.h"
#include "base/str.h"
#include "ns/launch.h"
#include "ns/members.h"
#include "ns/userns.h"
#include "oci/names.h"
#include "sys/msg.h"
#include "sys/proc.h"
#include "sys/sys.h"

static int spawn_open_join(const struct ns_join *join, struct error *e)
{
	const struct oci_ns_name *name = &oci_ns_names[join->type];
	autoclose int fd = open(join->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int type;

	if (fd < 0)
		return err_sys(e, "linux.namespaces: open %s namespace %s", name->word, join->path);
	type = ioctl(fd, NS_GET_NSTYPE);
	if (type != name->flag)
		return err_set(e, ERR_CONFIG, "linux.namespaces: %s is not a %s namespace",
			       join->path, name->word);
	return fd_steal(&fd);
}

/* Each is checked to be what the config says. ret_fds: OCI_NS_COUNT. */
static int spawn_open_joins(const struct plan *p, int *ret_fds, struct error *e)
{
	size_t i;

	for (i = 0; i < OCI_NS_COUNT; i++)
		ret_fds[i] = -1;
	for (i = 0; i < p->ns.n_joins; i++) {
		ret_fds[i] = spawn_open_join(&p->ns.joins[i], e);
		if (ret_fds[i] < 0)
			return -1;
	}
	return 0;
}

/* A namespace that we are in already can't always be joined, and needn't be. */
static bool spawn_is_own(int fd, enum oci_ns type)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/ns/%s", oci_ns_names[type].proc);
	return stat(path, &own) == 0 && fstat(fd, &other) == 0 && own.st_dev == other.st_dev &&
	       own.st_ino == other.st_ino;
}

/* Whether the rights over a pid namespace stay until init wants it: no user namespace is entered, or
 * just the one that it belongs to. */
static bool spawn_can_enter_late(const struct plan *p, const int *fds, int pid_ns_fd)
{
	const struct ns_join *user = plan_join(p, OCI_NS_USER);
	autoclose int owner_fd = -1;
	struct stat owner, joined;

	if (!user)
		return !p->owns_userns;
	owner_fd = ioctl(pid_ns_fd, NS_GET_USERNS);
	return owner_fd >= 0 && fstat(owner_fd, &owner) == 0 &&
	       fstat(fds[user - p->ns.joins], &joined) == 0 && owner.st_dev == joined.st_dev &&
	       owner.st_ino == joined.st_ino;
}

/* The pid namespace's descriptor is init's from here on; it may not be entered yet. */
static int launcher_keep_pid_ns(const struct plan *p, int *fds, struct pid_ns *ret, struct error *e)
{
	const struct ns_join *join = plan_join(p, OCI_NS_PID);
	int *fd;

	*ret = PID_NS_NONE;
	if (!join || spawn_is_own(fds[join - p->ns.joins], OCI_NS_PID))
		return 0;
	fd = &fds[join - p->ns.joins];
	ret->entered = !spawn_can_enter_late(p, fds, *fd);
	ret->fd = ret->entered ? fcntl(*fd, F_DUPFD_CLOEXEC, 3) : fd_steal(fd);
	return ret->fd < 0 ? err_sys(e, "linux.namespaces: keep the pid namespace") : 0;
}

/*
 * Two rounds around the user namespace: before it we have the host's rights over namespaces that the
 * host owns, after it those over namespaces that it owns itself.
 */
static int launcher_join(const struct plan *p, int *fds, struct error *e)
{
	bool user_joined = !plan_join(p, OCI_NS_USER);
	int round;
	size_t i;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < p->ns.n_joins; i++) {
			enum oci_ns type = p->ns.joins[i].type;
			const struct oci_ns_name *name = &oci_ns_names[type];

			if (fds[i] < 0 || type == OCI_NS_USER)
				continue;
			if (spawn_is_own(fds[i], type) || setns(fds[i], name->flag) == 0)
				fd_close(&fds[i]);
			else if (user_joined || errno != EPERM)
				return err_sys(e, "linux.namespaces: join %s namespace %s",
					       name->word, p->ns.joins[i].path);
		}
		for (i = 0; i < p->ns.n_joins && !user_joined; i++) {
			if (p->ns.joins[i].type != OCI_NS_USER)
				continue;
			if (!spawn_is_own(fds[i], OCI_NS_USER) && setns(fds[i], CLONE_NEWUSER) < 0)
				return err_sys(e, "linux.namespaces: join user namespace %s",
					       p->ns.joins[i].path);
			fd_close(&fds[i]);
		}
		user_joined = true;
	}
	return 0;
}

static int launcher_set_time_offsets(const struct plan *p, struct error *e)
{
	const struct oci_linux *l = &p->config->linux_;
	autoclose int proc_dfd = -1;
	char text[512];
	size_t i, len = 0;

	if (!l->time_offsets.n)
		return 0;
	for (i = 0; i < l->time_offsets.n && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s %lld %u\n",
					l->time_offsets.v[i].clock,
					(long long)l->time_offsets.v[i].secs,
					l->time_offsets.v[i].nanosecs);
	proc_dfd = proc_open(e);
	if (proc_dfd < 0)
		return -1;
	if (proc_write(proc_dfd, "self/timens_offsets", text) < 0)
		return err_sys(e, "linux.timeOffsets: write");
	return 0;
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
	int joins[OCI_NS_COUNT];
};

static int spawn_enter(void *context, int sock, struct error *e)
{
	struct spawn_context *c = context;
	const struct plan *p = c->spawn->plan;

	if (launcher_keep_pid_ns(p, c->joins, c->spawn->pid_ns, e) < 0 ||
	    launcher_join(p, c->joins, e) < 0)
		return -1;
	if (p->owns_userns) {
		if (unshare(CLONE_NEWUSER) < 0)
			return err_sys(e, "linux.namespaces: make a user namespace");
		if (launch_ask_for_maps(sock, e) < 0)
			return -1;
	}
	if (plan_has_new(p, CLONE_NEWTIME)) {
		if (unshare(CLONE_NEWTIME) < 0)
			return err_sys(e, "linux.namespaces: make a time namespace");
		if (launcher_set_time_offsets(p, e) < 0)
			return -1;
	}
	/* There may be others in what was joined. After the maps, which could not be written otherwise;
	 * init inherits it. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_sys(e, "prctl");
	return 0;
}

static int spawn_write_maps(void *context, pid_t pid, struct error *e)
{
	const struct spawn_context *c = context;
	const struct plan *p = c->spawn->plan;
	const struct oci_linux *l = &p->config->linux_;

	/* Now, while it waits: once it has hidden itself, an ordinary user sees nothing of it. */
	if (c->spawn->ret_mnt_id && c->direct)
		*c->spawn->ret_mnt_id = members_mnt_id(pid);
	return userns_write_maps(pid, &l->uid_mappings, &l->gid_mappings, p->rootless, e);
}

__attribute__((noreturn)) static void spawn_main(void *context)
{
	const struct spawn *s = ((struct spawn_context *)context)->spawn;

	s->main(s->context);
}

static pid_t spawn_by_launcher(const struct launch *l, struct spawn_context *c, int *ret_pidfd,
			       struct error *e)
{
	pid_t pid = -1;
	size_t i;

	if (spawn_open_joins(c->spawn->plan, c->joins, e) == 0)
		pid = launch(l, ret_pidfd, e);
	for (i = 0; i < OCI_NS_COUNT; i++)
		fd_close(&c->joins[i]);
	return pid;
}

static pid_t spawn_directly(const struct launch *l, bool userns, int *ret_pidfd, struct error *e)
{
	int socks[2] = {-1, -1}, status;
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
	else if (pid < 0)
		err_sys(e, "clone init into its namespaces");
	if (pid > 0 && userns && launch_answer_maps(l, pid, socks[0], e) < 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
			;
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
	bool launcher = s->plan->ns.n_joins || plan_has_new(s->plan, CLONE_NEWTIME);
	struct spawn_context context = {.spawn = s, .direct = !launcher};
	struct launch l = {
		.context = &context,
		.enter = spawn_enter,
		.write_maps = spawn_write_maps,
		.main = spawn_main,
		.clone_flags = spawn_clone_flags(s),
		.unified_dfd = s->unified_dfd,
	};

	*ret_pidfd = -1;
	if (!launcher)
		return spawn_directly(&l, s->plan->owns_userns, ret_pidfd, e);
	/* The launcher makes the user namespace, so that what it makes itself belongs to it. */
	l.clone_flags &= ~(uint64_t)CLONE_NEWUSER;
	l.in_place = plan_join(s->plan, OCI_NS_PID) != NULL;
	return spawn_by_launcher(&l, &context, ret_pidfd, e);
}
