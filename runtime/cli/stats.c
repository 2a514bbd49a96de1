/*
 * The statistics of a container as one JSON line, in the form that callers of runc read: keys of
 * zero are left out where runc leaves them out. Rows don't fit: lists of 64-bit numbers and objects
 * with the kernel's own keys.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cgroup/stats.h"
#include "json/json.h"
#include "cli/stats.h"

static void comma(struct buf *b)
{
	if (b->len && b->data[b->len - 1] != '{' && b->data[b->len - 1] != '[')
		buf_char(b, ',');
}

static void key(struct buf *b, const char *name)
{
	comma(b);
	json_write_string(b, name);
	buf_char(b, ':');
}

static void object(struct buf *b, const char *name)
{
	key(b, name);
	buf_char(b, '{');
}

static void end(struct buf *b)
{
	buf_char(b, '}');
}

static void number(struct buf *b, const char *name, uint64_t v)
{
	key(b, name);
	buf_printf(b, "%" PRIu64, v);
}

/* Left out when it is 0. */
static void some(struct buf *b, const char *name, uint64_t v)
{
	if (v)
		number(b, name, v);
}

static void numbers(struct buf *b, const char *name, const struct cgroup_numbers *list)
{
	size_t i;

	if (!list->n)
		return;
	key(b, name);
	buf_char(b, '[');
	for (i = 0; i < list->n; i++) {
		comma(b);
		buf_printf(b, "%" PRIu64, list->v[i]);
	}
	buf_char(b, ']');
}

static void pressure_line(struct buf *b, const char *name, const struct cgroup_pressure_line *l)
{
	object(b, name);
	buf_printf(b, "\"avg10\":%s,\"avg60\":%s,\"avg300\":%s", l->avg10, l->avg60, l->avg300);
	number(b, "total", l->total);
	end(b);
}

static void pressure(struct buf *b, const struct cgroup_pressure *p)
{
	if (!p->set)
		return;
	object(b, "psi");
	pressure_line(b, "some", &p->some);
	pressure_line(b, "full", &p->full);
	end(b);
}

static void stats_cpu(struct buf *b, const struct cgroup_stats *s)
{
	object(b, "cpu");
	object(b, "usage");
	some(b, "total", s->cpu.total);
	numbers(b, "percpu", &s->cpu.percpu);
	numbers(b, "percpu_kernel", &s->cpu.percpu_kernel);
	numbers(b, "percpu_user", &s->cpu.percpu_user);
	number(b, "kernel", s->cpu.kernel);
	number(b, "user", s->cpu.user);
	end(b);
	object(b, "throttling");
	some(b, "periods", s->cpu.periods);
	some(b, "throttledPeriods", s->cpu.throttled_periods);
	some(b, "throttledTime", s->cpu.throttled_time);
	end(b);
	pressure(b, &s->cpu.pressure);
	end(b);
}

static void stats_cpuset(struct buf *b, const struct cgroup_stats *s)
{
	object(b, "cpuset");
	numbers(b, "cpus", &s->cpuset.cpus);
	number(b, "cpu_exclusive", s->cpuset.cpu_exclusive);
	numbers(b, "mems", &s->cpuset.mems);
	number(b, "mem_hardwall", s->cpuset.mem_hardwall);
	number(b, "mem_exclusive", s->cpuset.mem_exclusive);
	number(b, "memory_migrate", s->cpuset.memory_migrate);
	number(b, "memory_spread_page", s->cpuset.memory_spread_page);
	number(b, "memory_spread_slab", s->cpuset.memory_spread_slab);
	number(b, "memory_pressure", s->cpuset.memory_pressure);
	number(b, "sched_load_balance", s->cpuset.sched_load_balance);
	key(b, "sched_relax_domain_level");
	buf_printf(b, "%" PRId64, s->cpuset.sched_relax_domain_level);
	end(b);
}

