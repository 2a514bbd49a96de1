/*
 * linux.resources.memory and .cpu → files and values. Pure. The rules on 0 and -1 are those of
 * plan/cgroup_resources.c.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "plan/cgroup_build.h"

#define R "linux.resources."
#define SHARES_MIN 2
#define SHARES_MAX 262144

static bool asked_i64(struct opt_i64 n)
{
	return n.set && n.v != 0;
}

static bool asked_u64(struct opt_u64 n)
{
	return n.set && n.v != 0;
}

/* v2 counts swap alone, the config memory and swap together. */
static int v2_swap(struct cgroup_build *b, size_t dir, const struct oci_memory *m)
{
	const char *field = R "memory.swap";
	struct cgroup_write *w;
	int64_t v = -1;

	if (!asked_i64(m->swap) && !(m->limit.set && m->limit.v == -1))
		return 0;
	if (m->swap.set && m->swap.v > 0) {
		if (!m->limit.set || m->limit.v <= 0)
			return err_set(b->e, ERR_CONFIG, "%s: cgroup v2 needs memory.limit with it",
				       field);
		v = m->swap.v - m->limit.v;
	}
	w = cgroup_build_put(b, dir, field, "memory.swap.max", "%s", cgroup_build_v2_size(b, v));
	if (v <= 0) /* kernels without swap accounting do as asked */
		w->flags |= CGROUP_OPTIONAL;
	return 0;
}

static int memory_v2(struct cgroup_build *b, size_t dir, const struct oci_memory *m)
{
	if (m->swappiness.set)
		return cgroup_build_not_on_v2(b, R "memory.swappiness");
	if (m->disable_oom_killer)
		return cgroup_build_not_on_v2(b, R "memory.disableOOMKiller");
	if (m->kernel.set && m->kernel.v > 0)
		return cgroup_build_not_on_v2(b, R "memory.kernel");
	if (m->kernel_tcp.set && m->kernel_tcp.v > 0)
		return cgroup_build_not_on_v2(b, R "memory.kernelTCP");
	if (v2_swap(b, dir, m) < 0)
		return -1;
	if (asked_i64(m->limit))
		cgroup_build_put(b, dir, R "memory.limit", "memory.max", "%s",
				 cgroup_build_v2_size(b, m->limit.v));
	/* "no soft limit" is "nothing protected" here, not "all of it" */
	if (asked_i64(m->reservation))
		cgroup_build_put(b, dir, R "memory.reservation", "memory.low", "%" PRId64,
				 m->reservation.v < 0 ? 0 : m->reservation.v);
	return 0;
}

/* The kernel wants limit <= memsw at all times: lowering goes limit first, raising memsw first. */
static void v1_memory_pair(struct cgroup_build *b, size_t dir, const struct oci_memory *m)
{
	struct cgroup_write *w;

	if (asked_i64(m->limit)) {
		w = cgroup_build_put(b, dir, R "memory.limit", "memory.limit_in_bytes", "%" PRId64,
				     m->limit.v);
		w->flags |= CGROUP_RETRY;
	}
	if (asked_i64(m->swap) || (m->limit.set && m->limit.v == -1)) {
		int64_t v = asked_i64(m->swap) ? m->swap.v : -1;

		w = cgroup_build_put(b, dir, R "memory.swap", "memory.memsw.limit_in_bytes",
				     "%" PRId64, v);
		w->flags |= CGROUP_RETRY;
		if (v == -1)
			w->flags |= CGROUP_OPTIONAL;
	}
}

static int memory_v1(struct cgroup_build *b, size_t dir, const struct oci_memory *m)
{
	struct cgroup_write *w;

	v1_memory_pair(b, dir, m);
	if (asked_i64(m->reservation))
		cgroup_build_put(b, dir, R "memory.reservation", "memory.soft_limit_in_bytes",
				 "%" PRId64, m->reservation.v);
	/* Kernels since 5.16 refuse the value or take it without effect. */
	if (m->kernel.set && m->kernel.v > 0) {
		cgroup_build_note(b, R "memory.kernel: Linux since 5.16 has no effect for it");
		w = cgroup_build_put(b, dir, R "memory.kernel", "memory.kmem.limit_in_bytes",
				     "%" PRId64, m->kernel.v);
		w->flags |= CGROUP_TOLERATE;
	}
	if (asked_i64(m->kernel_tcp)) {
		w = cgroup_build_put(b, dir, R "memory.kernelTCP", "memory.kmem.tcp.limit_in_bytes",
				     "%" PRId64, m->kernel_tcp.v);
		if (m->kernel_tcp.v < 0)
			w->flags |= CGROUP_TOLERATE;
	}
	if (m->swappiness.set)
		cgroup_build_put(b, dir, R "memory.swappiness", "memory.swappiness", "%" PRIu64,
				 m->swappiness.v);
	if (m->disable_oom_killer)
		cgroup_build_put(b, dir, R "memory.disableOOMKiller", "memory.oom_control", "1");
	return 0;
}

