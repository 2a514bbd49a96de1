/*
 * Counts of a box at its end: processor time, the most memory, the most processes, those that were
 * killed for want of memory, and those that were refused. cgroup_stats_read() would read eighty
 * files for that.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/stats.h"
#include "cgroup/tree.h"

enum { USED_TEXT = 4096, US_NS = 1000 };

/* Counts found so far: v1's files come first, as everywhere. */
struct found {
	bool cpu, memory, kills, pids, pids_peak;
};

/* The number behind `name`, which stands at the beginning of a line; "" is the first line's own. */
static bool number_behind(const char *text, const char *name, uint64_t *ret)
{
	const size_t len = strlen(name);
	char digits[24];
	size_t n;

	while (text && strncmp(text, name, len) != 0) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	n = text ? strspn(text + len, "0123456789") : 0;
	if (!n || n >= sizeof(digits))
		return false;
	memcpy(digits, text + len, n);
	digits[n] = '\0';
	return str_to_u64(digits, UINT64_MAX, ret);
}

static bool number_in(int dfd, const char *file, const char *name, uint64_t *ret)
{
	char text[USED_TEXT];

	return fd_read_at(dfd, file, text, sizeof(text)) >= 0 && number_behind(text, name, ret);
}

/* The unified tree counts times even where it has no cpu controller. */
static bool cpu_in(const struct cgroup_dir *d, int dfd, uint64_t *ret)
{
	if (!d->unified)
		return number_in(dfd, "cpuacct.usage", "", ret);
	if (!number_in(dfd, "cpu.stat", "usage_usec ", ret))
		return false;
	*ret *= US_NS;
	return true;
}

static void used_look(const struct cgroup_dir *d, int dfd, struct found *found,
		      struct cgroup_used *to)
{
	found->cpu = found->cpu || cpu_in(d, dfd, &to->cpu_ns);
	found->memory =
		found->memory ||
		number_in(dfd, d->unified ? "memory.peak" : "memory.max_usage_in_bytes", "",
			  &to->memory_peak);
	found->kills = found->kills ||
		       number_in(dfd, d->unified ? "memory.events" : "memory.oom_control",
				 "oom_kill ", &to->oom_kills);
	found->pids =
		found->pids || number_in(dfd, "pids.events", "max ", &to->pids_refused);
	found->pids_peak =
		found->pids_peak || number_in(dfd, "pids.peak", "", &to->pids_peak);
}

void cgroup_used_read(const struct cgroup_dirs *d, struct cgroup_used *ret)
{
	struct found found = {0};
	size_t i;

	*ret = (struct cgroup_used){0};
	for (i = 0; i < d->n && !(found.cpu && found.memory && found.kills && found.pids &&
				  found.pids_peak);
	     i++) {
		autoclose int dfd = cgroup_dir_open(&d->v[i]);

		if (dfd >= 0)
			used_look(&d->v[i], dfd, &found, ret);
	}
}

uint64_t cgroup_oom_kills(const struct cgroup_dirs *d)
{
	struct cgroup_used used;

	cgroup_used_read(d, &used);
	return used.oom_kills;
}

bool cgroup_cpu_used(const struct cgroup_dirs *d, uint64_t *ret_ns)
{
	size_t i;

	*ret_ns = 0;
	for (i = 0; i < d->n; i++) {
		autoclose int dfd = cgroup_dir_open(&d->v[i]);

		if (dfd >= 0 && cpu_in(&d->v[i], dfd, ret_ns))
			return *ret_ns != 0;
	}
	return false;
}