static void stats_usage(struct buf *b, const char *name, const struct cgroup_usage *u)
{
	object(b, name);
	number(b, "limit", u->limit);
	some(b, "usage", u->usage);
	some(b, "max", u->max);
	number(b, "failcnt", u->failcnt);
	end(b);
}

static void stats_memory(struct buf *b, const struct cgroup_stats *s)
{
	static const char *const events[] = {"low", "high",	"max",
					     "oom", "oom_kill", "oom_group_kill"};
	size_t i;

	object(b, "memory");
	some(b, "cache", s->memory.cache);
	stats_usage(b, "usage", &s->memory.usage);
	stats_usage(b, "swap", &s->memory.swap);
	stats_usage(b, "kernel", &s->memory.kernel);
	stats_usage(b, "kernelTCP", &s->memory.kernel_tcp);
	if (s->memory.raw.n) {
		object(b, "raw");
		for (i = 0; i < s->memory.raw.n; i++)
			number(b, s->memory.raw.v[i].name, s->memory.raw.v[i].value);
		end(b);
	}
	pressure(b, &s->memory.pressure);
	if (s->memory.events.n) {
		object(b, "event_count");
		for (i = 0; i < ARRAY_SIZE(events); i++)
			number(b, events[i], cgroup_stats_count(&s->memory.events, events[i]));
		end(b);
	}
	end(b);
}

static void stats_io(struct buf *b, const struct cgroup_stats *s)
{
	static const char *const names[CGROUP_IO_TABLES] = {
		[CGROUP_IO_BYTES] = "ioServiceBytesRecursive",
		[CGROUP_IO_SERVICED] = "ioServicedRecursive",
		[CGROUP_IO_QUEUED] = "ioQueueRecursive",
		[CGROUP_IO_SERVICE_TIME] = "ioServiceTimeRecursive",
		[CGROUP_IO_WAIT_TIME] = "ioWaitTimeRecursive",
		[CGROUP_IO_MERGED] = "ioMergedRecursive",
		[CGROUP_IO_TIME] = "ioTimeRecursive",
		[CGROUP_IO_SECTORS] = "sectorsRecursive",
	};
	size_t i, k;

	object(b, "blkio");
	for (i = 0; i < CGROUP_IO_TABLES; i++) {
		const struct cgroup_io_list *list = &s->io.tables[i];

		if (!list->n)
			continue;
		key(b, names[i]);
		buf_char(b, '[');
		for (k = 0; k < list->n; k++) {
			comma(b);
			buf_char(b, '{');
			some(b, "major", list->v[k].major);
			some(b, "minor", list->v[k].minor);
			if (*list->v[k].op) {
				key(b, "op");
				json_write_string(b, list->v[k].op);
			}
			some(b, "value", list->v[k].value);
			end(b);
		}
		buf_char(b, ']');
	}
	pressure(b, &s->io.pressure);
	end(b);
}

static void stats_hugetlb(struct buf *b, const struct cgroup_stats *s)
{
	size_t i;

	object(b, "hugetlb");
	for (i = 0; i < s->hugetlb.n; i++) {
		object(b, s->hugetlb.v[i].page_size);
		some(b, "usage", s->hugetlb.v[i].usage.usage);
		some(b, "max", s->hugetlb.v[i].usage.max);
		number(b, "failcnt", s->hugetlb.v[i].usage.failcnt);
		end(b);
	}
	end(b);
}

/* " eth0: 1 2 …": sixteen counters, received first. Trust: the container may have named it. */
static void stats_interface(struct buf *b, char *line)
{
	static const struct {
		const char *name;
		unsigned int at;
	} counters[] = {
		{"RxBytes", 0}, {"RxPackets", 1}, {"RxErrors", 2},  {"RxDropped", 3},
		{"TxBytes", 8}, {"TxPackets", 9}, {"TxErrors", 10}, {"TxDropped", 11},
	};
	unsigned long long v[16];
	char *values = strrchr(line, ':');
	int used = 0, n;
	size_t i;

	if (!values)
		return;
	*values++ = '\0';
	for (i = 0; i < ARRAY_SIZE(v); i++, values += n) {
		n = 0;
		if (sscanf(values, "%llu%n", &v[i], &n) != 1)
			break;
		used++;
	}
	if (used < 12)
		return;
	comma(b);
	buf_char(b, '{');
	key(b, "Name");
	json_write_string(b, line + strspn(line, " "));
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		number(b, counters[i].name, v[counters[i].at]);
	end(b);
}

