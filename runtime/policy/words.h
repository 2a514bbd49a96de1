/* Words that only policies have. Pure. */
#pragma once

#include <stdint.h>

/* A family of sockets; of netlink, a family and a protocol. */
struct policy_socket {
	const char *word;
	uint32_t family;
	int protocol; /* -1: all */
};
extern const struct policy_socket policy_sockets[];
extern const unsigned int policy_socket_count;

/* NULL: there is none. */
const struct policy_socket *policy_socket_find(const char *word);
