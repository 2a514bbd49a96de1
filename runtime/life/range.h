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

/* Clones the root and the binds that map ids into s. *p learns whose the sources are. */
int range_open_mapped(struct plan *p, struct sources *s, struct arena *a, struct error *e);
