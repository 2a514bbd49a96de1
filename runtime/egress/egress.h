/*
 * Rules of what a box may reach. Everything here is pure: names, addresses, rules, and the one
 * decision that every front end asks for. sbxrun reads rules by it; the program that carries
 * connections (net/) decides by it.
 *
 * Which processes there are: a box has a network namespace with nothing but loopback. Where it may
 * reach something, sbxrun sends a child into that namespace, which adds the route "everything is
 * local", binds a listener for each port of the rules, for names (53) and for the proxy (3128),
 * sends them out of it and ends. They go to sbxrun-net: a process outside, without rights, files or
 * the possibility to get any, in whose hands alone they are. If it dies, nobody listens. So:
 *
 *	box asks for a name            ── 53 ───► sbxrun-net: allowed? what stands for it here
 *	box connects to that           ── any ──► sbxrun-net: which name? (getsockname)
 *	box: CONNECT, GET http:, SOCKS ── 3128 ─► sbxrun-net: which name?
 *	                                          decide(name, port), look it up outside,
 *	                                          judge(address), dial exactly that address
 *
 * Nothing leaves the machine for a name that is not allowed, not even the question for its address.
 * A name is decided by before it is looked up; an address is judged after: what is the machine's
 * own, its neighbours' or a cloud's is not reached by a name, whatever the name's owner says.
 *
 * A rule is HOST or HOST:PORT. HOST is a name (a.example.org), all below one (*.example.org), that
 * and itself (**.example.org or .example.org), an address, or a range (10.0.0.0/8, [fd00::]/8:443).
 * An allowed HOST without a port means 80 and 443; a denied one every port. What is denied is
 * denied, whatever else is allowed; without a rule nothing is allowed.
 *
 * Trust: names and addresses come from the program in the box, or from a resolver that its
 * accomplice runs. They have lengths, and no byte ends them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	EGRESS_NAME_MAX = 253,
	EGRESS_RULES_MAX = 256,
	EGRESS_PORTS_MAX = 32,
	EGRESS_PROXY_PORT = 3128,
	EGRESS_NAMES_PORT = 53,
};

/* ---- addresses ---- */

struct egress_address {
	bool v6;
	unsigned char b[16]; /* of IPv4 the first four */
};

enum { EGRESS_ADDRESS_SIZE = 48 };

/* Four decimal numbers, or IPv6 without a zone. IPv4 inside IPv6 (::ffff:) becomes IPv4. */
bool egress_address_read(const char *text, size_t len, struct egress_address *ret);
void egress_address_write(const struct egress_address *a, char ret[EGRESS_ADDRESS_SIZE]);
bool egress_address_is_in(const struct egress_address *a, const struct egress_address *net,
			  unsigned int bits);

enum egress_place {
	EGRESS_PUBLIC,
	EGRESS_PRIVATE, /* somebody's own network: only by a rule that has the address */
	EGRESS_NEVER,	/* the machine's own, link-local, a cloud's metadata, no host's at all */
};

/* Also by an IPv4 address that it has inside. Addresses of the machine's interfaces are not known
 * here. */
enum egress_place egress_address_place(const struct egress_address *a);

/* ---- hosts ---- */

struct egress_host {
	bool is_address;
	struct egress_address address;
	size_t len;
	char name[EGRESS_NAME_MAX + 1]; /* in small letters, without a dot at the end; terminated */
};

/* A name or an address. Numbers that a C library would take for an address (127.1, 0x7f.1,
 * 2130706433) are neither. false: it is no host. */
bool egress_host_read(const char *text, size_t len, struct egress_host *ret);

/* HOST, HOST:PORT, [V6] or [V6]:PORT; *ret_port stays as it was if there is none. */
bool egress_host_port_read(const char *text, size_t len, struct egress_host *ret,
			   uint16_t *ret_port);

/* 1 to 65535 in decimal. */
bool egress_port_read(const char *text, size_t len, uint16_t *ret);

/* ---- rules ---- */

enum egress_match { EGRESS_EXACT, EGRESS_BELOW, EGRESS_AND_BELOW, EGRESS_RANGE };

struct egress_rule {
	enum egress_match match;
	bool denies;
	uint16_t port; /* 0: see above */
	unsigned int bits;
	struct egress_host host;
};

struct egress_rules {
	size_t n;
	struct egress_rule v[EGRESS_RULES_MAX];
};

/* Adds one; the error says what is wrong with it. */
int egress_rules_add(struct egress_rules *r, const char *text, bool denies, struct error *e);

/* Whether all that the other one allows is allowed by this one. */
bool egress_rule_covers(const struct egress_rule *r, const struct egress_rule *other);

/* The ports that the allowed ones have, each once. -1: more than there is room for. */
int egress_rules_ports(const struct egress_rules *r, uint16_t ret[EGRESS_PORTS_MAX], size_t *ret_n,
		       struct error *e);

/* ---- the decision ---- */

enum egress_verdict {
	EGRESS_ALLOWED,
	EGRESS_NOT_ALLOWED, /* no rule has it */
	EGRESS_DENIED,	    /* a rule denies it */
	EGRESS_BAD_HOST,    /* it is neither a name nor an address */
	EGRESS_BAD_ADDRESS, /* it, or what its name stands for, is not to be reached */
	EGRESS_FRONTED,	    /* another host is asked for inside the connection */
	EGRESS_SPENT,	    /* the box has carried as much as it may */
};

/* By name, or by an address that was given as one. */
enum egress_verdict egress_decide(const struct egress_rules *r, const struct egress_host *h,
				  uint16_t port);

/* Of an address that an allowed name stands for. */
enum egress_verdict egress_judge(const struct egress_rules *r, const struct egress_address *a,
				 uint16_t port);

/* Whether any port of that name is allowed: for questions, which have none. */
enum egress_verdict egress_decide_name(const struct egress_rules *r, const struct egress_host *h);
