/* Which namespaces are made, which are joined, and what may be set in them. Used by
 * plan.c alone. */
#pragma once

#include "plan/plan.h"

/* Fills the plan's namespaces, and what of the root depends on them. A path that leads to a
 * namespace of our own counts as if the config had left it out. */
int plan_namespaces(const struct oci_config *c, const struct host_facts *facts, struct plan *p,
		    struct error *e);

/* Refuses what would be set in a namespace that is the runtime's own or the first process's. */
int plan_check_shared(const struct oci_config *c, const struct host_facts *facts, struct error *e);
