#include <signal.h>
#include <sys/pidfd.h>

#include "base/fd.h"
#include "cgroup/cgroup.h"
#include "life/internal.h"

/* The verb that holds the lock may be waiting for this very process: a start whose init is
 * stopped. */
static void delete_kill_first(const char *root, const char *id, struct arena *a)
{
	auto_store struct store s = STORE_NONE;
	autoclose int pidfd = -1;
	struct error ignored;
	enum status status;
	struct record r;

	if (life_load(root, id, STORE_LOOK, a, &s, &r, &ignored) == 0 && r.committed &&
	    store_status(&s, &r, &status, &pidfd, &ignored) == 0 && pidfd >= 0)
		pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
}

int life_delete(const char *root, const char *id, bool force, const struct noter *noter,
		struct arena *a, struct error *e)
{
	auto_store struct store s = STORE_NONE;
	autoclose int pidfd = -1;
	enum status status;
	struct record r;
	bool found;

	if (store_check_id(id, e) < 0)
		return -1;
	if (force)
		delete_kill_first(root, id, a);
	if (store_open(root, id, force ? STORE_FORCE : STORE_LOCK, &s, e) < 0)
		return force && e->class == ERR_NOT_FOUND ? 0 : -1;
	if (store_read(&s, a, &r, &found, e) < 0) {
		if (!force || e->class != ERR_CONFIG)
			return -1;
		/* Nothing more can be known of it; what stands in its way goes. */
		note(noter, "%s: its cgroups and processes, if any, are not on record", e->text);
		return store_remove(&s, e);
	}
	/* A create that was cut short before it had made anything. */
	if (!found)
		return store_remove_unrecorded(&s, e);
	/* Only what is known to have ended, or is killed now, may lose its record. */
	if (store_status(&s, &r, &status, &pidfd, e) < 0)
		return -1;
	if (status == STATUS_RUNNING && !force) {
		const struct cgroup_dirs dirs = life_cgroups(&r);

		return err_set(
			e, ERR_WRONG_STATE,
			"cannot delete container \"%s\" that is not stopped: %s (use --force)", id,
			cgroup_is_frozen(&dirs) ? "paused" : "running");
	}
	return life_destroy(&s, &r, pidfd, noter, a, e);
}
