/*
 * pause and resume. Nothing is recorded: the kernel's freezer is the one that knows, so that a
 * container which somebody else froze or thawed is reported as it is.
 */
#include "base/log.h"
#include "cgroup/cgroup.h"
#include "life/internal.h"

int life_pause(const char *root, const char *id, struct arena *a, struct error *e)
{
	auto_store struct store s = STORE_NONE;
	struct cgroup_dirs dirs;
	enum status status;
	struct record r;

	/* Locked, so that a start is not caught between its two halves. */
	if (life_load(root, id, STORE_LOCK, a, &s, &r, e) < 0 ||
	    life_status(&s, &r, &status, NULL, e) < 0)
		return -1;
	switch (status) {
	case STATUS_CREATED:
	case STATUS_RUNNING:
		break;
	case STATUS_PAUSED:
		return err_set(e, ERR_WRONG_STATE, "container not running: it is paused already");
	case STATUS_CREATING:
	case STATUS_STOPPED:
		return err_set(
			e, ERR_WRONG_STATE,
			"container not running: only a running or created one can be paused");
	}
	dirs = life_cgroups(&r);
	if (cgroup_freeze(&dirs, true, e) < 0)
		return -1;
	log_info("container %s paused", id);
	return 0;
}

int life_resume(const char *root, const char *id, struct arena *a, struct error *e)
{
	auto_store struct store s = STORE_NONE;
	struct cgroup_dirs dirs;
	enum status status;
	struct record r;

	if (life_load(root, id, STORE_LOCK, a, &s, &r, e) < 0 ||
	    life_status(&s, &r, &status, NULL, e) < 0)
		return -1;
	if (status != STATUS_PAUSED)
		return err_set(e, ERR_WRONG_STATE, "container not paused");
	dirs = life_cgroups(&r);
	if (cgroup_freeze(&dirs, false, e) < 0)
		return -1;
	log_info("container %s resumed", id);
	return 0;
}
