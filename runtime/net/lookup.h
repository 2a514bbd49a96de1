/*
 * Looks up a name at the machine's own resolvers: both kinds of addresses at once, by UDP, over TCP
 * if the answer has no room, one resolver after the other, twice. Own code, and no library: it
 * opens no file, starts no thread, and asks for exactly the name that was decided about, without
 * suffixes that a machine's settings would add.
 */
#pragma once

#include "net/net.h"

struct lookup;

/* One kind of addresses. */
struct ask {
	struct crowd_member member;
	struct lookup *lookup;
	uint16_t type, id;
	unsigned int tries;
	bool over, stream;
	size_t at, len; /* of what is sent, then of what comes */
	unsigned char packet[DNS_TCP_MAX + 2];
	int64_t until;
};

struct lookup {
	struct net *net;
	struct egress_host host;
	struct ask asks[2];
	bool runs, has_answer;
	size_t n;
	struct egress_address v[2 * DNS_ADDRESSES_MAX];
	uint32_t ttl;
	void (*done)(void *context);
	void *context;
};

/* done() is called when it is over, by lookup_look_at_clock() alone. */
void lookup_begin(struct lookup *l, struct net *n, const struct egress_host *h,
		  void (*done)(void *context), void *context);
void lookup_cancel(struct lookup *l);

/* Tries elsewhere what was not answered in time; when it wants to be called again. */
int64_t lookup_look_at_clock(struct lookup *l, int64_t now);
