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
#include "base/log.h"
#include "base/str.h"
#include "base/timing.h"
#include "cgroup/cgroup.h"
#include "cgroup/rdt.h"
#include "init/hooks.h"
#include "life/internal.h"
#include "life/range.h"
#include "sys/loop.h"
#include "sys/patience.h"
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
			return err_set(e, ERR_SYSTEM,
				       "container \"%s\" did not end within %d s of SIGKILL", id,
				       EXIT_WAIT_MS / 1000);
	/* If it is our child, its exit is ours to collect; otherwise this fails, and
	 * that is fine. */
	waitid(P_PIDFD, (id_t)pidfd, &(siginfo_t){0}, WEXITED | WNOHANG | __WALL);
	return 0;
}

/* Only a mount that is ours: an engine may have mounted the root filesystem there before us. */
static int destroy_unmount_root(const struct record *r, struct error *e)
{
	if (!r->root_on_host || sys_mount_id(r->rootfs) == r->root_mount_id)
		return 0;
	if (umount2(r->rootfs, MNT_DETACH | UMOUNT_NOFOLLOW) < 0 && errno != EINVAL &&
	    errno != ENOENT)
		return err_sys(e, "unmount %s", r->rootfs);
	return 0;
}

static void destroy_run_poststop(const struct record *r, const struct noter *noter,
				 struct arena *a)
{
	if (!r->hooks.poststop.n)
		return;
	/* The specification: warn, and go on as if it had succeeded. */
	hooks_run_all(&r->hooks.poststop, "poststop", record_state_text(r, STATUS_STOPPED, 0, a),
		      &(struct hook_setting){.dir = r->bundle,
					     .trust_policy = r->trusted_hooks},
		      noter);
}

/* Without cgroups and a pid namespace of its own, whose end is theirs, others may outlive init. */
static int destroy_members(const struct store *s, const struct record *r, int pidfd,
			   struct error *e)
{
	struct members m;
	int rc;

	if (r->own_pid_ns)
		return 0;
	life_find_members(s, r, pidfd, &m);
	rc = members_signal(&m, SIGKILL, e);
	members_close(&m);
	return rc;
}

/* Work that may fail over ids that the container used and the caller lacks. */
struct destroy_cgroups {
	const struct cgroup_unit *unit;
	const struct cgroup_dirs *dirs;
	const struct noter *noter;
	int pidfd;	/* init's */
	bool all_ended; /* when init has */
};

static int destroy_kill_all(void *arg, struct error *e)
{
	const struct destroy_cgroups *d = arg;

	return cgroup_kill_with_init(d->dirs, d->unit->name ? d->pidfd : -1, e);
}

static int destroy_cgroups(void *arg, struct error *e)
{
	const struct destroy_cgroups *d = arg;

	return cgroup_destroy(d->unit, d->dirs, d->all_ended, d->noter, e);
}

static int destroy_writings(void *store, struct error *e)
{
	return store_sweep(store, e);
}

static int destroy_all(struct store *s, const struct record *r, int pidfd,
		       const struct noter *noter, struct arena *a, struct error *e)
{
	struct cgroup_dirs dirs = life_cgroups(r);
	struct destroy_cgroups cgroups = {.unit = &r->unit,
					  .dirs = &dirs,
					  .noter = noter,
					  .pidfd = pidfd,
					  .all_ended = r->own_pid_ns && r->pid > 0};
	struct error other;
	int result = 0;

	if (!dirs.n && destroy_members(s, r, pidfd, e) < 0)
		result = -1;
	/* Before init is waited for: it does not end while something of it is frozen. */
	if (pidfd >= 0 && life_act_by_ids(destroy_kill_all, &cgroups, s, a, e) < 0)
		result = -1;
	if (destroy_kill_init(pidfd, r->id, result < 0 ? &other : e) < 0)
		result = -1;
	if (life_act_by_ids(destroy_cgroups, &cgroups, s, a, result < 0 ? &other : e) < 0)
		result = -1;
	timing_mark("cgroups removed");
	if (life_act_by_ids(destroy_writings, s, s, a, result < 0 ? &other : e) < 0)
		result = -1;
	if (rdt_remove(&r->rdt, result < 0 ? &other : e) < 0)
		result = -1;
	if (destroy_unmount_root(r, result < 0 ? &other : e) < 0)
		result = -1;
	return result;
}

int life_destroy(struct store *s, const struct record *r, int pidfd, const struct noter *noter,
		 struct arena *a, struct error *e)
{
	bool ours;

	/* Hooks of poststop run, whoever wants to delete it besides us, and whatever has ended a
	 * create. */
	patience_renew();
	/* Objects of another boot's record are gone; their names may be somebody else's by now. */
	if (life_is_of_this_boot(r, &ours, e) < 0 ||
	    (ours && destroy_all(s, r, pidfd, noter, a, e) < 0))
		return -1;
	destroy_run_poststop(r, noter, a);
	range_release(s, r);
	if (store_remove(s, e) < 0)
		return -1;
	log_info("container %s deleted", r->id);
	return 0;
}
