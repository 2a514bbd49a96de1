/* The kernel's statistics files. The first byte says which. */
#include "cgroup/stats.h"
#include "fuzz.h"

static void check_numbers(const struct cgroup_numbers *n, struct arena *a)
{
	uint64_t *copy = arena_array(a, n->n + 1, uint64_t);

	/* Reads all of them. */
	if (n->n)
		memcpy(copy, n->v, n->n * sizeof(*copy));
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct cgroup_io_list io = {0}, more = {0};
	struct cgroup_pressure pressure;
	struct cgroup_numbers numbers;
	struct cgroup_counts counts;
	size_t i;

	if (!len)
		return;
	switch (*text++ % 6) {
	case 0:
		counts = cgroup_stats_counts(text, a);
		for (i = 0; i < counts.n; i++)
			DEMAND(*counts.v[i].name &&
			       cgroup_stats_count(&counts, counts.v[0].name) == counts.v[0].value);
		DEMAND(cgroup_stats_count(&counts, "\n") == 0);
		break;
	case 1:
		numbers = cgroup_stats_numbers(text, a);
		check_numbers(&numbers, a);
		break;
	case 2:
		numbers = cgroup_stats_ranges(text, a);
		check_numbers(&numbers, a);
		break;
	case 3:
		cgroup_stats_io_v1(text, a, &io);
		break;
	case 4:
		cgroup_stats_io_v2(text, a, &io, &more);
		break;
	case 5:
		pressure = cgroup_stats_pressure(text);
		DEMAND(strnlen(pressure.some.avg10, 16) < 16 &&
		       strnlen(pressure.full.avg300, 16) < 16);
		break;
	}
	for (i = 0; i < io.n; i++)
		DEMAND(strlen(io.v[i].op) < 4096);
	for (i = 0; i < more.n; i++)
		DEMAND(strlen(more.v[i].op) < 4096);
}
