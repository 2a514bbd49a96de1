/* What a box says to sbxrun-net, and what resolvers do: the first byte chooses who reads the rest.
 * What is read is within what was given, means the same when it is written and read again, and
 * never a host that a rule has by another's name. */
#include "egress/egress.h"
#include "fuzz.h"
#include "net/dns.h"
#include "net/speech.h"

static void check_host(const struct egress_host *h)
{
	struct egress_host again;

	DEMAND(h->len && h->len <= EGRESS_NAME_MAX && strlen(h->name) == h->len);
	DEMAND(egress_host_read(h->name, h->len, &again) && again.is_address == h->is_address);
	DEMAND(again.len == h->len && memcmp(again.name, h->name, h->len) == 0);
	DEMAND(h->is_address || !strpbrk(h->name, "%:/@ \r\n"));
}

static void read_host(const char *p, size_t len)
{
	struct egress_host h;
	uint16_t port = 1;

	if (egress_host_read(p, len, &h)) {
		check_host(&h);
		DEMAND(!memchr(p, '\0', len));
	}
	if (egress_host_port_read(p, len, &h, &port)) {
		check_host(&h);
		DEMAND(port);
	}
}

/* A rule is the first line, the host the rest. */
static void read_rule(const char *p, size_t len, struct arena *a)
{
	struct egress_rules *r = arena_new(a, struct egress_rules);
	struct bytes b = {p, len};
	const char *rule = bytes_string(&b, a);
	uint16_t ports[EGRESS_PORTS_MAX];
	struct egress_host h;
	struct error e = {0};
	size_t n;

	if (egress_rules_add(r, rule, false, &e) < 0) {
		fuzz_check_error(&e);
		return;
	}
	DEMAND(egress_rules_ports(r, ports, &n, &e) == 0 && n);
	if (!egress_host_read(b.p, b.left, &h))
		return;
	if (egress_decide(r, &h, ports[0]) == EGRESS_ALLOWED) {
		const struct egress_rule *only = &r->v[0];

		DEMAND(h.is_address == (only->match == EGRESS_RANGE));
		DEMAND(h.is_address || str_ends(h.name, only->host.name));
		DEMAND(!h.is_address || egress_address_place(&h.address) != EGRESS_NEVER);
		DEMAND(egress_decide_name(r, &h) == EGRESS_ALLOWED);
	}
	DEMAND(egress_rules_add(r, rule, true, &e) == 0);
	DEMAND(egress_decide(r, &h, ports[0]) != EGRESS_ALLOWED);
}

static void read_http(const char *p, size_t len, struct arena *a)
{
	const size_t size = len + 1024;
	char *head = arena_alloc(a, size, 1);
	struct http_request q, again;
	struct http_body body;
	size_t n;

	if (http_read(p, len, &q) != SPEECH_DONE)
		return;
	DEMAND(q.len <= len);
	check_host(&q.host);
	if (q.form == HTTP_CONNECT)
		return;
	n = http_write(&q, p, head, size);
	DEMAND(n);
	DEMAND(http_read(head, n, &again) == SPEECH_DONE && again.form == HTTP_ORIGIN &&
	       again.len == n);
	DEMAND(again.port == q.port && strcmp(again.host.name, q.host.name) == 0);
	DEMAND(again.chunked == q.chunked && again.length == q.length);
	http_body_begin(&body, &q);
	DEMAND(http_body_take(&body, p + q.len, len - q.len) <= len - q.len);
}

static void read_names(unsigned char *p, size_t len, struct arena *a)
{
	unsigned char *packet = arena_alloc(a, len + 64, 1);
	const struct egress_address pool = {.b = {198, 18, 1, 0}};
	struct egress_host h;
	struct dns_question q;
	struct dns_reply r;
	size_t n;

	memcpy(packet, p, len);
	if (dns_read_question(packet, len, &q)) {
		DEMAND(q.end <= len);
		n = dns_write_answer(packet, len + 64, &q, DNS_FINE, &pool, 60);
		DEMAND(n <= len + 64);
		if (q.is_host) {
			check_host(&q.host);
			DEMAND(dns_read_reply(packet, n, (uint16_t)(packet[0] << 8 | packet[1]),
					      &q.host, q.type, &r));
			DEMAND(q.type != DNS_A || r.n == 1);
		}
	}
	if (len < 2 || !egress_host_read("a.example", 9, &h))
		return;
	if (dns_read_reply(p, len, (uint16_t)(p[0] << 8 | p[1]), &h, DNS_A, &r))
		DEMAND(r.n <= DNS_ADDRESSES_MAX);
	if (dns_read_reply(p, len, (uint16_t)(p[0] << 8 | p[1]), &h, DNS_AAAA, &r))
		DEMAND(r.n <= DNS_ADDRESSES_MAX);
}

/* However it is cut, the same is read of it. */
static void read_tls(const char *p, size_t len)
{
	struct tls_records whole = {0}, cut = {0};
	struct tls_hello hello = {0};
	size_t taken, first, second;
	enum speech speech;

	if (tls_read(p, len, &hello) == SPEECH_DONE) {
		DEMAND(hello.len <= len);
		if (hello.is_host)
			check_host(&hello.host);
	}
	hello = (struct tls_hello){0};
	speech = tls_follow(&whole, p, len, &taken, &hello);
	DEMAND(taken <= len && (speech != SPEECH_OTHER || taken == len));
	if (speech == SPEECH_DONE && hello.is_host)
		check_host(&hello.host);
	if (tls_follow(&cut, p, len / 2, &first, &hello) != SPEECH_MORE)
		return;
	DEMAND(tls_follow(&cut, p + first, len - first, &second, &hello) == speech);
	DEMAND(first + second == taken);
}

static void watch_http(const char *p, size_t len)
{
	struct http_watch whole = {0}, cut = {0};
	const bool passes = http_watch(&whole, p, len);

	DEMAND(passes ==
	       (http_watch(&cut, p, len / 2) && http_watch(&cut, p + len / 2, len - len / 2)));
}

/* Nothing but a first line is in front of the place. */
static void watch_answer(const char *p, size_t len)
{
	struct http_answer whole = {0}, cut = {0};
	size_t at = 0, first = 0, second = 0;
	const bool found = http_answer_find(&whole, p, len, &at);

	DEMAND(!found || (at <= len && at >= 8 && p[at - 1] == '\n'));
	if (http_answer_find(&cut, p, len / 2, &first))
		DEMAND(found && first == at);
	else
		DEMAND(http_answer_find(&cut, p + len / 2, len - len / 2, &second) == found &&
		       (!found || len / 2 + second == at));
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct socks_request socks;

	if (!len)
		return;
	switch (text[0]) {
	case 'h':
		read_http(text + 1, len - 1, a);
		watch_http(text + 1, len - 1);
		break;
	case 's':
	case 'S':
		if (socks_read(text + 1, len - 1, text[0] == 'S', &socks) == SPEECH_DONE) {
			DEMAND(socks.len <= len - 1);
			if (socks.has_host)
				check_host(&socks.host);
		}
		break;
	case 'a':
		watch_answer(text + 1, len - 1);
		break;
	case 't':
		read_tls(text + 1, len - 1);
		break;
	case 'n':
		read_names((unsigned char *)text + 1, len - 1, a);
		break;
	case 'r':
		read_rule(text + 1, len - 1, a);
		break;
	default:
		read_host(text, len);
	}
}
