/*
 * linux.resources → files and values, devices aside. Pure.
 *
 * Numbers follow the practice of engines: 0 means "not asked for" in limits that no container could
 * live with (memory, shares, quota, weights), -1 is unlimited. pids.limit 0 is a limit, as the
 * spec says since 1.3. What a host can't do is an error that names the field; where only the leaf
 * directory shows whether a file exists, the write carries its fallback.
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

static bool on_v2(const struct cgroup_build *b, size_t dir)
{
	return b->host->v[dir].unified;
}

static int not_on_v2(struct cgroup_build *b, const char *field)
{
	return err_set(b->e, ERR_HOST, "%s: cgroup v2 has nothing like it", field);
}

static bool asked_i64(struct opt_i64 n)
{
	return n.set && n.v != 0;
}

static bool asked_u64(struct opt_u64 n)
{
	return n.set && n.v != 0;
}

/* -1 or a size. */
static int size_check(struct cgroup_build *b, const char *field, struct opt_i64 n)
{
	if (n.set && n.v < -1)
		return err_set(b->e, ERR_CONFIG, "%s: %" PRId64 " is neither -1 (unlimited) nor a size",
			       field, n.v);
	return 0;
}

/* A size as v2 writes it. */
static const char *v2_size(struct cgroup_build *b, int64_t n)
{
	return n < 0 ? "max" : arena_printf(b->a, "%" PRId64, n);
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
			return err_set(b->e, ERR_CONFIG, "%s: cgroup v2 needs memory.limit with it", field);
		v = m->swap.v - m->limit.v;
	}
	w = cgroup_build_put(b, dir, field, "memory.swap.max", "%s", v2_size(b, v));
	if (v <= 0) /* kernels without swap accounting do as asked */
		w->flags |= CGROUP_OPTIONAL;
	return 0;
}

static int memory_v2(struct cgroup_build *b, size_t dir, const struct oci_memory *m)
{
	if (m->swappiness.set)
		return not_on_v2(b, R "memory.swappiness");
	if (m->disable_oom_killer)
		return not_on_v2(b, R "memory.disableOOMKiller");
	if (m->kernel.set && m->kernel.v > 0)
		return not_on_v2(b, R "memory.kernel");
	if (m->kernel_tcp.set && m->kernel_tcp.v > 0)
		return not_on_v2(b, R "memory.kernelTCP");
	if (v2_swap(b, dir, m) < 0)
		return -1;
	if (asked_i64(m->limit))
		cgroup_build_put(b, dir, R "memory.limit", "memory.max", "%s", v2_size(b, m->limit.v));
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

		w = cgroup_build_put(b, dir, R "memory.swap", "memory.memsw.limit_in_bytes", "%" PRId64,
				     v);
		if (v == -1)
			w->flags |= CGROUP_OPTIONAL;
	}
}

static void warning_add(struct cgroup_build *b, const char *text)
{
	struct strings *list = &b->p->warnings;
	char **grown = arena_array(b->a, list->n + 1, char *);

	if (list->n)
		memcpy(grown, list->v, list->n * sizeof(*grown));
	grown[list->n++] = arena_strdup(b->a, text);
	list->v = grown;
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
		warning_add(b, R "memory.kernel: Linux since 5.16 has no effect for it");
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

static int memory(struct cgroup_build *b, const struct oci_resources *r)
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
		if (size_check(b, sizes[i].field, sizes[i].n) < 0)
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
	return on_v2(b, dir) ? memory_v2(b, dir, m) : memory_v1(b, dir, m);
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
	if (on_v2(b, dir))
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
		return err_set(b->e, ERR_CONFIG, R "cpu.quota: %" PRId64 " is neither -1 (unlimited) nor a time",
			       c->quota.v);
	if (on_v2(b, dir)) {
		const char *quota = asked_i64(c->quota) ? v2_size(b, c->quota.v) : "max";

		if (asked_u64(c->period))
			w = cgroup_build_put(b, dir, asked_i64(c->quota) ? R "cpu.quota" : R "cpu.period",
					     "cpu.max", "%s %" PRIu64, quota, c->period.v);
		else if (asked_i64(c->quota))
			w = cgroup_build_put(b, dir, R "cpu.quota", "cpu.max", "%s", quota);
		else
			return 0;
		if (c->burst.set)
			w->flags |= CGROUP_RETRY;
		return 0;
	}
	if (asked_u64(c->period)) {
		w = cgroup_build_put(b, dir, R "cpu.period", "cpu.cfs_period_us", "%" PRIu64,
				     c->period.v);
		if (asked_i64(c->quota))
			w->flags |= CGROUP_RETRY;
	}
	if (asked_i64(c->quota)) {
		w = cgroup_build_put(b, dir, R "cpu.quota", "cpu.cfs_quota_us", "%" PRId64, c->quota.v);
		if (c->burst.set)
			w->flags |= CGROUP_RETRY;
	}
	return 0;
}

