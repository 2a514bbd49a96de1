/* The listeners of a box's network, made inside and sent outside. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Makes everything local in the network namespace of that process, and sends a listener for each
 * port, for the proxy and for names to control_fd (egress/wire.h). None stays with us. is_used:
 * programs run there already, and a port that one of them has taken is left out. */
int network_listen(int pidfd, int control_fd, const uint16_t *ports, size_t n, bool is_used,
		   struct error *e);

/* For ports that rules have got since. A port that is taken is left out: by sbxrun-net itself, or
 * by a program of the box's, whose own connections reach it then. */
int network_listen_more(int pidfd, int control_fd, const uint16_t *ports, size_t n,
			struct error *e);

/* The network namespace has loopback alone again. */
int network_listen_end(int pidfd, struct error *e);
