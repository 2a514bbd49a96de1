/*
 * Names that a box asks for. There is no network, so every answer is no; what was asked for is a
 * denial. The socket is on the box's own loopback, at the port where resolvers are looked for.
 * Trust: what comes is the program's.
 */
#pragma once

#include "box/denials.h"

enum { RESOLVER_NAME_MAX = 254, RESOLVER_PACKET_MAX = 512 };

struct resolver {
	int fd; /* -1: nobody answers, and names fail by themselves */
	struct denials *denials;
	struct loop_source *source;
};
#define RESOLVER_CLOSED ((struct resolver){.fd = -1})

/* In the network namespace of that process. That there is none is not a failure. */
void resolver_open(struct resolver *r, int pidfd, struct denials *d);
void resolver_add(struct resolver *r, struct loop *l);
void resolver_settle(struct resolver *r);
void resolver_close(struct resolver *r);

/* Pure: turns a question into its answer, in place. Its length, or 0 if it is none; the name asked
 * for, as text. */
size_t resolver_answer(unsigned char *packet, size_t len, char ret_name[RESOLVER_NAME_MAX]);
