/*
 * Packets of the domain name system: questions of a box and their answers, questions of ours and
 * what comes back. Pure. Trust: the packets are a box's, or anybody's on the way from a resolver.
 */
#pragma once

#include "egress/egress.h"

enum {
	DNS_PACKET_MAX = 1232, /* of UDP, theirs or ours; over TCP an answer may be larger */
	DNS_TCP_MAX = 4096,
	DNS_ADDRESSES_MAX = 8,
	DNS_A = 1,
	DNS_AAAA = 28,
};

enum dns_code { DNS_FINE = 0, DNS_FORMAT = 1, DNS_SERVER = 2, DNS_NO_NAME = 3, DNS_NOT_DONE = 4 };

struct dns_question {
	bool is_host; /* else the name is one that no host has */
	struct egress_host host;
	uint16_t type;
	size_t end; /* of the question in the packet */
};

/* false: it is no question, and gets no answer. */
bool dns_read_question(const unsigned char *p, size_t len, struct dns_question *ret);

/* Turns the packet, which has size bytes of room, into an answer with at most one address. Its
 * length. */
size_t dns_write_answer(unsigned char *p, size_t size, const struct dns_question *q,
			enum dns_code code, const struct egress_address *a, uint32_t ttl);

/* A question of ours. Its length, 0 if there is no room. */
size_t dns_write_query(unsigned char *p, size_t size, uint16_t id, const struct egress_host *h,
		       uint16_t type);

struct dns_reply {
	bool truncated;
	enum dns_code code;
	size_t n;
	struct egress_address v[DNS_ADDRESSES_MAX];
	uint32_t ttl; /* the least of them */
};

/* false: it is no answer to that question. Aliases are followed within the packet. */
bool dns_read_reply(const unsigned char *p, size_t len, uint16_t id, const struct egress_host *h,
		    uint16_t type, struct dns_reply *ret);
