/*
 * What sbxrun and sbxrun-net say to each other, over SOCK_SEQPACKET: one struct a message, and with
 * NET_LISTEN a descriptor. Rules and listeners come first, then NET_BEGIN, which is answered by
 * NET_READY once sbxrun-net has given up all that it does not need. End of file ends it.
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
	NET_TELL, /* what there is to say: NET_REFUSED for each, then NET_TOTAL */

	NET_READY = 100,
	NET_FAILED,  /* text: why it never began */
	NET_REFUSED, /* text: a host; port, 0: its name was asked for; what: enum egress_verdict */
	NET_TOTAL,   /* all the figures */
};

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
