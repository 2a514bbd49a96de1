/* The statistics of a class of service: files of a number or a line each. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/rdt.h"

const char *const rdt_count_files[RDT_COUNTS] = {
	[RDT_MBM_TOTAL] = "mbm_total_bytes",
	[RDT_MBM_LOCAL] = "mbm_local_bytes",
	[RDT_LLC_OCCUPANCY] = "llc_occupancy",
};

static char *read_text(const char *dir, const char *file, struct arena *a)
{
	autoclose int dfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char text[4096];

	if (dfd < 0 || fd_read_at(dfd, file, text, sizeof(text)) < 0)
		return NULL;
	return arena_strdup(a, text);
}

/* "Unavailable" and "Error" are what the kernel says besides numbers. */
static bool read_number(const char *dir, const char *file, struct arena *a, uint64_t *ret)
{
	const char *text = read_text(dir, file, a);

	return text && str_to_u64(text, UINT64_MAX, ret);
}

static char *schema_of(const char *dir, const char *resource, struct arena *a)
{
	char *rest = read_text(dir, "schemata", a), *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		line += strspn(line, " ");
		if (str_after(line, resource))
			return line;
	}
	return NULL;
}

static int is_cache(const struct dirent *d)
{
	return str_after(d->d_name, "mon_L3_") != NULL;
}

static void caches_read(const char *dir, struct arena *a, struct rdt_stats *s)
{
	const char *data = arena_printf(a, "%s/mon_data", dir);
	struct dirent **names;
	int i, n = scandir(data, &names, is_cache, alphasort);
	int k;

	if (n < 0)
		return;
	s->caches = arena_array(a, (size_t)n, struct rdt_cache);
	s->n_caches = (size_t)n;
	for (i = 0; i < n; i++) {
		const char *cache = arena_printf(a, "%s/%s", data, names[i]->d_name);

		for (k = 0; k < RDT_COUNTS; k++)
			s->caches[i].has[k] =
				read_number(cache, rdt_count_files[k], a, &s->caches[i].count[k]);
		free(names[i]);
	}
	free(names);
}

void rdt_stats_read(const struct rdt_group *g, struct arena *a, struct rdt_stats *ret)
{
	struct rdt_stats s = {0};
	const char *l3, *mb;

	if (g->set) {
		l3 = arena_printf(a, "%s/info/L3", g->root);
		mb = arena_printf(a, "%s/info/MB", g->root);
		s.cbm_mask = read_text(l3, "cbm_mask", a);
		read_number(l3, "min_cbm_bits", a, &s.min_cbm_bits);
		read_number(l3, "num_closids", a, &s.l3_classes);
		read_number(mb, "bandwidth_gran", a, &s.bandwidth_gran);
		read_number(mb, "delay_linear", a, &s.delay_linear);
		read_number(mb, "min_bandwidth", a, &s.min_bandwidth);
		read_number(mb, "num_closids", a, &s.mb_classes);
		s.l3_root = schema_of(g->root, "L3:", a);
		s.l3 = schema_of(g->class, "L3:", a);
		s.mb_root = schema_of(g->root, "MB:", a);
		s.mb = schema_of(g->class, "MB:", a);
		caches_read(g->monitor ? g->monitor : g->class, a, &s);
	}
	*ret = s;
}
