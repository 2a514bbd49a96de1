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

/* Something for the log. */
void cgroup_build_note(struct cgroup_build *b, const char *text);

bool cgroup_build_on_v2(const struct cgroup_build *b, size_t dir);

/* The error for what v2 lacks. Returns -1. */
int cgroup_build_not_on_v2(struct cgroup_build *b, const char *field);

/* -1 or a size, else an error. */
int cgroup_build_check_size(struct cgroup_build *b, const char *field, struct opt_i64 n);

/* A size as v2 writes it: "max" for -1. */
const char *cgroup_build_v2_size(struct cgroup_build *b, int64_t n);

/* The device rules: normal form, defaults added, and for v1 the writes. */
int cgroup_build_devices(struct cgroup_build *b, const struct oci_resources *r);

/* Does the config ask for devices to be denied? */
int cgroup_build_denies_devices(struct cgroup_build *b, const struct oci_resources *r, bool *ret);

/* plan/cgroup_memory_cpu.c */
int cgroup_build_memory(struct cgroup_build *b, const struct oci_resources *r);
int cgroup_build_cpu(struct cgroup_build *b, const struct oci_resources *r);
int cgroup_build_cpuset(struct cgroup_build *b, const struct oci_resources *r);

/* Everything but the device rules. */
int cgroup_build_resources(struct cgroup_build *b, const struct oci_resources *r);
