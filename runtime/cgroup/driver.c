#include "cgroup/driver.h"

static const struct cgroup_driver_calls cgroup_by_cgroupfs = {0};

static const struct cgroup_driver_calls *driver_of(const struct cgroup_unit *u)
{
	return u->name ? &cgroup_by_systemd : &cgroup_by_cgroupfs;
}

int cgroup_driver_begin(const struct cgroup_plan *p, const struct cgroup_dirs *d,
			struct cgroup_handle *h, struct error *e)
{
	const struct cgroup_driver_calls *driver = driver_of(&p->unit);

	return driver->begin ? driver->begin(p, d, h, e) : 0;
}

void cgroup_driver_give_up(const struct cgroup_unit *u, const struct cgroup_dirs *d,
			   struct cgroup_handle *h)
{
	const struct cgroup_driver_calls *driver = driver_of(u);

	if (driver->give_up)
		driver->give_up(u, d, h);
}

int cgroup_driver_update(const struct cgroup_plan *p, struct error *e)
{
	const struct cgroup_driver_calls *driver = driver_of(&p->unit);

	return driver->update ? driver->update(p, e) : 0;
}

int cgroup_unit_holds(const struct cgroup_unit *u, const struct cgroup_dirs *d, struct error *e)
{
	const struct cgroup_driver_calls *driver = driver_of(u);

	return !driver->holds || cgroup_is_empty(d) ? 1 : driver->holds(u, d, e);
}

bool cgroup_driver_end(const struct cgroup_unit *u, const struct cgroup_dirs *d,
		       const struct noter *noter)
{
	const struct cgroup_driver_calls *driver = driver_of(u);

	return !driver->end || driver->end(u, d, noter);
}
