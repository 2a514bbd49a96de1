#include "ns/spawn.h"

#include <errno.h>
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
#include "ns/userns.h"
#include "oci/names.h"
#include "sys/msg.h"
#include "sys/proc.h"
#include "sys/sys.h"

/* What parent, launcher and init say to each other before init's own protocol begins. */
enum {
	SAY_MAP_ME,	 /* child → parent: I am in the new user namespace */
	SAY_MAPPED,	 /* parent → child: the maps are written */
	SAY_BORN,	 /* launcher → parent: this is init (its pidfd) */
	SAY_FAILED,	 /* child → parent, with the error */
};

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

int spawn_open_joins(const struct plan *p, int *ret_fds, struct error *e)
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

/* Asks the parent for the maps of the user namespace that this process has just entered. */
static int spawn_ask_for_maps(int sock, struct error *e)
{
	struct error from;
	int kind;

	if (msg_send(sock, SAY_MAP_ME, NULL, -1) < 0 || msg_recv(sock, &kind, &from, NULL) <= 0 ||
	    kind != SAY_MAPPED)
		return err_set(e, ERR_SYSTEM, "the parent ended before the id maps were written");
	return 0;
}

static uint64_t spawn_clone_flags(const struct spawn *s)
{
	uint64_t flags = s->plan->ns.new_flags & ~(uint64_t)CLONE_NEWTIME;

	if (spawn_leaves_cgroup_ns(s))
		flags &= ~(uint64_t)CLONE_NEWCGROUP;
	return flags;
}

static int launcher_enter(const struct spawn *s, int *fds, int sock, struct error *e)
{
	const struct plan *p = s->plan;

	if (launcher_join(p, fds, e) < 0)
		return -1;
	if (p->owns_userns) {
		if (unshare(CLONE_NEWUSER) < 0)
			return err_sys(e, "linux.namespaces: make a user namespace");
		if (spawn_ask_for_maps(sock, e) < 0)
			return -1;
	}
	if (plan_has_new(p, CLONE_NEWTIME)) {
		if (unshare(CLONE_NEWTIME) < 0)
			return err_sys(e, "linux.namespaces: make a time namespace");
		return launcher_set_time_offsets(p, e);
	}
	return 0;
}

__attribute__((noreturn)) static void launcher_main(const struct spawn *s, int *fds, int sock)
{
	uint64_t flags = (spawn_clone_flags(s) & ~(uint64_t)CLONE_NEWUSER) | CLONE_PARENT;
	struct error e;
	int pidfd = -1;
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (launcher_enter(s, fds, sock, &e) < 0)
		goto fail;
	pid = sys_clone3(flags, -1, &pidfd);
	if (pid == 0) {
		fd_close(&sock);
		s->main(s->context);
	}
	if (pid < 0) {
		err_sys(&e, "clone init");
		goto fail;
	}
	/* Init waits for the parent, so nothing is lost if the parent is gone by now. */
	if (msg_send(sock, SAY_BORN, NULL, pidfd) < 0)
		_exit(1);
	_exit(0);
fail:
	msg_send(sock, SAY_FAILED, &e, -1);
	_exit(1);
}

