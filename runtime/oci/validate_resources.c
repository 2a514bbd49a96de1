/*
 * linux.resources, also of update. A limit of -1 is "none"; 0 in shares, quota, period, weights and
 * memory limits is what engines write for "not given", and passes.
 */
#include <ctype.h>

#include "base/str.h"
#include "oci/validate.h"

static int validate_limit(const struct opt_i64 *v, const char *at, const char *name,
			  struct error *e)
{
	if (v->set && v->v < -1)
		return REFUSE(e, "%s%s: %lld is below -1", at, name, (long long)v->v);
	return 0;
}

static int validate_device_rules(const struct oci_resources *r, const char *at, struct error *e)
{
	const struct oci_device_rule *d;
	size_t i;

	for (i = 0; i < r->devices.n; i++) {
		d = &r->devices.v[i];
		if (d->type && (strlen(d->type) != 1 || !strchr("abc", d->type[0])))
			return REFUSE(e, "%sdevices[%zu].type: unknown value %s", at, i,
				      json_show(d->type).text);
		if (d->access && strspn(d->access, "rwm") != strlen(d->access))
			return REFUSE(e, "%sdevices[%zu].access: %s is not made of r, w and m", at,
				      i, json_show(d->access).text);
		/* -1 stands for all numbers, as absence does. */
		if ((d->major.set && (d->major.v < -1 || d->major.v > UINT32_MAX)) ||
		    (d->minor.set && (d->minor.v < -1 || d->minor.v > UINT32_MAX)))
			return REFUSE(e, "%sdevices[%zu]: no device has that number", at, i);
	}
	return 0;
}

static int validate_memory(const struct oci_memory *m, const char *at, struct error *e)
{
	if (validate_limit(&m->limit, at, "memory.limit", e) < 0 ||
	    validate_limit(&m->reservation, at, "memory.reservation", e) < 0 ||
	    validate_limit(&m->swap, at, "memory.swap", e) < 0 ||
	    validate_limit(&m->kernel, at, "memory.kernel", e) < 0 ||
	    validate_limit(&m->kernel_tcp, at, "memory.kernelTCP", e) < 0)
		return -1;
	/* Swap is memory and swap together. */
	if (m->limit.set && m->swap.set && m->swap.v > 0 && m->swap.v < m->limit.v)
		return REFUSE(e, "%smemory.swap: below the memory limit", at);
	if (m->swappiness.set && m->swappiness.v > 100)
		return REFUSE(e, "%smemory.swappiness: %llu is above 100", at,
			      (unsigned long long)m->swappiness.v);
	if (m->use_hierarchy.set && !m->use_hierarchy.v)
		return REFUSE(e, "%smemory.useHierarchy: can't be false since Linux 5.11", at);
	return 0;
}

/* The bounds are the kernel's, in microseconds. */
static int validate_quota(const struct oci_cpu *c, const char *at, struct error *e)
{
	enum { SHORTEST_US = 1000, LONGEST_US = 1000000 };

	if (c->period.set && c->period.v != 0 &&
	    (c->period.v < SHORTEST_US || c->period.v > LONGEST_US))
		return REFUSE(e, "%scpu.period: %llu is not %d to %d", at,
			      (unsigned long long)c->period.v, SHORTEST_US, LONGEST_US);
	if (c->quota.set && c->quota.v > 0 && c->quota.v < SHORTEST_US)
		return REFUSE(e, "%scpu.quota: %lld is below %d", at, (long long)c->quota.v,
			      SHORTEST_US);
	if (validate_limit(&c->quota, at, "cpu.quota", e) < 0)
		return -1;
	if (c->burst.set && c->quota.set && c->quota.v > 0 && c->burst.v > (uint64_t)c->quota.v)
		return REFUSE(e, "%scpu.burst: above the quota", at);
	return 0;
}

static int validate_cpu(const struct oci_cpu *c, const char *at, struct error *e)
{
	if (validate_quota(c, at, e) < 0 ||
	    validate_limit(&c->realtime_runtime, at, "cpu.realtimeRuntime", e) < 0)
		return -1;
	if (c->realtime_runtime.set && c->realtime_period.set && c->realtime_period.v > 0 &&
	    c->realtime_runtime.v > 0 && (uint64_t)c->realtime_runtime.v > c->realtime_period.v)
		return REFUSE(e, "%scpu.realtimeRuntime: above realtimePeriod", at);
	if (c->idle.set && c->idle.v != 0 && c->idle.v != 1)
		return REFUSE(e, "%scpu.idle: %lld is not 0 or 1", at, (long long)c->idle.v);
	if (c->cpus && !oci_is_number_list(c->cpus))
		return REFUSE(e, "%scpu.cpus: %s is not a list of CPUs", at,
			      json_show(c->cpus).text);
	if (c->mems && !oci_is_number_list(c->mems))
		return REFUSE(e, "%scpu.mems: %s is not a list of memory nodes", at,
			      json_show(c->mems).text);
	return 0;
}

static bool weight_fits(const struct opt_u32 *w)
{
	return !w->set || w->v == 0 || (w->v >= 10 && w->v <= 1000);
}

