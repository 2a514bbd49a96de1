/* The listeners of a box's network, made inside and sent outside. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Makes everything local in the network namespace of that process, and sends a listener for each
 * port, for the proxy and for names to control_fd (egress/wire.h). None stays with us. */
int network_listen(int pidfd, int control_fd, const uint16_t *ports, size_t n, struct error *e);
