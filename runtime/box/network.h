/*
 * Our side of a box's network (egress/egress.h has the picture). Two children are started: one goes
 * into the box's network namespace, makes its listeners and ends; the other is sbxrun-net, which
 * gets them. Without a rule nothing of this is there.
 *
 * That of a box that stays is in network_stay.h.
 *
 *	network_open();		before the program runs
 *	network_seen();		while it does, if somebody watches its calls
 *	network_tell();		what was refused and carried
 *	network_close();	after it has ended
 */
#pragma once

#include <sys/types.h>

#include "box/box.h"
#include "egress/egress.h"
#include "egress/wire.h"

struct denials;

enum { NETWORK_BYTES_LEAST = 1024 };

/* Hosts within reach, and amounts. */
struct network_rules {
	struct strings allow, deny;
	int64_t most, rate; /* bytes in all, and a second; 0: any number */
};

struct network {
	int control_fd; /* -1: the box has none */
	pid_t pid;	/* 0: it is not our child */
	struct network_rules rules; /* of it when it was opened */
	bool lost;	/* there was one, and it is gone */
	int alone_pidfd; /* a process of the namespace that has loopback alone afterwards; or -1 */
};
#define NETWORK_NONE ((struct network){.control_fd = -1, .alone_pidfd = -1})

/* In the network namespace of that process. */
int network_open(struct network *n, const struct network_rules *r, int pidfd, struct error *e);

/* The box connects to that address. Where nobody listens only the kernel knows of it. */
void network_seen(const struct network *n, const char *address, uint16_t port);

/* Refusals become denials, hosts that could not be reached notes, and figures *ret. Whoever carries
 * may be gone: then there are none, and the box has had no network since. */
void network_tell(const struct network *n, struct denials *d, struct box_network *ret,
		  struct notes *notes);

void network_close(struct network *n);

/* Takes them from a request. */
struct network_rules box_network_rules(const struct box_request *q);

/* Names of registries become hosts, by the operator's file and the root. */
int box_expand_rules(struct box_request *q, const struct box_root *root, struct arena *a,
		     struct error *e);

/* Warns of a denied name beside allowed addresses; NULL: there is no need. */
const char *network_note(const struct strings *allow, const struct strings *deny, struct arena *a);

/* Whether the rules are some; the error names the option. Names of registries (box/registries.h)
 * are not rules yet. */
int network_check(const struct strings *allow, const struct strings *deny, struct error *e);

/* ---- for network*.c ---- */

/* A process to carry for the box. stays: it ends with the process of box_pidfd, and lets in who
 * comes by door_fd. */
struct network_stay {
	int box_pidfd, door_fd;
};
int network_set_up(struct network *n, const struct network_rules *r, int pidfd,
		   const struct network_stay *stay, uint16_t *ret_taken, struct error *e);

int network_send(int fd, const struct net_message *m, int pass_fd, struct error *e);
int network_send_rules(int fd, const struct network_rules *r, struct error *e);

/* The ports that they need listeners for. */
int network_ports(const struct network_rules *r, uint16_t ports[EGRESS_PORTS_MAX], size_t *ret_n,
		  struct error *e);

/* Until it says that it has done what it was told. *ret_taken (may be NULL): a port at which
 * something of the box's own listens; 0: none. */
int network_await_ready(int fd, uint16_t *ret_taken, struct error *e);
