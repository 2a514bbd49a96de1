#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/str.h"
#include "net/net.h"

void refuse_note(struct net *n, const char *host, uint16_t port, enum egress_verdict why)
{
	struct refusal *r;
	size_t i;

	n->refused++;
	for (i = 0; i < n->n_refusals; i++) {
		r = &n->refusals[i];
		if (r->port == port && r->why == why && str_eq(r->host, host)) {
			r->count++;
			return;
		}
	}
	if (n->n_refusals == NET_REFUSALS_MAX) {
		n->more_refusals = true;
		return;
	}
	r = &n->refusals[n->n_refusals++];
	*r = (struct refusal){.port = port, .why = why, .count = 1};
	snprintf(r->host, sizeof(r->host), "%s", host);
}

void refuse_tell(const struct net *n)
{
	struct net_message m;
	size_t i;

	for (i = 0; i < n->n_refusals; i++) {
		m = (struct net_message){.kind = NET_REFUSED,
					 .what = n->refusals[i].why,
					 .port = n->refusals[i].port,
					 .count = n->refusals[i].count};
		memcpy(m.text, n->refusals[i].host, sizeof(m.text));
		send(n->control.fd, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	m = (struct net_message){.kind = NET_TOTAL,
				 .more = n->more_refusals,
				 .bytes_in = n->bytes_in,
				 .bytes_out = n->bytes_out,
				 .connections = n->connections,
				 .refused = n->refused};
	send(n->control.fd, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL);
}
