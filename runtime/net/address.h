/* Between addresses of rules and addresses of sockets. */
#pragma once

#include <sys/socket.h>

#include "egress/egress.h"

/* The size of what was written. */
socklen_t address_to_socket(const struct egress_address *a, uint16_t port,
			    struct sockaddr_storage *ret);

/* IPv4 inside IPv6 becomes IPv4. */
void address_from_socket(const struct sockaddr_storage *s, struct egress_address *ret,
			 uint16_t *ret_port);

/* Whether packets for it leave the machine, by the kernel's own routes, through a socket of
 * netlink_open(): what is the machine's own, by whatever name, is not elsewhere. */
enum address_way { ADDRESS_ELSEWHERE, ADDRESS_OWN, ADDRESS_NOWHERE };
enum address_way address_ask_way(int route_fd, const struct egress_address *a);
