/*
 * The way back to nothing, from the record alone. Each part is tried even if one before it failed,
 * and the record goes last, so that whatever is left can be removed by the next `delete --force`.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "cgroup/rdt.h"
#include "init/hooks.h"
#include "life/life.h"
#include "ns/userns.h"
#include "sys/child.h"
#include "sys/loop.h"
#include "sys/patience.h"
#include "sys/proc.h"
#include "sys/sys.h"

enum { EXIT_WAIT_MS = 10000 };

static int destroy_kill_init(int pidfd, const char *id, struct error *e)
{
	const int64_t until = loop_now() + EXIT_WAIT_MS * LOOP_MS;

	if (pidfd < 0)
		return 0;
	if (pidfd_send_signal(pidfd, SIGKILL, NULL, 0) < 0 && errno != ESRCH)
		return err_sys(e, "kill container \"%s\"", id);
	while (!loop_is_ready(pidfd, POLLIN, until))
		if (loop_now() >= until)
			return err_set(e, ERR_SYSTEM, "container \"%s\" did not end within %d s of SIGKILL",
				       id, EXIT_WAIT_MS / 1000);
	/* If it is our child, its exit is ours to collect; otherwise this fails, and that is fine. */
	waitid(P_PIDFD, (id_t)pidfd, &(siginfo_t){0}, WEXITED | WNOHANG | __WALL);
	return 0;
}

/* Only a mount that is ours: an engine may have mounted the root filesystem there before us. */
static int destroy_unmount_root(const struct record *r, struct error *e)
{
	if (!r->root_on_host || sys_mount_id(r->rootfs) == r->root_mount_id)
		return 0;
	if (umount2(r->rootfs, MNT_DETACH | UMOUNT_NOFOLLOW) < 0 && errno != EINVAL && errno != ENOENT)
		return err_sys(e, "unmount %s", r->rootfs);
	return 0;
}

static void destroy_run_poststop(const struct record *r, struct arena *a)
{
	if (!r->hooks.poststop.n)
		return;
	/* The specification: warn, and go on as if it had succeeded. */
	hooks_run_all(&r->hooks.poststop, "poststop", record_state_text(r, STATUS_STOPPED, 0, a),
		      &(struct hook_setting){.dir = r->bundle});
}

/* What a record of another boot describes is gone; its names may be somebody else's by now. */
static int destroy_is_of_this_boot(const struct record *r, bool *ret, struct error *e)
{
	char boot_id[37];

	if (proc_boot_id(boot_id, e) < 0)
		return -1;
	*ret = str_eq(boot_id, r->boot_id);
	return 0;
}

/* Without cgroups and a pid namespace of its own, whose end is theirs, others may outlive init. */
static int destroy_members(const struct record *r, int pidfd, struct error *e)
{
	struct members m;
	int rc;

	if (r->own_pid_ns)
		return 0;
	life_find_members(r, pidfd, &m);
	rc = members_signal(&m, SIGKILL, e);
	members_close(&m);
	return rc;
}

/* What may fail because of what the container did with ids that are not the caller's. */
typedef int destroy_act(const struct store *s, const struct cgroup_dirs *d, struct error *e);

static int destroy_kill_all(const struct store *s, const struct cgroup_dirs *d, struct error *e)
{
	(void)s;
	return cgroup_kill(d, e);
}

static int destroy_cgroups(const struct store *s, const struct cgroup_dirs *d, struct error *e)
{
	(void)s;
	return cgroup_destroy(d, e);
}

static int destroy_writings(const struct store *s, const struct cgroup_dirs *d, struct error *e)
{
	(void)d;
	return store_sweep(s, e);
}

/* A user namespace with the ids of the container's own; -1 if it had none. */
static int destroy_open_ids(const struct store *s, struct arena *a, struct error *e)
{
	struct oci_config *c = arena_new(a, struct oci_config);

	if (life_read_config(s, a, c, e) < 0)
		return -1;
	if (!c->linux_.uid_mappings.n || !c->linux_.gid_mappings.n)
		return err_set(e, ERR_SYSTEM, "it has no ids of its own");
	return userns_open_map(&c->linux_.uid_mappings, &c->linux_.gid_mappings, true, e);
}

/*
 * An ordinary user's container can give what it made, cgroups below its own for instance, to another of its
 * ids, or close it for everybody. In a user namespace with these ids the caller has rights over all of it.
 */
static int destroy_by_ids(destroy_act *act, const struct store *s, const struct cgroup_dirs *dirs,
			  struct arena *a)
{
	struct error ignored;
	autoclose int ns_fd = destroy_open_ids(s, a, &ignored);
	pid_t pid;

	if (ns_fd < 0)
		return -1;
	pid = sys_clone3(0, -1, NULL);
	if (pid == 0)
		_exit(setns(ns_fd, CLONE_NEWUSER) < 0 || act(s, dirs, &ignored) < 0);
	return pid > 0 && child_collect(pid) == 0 ? 0 : -1;
}

static int destroy_one(destroy_act *act, const struct store *s, const struct cgroup_dirs *dirs,
		       struct arena *a, struct error *e)
{
	if (act(s, dirs, e) == 0)
		return 0;
	return e->sys == EACCES && geteuid() != 0 ? destroy_by_ids(act, s, dirs, a) : -1;
}

static int destroy_all(const struct store *s, const struct record *r, int pidfd, struct arena *a,
		       struct error *e)
{
	const struct cgroup_dirs dirs = life_cgroups(r);
	struct error other;
	int result = 0;

	if (!dirs.n && destroy_members(r, pidfd, e) < 0)
		result = -1;
	/* Before init is waited for: it does not end while something of it is frozen. */
	if (pidfd >= 0 && destroy_one(destroy_kill_all, s, &dirs, a, e) < 0)
		result = -1;
	if (destroy_kill_init(pidfd, r->id, result < 0 ? &other : e) < 0)
		result = -1;
	if (destroy_one(destroy_cgroups, s, &dirs, a, result < 0 ? &other : e) < 0)
		result = -1;
	if (destroy_one(destroy_writings, s, &dirs, a, result < 0 ? &other : e) < 0)
		result = -1;
	if (rdt_remove(&r->rdt, result < 0 ? &other : e) < 0)
		result = -1;
	if (destroy_unmount_root(r, result < 0 ? &other : e) < 0)
		result = -1;
	return result;
}

int life_destroy(struct store *s, const struct record *r, int pidfd, struct arena *a,
		 struct error *e)
{
	bool ours;

	/* Hooks of poststop run, whoever wants to delete it besides us, and whatever has ended a create. */
	patience_renew();
	if (destroy_is_of_this_boot(r, &ours, e) < 0 || (ours && destroy_all(s, r, pidfd, a, e) < 0))
		return -1;
	destroy_run_poststop(r, a);
	return store_remove(s, e);
}
