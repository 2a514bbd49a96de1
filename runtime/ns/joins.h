/*
 * Namespaces that the config joins by path: opened once, before the plan is made, and judged as
 * opened. A path may lead to a namespace that the runtime is in itself, as /proc/self/ns/net does;
 * then there is nothing to join, and what the config would set in it would be set for the caller.
 */
#pragma once

#include "base/err.h"
#include "oci/config.h"

struct joins {
	int fds[OCI_NS_COUNT]; /* by kind; -1: not joined, or our own */
	unsigned int own;      /* kinds whose path leads to the runtime's own: 1 << enum oci_ns */
	unsigned int host;     /* those, and kinds whose path leads to the first process's */
};

#define JOINS_NONE ((struct joins){.fds = {-1, -1, -1, -1, -1, -1, -1, -1}})
_Static_assert(OCI_NS_COUNT == 8, "JOINS_NONE has one for each kind");

/* Trust: the paths come from outside. Each must be a namespace of its kind. */
int joins_open(const struct oci_config *c, struct joins *ret, struct error *e);

void joins_close(struct joins *j);
