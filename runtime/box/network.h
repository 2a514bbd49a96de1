/*
 * What a box may reach: our side of it (egress/egress.h has the picture). Two children are started:
 * one goes into the box's network namespace, makes its listeners and ends; the other is sbxrun-net,
 * which gets them. Without a rule nothing of this is there.
 *
 *	network_open();		before the program runs
 *	network_seen();		while it does, if somebody watches its calls
 *	network_tell();		what was refused and carried
 *	network_close();	after it has ended
 */
#pragma once

#include <sys/types.h>

#include "box/box.h"

struct denials;

struct network {
	int control_fd; /* -1: the box has none */
	pid_t pid;
};
#define NETWORK_NONE ((struct network){.control_fd = -1})

/* In the network namespace of that process. */
int network_open(struct network *n, const struct strings *allow, const struct strings *deny,
		 int pidfd, struct error *e);

/* The box connects to that address. Where nobody listens only the kernel knows of it. */
void network_seen(const struct network *n, const char *address, uint16_t port);

/* Refusals become denials, and figures *ret. Whoever carries may be gone: then there are none, and
 * the box has had no network since. */
void network_tell(const struct network *n, struct denials *d, struct box_network *ret);

void network_close(struct network *n);

/* Whether the rules are some; the error names the option. */
int network_check(const struct strings *allow, const struct strings *deny, struct error *e);
