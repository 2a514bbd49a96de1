/*
 * A user namespace that nobody asked for (row user-namespace of a policy): whether the container
 * and this host can have it, a range of ids for it, and the mounts that map them. In the parent.
 */
#pragma once

#include "life/internal.h"
#include "oci/config.h"
#include "rootfs/sources.h"

/* Finds out what the row has to know: facts->id_range, or why there is none. With t->takes_range it
 * is the container's, by t->hold; else it is one that it might get. */
void range_find(const struct create_options *o, const char *bundle, const struct oci_config *c,
		struct arena *a, struct host_facts *facts, struct tightened *t);

/* Clones the binds that map ids into s, and puts the root there. *p learns whose sources are. */
int range_open_mapped(struct plan *p, struct tightened *t, struct sources *s, struct arena *a,
		      struct error *e);

/* The record says from now on what is held. */
void range_settle(struct tightened *t, pid_t pid, uint64_t pid_start);

/* After a create: what no record says is given back. */
void range_end(struct tightened *t);

/* The container is gone, but for its record. */
void range_release(const struct store *s, const struct record *r);
