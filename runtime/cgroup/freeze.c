/*
 * Freezing, thawing, and whether it is so. The v1 freezer is taken where there is one, because that
 * is where other tools look; else cgroup.freeze. The kernel freezes bit by bit: writing starts it,
 * and a v1 cgroup in which processes are being forked may need to be told again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "cgroup/tree.h"
#include "cgroup/write.h"

#define FREEZE_US 10000000L

/* The directory whose files freeze the container, or NULL. */
static const struct cgroup_dir *freezer_find(const struct cgroup_dirs *d)
{
	const struct cgroup_dir *found = NULL;
	size_t i;

	for (i = 0; i < d->n; i++) {
		if (d->v[i].freezer)
			return &d->v[i];
		if (d->v[i].unified)
			found = &d->v[i];
	}
	return found;
}

static int state_write(int dfd, bool unified, bool freeze)
{
	if (unified)
		return cgroup_write_at(dfd, "cgroup.freeze", freeze ? "1" : "0");
	return cgroup_write_at(dfd, "freezer.state", freeze ? "FROZEN" : "THAWED");
}

/* Has the kernel got there? */
static bool state_reached(int dfd, bool unified, bool freeze)
{
	char text[512];

	if (unified)
		return fd_read_at(dfd, "cgroup.events", text, sizeof(text)) > 0 &&
		       strstr(text, freeze ? "frozen 1" : "frozen 0");
	return fd_read_at(dfd, "freezer.state", text, sizeof(text)) > 0 &&
	       str_eq(text, freeze ? "FROZEN" : "THAWED");
}

int cgroup_freeze(const struct cgroup_dirs *d, bool freeze, struct error *e)
{
	const struct cgroup_dir *f = freezer_find(d);
	struct cgroup_waiting wait = {.left_us = FREEZE_US};
	autoclose int dfd = -1;

	if (!f)
		return err_set(e, ERR_HOST, "cgroup: this container has none that can be frozen");
	dfd = cgroup_dir_open(f);
	if (dfd < 0)
		return err_sys(e, "cgroup %s%s", f->mount, f->path);
	do {
		if (state_write(dfd, f->unified, freeze) < 0)
			return err_sys(e, "cgroup %s%s: %s", f->mount, f->path,
				       freeze ? "freeze" : "thaw");
		if (state_reached(dfd, f->unified, freeze))
			return 0;
	} while (cgroup_wait(&wait));
	if (freeze)
		(void)!state_write(dfd, f->unified, false);
	return err_set(e, ERR_SYSTEM, "cgroup %s%s: could not %s it in %ld s", f->mount, f->path,
		       freeze ? "freeze" : "thaw", FREEZE_US / 1000000);
}

bool cgroup_is_frozen(const struct cgroup_dirs *d)
{
	const struct cgroup_dir *f = freezer_find(d);
	autoclose int dfd = f ? cgroup_dir_open(f) : -1;

	return dfd >= 0 && cgroup_dfd_frozen(dfd, f->unified);
}
