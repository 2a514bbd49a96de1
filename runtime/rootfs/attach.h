/*
 * Putting a detached tree at an open place inside the root.
 *
 * With a root that is shared (linux.rootfsPropagation) volumes stay in the host's peer groups, and
 * what is mounted in one of them shows on the host, and stays there. That is for the program to do;
 * what the config has mounted and masked is the container's alone.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "rootfs/resolve.h"

/* peers: there may be such mounts. */
int attach_tree(bool peers, int tree_fd, struct in_root target, struct error *e);
