/* Shared by the files of plan/cgroup*.c while they build a plan. */
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

/* Finds it, too, and notes that a v2 controller must be enabled. Without one: an error that names
 * field. */
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

/* Do the rules allow by name what they allow, and nothing else? Then *ret has these names; rules
 * that deny by name, or take a part back of what they gave, can't be said otherwise than as they
 * are. */
bool cgroup_build_allowed_devices(struct cgroup_build *b, struct cgroup_devices *ret);

/* plan/cgroup_unit.c: the unit's name, slice and path … */
int cgroup_build_unit(struct cgroup_build *b, const struct oci_config *c, const char *id,
		      bool rootless);
/* … and its properties, those that annotations choose among them, when all writes are there. Values
 * that systemd rounds are rounded there, too: it writes them again whenever it reloads. */
int cgroup_build_properties(struct cgroup_build *b, const struct oci_config *c, bool rootless);
/* For an update: only what the writes say. */
void cgroup_build_changes(struct cgroup_build *b);
/* Is this hierarchy one in which systemd makes the unit's directory itself? */
bool cgroup_unit_is_made_in(const struct cgroup_hierarchy *h);

/* plan/cgroup_memory_cpu.c */
int cgroup_build_memory(struct cgroup_build *b, const struct oci_resources *r);
int cgroup_build_cpu(struct cgroup_build *b, const struct oci_resources *r);
int cgroup_build_cpuset(struct cgroup_build *b, const struct oci_resources *r);

/* Everything but the device rules. */
int cgroup_build_resources(struct cgroup_build *b, const struct oci_resources *r);