static int cpu_burst_and_idle(struct cgroup_build *b, size_t dir, const struct oci_cpu *c)
{
	bool v2 = on_v2(b, dir);
	struct cgroup_write *w;

	if (c->burst.set) {
		if (c->quota.set && c->quota.v > 0 && c->burst.v > (uint64_t)c->quota.v)
			return err_set(b->e, ERR_CONFIG, R "cpu.burst: %" PRIu64 " is above cpu.quota",
				       c->burst.v);
		w = cgroup_build_put(b, dir, R "cpu.burst", v2 ? "cpu.max.burst" : "cpu.cfs_burst_us",
				     "%" PRIu64, c->burst.v);
		if (!c->burst.v)
			w->flags |= CGROUP_OPTIONAL;
	}
	if (c->idle.set) {
		if (c->idle.v != 0 && c->idle.v != 1)
			return err_set(b->e, ERR_CONFIG, R "cpu.idle: %" PRId64 " is neither 0 nor 1",
				       c->idle.v);
		w = cgroup_build_put(b, dir, R "cpu.idle", "cpu.idle", "%" PRId64, c->idle.v);
		if (!c->idle.v)
			w->flags |= CGROUP_OPTIONAL;
	}
	return 0;
}

/* A child can have real time only where its parent has. */
static int cpu_realtime(struct cgroup_build *b, size_t dir, const struct oci_cpu *c)
{
	struct cgroup_write *w;

	if (asked_u64(c->realtime_period)) {
		if (on_v2(b, dir))
			return not_on_v2(b, R "cpu.realtimePeriod");
		w = cgroup_build_put(b, dir, R "cpu.realtimePeriod", "cpu.rt_period_us", "%" PRIu64,
				     c->realtime_period.v);
		w->flags |= CGROUP_PARENTS;
	}
	if (asked_i64(c->realtime_runtime)) {
		if (on_v2(b, dir))
			return not_on_v2(b, R "cpu.realtimeRuntime");
		w = cgroup_build_put(b, dir, R "cpu.realtimeRuntime", "cpu.rt_runtime_us", "%" PRId64,
				     c->realtime_runtime.v);
		w->flags |= CGROUP_PARENTS;
	}
	return 0;
}

static int cpu(struct cgroup_build *b, const struct oci_resources *r)
{
	const struct oci_cpu *c = &r->cpu;
	const char *first = asked_u64(c->shares)		? R "cpu.shares" :
			    asked_i64(c->quota)			? R "cpu.quota" :
			    asked_u64(c->period)		? R "cpu.period" :
			    asked_u64(c->burst)			? R "cpu.burst" :
			    asked_i64(c->idle)			? R "cpu.idle" :
			    asked_i64(c->realtime_runtime)	? R "cpu.realtimeRuntime" :
			    asked_u64(c->realtime_period)	? R "cpu.realtimePeriod" :
								  NULL;
	size_t dir;

	if (!first)
		return 0;
	if (cgroup_build_need(b, "cpu", first, &dir) < 0)
		return -1;
	if (asked_u64(c->shares) && cpu_shares(b, dir, c->shares.v) < 0)
		return -1;
	if (cpu_quota(b, dir, c) < 0 || cpu_burst_and_idle(b, dir, c) < 0)
		return -1;
	return cpu_realtime(b, dir, c);
}

/* v1 wants a cpuset filled before anything joins, so there it is part of making the directory. */
static int cpuset_one(struct cgroup_build *b, const char *value, const char *field, const char *file,
		      const char **ret_v1)
{
	size_t dir;

	if (!value || !*value)
		return 0;
	if (value[strspn(value, "0123456789,-:/")])
		return err_set(b->e, ERR_CONFIG, "%s: \"%s\" is no list of numbers", field, value);
	if (cgroup_build_need(b, "cpuset", field, &dir) < 0)
		return -1;
	if (on_v2(b, dir))
		cgroup_build_put(b, dir, field, file, "%s", value);
	else
		*ret_v1 = value;
	return 0;
}