static int validate_throttle(const struct oci_throttle_list *l, const char *at, const char *name,
			     struct error *e)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (!oci_is_dev(l->v[i].major, l->v[i].minor))
			return REFUSE(e, "%sblockIO.%s[%zu]: no device has these numbers", at, name,
				      i);
	return 0;
}

static int validate_block_io(const struct oci_block_io *b, const char *at, struct error *e)
{
	const struct oci_weight_device *d;
	size_t i;

	if (!weight_fits(&b->weight))
		return REFUSE(e, "%sblockIO.weight: %u is not 10 to 1000", at, b->weight.v);
	if (!weight_fits(&b->leaf_weight))
		return REFUSE(e, "%sblockIO.leafWeight: %u is not 10 to 1000", at,
			      b->leaf_weight.v);
	for (i = 0; i < b->weight_device.n; i++) {
		d = &b->weight_device.v[i];
		if (!oci_is_dev(d->major, d->minor))
			return REFUSE(e, "%sblockIO.weightDevice[%zu]: no device has these numbers",
				      at, i);
		if (!weight_fits(&d->weight) || !weight_fits(&d->leaf_weight))
			return REFUSE(e, "%sblockIO.weightDevice[%zu]: a weight is not 10 to 1000",
				      at, i);
		if (!d->weight.set && !d->leaf_weight.set)
			return REFUSE(e,
				      "%sblockIO.weightDevice[%zu].weight: required, but missing",
				      at, i);
	}
	if (validate_throttle(&b->throttle_read_bps, at, "throttleReadBpsDevice", e) < 0 ||
	    validate_throttle(&b->throttle_write_bps, at, "throttleWriteBpsDevice", e) < 0 ||
	    validate_throttle(&b->throttle_read_iops, at, "throttleReadIOPSDevice", e) < 0)
		return -1;
	return validate_throttle(&b->throttle_write_iops, at, "throttleWriteIOPSDevice", e);
}

/* "64KB", "2MB", "1GB": as the kernel names the files. */
static bool is_page_size(const char *s)
{
	size_t digits = strspn(s, "0123456789");

	return digits > 0 && digits < 10 && s[0] != '0' && s[digits] &&
	       strchr("KMG", s[digits]) && str_eq(s + digits + 1, "B");
}

static int validate_hugepages(const struct oci_resources *r, const char *at, struct error *e)
{
	const struct oci_hugepage_limit *h = r->hugepage_limits.v;
	size_t i, j;

	for (i = 0; i < r->hugepage_limits.n; i++) {
		if (!is_page_size(h[i].page_size))
			return REFUSE(e, "%shugepageLimits[%zu].pageSize: %s is not a page size",
				      at, i, json_show(h[i].page_size).text);
		for (j = 0; j < i; j++)
			if (str_eq(h[i].page_size, h[j].page_size))
				return REFUSE(e,
					      "%shugepageLimits[%zu].pageSize: %s is there twice",
					      at, i, h[i].page_size);
	}
	return 0;
}

static int validate_network(const struct oci_net_resources *n, const char *at, struct error *e)
{
	size_t i;

	for (i = 0; i < n->priorities.n; i++)
		if (!oci_is_ifname(n->priorities.v[i].name))
			return REFUSE(e, "%snetwork.priorities[%zu].name: %s is not the name of an "
					 "interface",
				      at, i, json_show(n->priorities.v[i].name).text);
	return 0;
}

static int validate_rdma(const struct oci_resources *r, const char *at, struct error *e)
{
	const char *name;
	size_t i;

	for (i = 0; i < r->rdma.n; i++) {
		name = r->rdma.v[i].device;
		if (!*name || strlen(name) > 63 || strpbrk(name, " \t\n/="))
			return REFUSE(e, "%srdma: %s is not the name of a device", at,
				      json_show(name).text);
	}
	return 0;
}

/* Of cgroup.* only what limits: cgroup.procs and the like would act on more than this container. */
static bool unified_harmless(const char *key)
{
	return !str_after(key, "cgroup.") || str_eq(key, "cgroup.max.depth") ||
	       str_eq(key, "cgroup.max.descendants") || str_eq(key, "cgroup.pressure");
}

static int validate_unified(const struct pairs *p, const char *at, struct error *e)
{
	const char *key;
	size_t i;

	for (i = 0; i < p->n; i++) {
		key = p->v[i].key;
		if (!islower((unsigned char)key[0]) || !strchr(key, '.') || strpbrk(key, "/\n") ||
		    strlen(key) > 255)
			return REFUSE(e, "%sunified: %s is not the name of a cgroup file", at,
				      json_show(key).text);
		if (!unified_harmless(key))
			return REFUSE(e, "%sunified[%s]: can't be set", at, json_show(key).text);
	}
	return 0;
}

int oci_resources_validate(const struct oci_resources *r, const char *at, struct error *e)
{
	if (validate_device_rules(r, at, e) < 0 || validate_memory(&r->memory, at, e) < 0 ||
	    validate_cpu(&r->cpu, at, e) < 0 ||
	    validate_limit(&r->pids_limit, at, "pids.limit", e) < 0 ||
	    validate_block_io(&r->block_io, at, e) < 0)
		return -1;
	if (validate_hugepages(r, at, e) < 0 || validate_network(&r->network, at, e) < 0 ||
	    validate_rdma(r, at, e) < 0)
		return -1;
	return validate_unified(&r->unified, at, e);
}
