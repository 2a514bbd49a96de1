/* What a box is asked when it ends, on plain directories with the kernel's files in them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/stats.h"
#include "unit.h"

struct file {
	const char *dir, *name, *text;
};

/* The hierarchies "a" to "d"; the last may be the unified tree. */
static char dirs[][3] = {"/a", "/b", "/c", "/d"};

static void put(const char *top, const struct file *f)
{
	char path[256];
	autoclose int fd = -1;

	snprintf(path, sizeof(path), "%s%s/%s", top, f->dir, f->name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && fd_write_all(fd, f->text, strlen(f->text)) == 0);
}

static struct cgroup_used used_of(const struct file *files, size_t n, bool unified)
{
	char top[] = "/tmp/used.XXXXXX", path[256];
	struct cgroup_dir v[ARRAY_SIZE(dirs)] = {0};
	const struct cgroup_dirs d = {.n = ARRAY_SIZE(dirs), .v = v};
	struct cgroup_used used;
	uint64_t cpu;
	size_t i;

	CHECK(mkdtemp(top));
	for (i = 0; i < d.n; i++) {
		snprintf(path, sizeof(path), "%s%s", top, dirs[i]);
		CHECK(mkdir(path, 0700) == 0);
		v[i] = (struct cgroup_dir){.mount = top,
					   .path = dirs[i],
					   .unified = unified && i == d.n - 1};
	}
	for (i = 0; i < n; i++)
		put(top, &files[i]);
	cgroup_used_read(&d, &used);
	CHECK(cgroup_cpu_used(&d, &cpu) == (used.cpu_ns != 0));
	CHECK(cpu == used.cpu_ns);
	CHECK(cgroup_oom_kills(&d) == used.oom_kills);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s%s/%s", top, files[i].dir, files[i].name);
		unlink(path);
	}
	for (i = 0; i < d.n; i++) {
		snprintf(path, sizeof(path), "%s%s", top, dirs[i]);
		rmdir(path);
	}
	rmdir(top);
	return used;
}

TEST(v1_hierarchies_say_it_in_files_of_one_number)
{
	static const struct file files[] = {
		{"/a", "cpu.stat", "nr_periods 7\nnr_throttled 0\nthrottled_time 0\n"},
		{"/b", "memory.max_usage_in_bytes", "442368\n"},
		{"/b", "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"},
		{"/c", "cpuacct.usage", "3947146\n"},
		{"/d", "cpu.stat", "usage_usec 5\nuser_usec 1\n"},
		{"/d", "pids.peak", "12\n"},
	};
	const struct cgroup_used used = used_of(files, ARRAY_SIZE(files), true);

	CHECK(used.cpu_ns == 3947146);
	CHECK(used.memory_peak == 442368);
	CHECK(used.oom_kills == 3);
	CHECK(used.pids_peak == 12);
}

TEST(the_unified_tree_says_it_in_lines)
{
	static const struct file files[] = {
		{"/d", "cpu.stat", "usage_usec 4000\nuser_usec 1000\nsystem_usec 3000\n"},
		{"/d", "memory.peak", "1048576\n"},
		{"/d", "pids.peak", "7\n"},
		{"/d", "memory.events", "low 0\nmax 9\noom 4\noom_kill 2\noom_group_kill 0\n"},
	};
	const struct cgroup_used used = used_of(files, ARRAY_SIZE(files), true);

	CHECK(used.cpu_ns == 4000000);
	CHECK(used.memory_peak == 1048576);
	CHECK(used.oom_kills == 2);
	CHECK(used.pids_peak == 7);
}

/* A kernel before 5.19 has no memory.peak; one may have no controller at all. */
TEST(what_nobody_counts_is_nothing)
{
	static const struct file odd[] = {
		{"/a", "cpuacct.usage", "\n"},
		{"/b", "memory.max_usage_in_bytes", "max\n"},
		{"/b", "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n"},
		{"/c", "cpu.stat", "usage_usec 5\n"}, /* of v1: none of its words */
	};
	struct cgroup_used used = used_of(NULL, 0, true);

	CHECK(!used.cpu_ns && !used.memory_peak && !used.oom_kills && !used.pids_peak);
	used = used_of(odd, ARRAY_SIZE(odd), false);
	CHECK(!used.cpu_ns && !used.memory_peak && !used.oom_kills);
}

int main(void)
{
	return unit_main();
}