static int cpuset(struct cgroup_build *b, const struct oci_resources *r)
{
	if (cpuset_one(b, r->cpu.cpus, R "cpu.cpus", "cpuset.cpus", &b->p->cpus) < 0)
		return -1;
	return cpuset_one(b, r->cpu.mems, R "cpu.mems", "cpuset.mems", &b->p->mems);
}

static int pids(struct cgroup_build *b, const struct oci_resources *r)
{
	const char *field = R "pids.limit";
	struct opt_i64 n = r->pids_limit;
	size_t dir;

	if (!n.set)
		return 0;
	if (size_check(b, field, n) < 0)
		return -1;
	/* Unlimited is what a new cgroup is; no controller is fine for that. */
	if (n.v < 0 && cgroup_build_find(b, "pids") == CGROUP_NO_DIR)
		return 0;
	if (cgroup_build_need(b, "pids", field, &dir) < 0)
		return -1;
	/* A process can move into a cgroup with the limit 0 (v1) but not be born there (v2). With 1
	 * it is alone all the same. */
	if (n.v == 0 && on_v2(b, dir))
		n.v = 1;
	cgroup_build_put(b, dir, field, "pids.max", "%s", v2_size(b, n.v));
	return 0;
}

static uint32_t v2_io_weight(uint32_t weight)
{
	return 1 + (weight - 10) * 9999 / 990;
}

static int weight_check(struct cgroup_build *b, const char *field, struct opt_u32 w)
{
	if (w.set && w.v && (w.v < 10 || w.v > 1000))
		return err_set(b->e, ERR_CONFIG, "%s: %u is not between 10 and 1000", field, w.v);
	return 0;
}

static int block_weight(struct cgroup_build *b, size_t dir, const struct oci_block_io *io)
{
	struct cgroup_write *w;

	if (weight_check(b, R "blockIO.weight", io->weight) < 0 ||
	    weight_check(b, R "blockIO.leafWeight", io->leaf_weight) < 0)
		return -1;
	if (io->weight.set && io->weight.v) {
		w = cgroup_build_put(b, dir, R "blockIO.weight",
				     on_v2(b, dir) ? "io.bfq.weight" : "blkio.weight", "%u",
				     io->weight.v);
		w->alt_file = on_v2(b, dir) ? "io.weight" : "blkio.bfq.weight";
		w->alt_value = on_v2(b, dir) ? arena_printf(b->a, "default %u",
							    v2_io_weight(io->weight.v)) :
					       w->value;
	}
	if (io->leaf_weight.set && io->leaf_weight.v) {
		if (on_v2(b, dir))
			return not_on_v2(b, R "blockIO.leafWeight");
		cgroup_build_put(b, dir, R "blockIO.leafWeight", "blkio.leaf_weight", "%u",
				 io->leaf_weight.v);
	}
	return 0;
}

static int block_weight_device(struct cgroup_build *b, size_t dir, const struct oci_block_io *io,
			       size_t i)
{
	const struct oci_weight_device *d = &io->weight_device.v[i];
	const char *field = arena_printf(b->a, R "blockIO.weightDevice[%zu]", i);
	struct cgroup_write *w;

	if (weight_check(b, field, d->weight) < 0 || weight_check(b, field, d->leaf_weight) < 0)
		return -1;
	if (d->weight.set && d->weight.v) {
		w = cgroup_build_put(b, dir, field,
				     on_v2(b, dir) ? "io.bfq.weight" : "blkio.weight_device",
				     "%" PRId64 ":%" PRId64 " %u", d->major, d->minor, d->weight.v);
		w->alt_file = on_v2(b, dir) ? "io.weight" : "blkio.bfq.weight_device";
		w->alt_value = on_v2(b, dir) ? arena_printf(b->a, "%" PRId64 ":%" PRId64 " %u", d->major,
							    d->minor, v2_io_weight(d->weight.v)) :
					       w->value;
	}
	if (d->leaf_weight.set && d->leaf_weight.v) {
		if (on_v2(b, dir))
			return not_on_v2(b, field);
		cgroup_build_put(b, dir, field, "blkio.leaf_weight_device",
				 "%" PRId64 ":%" PRId64 " %u", d->major, d->minor, d->leaf_weight.v);
	}
	return 0;
}

