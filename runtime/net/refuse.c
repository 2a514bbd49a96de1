#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "net/net.h"

/* One more of those that are there, or a new one; false: there is no room for it. */
static bool tally_add(struct refusal *v, size_t *n, size_t most, const struct refusal *x,
		      const char *host)
{
	struct refusal *r;

	for (r = v; r < v + *n; r++)
		if (r->port == x->port && r->failed == x->failed && r->why == x->why &&
		    str_eq(r->host, host)) {
			r->count++;
			return true;
		}
	if (*n == most)
		return false;
	r = &v[(*n)++];
	*r = *x;
	r->count = 1;
	snprintf(r->host, sizeof(r->host), "%s", host);
	return true;
}

static void refuse_add(struct net *n, const char *host, uint16_t port, bool failed,
		       unsigned int why)
{
	const struct refusal r = {.port = port, .failed = failed, .why = why};

	if (!tally_add(n->refusals, &n->n_refusals, NET_REFUSALS_MAX, &r, host))
		n->more_refusals = true;
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

void refuse_note_reached(struct net *n, const char *host, uint16_t port)
{
	const struct refusal r = {.port = port};

	if (!tally_add(n->reached, &n->n_reached, NET_REACHED_MAX, &r, host))
		n->more_reached = true;
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
	n->n_refusals = n->n_reached = 0;
	n->more_refusals = n->more_reached = false;
	n->refused = n->connections = n->bytes_in = n->bytes_out = 0;
}

static void tell_one(const struct visit *v, enum net_kind kind, const struct refusal *r)
{
	struct net_message m = {
		.kind = kind, .what = r->why, .port = r->port, .count = r->count};

	memcpy(m.text, r->host, sizeof(m.text));
	visit_say(v, &m);
}

void refuse_tell(const struct net *n, const struct visit *v)
{
	const struct net_message total = {.kind = NET_TOTAL,
					  .what = n->more_reached,
					  .more = n->more_refusals,
					  .bytes_in = n->bytes_in,
					  .bytes_out = n->bytes_out,
					  .connections = n->connections,
					  .refused = n->refused};
	size_t i;

	for (i = 0; i < n->n_reached; i++)
		tell_one(v, NET_REACHED, &n->reached[i]);
	for (i = 0; i < n->n_refusals; i++)
		tell_one(v, n->refusals[i].failed ? NET_UNREACHED : NET_REFUSED, &n->refusals[i]);
	visit_say(v, &total);
}