void stats_interfaces(char *text, struct buf *b)
{
	char *line;

	key(b, "network_interfaces");
	if (!text) {
		buf_str(b, "null");
		return;
	}
	buf_char(b, '[');
	while ((line = strsep(&text, "\n")))
		stats_interface(b, line);
	buf_char(b, ']');
}

static void text(struct buf *b, const char *name, const char *value)
{
	if (!value)
		return;
	key(b, name);
	json_write_string(b, value);
}

/* A list of objects, one a cache: those of the numbers that it has. */
static void rdt_caches(struct buf *b, const char *name, const struct rdt_stats *r,
		       const enum rdt_count *counts, size_t n)
{
	size_t i, k;

	if (!r->n_caches || !r->caches[0].has[counts[0]])
		return;
	key(b, name);
	buf_char(b, '[');
	for (i = 0; i < r->n_caches; i++) {
		comma(b);
		buf_char(b, '{');
		for (k = 0; k < n; k++)
			some(b, rdt_count_files[counts[k]], r->caches[i].count[counts[k]]);
		end(b);
	}
	buf_char(b, ']');
}

static void stats_rdt(struct buf *b, const struct rdt_stats *r)
{
	static const enum rdt_count bandwidth[] = {RDT_MBM_TOTAL, RDT_MBM_LOCAL};
	static const enum rdt_count occupancy[] = {RDT_LLC_OCCUPANCY};

	object(b, "intel_rdt");
	if (r->cbm_mask) {
		object(b, "l3_cache_info");
		text(b, "cbm_mask", r->cbm_mask);
		some(b, "min_cbm_bits", r->min_cbm_bits);
		some(b, "num_closids", r->l3_classes);
		end(b);
	}
	text(b, "l3_cache_schema_root", r->l3_root);
	text(b, "l3_cache_schema", r->l3);
	if (r->mb_classes) {
		object(b, "mem_bw_info");
		some(b, "bandwidth_gran", r->bandwidth_gran);
		some(b, "delay_linear", r->delay_linear);
		some(b, "min_bandwidth", r->min_bandwidth);
		some(b, "num_closids", r->mb_classes);
		end(b);
	}
	text(b, "mem_bw_schema_root", r->mb_root);
	text(b, "mem_bw_schema", r->mb);
	rdt_caches(b, "mbm_stats", r, bandwidth, ARRAY_SIZE(bandwidth));
	rdt_caches(b, "cmt_stats", r, occupancy, ARRAY_SIZE(occupancy));
	end(b);
}

void stats_write(const char *id, const struct cgroup_stats *s, const struct rdt_stats *rdt,
		 char *net_dev, struct buf *b)
{
	buf_str(b, "{\"type\":\"stats\"");
	key(b, "id");
	json_write_string(b, id);
	object(b, "data");
	stats_cpu(b, s);
	stats_cpuset(b, s);
	stats_memory(b, s);
	object(b, "pids");
	some(b, "current", s->pids.current);
	some(b, "limit", s->pids.limit);
	end(b);
	stats_io(b, s);
	stats_hugetlb(b, s);
	stats_rdt(b, rdt);
	stats_interfaces(net_dev, b);
	end(b);
	buf_str(b, "}\n");
}

void stats_write_oom(const char *id, struct buf *b)
{
	buf_str(b, "{\"type\":\"oom\",\"id\":");
	json_write_string(b, id);
	buf_str(b, "}\n");
}
