/*
 * update: new limits for a container, by the same plan as at create. Values that are not given stay
 * as they are, and so do those that engines send as 0. What v2 keeps in one file but the config in
 * two fields is completed from the kernel's files first. Device rules are not touched: a list for
 * create begins with "deny all", which would cut off what is running.
 */
#include "base/log.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "cgroup/rdt.h"
#include "life/internal.h"
#include "life/policy.h"
#include "oci/oci.h"
#include "sys/sys.h"

#define R "linux.resources."

static bool update_asks(struct opt_i64 v)
{
	return v.set && v.v != 0;
}

/* v2 counts swap alone, so memory and swap together need the limit that is in force. */
static void update_complete_memory(struct oci_memory *m, const struct cgroup_dirs *d)
{
	int64_t limit;

	if (m->swap.set && m->swap.v > 0 && !update_asks(m->limit) &&
	    cgroup_current(d, "memory.max", &limit) && limit >= 0)
		m->limit = (struct opt_i64){true, limit};
}

/* v2 has quota and period in one file, where a period can't be set alone. systemd keeps what they
 * make up together. */
static void update_complete_cpu(struct oci_cpu *c, const struct cgroup_dirs *d, bool unit)
{
	int64_t v;

	if (c->period.set && c->period.v && !update_asks(c->quota) &&
	    (cgroup_current(d, "cpu.max", &v) ||
	     (unit && cgroup_current(d, "cpu.cfs_quota_us", &v))))
		c->quota = (struct opt_i64){true, v};
	if (unit && update_asks(c->quota) && !(c->period.set && c->period.v) &&
	    cgroup_current_period(d, &v) && v > 0)
		c->period = (struct opt_u64){true, (uint64_t)v};
}

/* checkBeforeUpdate: refuse a limit that would have the kernel kill processes. */
static int update_check_usage(const struct oci_memory *m, const struct cgroup_dirs *d,
			      struct error *e)
{
	int64_t usage;

	if (!m->check_before_update || !m->limit.set || m->limit.v <= 0)
		return 0;
	if (!cgroup_current(d, "memory.usage_in_bytes", &usage) &&
	    !cgroup_current(d, "memory.current", &usage))
		return 0;
	if (m->limit.v < usage)
		return err_set(
			e, ERR_CONFIG,
			R "memory.limit: %lld is below the %lld bytes in use (checkBeforeUpdate)",
			(long long)m->limit.v, (long long)usage);
	return 0;
}

static int update_plan(struct oci_resources *r, const struct cgroup_dirs *dirs,
		       const struct cgroup_unit *unit, struct arena *a, struct cgroup_plan *ret,
		       struct error *e)
{
	struct cgroup_host host;

	if (r->devices.n) {
		log_debug(R "devices: update leaves device rules as they are");
		r->devices.n = 0;
	}
	update_complete_memory(&r->memory, dirs);
	update_complete_cpu(&r->cpu, dirs, unit->name != NULL);
	if (oci_resources_validate(r, R, e) < 0 || update_check_usage(&r->memory, dirs, e) < 0 ||
	    cgroup_host_probe(!sys_is_machine_root(), a, &host, e) < 0)
		return -1;
	return cgroup_plan_update(r, dirs, unit, &host, a, ret, e);
}

/* The class first: one write, which can be taken back when the cgroups refuse. */
static int update_write(const struct record *r, const char *schemata,
			const struct cgroup_plan *plan, const struct noter *noter, struct arena *a,
			struct error *e)
{
	const char *old = NULL;
	struct error ignored;
	char warning[512];
	int result;

	if (schemata && rdt_set_schemata(&r->rdt, schemata, a, &old, e) < 0)
		return -1;
	result = cgroup_update(plan, warning, sizeof(warning), e);
	if (*warning)
		note(noter, "%s", warning);
	if (result < 0 && schemata && rdt_set_schemata(&r->rdt, old, a, NULL, &ignored) < 0)
		note(noter, "update: %s", ignored.text);
	return result;
}

/* A policy that demands limits, or knows what keys of cgroups there are, holds later, too. */
static int update_check_policy(const struct record *record, const struct oci_resources *r,
			       struct arena *a, struct error *e)
{
	const bool takes[] = {
		r->pids_limit.set && r->pids_limit.v <= 0,
		r->memory.limit.set && r->memory.limit.v <= 0,
		r->memory.swap.set &&
			(r->memory.swap.v < 0 ||
			 (r->memory.limit.set && r->memory.swap.v > r->memory.limit.v)),
		r->cpu.quota.set && r->cpu.quota.v <= 0,
	};
	struct policy p;
	size_t i;

	if (life_policy_of(record, a, &p, e) < 0)
		return -1;
	for (i = 0; p.level[LEVEL_LIMITS] == LIMITS_REQUIRED && i < ARRAY_SIZE(takes); i++)
		if (takes[i])
			return err_set(e, ERR_CONFIG,
				       "policy %s refuses to take a limit away [limits]", p.name);
	for (i = 0; i < r->unified.n; i++)
		if (!policy_gives(&p, LIST_CGROUP_KEYS, r->unified.v[i].key))
			return err_set(e, ERR_CONFIG,
				       "policy %s refuses a key of cgroups (unified: %s) "
				       "[cgroup-keys]",
				       p.name, json_show(r->unified.v[i].key).text);
	return 0;
}

int life_update(const char *root, const char *id, const struct oci_resources *resources,
		const struct oci_intel_rdt *rdt, const struct noter *noter, struct arena *a,
		struct error *e)
{
	auto_store struct store s = STORE_NONE;
	const char *schemata = rdt_schemata(rdt->l3_cache_schema, rdt->mem_bw_schema, NULL, a);
	struct oci_resources r = *resources;
	struct cgroup_plan plan;
	struct cgroup_dirs dirs;
	struct record record;
	enum status status;

	/* Judged first, so that nonsense is refused whatever the container does. */
	if (oci_resources_validate(&r, R, e) < 0 ||
	    life_load(root, id, STORE_LOCK, a, &s, &record, e) < 0 ||
	    store_status(&s, &record, &status, NULL, e) < 0 ||
	    update_check_policy(&record, &r, a, e) < 0)
		return -1;
	switch (status) {
	case STATUS_CREATED:
	case STATUS_RUNNING:
	case STATUS_PAUSED:
		break;
	case STATUS_CREATING:
	case STATUS_STOPPED:
		return err_set(e, ERR_WRONG_STATE, "container not running");
	}
	if (schemata && !record.rdt.set)
		return err_set(e, ERR_CONFIG, "linux.intelRdt: container \"%s\" has none", id);
	dirs = life_cgroups(&record);
	if (!dirs.n)
		return err_set(e, ERR_HOST, "update: container \"%s\" has no cgroups", id);
	if (update_plan(&r, &dirs, &record.unit, a, &plan, e) < 0)
		return -1;
	note_all(noter, &plan.warnings);
	if (update_write(&record, schemata, &plan, noter, a, e) < 0)
		return -1;
	log_info("limits of container %s updated", id);
	return 0;
}
