/* The caller's standard streams, as far as the program gets them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Streams that are /dev/null, or a device like it, become the container's own: through the name that
 * /proc/self/fd has for it, root inside would change the host's node. Then uid is given what it must
 * be able to open again, as /dev/stderr for instance. In the container's root, with the rights to open
 * and make nodes.
 */
int streams_settle(uint32_t uid, bool own_terminal, struct error *e);
