#include "plan/proc_files.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/str.h"

enum { TEXT_MAX = 8 << 20, PERIOD = 100000 /* the kernel's own */ };

/* Of a list such as "0-3,8", how many; 0: it is none. */
static uint64_t cpus_count(const char *list)
{
	unsigned long first, last;
	uint64_t n = 0;
	char *end;

	while (*list) {
		first = last = strtoul(list, &end, 10);
		if (end == list)
			return 0;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (last < first || last - first > UINT16_MAX || (*end && *end != ','))
			return 0;
		n += last - first + 1;
		list = *end ? end + 1 : end;
	}
	return n;
}

/* A part of a processor counts as one. */
static uint32_t cpus_given(const struct oci_cpu *c, const struct machine_facts *m)
{
	uint64_t n = m->cpus ? m->cpus : 1, period = PERIOD, some;

	if (c->period.set && c->period.v)
		period = c->period.v;
	if (c->quota.set && c->quota.v > 0) {
		some = (uint64_t)c->quota.v / period + ((uint64_t)c->quota.v % period != 0);
		n = some < n ? some : n;
	}
	some = c->cpus ? cpus_count(c->cpus) : 0;
	return (uint32_t)(some && some < n ? some : n);
}

static const char *text_meminfo(const struct oci_memory *o, const struct machine_facts *m,
				struct arena *a)
{
	static const char *const zeros[] = {
		"Buffers", "Cached", "SwapCached", "Active", "Inactive", "Dirty", "Writeback",
		"AnonPages", "Mapped", "Shmem", "KReclaimable", "Slab", "SReclaimable",
		"SUnreclaim", "KernelStack", "PageTables", "Committed_AS"};
	struct buf b = buf_new(a, TEXT_MAX);
	uint64_t limit = m->memory, swap = 0;
	size_t i;

	if (o->limit.set && o->limit.v > 0 && (!limit || (uint64_t)o->limit.v < limit))
		limit = (uint64_t)o->limit.v;
	if (o->swap.set && o->limit.set && o->limit.v > 0 && o->swap.v > o->limit.v)
		swap = (uint64_t)(o->swap.v - o->limit.v);
	buf_printf(&b, "MemTotal:       %8" PRIu64 " kB\nMemFree:        %8" PRIu64
		       " kB\nMemAvailable:   %8" PRIu64 " kB\n",
		   limit >> 10, limit >> 10, limit >> 10);
	for (i = 0; i < ARRAY_SIZE(zeros); i++)
		buf_printf(&b, "%s:%*d kB\n", zeros[i], (int)(23 - strlen(zeros[i])), 0);
	buf_printf(&b, "SwapTotal:      %8" PRIu64 " kB\nSwapFree:       %8" PRIu64 " kB\n",
		   swap >> 10, swap >> 10);
	return b.data;
}

/* Features of all processors of its kind. */
static const char *text_cpuinfo(uint32_t cpus, struct arena *a)
{
	struct buf b = buf_new(a, TEXT_MAX);
	uint32_t i;

	for (i = 0; i < cpus; i++)
#ifdef __aarch64__
		buf_printf(&b,
			   "processor\t: %u\nBogoMIPS\t: 100.00\nFeatures\t: fp asimd\n"
			   "CPU architecture: 8\n\n",
			   i);
#else
		buf_printf(&b,
			   "processor\t: %u\nvendor_id\t: generic\ncpu family\t: 6\nmodel\t\t: 0\n"
			   "model name\t: generic\nstepping\t: 0\ncpu MHz\t\t: 1000.000\n"
			   "cache size\t: 0 KB\nphysical id\t: 0\nsiblings\t: %u\ncore id\t\t: %u\n"
			   "cpu cores\t: %u\nflags\t\t: fpu tsc cx8 cmov mmx fxsr sse sse2 syscall nx lm\n"
			   "bogomips\t: 2000.00\n\n",
			   i, cpus, i, cpus);
#endif
	return b.data;
}

static const char *text_stat(uint32_t cpus, uint64_t now, struct arena *a)
{
	struct buf b = buf_new(a, TEXT_MAX);
	uint32_t i;

	buf_str(&b, "cpu  0 0 0 0 0 0 0 0 0 0\n");
	for (i = 0; i < cpus; i++)
		buf_printf(&b, "cpu%u 0 0 0 0 0 0 0 0 0 0\n", i);
	buf_printf(&b,
		   "intr 0\nctxt 0\nbtime %" PRIu64 "\nprocesses 1\nprocs_running 1\n"
		   "procs_blocked 0\n",
		   now);
	return b.data;
}

struct proc_files plan_proc_files(const struct oci_resources *r, const struct machine_facts *m,
				  struct arena *a)
{
	const uint32_t cpus = cpus_given(&r->cpu, m);
	const struct proc_file files[] = {
		{"cpuinfo", text_cpuinfo(cpus, a)},
		{"loadavg", "0.00 0.00 0.00 1/1 1\n"},
		{"meminfo", text_meminfo(&r->memory, m, a)},
		{"stat", text_stat(cpus, m->now, a)},
		{"uptime", "0.00 0.00\n"},
	};
	struct proc_files p = {.v = arena_array(a, ARRAY_SIZE(files), struct proc_file)};

	for (; p.n < ARRAY_SIZE(files); p.n++)
		p.v[p.n] = files[p.n];
	return p;
}