static void block_throttle(struct cgroup_build *b, size_t dir, const struct oci_throttle_list *list,
			   const char *member, const char *v1_file, const char *v2_key)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		const struct oci_throttle_device *d = &list->v[i];
		const char *field = arena_printf(b->a, R "blockIO.%s[%zu]", member, i);
		const char *rate = arena_printf(b->a, "%" PRIu64, d->rate);

		if (!on_v2(b, dir))
			cgroup_build_put(b, dir, field, v1_file, "%" PRId64 ":%" PRId64 " %s", d->major,
					 d->minor, rate);
		else /* 0 lifts a v1 limit */
			cgroup_build_put(b, dir, field, "io.max", "%" PRId64 ":%" PRId64 " %s=%s",
					 d->major, d->minor, v2_key, d->rate ? rate : "max");
	}
}

static int block_io(struct cgroup_build *b, const struct oci_resources *r)
{
	const struct oci_block_io *io = &r->block_io;
	const struct {
		const struct oci_throttle_list *list;
		const char *member, *v1_file, *v2_key;
	} throttles[] = {
		{&io->throttle_read_bps, "throttleReadBpsDevice", "blkio.throttle.read_bps_device",
		 "rbps"},
		{&io->throttle_write_bps, "throttleWriteBpsDevice", "blkio.throttle.write_bps_device",
		 "wbps"},
		{&io->throttle_read_iops, "throttleReadIOPSDevice", "blkio.throttle.read_iops_device",
		 "riops"},
		{&io->throttle_write_iops, "throttleWriteIOPSDevice",
		 "blkio.throttle.write_iops_device", "wiops"},
	};
	const char *first = io->weight.set && io->weight.v ? R "blockIO.weight" :
			    io->leaf_weight.set && io->leaf_weight.v ? R "blockIO.leafWeight" :
			    io->weight_device.n ? R "blockIO.weightDevice" :
						  NULL;
	size_t i, dir;

	for (i = 0; !first && i < ARRAY_SIZE(throttles); i++)
		if (throttles[i].list->n)
			first = arena_printf(b->a, R "blockIO.%s", throttles[i].member);
	if (!first)
		return 0;
	if (cgroup_build_need(b, "blkio", first, &dir) < 0 || block_weight(b, dir, io) < 0)
		return -1;
	for (i = 0; i < io->weight_device.n; i++)
		if (block_weight_device(b, dir, io, i) < 0)
			return -1;
	for (i = 0; i < ARRAY_SIZE(throttles); i++)
		block_throttle(b, dir, throttles[i].list, throttles[i].member, throttles[i].v1_file,
			       throttles[i].v2_key);
	return 0;
}

/* "64KB", "2MB", "1GB": part of a file's name, so nothing else may come through. */
static bool is_page_size(const char *s)
{
	size_t digits = strspn(s, "0123456789");

	return digits && digits < 8 && strchr("KMG", s[digits]) && s[digits] &&
	       str_eq(s + digits + 1, "B");
}

static int hugepages(struct cgroup_build *b, const struct oci_resources *r)
{
	size_t i, dir;

	for (i = 0; i < r->hugepage_limits.n; i++) {
		const struct oci_hugepage_limit *l = &r->hugepage_limits.v[i];
		const char *field = arena_printf(b->a, R "hugepageLimits[%zu]", i);
		const char *end;
		struct cgroup_write *w;

		if (!l->page_size || !is_page_size(l->page_size))
			return err_set(b->e, ERR_CONFIG, "%s.pageSize: \"%s\" is no page size such as 2MB",
				       field, l->page_size ? l->page_size : "");
		if (cgroup_build_need(b, "hugetlb", field, &dir) < 0)
			return -1;
		end = on_v2(b, dir) ? "max" : "limit_in_bytes";
		cgroup_build_put(b, dir, field, arena_printf(b->a, "hugetlb.%s.%s", l->page_size, end),
				 "%" PRIu64, l->limit);
		/* Counted at reservation too, where the kernel can, so that nothing gets SIGBUS. */
		w = cgroup_build_put(b, dir, field,
				     arena_printf(b->a, "hugetlb.%s.rsvd.%s", l->page_size, end),
				     "%" PRIu64, l->limit);
		w->flags |= CGROUP_OPTIONAL;
	}
	return 0;
}

static bool is_plain_word(const char *s)
{
	if (!s || !*s)
		return false;
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f)
			return false;
	return true;
}

