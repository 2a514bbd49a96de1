/*
 * Messages between sbxrun and sbxrun-net, over SOCK_SEQPACKET: one struct each, and with some a
 * descriptor. Rules and listeners come first, then NET_BEGIN, which is answered by NET_READY once
 * sbxrun-net has given up all that it does not need. End of file ends it.
 *
 * That of a box that stays gets NET_BOX and NET_DOOR before it begins: it ends with the box, and
 * further ones come in by the door, whose end is nobody else's. They tell all rules that are to
 * hold, listeners for their ports, and then NET_APPLY or NET_ALONE, which is answered by NET_READY:
 * what the rules no longer have is cut by then. Rules that can't be read change nothing.
 *
 * Trust: sbxrun-net reads what a box sends, and may be the box's by now. What comes from it is
 * counted and shown, and nothing else.
 */
#pragma once

#include <stdint.h>

enum { NET_TEXT_MAX = 256, NET_CONTROL_FD = 3 };

enum net_kind {
	NET_ALLOW = 1, /* text: a rule */
	NET_DENY,      /* text: a rule */
	NET_SERVER,    /* text: an address that answers for names outside */
	NET_LISTEN,    /* port, what: enum net_listener; a descriptor */
	NET_BEGIN,
	NET_SEEN, /* text, port: the box was seen to connect there, where nobody may listen */
	NET_TELL, /* what there is to say: NET_REFUSED, NET_UNREACHED, NET_REACHED; and NET_TOTAL */
	NET_BOX,  /* a pidfd: of the process that it ends with */
	NET_DOOR, /* a socket that listens */
	NET_APPLY, /* the rules that were told hold now */
	NET_ALONE, /* they hold alone, with their NET_CAPS, until who has told them is gone */
	NET_FORGET, /* what is told from now on begins here */
	NET_CAPS, /* bytes_in: of all that is carried, count: of a second of it; 0: any number */

	NET_READY = 100, /* port: one of the rules at which something of the box's own listens */
	NET_FAILED,  /* text: why it never began, or why these rules do not hold */
	NET_REFUSED, /* text: a host; port, 0: its name was asked for; what: enum egress_verdict */
	NET_TOTAL,   /* all the figures; what: there were more hosts reached than are told */
	NET_UNREACHED, /* text, port: a host that is allowed; what: enum net_failure */
	NET_REACHED,   /* text, port: a host, as the box called it; count: connections to it */
};

/* Why a host that is allowed was not reached. */
enum net_failure { NET_NO_NAME, NET_NO_ANSWER, NET_UNREACHABLE };

enum net_listener { NET_STREAM, NET_NAMES_STREAM, NET_NAMES_DATAGRAM };

struct net_message {
	uint32_t kind;
	uint32_t what;
	uint32_t port;
	uint32_t more; /* NET_TOTAL: there were more refusals than are told */
	uint64_t count;
	uint64_t bytes_in, bytes_out; /* of the box */
	uint64_t connections, refused;
	char text[NET_TEXT_MAX];
};
