/*
 * Places that tell of the machine, or of other containers. One tells something if a byte can be
 * read; a directory, if it has an entry that may be read. Three of them are there for every
 * process, and tell something only if what they say is the host's: those have a judge.
 */
#define _GNU_SOURCE
#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT = 10, LEAKS = 79 };

/* A bind from elsewhere: its root is a path of the host's filesystem. */
static bool line_names_a_path(const char *line)
{
	char root[256] = "";

	return sscanf(line, "%*s %*s %*s %255s", root) == 1 && strcmp(root, "/") != 0;
}

static bool line_names_a_cgroup(const char *line)
{
	const char *path = strrchr(line, ':');

	return path && strncmp(path, ":/\n", 3) != 0 && strncmp(path, ":/..", 4) != 0;
}

static bool line_maps_ids_to_themselves(const char *line)
{
	unsigned long inside, outside, count;

	return sscanf(line, "%lu %lu %lu", &inside, &outside, &count) == 3 && inside == outside;
}

static const struct leak {
	const char *path;
	bool (*judge)(const char *line);
} leaks[] = {
	{"/dev/kmsg", NULL},
	{"/proc/acpi", NULL},
	{"/proc/asound", NULL},
	{"/proc/buddyinfo", NULL},
	{"/proc/bus", NULL},
	{"/proc/cgroups", NULL},
	{"/proc/cmdline", NULL},
	{"/proc/config.gz", NULL},
	{"/proc/consoles", NULL},
	{"/proc/cpuinfo", NULL},
	{"/proc/crypto", NULL},
	{"/proc/devices", NULL},
	{"/proc/diskstats", NULL},
	{"/proc/driver", NULL},
	{"/proc/fb", NULL},
	{"/proc/filesystems", NULL},
	{"/proc/interrupts", NULL},
	{"/proc/iomem", NULL},
	{"/proc/ioports", NULL},
	{"/proc/irq", NULL},
	{"/proc/kallsyms", NULL},
	{"/proc/kcore", NULL},
	{"/proc/key-users", NULL},
	{"/proc/keys", NULL},
	{"/proc/kpagecount", NULL},
	{"/proc/kpageflags", NULL},
	{"/proc/latency_stats", NULL},
	{"/proc/loadavg", NULL},
	{"/proc/locks", NULL},
	{"/proc/meminfo", NULL},
	{"/proc/misc", NULL},
	{"/proc/modules", NULL},
	{"/proc/mtrr", NULL},
	{"/proc/pagetypeinfo", NULL},
	{"/proc/partitions", NULL},
	{"/proc/pressure", NULL},
	{"/proc/sched_debug", NULL},
	{"/proc/schedstat", NULL},
	{"/proc/scsi", NULL},
	{"/proc/self/cgroup", line_names_a_cgroup},
	{"/proc/self/mountinfo", line_names_a_path},
	{"/proc/self/uid_map", line_maps_ids_to_themselves},
	{"/proc/slabinfo", NULL},
	{"/proc/softirqs", NULL},
	{"/proc/stat", NULL},
	{"/proc/swaps", NULL},
	{"/proc/sys/fs/file-nr", NULL},
	{"/proc/sys/kernel/core_pattern", NULL},
	{"/proc/sys/kernel/osrelease", NULL},
	{"/proc/sys/kernel/random/boot_id", NULL},
	{"/proc/timer_list", NULL},
	{"/proc/tty/drivers", NULL},
	{"/proc/uptime", NULL},
	{"/proc/version", NULL},
	{"/proc/vmallocinfo", NULL},
	{"/proc/vmstat", NULL},
	{"/proc/zoneinfo", NULL},
	{"/sys/block", NULL},
	{"/sys/bus", NULL},
	{"/sys/class/dmi", NULL},
	{"/sys/class/hwmon", NULL},
	{"/sys/class/power_supply", NULL},
	{"/sys/class/thermal", NULL},
	{"/sys/devices/system/cpu/vulnerabilities", NULL},
	{"/sys/devices/virtual/dmi/id", NULL},
	{"/sys/firmware", NULL},
	{"/sys/fs/bpf", NULL},
	{"/sys/fs/cgroup", NULL},
	{"/sys/hypervisor", NULL},
	{"/sys/kernel/debug", NULL},
	{"/sys/kernel/mm", NULL},
	{"/sys/kernel/notes", NULL},
	{"/sys/kernel/security", NULL},
	{"/sys/kernel/slab", NULL},
	{"/sys/kernel/tracing", NULL},
	{"/sys/kernel/uevent_seqnum", NULL},
	{"/sys/kernel/vmcoreinfo", NULL},
	{"/sys/module", NULL},
	{"/sys/power", NULL},
};
_Static_assert(ARRAY_SIZE(leaks) == LEAKS, "figures compare only between tables of one length");

static long look_at_dir(int dfd)
{
	DIR *dir = fdopendir(dfd);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && faccessat(dirfd(dir), entry->d_name, R_OK, 0) == 0)
			return 0;
	return -ENOENT;
}

static long look_at_lines(int fd, bool (*judge)(const char *line))
{
	FILE *f = fdopen(fd, "r");
	char line[4096];

	while (f && fgets(line, sizeof(line), f))
		if (judge(line))
			return 0;
	return -ENOENT;
}

/* The child ends, and closes what it opened. */
static long look_at(const void *arg)
{
	const struct leak *l = arg;
	char bytes[4096];
	struct stat st;
	int fd = open(l->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return look_at_dir(fd);
	if (l->judge)
		return look_at_lines(fd, l->judge);
	switch (read(fd, bytes, sizeof(bytes))) {
	case -1:
		return -errno;
	case 0:
		return -ENODATA;
	default:
		return 0;
	}
}

void probe_leaks(void)
{
	unsigned int n = 0;
	int lock_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	/* So that /proc/locks says something whatever the machine's programs do. */
	if (lock_fd < 0 || flock(lock_fd, LOCK_SH | LOCK_NB) < 0)
		puts("unlocked 1");
	for (size_t i = 0; i < ARRAY_SIZE(leaks); i++) {
		struct outcome o = attempt(look_at, &leaks[i], LIMIT);

		n += outcome_is_success(&o);
		if (list_names)
			printf("leak %s %s %s\n", leaks[i].path,
			       outcome_is_success(&o) ? "readable" : "hidden", outcome_word(&o));
	}
	close(lock_fd);
	printf("leaks_readable %u\nleaks_tried %zu\n", n, ARRAY_SIZE(leaks));
}
