/* Reading what the kernel counts. Every file may be missing: it depends on kernel and layout. */
#include "cgroup/stats.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/tree.h"

#define FILE_MAX (1 << 20)
#define US_NS 1000

/* The cgroup's directories, open. */
struct reading {
	size_t n;
	int dfd[CGROUP_MAX];
	struct arena *a;
};

/* The directory that has a file, or -1. Names are unique over all controllers and both versions. */
static int dir_with(const struct reading *r, const char *file)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (faccessat(r->dfd[i], file, F_OK, 0) == 0)
			return r->dfd[i];
	return -1;
}

/* A file's text, "" if there is none. */
static char *text_read(const struct reading *r, int dfd, const char *file)
{
	autoclose int fd = dfd < 0 ? -1 : openat(dfd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t len;
	char *text = fd < 0 ? NULL : fd_read_all(fd, FILE_MAX, r->a, &len);

	return text ? text : arena_strdup(r->a, "");
}

static uint64_t number_of(const char *text, uint64_t otherwise)
{
	char digits[24];
	size_t len = strcspn(text, "\n");
	uint64_t v;

	if (len >= sizeof(digits))
		return otherwise;
	memcpy(digits, text, len);
	digits[len] = '\0';
	return str_to_u64(digits, UINT64_MAX, &v) ? v : otherwise;
}

/* A file with one number; "max" and absence give `otherwise`. */
static uint64_t number_read(const struct reading *r, int dfd, const char *file, uint64_t otherwise)
{
	return number_of(text_read(r, dfd, file), otherwise);
}

static void cpu_read_v1(const struct reading *r, struct cgroup_stats *s)
{
	int dfd = dir_with(r, "cpuacct.usage");
	char *line, *rest = text_read(r, dfd, "cpuacct.usage_all");
	struct cgroup_numbers row;

	s->cpu.total = number_read(r, dfd, "cpuacct.usage", 0);
	s->cpu.user = number_read(r, dfd, "cpuacct.usage_user", 0);
	s->cpu.kernel = number_read(r, dfd, "cpuacct.usage_sys", 0);
	s->cpu.percpu = cgroup_stats_numbers(text_read(r, dfd, "cpuacct.usage_percpu"), r->a);
	s->cpu.percpu_user.v = arena_array(r->a, strlen(rest) + 1, uint64_t);
	s->cpu.percpu_kernel.v = arena_array(r->a, strlen(rest) + 1, uint64_t);
	/* "cpu user system", then a line for each */
	while ((line = strsep(&rest, "\n"))) {
		row = cgroup_stats_numbers(line, r->a);
		if (row.n != 3)
			continue;
		s->cpu.percpu_user.v[s->cpu.percpu_user.n++] = row.v[1];
		s->cpu.percpu_kernel.v[s->cpu.percpu_kernel.n++] = row.v[2];
	}
}

static void cpu_read(const struct reading *r, struct cgroup_stats *s)
{
	bool v1_account = dir_with(r, "cpuacct.usage") >= 0;
	int dfd = dir_with(r, "cpu.cfs_quota_us");
	struct cgroup_counts c;

	if (v1_account)
		cpu_read_v1(r, s);
	if (dfd >= 0) {
		c = cgroup_stats_counts(text_read(r, dfd, "cpu.stat"), r->a);
		s->cpu.throttled_time = cgroup_stats_count(&c, "throttled_time");
	} else {
		/* The unified tree has times even where it has no cpu controller. */
		dfd = dir_with(r, "cgroup.events");
		c = cgroup_stats_counts(text_read(r, dfd, "cpu.stat"), r->a);
		s->cpu.throttled_time = cgroup_stats_count(&c, "throttled_usec") * US_NS;
		s->cpu.pressure = cgroup_stats_pressure(text_read(r, dfd, "cpu.pressure"));
	}
	s->cpu.periods = cgroup_stats_count(&c, "nr_periods");
	s->cpu.throttled_periods = cgroup_stats_count(&c, "nr_throttled");
	if (!v1_account) {
		s->cpu.total = cgroup_stats_count(&c, "usage_usec") * US_NS;
		s->cpu.user = cgroup_stats_count(&c, "user_usec") * US_NS;
		s->cpu.kernel = cgroup_stats_count(&c, "system_usec") * US_NS;
	}
}

static void cpuset_read(const struct reading *r, struct cgroup_stats *s)
{
	int dfd = dir_with(r, "cpuset.cpus");
	const struct {
		const char *file;
		uint64_t *to;
	} flags[] = {
		{"cpuset.cpu_exclusive", &s->cpuset.cpu_exclusive},
		{"cpuset.mem_hardwall", &s->cpuset.mem_hardwall},
		{"cpuset.mem_exclusive", &s->cpuset.mem_exclusive},
		{"cpuset.memory_migrate", &s->cpuset.memory_migrate},
		{"cpuset.memory_spread_page", &s->cpuset.memory_spread_page},
		{"cpuset.memory_spread_slab", &s->cpuset.memory_spread_slab},
		{"cpuset.memory_pressure", &s->cpuset.memory_pressure},
		{"cpuset.sched_load_balance", &s->cpuset.sched_load_balance},
	};
	bool v1 = dir_with(r, "cpuset.cpu_exclusive") >= 0;
	char text[32];
	size_t i;

	if (dfd < 0)
		return;
	s->cpuset.cpus = cgroup_stats_ranges(
		text_read(r, dfd, v1 ? "cpuset.cpus" : "cpuset.cpus.effective"), r->a);
	s->cpuset.mems = cgroup_stats_ranges(
		text_read(r, dfd, v1 ? "cpuset.mems" : "cpuset.mems.effective"), r->a);
	for (i = 0; v1 && i < ARRAY_SIZE(flags); i++)
		*flags[i].to = number_read(r, dfd, flags[i].file, 0);
	if (v1 && fd_read_at(dfd, "cpuset.sched_relax_domain_level", text, sizeof(text)) > 0)
		(void)!str_to_i64(text, &s->cpuset.sched_relax_domain_level);
}

static struct cgroup_usage usage_v1(const struct reading *r, int dfd, const char *prefix)
{
	const char *file[4];
	size_t i;
	static const char *const ends[] = {"limit_in_bytes", "usage_in_bytes", "max_usage_in_bytes",
					   "failcnt"};

	for (i = 0; i < ARRAY_SIZE(ends); i++)
		file[i] = arena_printf(r->a, "%s.%s", prefix, ends[i]);
	return (struct cgroup_usage){
		.limit = number_read(r, dfd, file[0], 0),
		.usage = number_read(r, dfd, file[1], 0),
		.max = number_read(r, dfd, file[2], 0),
		.failcnt = number_read(r, dfd, file[3], 0),
	};
}

static void memory_read_v1(const struct reading *r, int dfd, struct cgroup_stats *s)
{
	const struct cgroup_counts *raw = &s->memory.raw;

	s->memory.cache = cgroup_stats_count(raw, "cache");
	s->memory.usage = usage_v1(r, dfd, "memory");
	s->memory.swap = usage_v1(r, dfd, "memory.memsw");
	s->memory.kernel = usage_v1(r, dfd, "memory.kmem");
	s->memory.kernel_tcp = usage_v1(r, dfd, "memory.kmem.tcp");
}

static void memory_read_v2(const struct reading *r, int dfd, struct cgroup_stats *s)
{
	struct cgroup_usage *memory = &s->memory.usage, *swap = &s->memory.swap;

	s->memory.events = cgroup_stats_counts(text_read(r, dfd, "memory.events"), r->a);
	s->memory.cache = cgroup_stats_count(&s->memory.raw, "file");
	*memory = (struct cgroup_usage){
		.limit = number_read(r, dfd, "memory.max", UINT64_MAX),
		.usage = number_read(r, dfd, "memory.current", 0),
		.max = number_read(r, dfd, "memory.peak", 0),
		.failcnt = cgroup_stats_count(&s->memory.events, "max"),
	};
	s->memory.pressure = cgroup_stats_pressure(text_read(r, dfd, "memory.pressure"));
	if (faccessat(dfd, "memory.swap.max", F_OK, 0) < 0)
		return;
	/* v2 counts swap alone */
	*swap = (struct cgroup_usage){
		.limit = number_read(r, dfd, "memory.swap.max", UINT64_MAX),
		.usage = number_read(r, dfd, "memory.swap.current", 0) + memory->usage,
		.max = number_read(r, dfd, "memory.swap.peak", 0),
	};
	if (__builtin_add_overflow(swap->limit, memory->limit, &swap->limit))
		swap->limit = UINT64_MAX;
}

static void memory_read(const struct reading *r, struct cgroup_stats *s)
{
	int v1 = dir_with(r, "memory.usage_in_bytes");
	int dfd = v1 >= 0 ? v1 : dir_with(r, "memory.current");

	if (dfd < 0)
		return;
	s->memory.raw = cgroup_stats_counts(text_read(r, dfd, "memory.stat"), r->a);
	if (v1 >= 0)
		memory_read_v1(r, dfd, s);
	else
		memory_read_v2(r, dfd, s);
}

static void pids_read(const struct reading *r, struct cgroup_stats *s)
{
	int dfd = dir_with(r, "pids.current");

	s->pids.current = number_read(r, dfd, "pids.current", 0);
	s->pids.limit = number_read(r, dfd, "pids.max", 0);
}

static void io_read_v1(const struct reading *r, int dfd, struct cgroup_stats *s)
{
	/* The first that has lines: what a scheduler counts, else what the throttle does. */
	static const char *const files[CGROUP_IO_TABLES][4] = {
		[CGROUP_IO_BYTES] = {"blkio.bfq.io_service_bytes_recursive",
				     "blkio.io_service_bytes_recursive",
				     "blkio.throttle.io_service_bytes_recursive",
				     "blkio.throttle.io_service_bytes"},
		[CGROUP_IO_SERVICED] = {"blkio.bfq.io_serviced_recursive",
					"blkio.io_serviced_recursive",
					"blkio.throttle.io_serviced_recursive",
					"blkio.throttle.io_serviced"},
		[CGROUP_IO_QUEUED] = {"blkio.bfq.io_queued_recursive", "blkio.io_queued_recursive"},
		[CGROUP_IO_SERVICE_TIME] = {"blkio.bfq.io_service_time_recursive",
					    "blkio.io_service_time_recursive"},
		[CGROUP_IO_WAIT_TIME] = {"blkio.bfq.io_wait_time_recursive",
					 "blkio.io_wait_time_recursive"},
		[CGROUP_IO_MERGED] = {"blkio.bfq.io_merged_recursive", "blkio.io_merged_recursive"},
		[CGROUP_IO_TIME] = {"blkio.bfq.time_recursive", "blkio.time_recursive"},
		[CGROUP_IO_SECTORS] = {"blkio.bfq.sectors_recursive", "blkio.sectors_recursive"},
	};
	size_t i, k;

	for (i = 0; i < CGROUP_IO_TABLES; i++)
		for (k = 0; k < ARRAY_SIZE(files[i]) && files[i][k] && !s->io.tables[i].n; k++)
			cgroup_stats_io_v1(text_read(r, dfd, files[i][k]), r->a, &s->io.tables[i]);
}

static void io_read(const struct reading *r, struct cgroup_stats *s)
{
	int v1 = dir_with(r, "blkio.reset_stats"), v2;

	if (v1 >= 0) {
		io_read_v1(r, v1, s);
		return;
	}
	v2 = dir_with(r, "io.stat");
	cgroup_stats_io_v2(text_read(r, v2, "io.stat"), r->a, &s->io.tables[CGROUP_IO_BYTES],
			   &s->io.tables[CGROUP_IO_SERVICED]);
	s->io.pressure = cgroup_stats_pressure(text_read(r, v2, "io.pressure"));
}

/* hugetlb.SIZE.END → SIZE; files of reservations (hugetlb.SIZE.rsvd.END) don't match. */
static char *hugetlb_size(const char *name, const char *end, struct arena *a)
{
	const char *size = str_after(name, "hugetlb.");
	size_t len = size ? strcspn(size, ".") : 0;

	return len && str_eq(size + len, end) ? arena_strndup(a, size, len) : NULL;
}

static struct cgroup_usage hugetlb_usage(const struct reading *r, int dfd, const char *size,
					 bool v1)
{
	const char *prefix = arena_printf(r->a, "hugetlb.%s.rsvd", size);
	const char *now = v1 ? "usage_in_bytes" : "current";
	struct cgroup_counts events;

	/* Reservations are what the limit is on, where the kernel counts them. */
	if (faccessat(dfd, arena_printf(r->a, "%s.%s", prefix, now), F_OK, 0) < 0)
		prefix = arena_printf(r->a, "hugetlb.%s", size);
	if (v1)
		return usage_v1(r, dfd, prefix);
	events = cgroup_stats_counts(
		text_read(r, dfd, arena_printf(r->a, "hugetlb.%s.events", size)), r->a);
	return (struct cgroup_usage){
		.usage = number_read(r, dfd, arena_printf(r->a, "%s.%s", prefix, now), 0),
		.failcnt = cgroup_stats_count(&events, "max"),
	};
}

static void hugetlb_read_dir(const struct reading *r, int dfd, bool v1, struct cgroup_stats *s)
{
	int fd = openat(dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t cap = 0;
	char *size;

	if (!dir) {
		fd_close(&fd);
		return;
	}
	while ((entry = readdir(dir))) {
		size = hugetlb_size(entry->d_name, v1 ? ".usage_in_bytes" : ".current", r->a);
		if (!size)
			continue;
		s->hugetlb.v = arena_grow(r->a, s->hugetlb.v, &cap, s->hugetlb.n + 1,
					  sizeof(*s->hugetlb.v));
		s->hugetlb.v[s->hugetlb.n++] = (struct cgroup_hugetlb){
			.page_size = size,
			.usage = hugetlb_usage(r, dfd, size, v1),
		};
	}
	closedir(dir);
}

static void hugetlb_read(const struct reading *r, struct cgroup_stats *s)
{
	int dfd = dir_with(r, "hugetlb.2MB.usage_in_bytes");
	bool v1;

	if (dfd < 0)
		dfd = dir_with(r, "hugetlb.64KB.usage_in_bytes");
	v1 = dfd >= 0;
	if (!v1)
		dfd = dir_with(r, "cgroup.events");
	if (dfd >= 0)
		hugetlb_read_dir(r, dfd, v1, s);
}

int cgroup_stats_read(const struct cgroup_dirs *d, struct arena *a, struct cgroup_stats *ret,
		      struct error *e)
{
	struct reading r = {.a = a};
	struct cgroup_stats s = {0};
	size_t i;

	for (i = 0; i < d->n && i < CGROUP_MAX; i++) {
		int dfd = cgroup_dir_open(&d->v[i]);

		if (dfd >= 0)
			r.dfd[r.n++] = dfd;
	}
	if (!r.n)
		return err_set(e, ERR_WRONG_STATE, "container not running: it has no cgroups");
	cpu_read(&r, &s);
	cpuset_read(&r, &s);
	memory_read(&r, &s);
	pids_read(&r, &s);
	io_read(&r, &s);
	hugetlb_read(&r, &s);
	for (i = 0; i < r.n; i++)
		fd_close(&r.dfd[i]);
	*ret = s;
	return 0;
}
