#include "net/dns.h"

#include <string.h>

enum { HEAD = 12, CLASS_IN = 1, CNAME = 5, ALIASES_MAX = 8, JUMPS_MAX = 16, RECORD = 12 };

static uint16_t dns_u16(const unsigned char *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void dns_put_u16(unsigned char *p, unsigned int value)
{
	p[0] = (unsigned char)(value >> 8);
	p[1] = (unsigned char)value;
}

struct dns_name {
	size_t len;
	char text[EGRESS_NAME_MAX + 2];
};

/* Reads a name as text, with pointers if there may be some. Where it ends in the packet; 0: it is
 * none. A dot in a label would make two of one, so there is none in a name that is read. */
static size_t dns_read_name(const unsigned char *p, size_t len, size_t at, unsigned int jumps,
			    struct dns_name *ret)
{
	size_t end = 0, n;

	ret->len = 0;
	while (at < len && p[at]) {
		n = p[at];
		if (n >= 0xc0) {
			if (!jumps-- || at + 1 >= len)
				return 0;
			end = end ? end : at + 2;
			at = (n & 0x3f) << 8 | p[at + 1];
			continue;
		}
		if (n > 63 || at + 1 + n >= len || ret->len + n + 1 > EGRESS_NAME_MAX + 1 ||
		    memchr(p + at + 1, '.', n))
			return 0;
		if (ret->len)
			ret->text[ret->len++] = '.';
		memcpy(ret->text + ret->len, p + at + 1, n);
		ret->len += n;
		at += 1 + n;
	}
	if (at >= len)
		return 0;
	return end ? end : at + 1;
}

bool dns_read_question(const unsigned char *p, size_t len, struct dns_question *ret)
{
	struct dns_question q = {0};
	struct dns_name name;
	size_t at;

	/* A question, of the usual kind, and one. */
	if (len < HEAD || (p[2] & 0xf8) || dns_u16(p + 4) != 1)
		return false;
	at = dns_read_name(p, len, HEAD, 0, &name);
	if (!at || at + 4 > len || dns_u16(p + at + 2) != CLASS_IN)
		return false;
	q.type = dns_u16(p + at);
	q.end = at + 4;
	q.is_host = egress_host_read(name.text, name.len, &q.host) && !q.host.is_address;
	*ret = q;
	return true;
}

size_t dns_write_answer(unsigned char *p, size_t size, const struct dns_question *q,
			enum dns_code code, const struct egress_address *a, uint32_t ttl)
{
	const size_t n = !a ? 0 : a->v6 ? 16 : 4;
	unsigned char *to = p + q->end;

	p[2] = (unsigned char)(0x80 | (p[2] & 0x01)); /* an answer */
	p[3] = (unsigned char)(0x80 | code);	      /* of one who asks others */
	memset(p + 6, 0, 6);
	if (!a || q->end + RECORD + n > size)
		return q->end;
	p[7] = 1;
	dns_put_u16(to, 0xc000 | HEAD);
	dns_put_u16(to + 2, a->v6 ? DNS_AAAA : DNS_A);
	dns_put_u16(to + 4, CLASS_IN);
	dns_put_u16(to + 6, ttl >> 16);
	dns_put_u16(to + 8, ttl & 0xffff);
	dns_put_u16(to + 10, (unsigned int)n);
	memcpy(to + RECORD, a->b, n);
	return q->end + RECORD + n;
}

size_t dns_write_query(unsigned char *p, size_t size, uint16_t id, const struct egress_host *h,
		       uint16_t type)
{
	size_t label = HEAD, at = HEAD + 1, i;

	if (HEAD + h->len + 2 + 4 > size)
		return 0;
	memset(p, 0, HEAD);
	dns_put_u16(p, id);
	p[2] = 1; /* ask others */
	p[5] = 1; /* question */
	for (i = 0; i <= h->len; i++) {
		if (i < h->len && h->name[i] != '.') {
			p[at++] = (unsigned char)h->name[i];
			continue;
		}
		p[label] = (unsigned char)(at - label - 1);
		label = at++;
	}
	p[label] = 0;
	dns_put_u16(p + at, type);
	dns_put_u16(p + at + 2, CLASS_IN);
	return at + 4;
}

/* ---- what comes back ---- */

struct dns_record {
	struct dns_name owner;
	uint16_t type;
	uint32_t ttl;
	size_t data, data_len, end;
};

static bool dns_read_record(const unsigned char *p, size_t len, size_t at, struct dns_record *ret)
{
	at = dns_read_name(p, len, at, JUMPS_MAX, &ret->owner);
	if (!at || at + 10 > len)
		return false;
	/* One of another class is of no type that anybody asks for. */
	ret->type = dns_u16(p + at + 2) == CLASS_IN ? dns_u16(p + at) : 0;
	ret->ttl = (uint32_t)dns_u16(p + at + 4) << 16 | dns_u16(p + at + 6);
	ret->data_len = dns_u16(p + at + 8);
	ret->data = at + 10;
	ret->end = ret->data + ret->data_len;
	return ret->end <= len;
}

static bool dns_is_host(const struct dns_name *name, const struct egress_host *h)
{
	struct egress_host read;

	return egress_host_read(name->text, name->len, &read) && read.len == h->len &&
	       memcmp(read.name, h->name, h->len) == 0;
}

static void dns_take_address(const unsigned char *p, const struct dns_record *r,
			     struct dns_reply *ret)
{
	struct egress_address *a = &ret->v[ret->n];
	const size_t size = r->type == DNS_AAAA ? 16 : 4;
	char text[EGRESS_ADDRESS_SIZE];

	if (ret->n == DNS_ADDRESSES_MAX || r->data_len != size)
		return;
	*a = (struct egress_address){.v6 = r->type == DNS_AAAA};
	memcpy(a->b, p + r->data, size);
	/* IPv4 in IPv6 becomes what it is. */
	egress_address_write(a, text);
	if (!egress_address_read(text, strlen(text), a))
		return;
	ret->ttl = !ret->n || r->ttl < ret->ttl ? r->ttl : ret->ttl;
	ret->n++;
}

/* The records of one owner: its addresses, or the name that it stands for. */
static bool dns_follow(const unsigned char *p, size_t len, size_t at, uint16_t type,
		       struct egress_host *owner, struct dns_reply *ret)
{
	const struct egress_host h = *owner;
	unsigned int n = dns_u16(p + 6);
	struct dns_record r;
	struct dns_name alias;
	bool again = false;

	for (; n && dns_read_record(p, len, at, &r); n--, at = r.end) {
		if (!dns_is_host(&r.owner, &h))
			continue;
		if (r.type == type)
			dns_take_address(p, &r, ret);
		else if (r.type == CNAME && dns_read_name(p, len, r.data, JUMPS_MAX, &alias))
			again = egress_host_read(alias.text, alias.len, owner);
	}
	return again && !ret->n;
}

bool dns_read_reply(const unsigned char *p, size_t len, uint16_t id, const struct egress_host *h,
		    uint16_t type, struct dns_reply *ret)
{
	struct egress_host owner = *h;
	struct dns_reply r = {0};
	struct dns_name name;
	unsigned int i;
	size_t at;

	if (len < HEAD || dns_u16(p) != id || (p[2] & 0xf8) != 0x80 || dns_u16(p + 4) != 1)
		return false;
	at = dns_read_name(p, len, HEAD, 0, &name);
	if (!at || at + 4 > len || dns_u16(p + at) != type || !dns_is_host(&name, h))
		return false;
	r.truncated = p[2] & 0x02;
	r.code = p[3] & 0x0f;
	for (i = 0; i < ALIASES_MAX && dns_follow(p, len, at + 4, type, &owner, &r);)
		i++;
	*ret = r;
	return true;
}