int cgroup_build_memory(struct cgroup_build *b, const struct oci_resources *r)
{
	const struct oci_memory *m = &r->memory;
	const struct {
		struct opt_i64 n;
		const char *field;
	} sizes[] = {
		{m->limit, R "memory.limit"},
		{m->reservation, R "memory.reservation"},
		{m->swap, R "memory.swap"},
		{m->kernel, R "memory.kernel"},
		{m->kernel_tcp, R "memory.kernelTCP"},
	};
	const char *first = NULL;
	size_t i, dir;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (cgroup_build_check_size(b, sizes[i].field, sizes[i].n) < 0)
			return -1;
		if (!first && asked_i64(sizes[i].n))
			first = sizes[i].field;
	}
	if (m->swappiness.set && m->swappiness.v > 100)
		return err_set(b->e, ERR_CONFIG, R "memory.swappiness: %" PRIu64 " is above 100",
			       m->swappiness.v);
	if (m->swap.set && m->swap.v > 0 && m->limit.set && m->limit.v > m->swap.v)
		return err_set(b->e, ERR_CONFIG,
			       R "memory.swap: it includes memory.limit and can't be below it");
	if (!first && m->swappiness.set)
		first = R "memory.swappiness";
	if (!first && m->disable_oom_killer)
		first = R "memory.disableOOMKiller";
	if (!first)
		return 0;
	if (cgroup_build_need(b, "memory", first, &dir) < 0)
		return -1;
	return cgroup_build_on_v2(b, dir) ? memory_v2(b, dir, m) : memory_v1(b, dir, m);
}

/*
 * The curve through (2, 1), (1024, 100) and (262144, 10000) in log scale, which current runtimes
 * use: unlike a straight line it keeps the default at the default.
 */
uint64_t cgroup_shares_to_weight(uint64_t shares)
{
	double l;

	if (shares <= SHARES_MIN)
		return 1;
	if (shares >= SHARES_MAX)
		return 10000;
	l = log2((double)shares);
	return (uint64_t)ceil(pow(10, (l * l + 125 * l - 126) / 612));
}

static int cpu_shares(struct cgroup_build *b, size_t dir, uint64_t shares)
{
	if (shares > SHARES_MAX)
		return err_set(b->e, ERR_CONFIG, R "cpu.shares: %" PRIu64 " is above %d", shares,
			       SHARES_MAX);
	if (cgroup_build_on_v2(b, dir))
		cgroup_build_put(b, dir, R "cpu.shares", "cpu.weight", "%" PRIu64,
				 cgroup_shares_to_weight(shares));
	else if (shares < SHARES_MIN)
		return err_set(b->e, ERR_CONFIG, R "cpu.shares: %" PRIu64 " is below %d", shares,
			       SHARES_MIN);
	else
		cgroup_build_put(b, dir, R "cpu.shares", "cpu.shares", "%" PRIu64, shares);
	return 0;
}

static int cpu_quota(struct cgroup_build *b, size_t dir, const struct oci_cpu *c)
{
	struct cgroup_write *w;

	if (c->quota.set && c->quota.v < -1)
		return err_set(b->e, ERR_CONFIG,
			       R "cpu.quota: %" PRId64 " is neither -1 (unlimited) nor a time",
			       c->quota.v);
	if (cgroup_build_on_v2(b, dir)) {
		const char *quota =
			asked_i64(c->quota) ? cgroup_build_v2_size(b, c->quota.v) : "max";

		if (asked_u64(c->period))
			w = cgroup_build_put(b, dir,
					     asked_i64(c->quota) ? R "cpu.quota" : R "cpu.period",
					     "cpu.max", "%s %" PRIu64, quota, c->period.v);
		else if (asked_i64(c->quota))
			w = cgroup_build_put(b, dir, R "cpu.quota", "cpu.max", "%s", quota);
		else
			return 0;
		w->flags |= CGROUP_RETRY;
		return 0;
	}
	if (asked_u64(c->period)) {
		w = cgroup_build_put(b, dir, R "cpu.period", "cpu.cfs_period_us", "%" PRIu64,
				     c->period.v);
		w->flags |= CGROUP_RETRY;
	}
	if (asked_i64(c->quota)) {
		w = cgroup_build_put(b, dir, R "cpu.quota", "cpu.cfs_quota_us", "%" PRId64,
				     c->quota.v);
		w->flags |= CGROUP_RETRY;
	}
	return 0;
}

static int cpu_burst(struct cgroup_build *b, size_t dir, const struct oci_cpu *c)
{
	bool v2 = cgroup_build_on_v2(b, dir);
	struct cgroup_write *w;

	if (c->burst.set) {
		if (c->quota.set && c->quota.v > 0 && c->burst.v > (uint64_t)c->quota.v)
			return err_set(b->e, ERR_CONFIG,
				       R "cpu.burst: %" PRIu64 " is above cpu.quota", c->burst.v);
		w = cgroup_build_put(b, dir, R "cpu.burst",
				     v2 ? "cpu.max.burst" : "cpu.cfs_burst_us", "%" PRIu64,
				     c->burst.v);
		w->flags |= CGROUP_RETRY;
		if (!c->burst.v)
			w->flags |= CGROUP_OPTIONAL;
	}
	return 0;
}

