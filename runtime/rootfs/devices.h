/* The container's /dev: nodes, links, ptmx (rule R9). */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "plan/plan.h"
#include "rootfs/mounted.h"

/* Makes the plan's devices and the standard links. All mounts are
 * attached. Where nodes can't be made (user namespace), those that the parent made are bound
 * (nodes_fd; -1: none). Where it could not, either, the host's are, checked to be what their names
 * say, and read-only: that closes their mode, owner and times, and nothing else. */
int devices_make(const struct plan *p, const struct mounted *in, int nodes_fd, struct error *e);

/* A clone of the host's /dev/null, checked and read-only: to mask files with where no node can be
 * made. */
int devices_clone_null(struct error *e);

/* Whether every container has it: null and its like. */
bool devices_is_standard(dev_t device);

/* Opens the container's own node of a standard device, or one made for the purpose where the
 * container has put something else in its place. In its root, with the rights to make nodes. */
int devices_open_own(dev_t device, int flags, struct error *e);
