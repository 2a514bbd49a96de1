/*
 * Signals. SIGKILL must end what it is sent to: without a pid namespace of its own a container's
 * processes outlive its init, and in the v1 freezer they wait for the thaw to die.
 */
#include <errno.h>
#include <signal.h>
#include <sys/pidfd.h>

#include "base/fd.h"
#include "base/log.h"
#include "cgroup/cgroup.h"
#include "life/internal.h"

struct killing {
	struct cgroup_dirs dirs;
	int sig;
	int pidfd; /* of init, as far as the cgroups are the container's only with it; or -1 */
};

static int kill_all(void *arg, struct error *e)
{
	const struct killing *k = arg;

	return k->sig == SIGKILL ? cgroup_kill_with_init(&k->dirs, k->pidfd, e) :
				   cgroup_signal(&k->dirs, k->sig, e);
}

/* Signals all processes of a container that has no cgroups. 1: none but init can be found, and the
 * caller signals init alone. */
static int kill_members(const struct store *s, const struct record *r, int pidfd, int sig,
			struct error *e)
{
	struct members m;
	int rc = 1;

	/* The end of its init is the end of a pid namespace. */
	if (r->own_pid_ns && sig == SIGKILL)
		return 1;
	life_find_members(s, r, pidfd, &m);
	if (m.ns_fd >= 0 || (m.mnt_id && members_exist(&m)))
		rc = members_signal(&m, sig, e);
	members_close(&m);
	return rc;
}

/* The signal has been sent: that the thaw fails is a note, and `delete --force` will still do. */
static void kill_thaw(const struct cgroup_dirs *dirs, const struct noter *noter)
{
	struct error why;

	if (cgroup_is_frozen(dirs) && cgroup_freeze(dirs, false, &why) < 0)
		note(noter, "%s", why.text);
}

/* Init has ended. What has outlived it is killed, too; where nothing has, that is said. */
static int kill_find_rest(const struct record *r, bool all, struct cgroup_dirs *dirs,
			  struct error *e)
{
	int holds = cgroup_unit_holds(&r->unit, dirs, e);

	/* The end of init was that of all others. */
	if (holds < 0 && r->own_pid_ns && r->pid > 0)
		holds = 0;
	if (holds < 0)
		return -1;
	if (!holds || (!all && cgroup_is_empty(dirs)))
		dirs->n = 0;
	return 0;
}

int life_kill(const char *root, const char *id, int sig, bool all, const struct noter *noter,
	      struct arena *a, struct error *e)
{
	auto_store struct store s = STORE_NONE;
	autoclose int pidfd = -1;
	struct cgroup_dirs dirs;
	enum status status;
	struct record r;
	bool whole;

	if (life_load(root, id, STORE_LOOK, a, &s, &r, e) < 0)
		return -1;
	log_debug("kill: signal %d%s", sig, all ? " to all processes" : "");
	dirs = life_cgroups(&r);
	if (store_status(&s, &r, &status, &pidfd, e) < 0)
		return -1;
	whole = all || (sig == SIGKILL && !r.own_pid_ns);
	if (whole && pidfd < 0 && dirs.n && kill_find_rest(&r, all, &dirs, e) < 0)
		return -1;
	if (dirs.n && whole)
		return life_act_by_ids(kill_all,
				       &(struct killing){.dirs = dirs,
							 .sig = sig,
							 .pidfd = r.unit.name ? pidfd : -1},
				       &s, a, e);
	if (!dirs.n && whole) {
		int rc = kill_members(&s, &r, pidfd, sig, e);

		if (rc <= 0)
			return rc;
	}
	if (status != STATUS_CREATED && status != STATUS_RUNNING)
		return all ? 0 : err_set(e, ERR_WRONG_STATE, "container not running");
	if (pidfd_send_signal(pidfd, sig, NULL, 0) < 0) {
		if (errno != ESRCH)
			return err_sys(e, "signal container \"%s\"", id);
		return all ? 0 : err_set(e, ERR_WRONG_STATE, "container not running");
	}
	log_info("signal %d sent to process %d of container %s", sig, r.pid, id);
	if (sig == SIGKILL)
		kill_thaw(&dirs, noter);
	return 0;
}
