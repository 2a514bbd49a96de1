/*
 * Removing a container's cgroups. The usual case is one rmdir a hierarchy. A process that is just
 * exiting keeps its cgroup busy for a moment, and containers can have made cgroups below theirs, so
 * EBUSY means: empty the subtree, wait a little, try again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "cgroup/driver.h"
#include "cgroup/tree.h"

#define REMOVE_US 5000000L

static int leave_remove(int parent_dfd, const char *name, void *arg)
{
	(void)arg;
	if (unlinkat(parent_dfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT && errno != EBUSY)
		return -1;
	return 0;
}

/* Children first. What is busy stays for the next try. */
int cgroup_empty(const char *full)
{
	autoclose int dfd = open(full, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return dfd < 0 ? -1 : cgroup_walk(dfd, NULL, leave_remove, NULL);
}

static int dir_rmdir(const char *full)
{
	if (rmdir(full) < 0)
		return errno == ENOENT ? 0 : -1;
	log_info("cgroup removed: %s", full);
	return 0;
}

/* A busy one may be another's by now: systemd removes directories of its units, too. */
static int leaf_remove(const struct cgroup_dir *d, const char *full, struct cgroup_waiting *wait,
		       struct error *e)
{
	bool closed;

	for (;;) {
		if (dir_rmdir(full) == 0)
			return 0;
		if (errno != EBUSY && errno != ENOTEMPTY)
			break;
		if (cgroup_claim_whose(d, -1, full) != CGROUP_OURS)
			return 0;
		closed = cgroup_empty(full) < 0 && errno == EACCES;
		if (dir_rmdir(full) == 0)
			return 0;
		if (closed) {
			errno = EACCES;
			break;
		}
		if (!cgroup_wait(wait)) {
			errno = EBUSY;
			break;
		}
	}
	return err_sys(e, "cgroup: remove %s", full);
}

/* Parents up to `made` are ours by the record; above it, those that carry a create's mark. */
static void parents_remove(const struct cgroup_dir *d, char *full)
{
	size_t mount_len = strlen(d->mount);
	size_t made_len = mount_len + strlen(d->made);
	size_t len = strlen(full);
	char mark[2];

	for (;;) {
		while (len > mount_len && full[len] != '/')
			len--;
		if (len <= mount_len)
			return;
		full[len] = '\0';
		if (len < made_len && getxattr(full, CGROUP_MARK, mark, sizeof(mark)) < 0)
			return;
		if (dir_rmdir(full) < 0)
			return;
	}
}

/* systemd learns from this directory that nobody is left in the unit. When it looks and finds none,
 * it keeps the unit for good. */
static bool is_left_to_systemd(const struct cgroup_dir *d, bool told)
{
	return !told && d->by_systemd && d->unified;
}

/* Only what is the container's. What nobody has claimed may be what a create made that was cut
 * short, or an engine's: it goes if it is empty. */
static int dir_remove(const struct cgroup_dir *d, char *full, bool told,
		      struct cgroup_waiting *wait, struct error *e)
{
	int whose = cgroup_claim_whose(d, -1, full);

	if (whose < 0 && errno != ENOENT)
		return err_sys(e, "cgroup: look at %s", full);
	if (is_left_to_systemd(d, told)) {
		if (whose == CGROUP_OURS)
			(void)!cgroup_empty(full);
		return 0;
	}
	if (whose == CGROUP_ANOTHERS || (whose == CGROUP_NOBODYS && rmdir(full) < 0))
		return 0;
	if (whose == CGROUP_OURS && leaf_remove(d, full, wait, e) < 0)
		return -1;
	parents_remove(d, full);
	return 0;
}

static int remove_within(const struct cgroup_dirs *d, bool told, long limit_us, struct error *e)
{
	struct cgroup_waiting wait = {.left_us = limit_us};
	char full[CGROUP_PATH_SIZE];
	struct error later;
	int rc = 0;
	size_t i;

	for (i = 0; i < d->n; i++) {
		/* Never a mount point itself, whatever a record says. */
		if (d->v[i].path[0] != '/' || !d->v[i].path[1] ||
		    !cgroup_full_path(d->v[i].mount, d->v[i].path, full))
			continue;
		if (dir_remove(&d->v[i], full, told, &wait, rc ? &later : e) < 0)
			rc = -1;
	}
	return rc;
}

int cgroup_remove(const struct cgroup_dirs *d, struct error *e)
{
	return remove_within(d, true, REMOVE_US, e);
}

/* Of a unit that is another's by now, systemd's directories are, too, and the others may be. */
static void remove_of_lost_unit(const struct cgroup_dirs *d)
{
	char full[CGROUP_PATH_SIZE];
	size_t i;

	for (i = 0; i < d->n; i++)
		if (!d->v[i].by_systemd && cgroup_full_path(d->v[i].mount, d->v[i].path, full) &&
		    cgroup_claim_whose(&d->v[i], -1, full) == CGROUP_OURS && dir_rmdir(full) == 0)
			parents_remove(&d->v[i], full);
}

int cgroup_destroy(const struct cgroup_unit *u, const struct cgroup_dirs *d, bool all_ended,
		   const struct noter *noter, struct error *e)
{
	struct error ignored;
	int holds;

	if (!u->name && remove_within(d, true, 0, &ignored) == 0)
		return 0;
	holds = cgroup_unit_holds(u, d, e);
	if (holds < 0 && !all_ended)
		return -1;
	if (holds < 0)
		note(noter,
		     "%s (what is in the cgroup of %s is left alone, for the container's "
		     "processes have ended)",
		     e->text, u->name);
	if (holds <= 0) {
		remove_of_lost_unit(d);
		return 0;
	}
	if (cgroup_kill(d, e) < 0)
		return -1;
	return remove_within(d, cgroup_driver_end(u, d, noter), REMOVE_US, e);
}
