#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "net/net.h"

static void refuse_add(struct net *n, const char *host, uint16_t port, bool failed,
		       unsigned int why)
{
	struct refusal *r;
	size_t i;

	for (i = 0; i < n->n_refusals; i++) {
		r = &n->refusals[i];
		if (r->port == port && r->failed == failed && r->why == why &&
		    str_eq(r->host, host)) {
			r->count++;
			return;
		}
	}
	if (n->n_refusals == NET_REFUSALS_MAX) {
		n->more_refusals = true;
		return;
	}
	r = &n->refusals[n->n_refusals++];
	*r = (struct refusal){.port = port, .failed = failed, .why = why, .count = 1};
	snprintf(r->host, sizeof(r->host), "%s", host);
}

void refuse_note(struct net *n, const char *host, uint16_t port, enum egress_verdict why)
{
	n->refused++;
	refuse_add(n, host, port, false, why);
}

void refuse_note_failure(struct net *n, const char *host, uint16_t port, enum net_failure why)
{
	refuse_add(n, host, port, true, why);
}

/* Where somebody listens, the connection tells it all; elsewhere the kernel has refused it. */
void refuse_seen(struct net *n, const struct net_message *m)
{
	const size_t len = strnlen(m->text, sizeof(m->text));
	const uint16_t port = (uint16_t)m->port;
	struct egress_host h;
	const struct name *name;

	if (visit_listens(n, port) || !egress_host_read(m->text, len, &h) || !h.is_address)
		return;
	name = name_of_address(n, &h.address);
	if (name)
		h = name->host;
	if (egress_decide(n->rules, &h, port) != EGRESS_ALLOWED)
		refuse_note(n, h.name, port, egress_decide(n->rules, &h, port));
}

void refuse_forget(struct net *n)
{
	n->n_refusals = 0;
	n->more_refusals = false;
	n->refused = n->connections = n->bytes_in = n->bytes_out = 0;
}

void refuse_tell(const struct net *n, const struct visit *v)
{
	struct net_message m;
	size_t i;

	for (i = 0; i < n->n_refusals; i++) {
		m = (struct net_message){.kind = n->refusals[i].failed ? NET_UNREACHED :
										 NET_REFUSED,
					 .what = n->refusals[i].why,
					 .port = n->refusals[i].port,
					 .count = n->refusals[i].count};
		memcpy(m.text, n->refusals[i].host, sizeof(m.text));
		visit_say(v, &m);
	}
	m = (struct net_message){.kind = NET_TOTAL,
				 .more = n->more_refusals,
				 .bytes_in = n->bytes_in,
				 .bytes_out = n->bytes_out,
				 .connections = n->connections,
				 .refused = n->refused};
	visit_say(v, &m);
}
