/* The container's /dev: nodes, links, ptmx (rule R9). */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "plan/plan.h"

/* Makes the plan's devices and the standard links. root_dfd is the container's root with its mounts
 * attached. Where nodes can't be made (user namespace), the host's are bound, checked to be what
 * their names say. */
int devices_make(const struct plan *p, int root_dfd, struct error *e);

/* A clone of the host's /dev/null, checked, to mask files with. */
int devices_open_null(struct error *e);
