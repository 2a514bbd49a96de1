/* What the files of plan/cgroup*.c share while they build a plan. */
#pragma once

#include "plan/cgroup.h"

#define CGROUP_NO_DIR SIZE_MAX

struct cgroup_build {
	const struct cgroup_host *host;
	struct arena *a;
	struct cgroup_plan *p;
	struct error *e;
	size_t cap; /* of p->writes */
};

/* The hierarchy that has a controller: a v1 one, else the unified one, else CGROUP_NO_DIR. The
 * name is v1's ("blkio"). */
size_t cgroup_build_find(const struct cgroup_build *b, const char *controller);

/* The same, noting that a v2 controller must be enabled; absence is an error that names field. */
int cgroup_build_need(struct cgroup_build *b, const char *controller, const char *field,
		      size_t *ret_dir);

/* Appends a write and returns it. */
struct cgroup_write *cgroup_build_put(struct cgroup_build *b, size_t dir, const char *field,
				      const char *file, const char *fmt, ...)
	__attribute__((format(printf, 5, 6), returns_nonnull));

/* The device rules: normal form, defaults added, and for v1 the writes. */
int cgroup_build_devices(struct cgroup_build *b, const struct oci_resources *r);

/* Everything else. */
int cgroup_build_resources(struct cgroup_build *b, const struct oci_resources *r);