/* While a cgroup is idle the kernel refuses shares: 0 goes before them, 1 after. */
static int cpu_idle(struct cgroup_build *b, size_t dir, const struct oci_cpu *c, bool first)
{
	struct cgroup_write *w;

	if (!c->idle.set)
		return 0;
	if (c->idle.v != 0 && c->idle.v != 1)
		return err_set(b->e, ERR_CONFIG, R "cpu.idle: %" PRId64 " is neither 0 nor 1",
			       c->idle.v);
	if (first != (c->idle.v == 0))
		return 0;
	w = cgroup_build_put(b, dir, R "cpu.idle", "cpu.idle", "%" PRId64, c->idle.v);
	if (!c->idle.v)
		w->flags |= CGROUP_OPTIONAL;
	return 0;
}

/* A child can have real time only where its parent has. */
static int cpu_realtime(struct cgroup_build *b, size_t dir, const struct oci_cpu *c)
{
	struct cgroup_write *w;

	if (asked_u64(c->realtime_period)) {
		if (cgroup_build_on_v2(b, dir))
			return cgroup_build_not_on_v2(b, R "cpu.realtimePeriod");
		w = cgroup_build_put(b, dir, R "cpu.realtimePeriod", "cpu.rt_period_us", "%" PRIu64,
				     c->realtime_period.v);
		/* The runtime must fit into it at all times, and their ratio into the parent's. */
		w->flags |= CGROUP_PARENTS | CGROUP_RETRY;
	}
	if (asked_i64(c->realtime_runtime)) {
		if (cgroup_build_on_v2(b, dir))
			return cgroup_build_not_on_v2(b, R "cpu.realtimeRuntime");
		w = cgroup_build_put(b, dir, R "cpu.realtimeRuntime", "cpu.rt_runtime_us",
				     "%" PRId64, c->realtime_runtime.v);
		w->flags |= CGROUP_PARENTS | CGROUP_RETRY;
	}
	return 0;
}

int cgroup_build_cpu(struct cgroup_build *b, const struct oci_resources *r)
{
	const struct oci_cpu *c = &r->cpu;
	const char *first = asked_u64(c->shares)	   ? R "cpu.shares" :
			    asked_i64(c->quota)		   ? R "cpu.quota" :
			    asked_u64(c->period)	   ? R "cpu.period" :
			    asked_u64(c->burst)		   ? R "cpu.burst" :
			    asked_i64(c->idle)		   ? R "cpu.idle" :
			    asked_i64(c->realtime_runtime) ? R "cpu.realtimeRuntime" :
			    asked_u64(c->realtime_period)  ? R "cpu.realtimePeriod" :
							     NULL;
	size_t dir;

	/* 0 is what a new cgroup has, but not what one that is updated must have. */
	if (!first && (c->burst.set || c->idle.set) && cgroup_build_find(b, "cpu") != CGROUP_NO_DIR)
		first = R "cpu";
	if (!first)
		return 0;
	if (cgroup_build_need(b, "cpu", first, &dir) < 0)
		return -1;
	if (cpu_idle(b, dir, c, true) < 0)
		return -1;
	if (asked_u64(c->shares) && cpu_shares(b, dir, c->shares.v) < 0)
		return -1;
	if (cpu_quota(b, dir, c) < 0 || cpu_burst(b, dir, c) < 0 ||
	    cpu_idle(b, dir, c, false) < 0)
		return -1;
	return cpu_realtime(b, dir, c);
}

/* v1 wants a cpuset filled before anything joins, so there it is part of making the directory. */
static int cpuset_one(struct cgroup_build *b, const char *value, const char *field,
		      const char *file, const char **ret_v1)
{
	size_t dir;

	if (!value || !*value)
		return 0;
	if (value[strspn(value, "0123456789,-:/")])
		return err_set(b->e, ERR_CONFIG, "%s: \"%s\" is no list of numbers", field, value);
	if (cgroup_build_need(b, "cpuset", field, &dir) < 0)
		return -1;
	if (cgroup_build_on_v2(b, dir))
		cgroup_build_put(b, dir, field, file, "%s", value);
	else
		*ret_v1 = value;
	return 0;
}

int cgroup_build_cpuset(struct cgroup_build *b, const struct oci_resources *r)
{
	if (cpuset_one(b, r->cpu.cpus, R "cpu.cpus", "cpuset.cpus", &b->p->cpus) < 0)
		return -1;
	return cpuset_one(b, r->cpu.mems, R "cpu.mems", "cpuset.mems", &b->p->mems);
}