static int network(struct cgroup_build *b, const struct oci_resources *r)
{
	size_t i, dir;

	if (r->network.class_id.set && r->network.class_id.v) {
		if (cgroup_build_need(b, "net_cls", R "network.classID", &dir) < 0)
			return -1;
		cgroup_build_put(b, dir, R "network.classID", "net_cls.classid", "%u",
				 r->network.class_id.v);
	}
	for (i = 0; i < r->network.priorities.n; i++) {
		const struct oci_net_priority *p = &r->network.priorities.v[i];
		const char *field = arena_printf(b->a, R "network.priorities[%zu]", i);

		if (!is_plain_word(p->name))
			return err_set(b->e, ERR_CONFIG, "%s.name: no name of an interface", field);
		if (cgroup_build_need(b, "net_prio", field, &dir) < 0)
			return -1;
		cgroup_build_put(b, dir, field, "net_prio.ifpriomap", "%s %u", p->name, p->priority);
	}
	return 0;
}

static int rdma(struct cgroup_build *b, const struct oci_resources *r)
{
	size_t i, dir;

	for (i = 0; i < r->rdma.n; i++) {
		const struct oci_rdma *d = &r->rdma.v[i];
		const char *field = arena_printf(b->a, R "rdma[%s]", d->device ? d->device : "");

		if (!is_plain_word(d->device))
			return err_set(b->e, ERR_CONFIG, R "rdma: no name of a device");
		if (!d->hca_handles.set && !d->hca_objects.set)
			return err_set(b->e, ERR_CONFIG, "%s: neither hcaHandles nor hcaObjects is given",
				       field);
		if (cgroup_build_need(b, "rdma", field, &dir) < 0)
			return -1;
		cgroup_build_put(
			b, dir, field, "rdma.max", "%s%s%s", d->device,
			d->hca_handles.set ? arena_printf(b->a, " hca_handle=%u", d->hca_handles.v) : "",
			d->hca_objects.set ? arena_printf(b->a, " hca_object=%u", d->hca_objects.v) : "");
	}
	return 0;
}

/* Files through which a container would be moved, killed or frozen: they are the runtime's. */
static bool is_runtimes_own(const char *file)
{
	static const char *const own[] = {"cgroup.procs",  "cgroup.threads",	   "cgroup.kill",
					  "cgroup.freeze", "cgroup.subtree_control"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(own); i++)
		if (str_eq(file, own[i]))
			return true;
	return false;
}

/* Trust: key names a file, and comes from config.json. */
static int unified_key(struct cgroup_build *b, const char *key, const char *field, size_t *ret_dir)
{
	size_t len = strcspn(key, ".");
	char *controller = arena_strndup(b->a, key, len);
	size_t dir = b->host->n ? b->host->n - 1 : 0;

	if (!len || !key[len] || !key[len + 1] || strchr(key, '/') || !is_plain_word(key))
		return err_set(b->e, ERR_CONFIG, "%s: no name of a cgroup file", field);
	if (is_runtimes_own(key))
		return err_set(b->e, ERR_CONFIG, "%s: this file is the runtime's", field);
	if (!b->host->n || !on_v2(b, dir))
		return err_set(b->e, ERR_HOST, "%s: this host has no cgroup v2", field);
	*ret_dir = dir;
	if (str_eq(controller, "cgroup"))
		return 0;
	if (str_eq(controller, "io"))
		controller = arena_strdup(b->a, "blkio");
	if (cgroup_build_need(b, controller, field, ret_dir) < 0)
		return -1;
	if (!on_v2(b, *ret_dir))
		return err_set(b->e, ERR_HOST, "%s: this host has the %s controller on cgroup v1", field,
			       controller);
	return 0;
}

/* A value may have several lines, and the kernel takes one at a time. */
static int unified(struct cgroup_build *b, const struct oci_resources *r)
{
	size_t i, dir;

	for (i = 0; i < r->unified.n; i++) {
		const struct pair *p = &r->unified.v[i];
		const char *field = arena_printf(b->a, R "unified[%s]", p->key);
		char *rest = arena_strdup(b->a, p->value);
		char *line;

		if (strlen(p->value) >= 4096)
			return err_set(b->e, ERR_CONFIG, "%s: longer than a page", field);
		if (unified_key(b, p->key, field, &dir) < 0)
			return -1;
		while ((line = strsep(&rest, "\n")))
			if (*line || (!rest && !*p->value))
				cgroup_build_put(b, dir, field, p->key, "%s", line);
	}
	return 0;
}

int cgroup_build_resources(struct cgroup_build *b, const struct oci_resources *r)
{
	int (*const parts[])(struct cgroup_build *, const struct oci_resources *) = {
		memory, cpu, cpuset, pids, block_io, hugepages, network, rdma,
		unified, /* last: it may refine what the others said */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i](b, r) < 0)
			return -1;
	return 0;
}
