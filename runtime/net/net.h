/*
 * sbxrun-net: carries the connections of one box (egress/egress.h has the picture). One process,
 * one thread, no rights, no files: all that it has it was given before it began (net/main.c), and
 * what it may still ask of the kernel is a list of calls (net/confine.c).
 *
 *	main.c     is told what holds, gives up the rest, serves     confine.c  the list
 *	visit.c    who tells it something, then and later            limit.c    how much is carried
 *	names.c    answers questions; which address stands for which name
 *	lookup.c   asks outside                          dns.c      packets (pure)
 *	link.c     a connection from its first byte to its end
 *	width.c    how much of it the kernel keeps
 *	front.c    what is said first, and what is answered
 *	           http.c, answer.c, socks.c, tls.c: what either says (pure)
 *	refuse.c   what was refused, what was reached, and how much was carried
 */
#pragma once

#include "egress/egress.h"
#include "egress/wire.h"
#include "net/dns.h"
#include "net/limit.h"
#include "sys/crowd.h"

enum {
	NET_SERVERS_MAX = 3,
	NET_VISITS_MAX = 6,
	/* Those of rules that hold alone are there beside the others. */
	NET_LISTENERS_MAX = 4 * EGRESS_PORTS_MAX + 8,
	NET_LINKS_MAX = 256,
	NET_NAMES_MAX = 4096,
	NET_CHAINS = 4096,
	NET_REFUSALS_MAX = 128,
	NET_REACHED_MAX = 32,
};

struct net;

struct listener {
	struct crowd_member member;
	struct net *net;
	enum net_listener what;
	uint16_t port;
};

/* A name that the box has asked for, and what it stands for outside, for as long as that holds. */
struct name {
	struct egress_host host;
	uint64_t hash;
	size_t next; /* of its chain, from 1 */
	size_t n;
	struct egress_address v[2 * DNS_ADDRESSES_MAX];
	int64_t until;
};

/* A host that was not reached: it may not be (why: enum egress_verdict), or can't (enum
 * net_failure). Or one that was. */
struct refusal {
	char host[NET_TEXT_MAX];
	uint16_t port;
	bool failed;
	unsigned int why;
	uint64_t count;
};

struct link;

struct caps {
	uint64_t most, rate; /* as in net/limit.h */
};

/* Somebody who tells us something; fd -1: nobody. The first is who started us. */
struct visit {
	struct crowd_member member;
	struct net *net;
	struct egress_rules rules; /* that he has told, and that do not hold yet; or hold alone */
	struct caps caps;	   /* likewise */
};

struct net {
	int crowd_fd, route_fd;
	struct visit visits[NET_VISITS_MAX];
	struct crowd_member door; /* where further ones come in; fd -1: none do */
	struct crowd_member box;  /* the box's first process, to end with; fd -1: see wire.h */
	struct egress_rules own;
	struct caps own_caps;
	const struct visit *only; /* whose rules hold alone, as long as he is there */
	const struct egress_rules *rules; /* that hold */
	struct limit limit;
	size_t width; /* net/width.h: of all connections */
	size_t n_servers;
	struct egress_address servers[NET_SERVERS_MAX];
	size_t n_listeners;
	struct listener listeners[NET_LISTENERS_MAX];
	size_t n_names;
	struct name names[NET_NAMES_MAX];
	uint64_t salt; /* which the box does not know: it can't choose names of one chain */
	size_t chains[NET_CHAINS]; /* the first of each, from 1 */
	bool is_full; /* nobody is accepted until a link ends */
	size_t n_links;
	struct link *links[NET_LINKS_MAX];
	size_t n_refusals;
	struct refusal refusals[NET_REFUSALS_MAX];
	bool more_refusals;
	size_t n_reached;
	struct refusal reached[NET_REACHED_MAX];
	bool more_reached;
	uint64_t refused, connections, bytes_in, bytes_out;
};

/* ---- names.c ---- */

/* The name's entry, which is made if there is none; NULL: there is no room. */
struct name *name_get(struct net *n, const struct egress_host *h);

/* The name that an address of a box stands for; NULL: it stands for itself. */
struct name *name_of_address(struct net *n, const struct egress_address *a);

/* Answers one datagram, or one question of a stream in place (its length, 0: none). */
void names_serve_datagram(struct crowd_member *m, uint32_t events);
size_t names_answer(struct net *n, unsigned char *p, size_t len, size_t size);

/* ---- visit.c ---- */

/* 1: a message came; 0: nobody is there any more; -1 with errno. */
int visit_receive(const struct visit *v, struct net_message *ret, int *ret_fd);

/* Does what it says; takes the descriptor over. -1: it can't be done, which is the end of it. */
int visit_take(struct visit *v, const struct net_message *m, int *fd);
void visit_serve(struct crowd_member *m, uint32_t events);

/* All that was told so far holds from here on. */
void visit_begin(struct visit *v);
void visit_accept(struct crowd_member *m, uint32_t events);
void visit_say(const struct visit *v, const struct net_message *m);

/* Whether one of ours listens there, and not the box itself. */
bool visit_listens(struct net *n, uint16_t port);

/* The first port of the rules at which none of ours listens; 0: there is none. */
uint16_t visit_lacks(struct net *n);

/* ---- refuse.c ---- */

void refuse_note(struct net *n, const char *host, uint16_t port, enum egress_verdict why);
void refuse_note_failure(struct net *n, const char *host, uint16_t port, enum net_failure why);

/* A connection to it begins. */
void refuse_note_reached(struct net *n, const char *host, uint16_t port);

/* The box was seen to connect there (NET_SEEN). */
void refuse_seen(struct net *n, const struct net_message *m);
void refuse_tell(const struct net *n, const struct visit *v);

/* Forgets the refusals and figures that were told. */
void refuse_forget(struct net *n);

/* ---- confine.c ---- */

/* From here on nothing is opened, executed or traced. -1 with errno. */
int confine_self(void);

/* ---- link.c ---- */

void link_accept(struct crowd_member *m, uint32_t events);

/* Rules have changed: what they no longer have is cut. */
void links_look_at_rules(struct net *n);

/* Ends what is past its time; returns the next moment at which something will be. */
int64_t links_look_at_clock(struct net *n);
