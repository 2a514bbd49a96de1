/*
 * Statistics of a container's cgroups, from whichever hierarchy counts: v1's files where there are
 * any, else v2's, in v1's terms (nanoseconds; swap includes memory). A count that the kernel lacks
 * is 0 or empty. The functions on texts are pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/cgroup.h"

struct cgroup_numbers {
	size_t n;
	uint64_t *v;
};

/* Lines of "name value". */
struct cgroup_count {
	const char *name;
	uint64_t value;
};
struct cgroup_counts {
	size_t n;
	struct cgroup_count *v;
};

struct cgroup_io {
	uint64_t major;
	uint64_t minor;
	const char *op; /* "Read", "Write", …; "" where there is no such thing */
	uint64_t value;
};
struct cgroup_io_list {
	size_t n;
	size_t cap;
	struct cgroup_io *v;
};

struct cgroup_usage {
	uint64_t limit; /* UINT64_MAX: none (v2) */
	uint64_t usage;
	uint64_t max;
	uint64_t failcnt;
};

struct cgroup_hugetlb {
	const char *page_size; /* "2MB" */
	struct cgroup_usage usage;
};

/* A line of a pressure file. The averages are kept as the kernel wrote them: "0.00". */
struct cgroup_pressure_line {
	char avg10[16];
	char avg60[16];
	char avg300[16];
	uint64_t total;
};
struct cgroup_pressure {
	bool set;
	struct cgroup_pressure_line some;
	struct cgroup_pressure_line full;
};

enum cgroup_io_table {
	CGROUP_IO_BYTES,
	CGROUP_IO_SERVICED,
	CGROUP_IO_QUEUED,
	CGROUP_IO_SERVICE_TIME,
	CGROUP_IO_WAIT_TIME,
	CGROUP_IO_MERGED,
	CGROUP_IO_TIME,
	CGROUP_IO_SECTORS,
	CGROUP_IO_TABLES,
};

struct cgroup_stats {
	struct {
		uint64_t total, kernel, user; /* nanoseconds */
		struct cgroup_numbers percpu, percpu_kernel, percpu_user;
		uint64_t periods, throttled_periods, throttled_time;
		struct cgroup_pressure pressure;
	} cpu;
	struct {
		struct cgroup_numbers cpus, mems;
		uint64_t cpu_exclusive, mem_hardwall, mem_exclusive, memory_migrate;
		uint64_t memory_spread_page, memory_spread_slab, memory_pressure;
		uint64_t sched_load_balance;
		int64_t sched_relax_domain_level;
	} cpuset;
	struct {
		uint64_t cache;
		struct cgroup_usage usage, swap, kernel, kernel_tcp;
		struct cgroup_counts raw;    /* memory.stat */
		struct cgroup_counts events; /* memory.events */
		struct cgroup_pressure pressure;
	} memory;
	struct {
		uint64_t current, limit; /* limit 0: none */
	} pids;
	struct {
		struct cgroup_io_list tables[CGROUP_IO_TABLES];
		struct cgroup_pressure pressure;
	} io;
	struct {
		size_t n;
		struct cgroup_hugetlb *v;
	} hugetlb;
};

/* Reads all of it. Fails only when none of the cgroups can be opened. */
int cgroup_stats_read(const struct cgroup_dirs *d, struct arena *a, struct cgroup_stats *ret,
		      struct error *e);

/* Counts of a box at its end (cgroup/used.c); 0 where nobody counts. */
struct cgroup_used {
	uint64_t cpu_ns;
	uint64_t memory_peak;
	uint64_t oom_kills;
	uint64_t pids_refused; /* that the limit of processes was hit */
	uint64_t pids_peak; /* processes and threads at once; Linux 6.1 and newer count them */
};
void cgroup_used_read(const struct cgroup_dirs *d, struct cgroup_used *ret);

/* The first of them alone; false: nobody counts it. */
bool cgroup_cpu_used(const struct cgroup_dirs *d, uint64_t *ret_ns);

/* "name value" lines; others are passed over. The names point into text, which is cut up. */
struct cgroup_counts cgroup_stats_counts(char *text, struct arena *a);
uint64_t cgroup_stats_count(const struct cgroup_counts *c, const char *name);

/* Numbers between white space. */
struct cgroup_numbers cgroup_stats_numbers(const char *text, struct arena *a);
/* "0-2,7" → 0 1 2 7. */
struct cgroup_numbers cgroup_stats_ranges(const char *text, struct arena *a);

/* v1: "8:0 Read 4096", "8:0 4096"; sums ("Total 1") are passed over. text is cut up. */
void cgroup_stats_io_v1(char *text, struct arena *a, struct cgroup_io_list *list);
/* v2: "8:0 rbytes=1 wbytes=2 rios=3 …". text is cut up. */
void cgroup_stats_io_v2(char *text, struct arena *a, struct cgroup_io_list *bytes,
			struct cgroup_io_list *serviced);

/* A pressure file. */
struct cgroup_pressure cgroup_stats_pressure(const char *text);

/* ---- running out of memory ---- */

/*
 * The descriptor tells of it: on v1 an eventfd that the kernel signals, on v2 memory.events itself,
 * which polls as POLLPRI. fd is -1 where nothing counts memory.
 */
struct cgroup_oom {
	int fd;
	int control_fd; /* v1: memory.oom_control, which shows whether the cgroup is still there */
	short events;	/* for poll */
	uint64_t kills; /* v2: how many we know of */
};
#define CGROUP_OOM_NONE ((struct cgroup_oom){.fd = -1, .control_fd = -1})

/* How many processes have been killed for want of memory. */
uint64_t cgroup_oom_kills(const struct cgroup_dirs *d);

int cgroup_oom_open(const struct cgroup_dirs *d, struct cgroup_oom *ret, struct error *e);
/* How many times it has happened since the last call. *ret_gone: the cgroup is no more. */
uint64_t cgroup_oom_take(struct cgroup_oom *o, bool *ret_gone);
void cgroup_oom_close(struct cgroup_oom *o);
