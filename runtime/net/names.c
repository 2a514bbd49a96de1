/* Names inside the box. An allowed one is answered with an address of a range that nobody has; the
 * question goes no further. Whoever connects to that address means the name. */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/str.h"
#include "net/net.h"

enum { TTL = 60, FIRST = 256 /* 198.18.1.0 */ };

static struct egress_address name_address(size_t i)
{
	const size_t at = FIRST + i;

	return (struct egress_address){
		.b = {198, 18, (unsigned char)(at >> 8), (unsigned char)at}};
}

/* Mixed after each byte: what differs in the first still does at the end, by the salt. */
static uint64_t name_hash(uint64_t salt, const struct egress_host *h)
{
	uint64_t x = salt;
	size_t i;

	for (i = 0; i < h->len; i++) {
		x = (x ^ (unsigned char)h->name[i]) * 0x9e3779b97f4a7c15;
		x ^= x >> 29;
	}
	return x ^ x >> 32;
}

struct name *name_get(struct net *n, const struct egress_host *h)
{
	const uint64_t hash = name_hash(n->salt, h);
	size_t *chain = &n->chains[hash % NET_CHAINS], i;
	struct name *name;

	for (i = *chain; i; i = name->next) {
		name = &n->names[i - 1];
		if (name->hash == hash && name->host.len == h->len &&
		    memcmp(name->host.name, h->name, h->len) == 0)
			return name;
	}
	if (n->n_names == NET_NAMES_MAX)
		return NULL;
	name = &n->names[n->n_names++];
	*name = (struct name){.host = *h, .hash = hash, .next = *chain};
	*chain = n->n_names;
	return name;
}

struct name *name_of_address(struct net *n, const struct egress_address *a)
{
	const size_t at = (size_t)a->b[2] << 8 | a->b[3];

	if (a->v6 || a->b[0] != 198 || a->b[1] != 18 || at < FIRST || at - FIRST >= n->n_names)
		return NULL;
	return &n->names[at - FIRST];
}

/* Of an address; nobody means to reach that host. */
static bool question_is_backwards(const struct dns_question *q)
{
	return q->is_host && str_ends(q->host.name, ".arpa");
}

/* A service of a host (_http._tcp.example.org) is asked for by who means the host, and goes on to
 * it when there is none. */
static const char *question_host(const struct dns_question *q)
{
	const char *name = q->host.name, *dot;

	while (*name == '_' && (dot = strchr(name, '.')))
		name = dot + 1;
	return name;
}

/* Unless the host that is meant may be reached. */
static void question_note(struct net *n, const struct dns_question *q, enum egress_verdict verdict)
{
	const char *name = q->is_host ? question_host(q) : "";
	struct egress_host h;

	if (question_is_backwards(q))
		return;
	if (name != q->host.name && egress_host_read(name, strlen(name), &h) &&
	    egress_decide_name(n->rules, &h) == EGRESS_ALLOWED)
		return;
	refuse_note(n, name, 0, verdict);
}

static enum dns_code question_decide(struct net *n, const struct dns_question *q,
				     struct egress_address *ret, bool *ret_found)
{
	const enum egress_verdict verdict = q->is_host ? egress_decide_name(n->rules, &q->host) :
							 EGRESS_BAD_HOST;
	const struct name *name;

	*ret_found = false;
	if (q->is_host && str_eq(q->host.name, "localhost")) {
		*ret = (struct egress_address){.b = {127, 0, 0, 1}};
		*ret_found = q->type == DNS_A;
		return DNS_FINE;
	}
	if (verdict != EGRESS_ALLOWED) {
		question_note(n, q, verdict);
		return DNS_NO_NAME;
	}
	name = name_get(n, &q->host);
	if (!name)
		return DNS_SERVER;
	*ret = name_address((size_t)(name - n->names));
	*ret_found = q->type == DNS_A; /* others have none, and are not asked for outside */
	return DNS_FINE;
}

size_t names_answer(struct net *n, unsigned char *p, size_t len, size_t size)
{
	struct egress_address a;
	struct dns_question q;
	enum dns_code code;
	bool found;

	if (!dns_read_question(p, len, &q))
		return 0;
	code = question_decide(n, &q, &a, &found);
	return dns_write_answer(p, size, &q, code, found ? &a : NULL, TTL);
}

/* Whatever address the question went to, the answer comes from there: the kernel tells us on the
 * way in, and takes it in the same form on the way out. */
void names_serve_datagram(struct crowd_member *m, uint32_t events)
{
	struct listener *l = m->context;
	unsigned char packet[DNS_PACKET_MAX];
	union {
		char space[CMSG_SPACE(sizeof(struct in6_pktinfo))];
		struct cmsghdr align;
	} control;
	struct sockaddr_storage from;
	struct iovec io = {packet, sizeof(packet)};
	struct msghdr h = {.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &io,
			   .msg_iovlen = 1, .msg_control = control.space,
			   .msg_controllen = sizeof(control.space)};
	const struct cmsghdr *c;
	struct in_pktinfo info;
	ssize_t got = recvmsg(m->fd, &h, MSG_DONTWAIT);

	(void)events;
	if (got <= 0 || h.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		return;
	io.iov_len = names_answer(l->net, packet, (size_t)got, sizeof(packet));
	if (!io.iov_len)
		return;
	c = CMSG_FIRSTHDR(&h);
	if (c && c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
		memcpy(&info, CMSG_DATA(c), sizeof(info));
		info.ipi_spec_dst = info.ipi_addr;
		memcpy(control.space + CMSG_LEN(0), &info, sizeof(info));
	}
	sendmsg(m->fd, &h, MSG_DONTWAIT | MSG_NOSIGNAL);
}
