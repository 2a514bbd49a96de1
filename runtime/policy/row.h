/* Tools of the functions of rows; inside policy/ only. */
#pragma once

#include "policy/tighten.h"

struct tightening {
	const struct policy *p;
	const struct host_facts *facts;
	struct oci_config *c;
	struct arena *a;
	struct policy_clamps *clamps;
	const char *row; /* the id of the one at work */
};

static inline int row_level(const struct tightening *t, enum policy_level row)
{
	return t->p->level[row];
}

/* Notes what was changed. */
void row_clamped(struct tightening *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The error: what is refused, by which row, and how an administrator allows it: `how` is the JSON
 * that a policy of his own would have. */
int row_refuse(const struct tightening *t, struct error *e, const char *how, const char *fmt, ...)
	__attribute__((format(printf, 4, 5), cold));

/* The namespace of the config, or NULL. */
struct oci_namespace *row_namespace(const struct tightening *t, enum oci_ns type);

/* Will the container have a user namespace of its own? */
bool row_has_user_ns(const struct tightening *t);

/* A list with room for more, of which the first n are those of the old one. */
#define ROW_EXTEND(t, list, more)                                                                  \
	row_extend((t)->a, (void **)&(list).v, (list).n, (more), sizeof(*(list).v))
void row_extend(struct arena *a, void **v, size_t n, size_t more, size_t size);

/* A file of functions each. */
int row_no_new_privs(struct tightening *t, struct error *e);
int row_landlock(struct tightening *t, struct error *e);
int row_caps(struct tightening *t, struct error *e);
int row_rlimits(struct tightening *t, struct error *e);
int row_oom_score(struct tightening *t, struct error *e);
int row_foreign_abi(struct tightening *t, struct error *e);
int row_seccomp(struct tightening *t, struct error *e);
int row_host_namespaces(struct tightening *t, struct error *e);
int row_user_ns(struct tightening *t, struct error *e);
int row_cgroup_ns(struct tightening *t, struct error *e);
int row_cgroup_mounts(struct tightening *t, struct error *e);
int row_net_devices(struct tightening *t, struct error *e);
int row_limits(struct tightening *t, struct error *e);
int row_cgroup_keys(struct tightening *t, struct error *e);
int row_unit_properties(struct tightening *t, struct error *e);
int row_devices(struct tightening *t, struct error *e);
int row_proc(struct tightening *t, struct error *e);
int row_sys(struct tightening *t, struct error *e);
int row_mount_flags(struct tightening *t, struct error *e);
int row_filesystems(struct tightening *t, struct error *e);
int row_root(struct tightening *t, struct error *e);
int row_propagation(struct tightening *t, struct error *e);
int row_hooks(struct tightening *t, struct error *e);
