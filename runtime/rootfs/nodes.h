/*
 * A tmpfs that is seen by nobody and holds what the container gets parts of: a null and an empty
 * directory to mask with, files for /proc, and in a user namespace, which can make no nodes, the
 * plan's devices. So what is locked or watched inside is not the host's /dev.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "plan/plan.h"

/* With an empty directory, and with a null if nodes can be made here. -1 with errno. */
int nodes_new(void);

/* For the parent, which can make nodes: with all of the plan's, if its container can't. -1: there
 * are none, and the host's have to do. */
int nodes_new_for(const struct plan *p);

/* Mounts it on place_fd, and leaves it there. Kernels before 6.15 clone nothing that is attached
 * nowhere; and what is attached costs no wait for the kernel when its descriptor is closed, as it
 * goes away with the mounts around it. Best effort. */
void nodes_settle(int nodes_fd, int place_fd);

/* One of "empty" and "null" as a mount of its own, read-only. -1 with errno. */
int nodes_clone(int nodes_fd, const char *name, uint64_t attrs);

/* The plan's device i. */
int nodes_clone_device(int nodes_fd, size_t i);
