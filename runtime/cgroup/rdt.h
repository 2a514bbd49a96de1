/*
 * resctrl, the mechanism of linux.intelRdt: a class of service is a directory, like a cgroup, and
 * is joined by the same descriptors. Not tried on a kernel that has it: the project's machines lack
 * it, and the tests use trees of plain files.
 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "cgroup/cgroup.h"
#include "plan/rdt.h"

/* Where it is mounted, or NULL. */
const char *rdt_find_root(struct arena *a);

/* Is there a directory for the class already? */
bool rdt_class_exists(const struct rdt_group *g);

/* Makes what isn't there, writes or compares the schemata, and adds to the handle what joining
 * needs. On failure, what this call made is gone again. */
int rdt_make(const struct rdt_plan *p, struct cgroup_handle *h, struct error *e);

/* The descriptors alone, for a further process. */
int rdt_open(const struct rdt_group *g, struct cgroup_handle *h, struct error *e);

/* Writes schemata to the class. *ret_old, if it is not NULL, is what stood there. */
int rdt_set_schemata(const struct rdt_group *g, const char *schemata, struct arena *a,
		     const char **ret_old, struct error *e);

/* Removes the monitoring group, and the class if it goes with the container. Missing is fine. */
int rdt_remove(const struct rdt_group *g, struct error *e);

/* ---- statistics ---- */

enum rdt_count { RDT_MBM_TOTAL, RDT_MBM_LOCAL, RDT_LLC_OCCUPANCY, RDT_COUNTS };
/* The kernel's names for them, which are runc's too. */
extern const char *const rdt_count_files[RDT_COUNTS];

/* Counts of one monitored cache. */
struct rdt_cache {
	bool has[RDT_COUNTS];
	uint64_t count[RDT_COUNTS];
};

/* All of it is empty for a container without a class. */
struct rdt_stats {
	char *cbm_mask;
	uint64_t min_cbm_bits, l3_classes;
	uint64_t bandwidth_gran, delay_linear, min_bandwidth, mb_classes;
	char *l3_root, *l3, *mb_root, *mb; /* lines of the schemata of the root and of the class */
	size_t n_caches;
	struct rdt_cache *caches;
};

/* Leaves out what can't be read. */
void rdt_stats_read(const struct rdt_group *g, struct arena *a, struct rdt_stats *ret);