static pid_t spawn_pid_of(int pidfd)
{
	char path[64], text[512], *at;
	uint64_t pid;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	if (fd_read_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return -1;
	at = strstr(text, "\nPid:");
	if (!at)
		return -1;
	at += strspn(at + 5, " \t") + 5;
	at[strcspn(at, "\n")] = '\0';
	return str_to_u64(at, INT32_MAX, &pid) && pid ? (pid_t)pid : -1;
}

/* The parent's side of a start through a launcher. */
static pid_t spawn_attend_launcher(const struct spawn *s, pid_t launcher, int sock, int *ret_pidfd,
				   struct error *e)
{
	const struct oci_linux *l = &s->plan->config->linux_;
	struct error from;
	int kind, status;
	pid_t pid = -1;

	for (;;) {
		int got = msg_recv(sock, &kind, &from, ret_pidfd);

		if (got <= 0) {
			err_set(e, ERR_SYSTEM, "the launcher died before init was started");
			break;
		}
		if (kind == SAY_MAP_ME) {
			if (userns_write_maps(launcher, &l->uid_mappings, &l->gid_mappings,
					      s->plan->rootless, e) < 0)
				break;
			if (msg_send(sock, SAY_MAPPED, NULL, -1) < 0) {
				err_sys(e, "answer the launcher");
				break;
			}
		} else if (kind == SAY_BORN) {
			pid = spawn_pid_of(*ret_pidfd);
			if (pid < 0)
				err_set(e, ERR_SYSTEM, "init died at once");
			break;
		} else {
			*e = from;
			break;
		}
	}
	if (pid < 0)
		kill(launcher, SIGKILL);
	while (waitpid(launcher, &status, 0) < 0 && errno == EINTR)
		;
	return pid;
}

static pid_t spawn_by_launcher(const struct spawn *s, int *ret_pidfd, struct error *e)
{
	int fds[OCI_NS_COUNT], socks[2];
	pid_t launcher, pid = -1;
	size_t i;

	if (spawn_open_joins(s->plan, fds, e) < 0 || msg_pair(socks, e) < 0)
		goto out;
	/* The launcher enters the cgroup, init is born there: from inside a new user namespace, whose
	 * ids are not those of the cgroup's owner, the kernel would refuse. */
	launcher = sys_clone3(0, s->unified_dfd, NULL);
	if (launcher == 0) {
		fd_close(&socks[0]);
		launcher_main(s, fds, socks[1]);
	}
	fd_close(&socks[1]);
	if (launcher < 0)
		err_sys(e, "clone the launcher");
	else
		pid = spawn_attend_launcher(s, launcher, socks[0], ret_pidfd, e);
	fd_close(&socks[0]);
out:
	for (i = 0; i < OCI_NS_COUNT; i++)
		fd_close(&fds[i]);
	return pid;
}

static pid_t spawn_directly(const struct spawn *s, int *ret_pidfd, struct error *e)
{
	const struct oci_linux *l = &s->plan->config->linux_;
	int socks[2] = {-1, -1};
	struct error from;
	int kind;
	pid_t pid;

	if (s->plan->owns_userns && msg_pair(socks, e) < 0)
		return -1;
	pid = sys_clone3(spawn_clone_flags(s), s->unified_dfd, ret_pidfd);
	if (pid == 0) {
		fd_close(&socks[0]);
		if (socks[1] >= 0 && spawn_ask_for_maps(socks[1], &from) < 0)
			_exit(1);
		fd_close(&socks[1]);
		s->main(s->context);
	}
	fd_close(&socks[1]);
	if (pid < 0)
		err_sys(e, "clone init into its namespaces");
	if (pid > 0 && s->plan->owns_userns) {
		if (msg_recv(socks[0], &kind, &from, NULL) <= 0) {
			err_set(e, ERR_SYSTEM, "init died before its id maps were written");
			goto kill;
		}
		if (userns_write_maps(pid, &l->uid_mappings, &l->gid_mappings, s->plan->rootless,
				      e) < 0)
			goto kill;
		if (msg_send(socks[0], SAY_MAPPED, NULL, -1) < 0) {
			err_sys(e, "answer init");
			goto kill;
		}
	}
	fd_close(&socks[0]);
	return pid;
kill:
	fd_close(&socks[0]);
	kill(pid, SIGKILL);
	while (waitpid(pid, &kind, __WALL) < 0 && errno == EINTR)
		;
	fd_close(ret_pidfd);
	return -1;
}

bool spawn_leaves_cgroup_ns(const struct spawn *s)
{
	const struct cgroup_dirs *d = &s->plan->cgroup.dirs;

	return !(d->n == 1 && d->v[0].unified && s->unified_dfd >= 0);
}

pid_t spawn_init(const struct spawn *s, int *ret_pidfd, struct error *e)
{
	*ret_pidfd = -1;
	if (s->plan->ns.n_joins || plan_has_new(s->plan, CLONE_NEWTIME))
		return spawn_by_launcher(s, ret_pidfd, e);
	return spawn_directly(s, ret_pidfd, e);
}
