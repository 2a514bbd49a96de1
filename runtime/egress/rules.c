#include <string.h>

#include "base/str.h"
#include "egress/egress.h"
#include "egress/mend.h"

enum { RULE_TEXT_MAX = 300 };

/* An allowed host without a port means these. */
static const uint16_t usual_ports[] = {80, 443};

/* ---- reading ---- */

static bool rule_read_bits(const char *text, size_t len, unsigned int most, unsigned int *ret)
{
	char copy[4];
	uint32_t value;

	if (!len || len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (!str_to_u32(copy, &value) || value > most)
		return false;
	*ret = value;
	return true;
}

/* ADDRESS/BITS[:PORT]. */
static bool rule_read_range(const char *text, size_t len, struct egress_rule *r)
{
	const char *slash = memchr(text, '/', len), *end = text + len, *colon;
	uint16_t none = 0;

	if (!slash || !egress_host_port_read(text, (size_t)(slash - text), &r->host, &none) ||
	    none || !r->host.is_address)
		return false;
	colon = memchr(slash, ':', (size_t)(end - slash));
	if (colon && !egress_port_read(colon + 1, (size_t)(end - colon) - 1, &r->port))
		return false;
	return rule_read_bits(slash + 1, (size_t)((colon ? colon : end) - slash) - 1,
			      r->host.address.v6 ? 128 : 32, &r->bits);
}

static bool rule_has_bits_behind(const struct egress_rule *r)
{
	const size_t size = r->host.address.v6 ? 16 : 4;
	struct egress_address a = r->host.address;
	size_t i;

	for (i = 0; i < size; i++)
		if (i * 8 + 8 > r->bits)
			a.b[i] = (unsigned char)(i * 8 >= r->bits ?
							 0 :
							 a.b[i] & 0xff00 >> (r->bits - i * 8));
	return memcmp(a.b, r->host.address.b, size) != 0;
}

static int rule_read(const char *text, struct egress_rule *r, struct error *e)
{
	const char *host = text;
	size_t len = strlen(text);

	if (len > RULE_TEXT_MAX)
		return err_set(e, ERR_USAGE, "it is longer than any host");
	if (str_eq(text, "*") || str_eq(text, "**") || str_eq(text, ".") || str_after(text, "*:"))
		return err_set(e, ERR_USAGE,
			       "it stands for every host: name those that are meant, or all below "
			       "a name (*.example.org)");
	if (strchr(text, '/')) {
		r->match = EGRESS_RANGE;
		if (!rule_read_range(text, len, r))
			return egress_mend(text, e);
		if (rule_has_bits_behind(r))
			return err_set(e, ERR_USAGE,
				       "the address has more bits than the %u of the range",
				       r->bits);
		return 0;
	}
	if (str_after(text, "**.")) {
		r->match = EGRESS_AND_BELOW;
		host += 3;
	} else if (str_after(text, "*.")) {
		r->match = EGRESS_BELOW;
		host += 2;
	} else if (text[0] == '.') {
		r->match = EGRESS_AND_BELOW;
		host++;
	}
	if (!egress_host_port_read(host, len - (size_t)(host - text), &r->host, &r->port) ||
	    (r->host.is_address && r->match != EGRESS_EXACT))
		return egress_mend(text, e);
	if (r->host.is_address) {
		r->match = EGRESS_RANGE;
		r->bits = r->host.address.v6 ? 128 : 32;
	}
	return 0;
}

static bool rule_has_name(const struct egress_rule *r, const struct egress_host *h)
{
	const size_t more = h->len - r->host.len; /* wraps where it is shorter */

	if (r->match != EGRESS_BELOW && h->len == r->host.len &&
	    memcmp(h->name, r->host.name, h->len) == 0)
		return true;
	return r->match != EGRESS_EXACT && h->len > r->host.len + 1 && h->name[more - 1] == '.' &&
	       memcmp(h->name + more, r->host.name, r->host.len) == 0;
}

/* A box has a loopback of its own, and none of the machine's addresses is carried to. */
static bool rule_is_own(const struct egress_rule *r)
{
	static const struct {
		struct egress_address net;
		unsigned int bits;
	} own[] = {{{false, {127}}, 8}, {{false, {0}}, 8}, {{true, {0}}, 127}};
	static const struct egress_rule below = {.match = EGRESS_AND_BELOW,
						 .host = {.len = 9, .name = "localhost"}};
	size_t i;

	for (i = 0; r->match == EGRESS_RANGE && i < ARRAY_SIZE(own); i++)
		if (r->bits >= own[i].bits &&
		    egress_address_is_in(&r->host.address, &own[i].net, own[i].bits))
			return true;
	return r->match != EGRESS_RANGE && rule_has_name(&below, &r->host);
}

static int rule_check_allowed(const struct egress_rule *r, struct error *e)
{
	if (r->match == EGRESS_RANGE && !r->bits)
		return err_set(e, ERR_USAGE,
			       "it stands for every host, and there is no word for that: name "
			       "those that are meant, or a range that has them");
	if (rule_is_own(r))
		return err_set(e, ERR_USAGE,
			       "a box reaches no address of this machine, and what the box itself "
			       "listens on needs no rule: leave it out, or name another host");
	if (r->match == EGRESS_RANGE && r->bits == (r->host.address.v6 ? 128 : 32) &&
	    egress_address_place(&r->host.address) == EGRESS_NEVER)
		return err_set(e, ERR_USAGE,
			       "no box reaches this address: it is link-local, reserved, or where a "
			       "cloud tells about the machine");
	if (r->port == EGRESS_NAMES_PORT)
		return err_set(e, ERR_USAGE,
			       "port %d is where a box asks for names: it can't be allowed",
			       EGRESS_NAMES_PORT);
	return 0;
}

int egress_rules_add(struct egress_rules *r, const char *text, bool denies, struct error *e)
{
	struct egress_rule rule = {.denies = denies};

	if (r->n == EGRESS_RULES_MAX)
		return err_set(e, ERR_USAGE, "more than %d rules", EGRESS_RULES_MAX);
	if (rule_read(text, &rule, e) < 0)
		return -1;
	if (!denies && rule_check_allowed(&rule, e) < 0)
		return -1;
	r->v[r->n++] = rule;
	return 0;
}

static int ports_add(uint16_t port, uint16_t *v, size_t *n, struct error *e)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (v[i] == port)
			return 0;
	if (*n == EGRESS_PORTS_MAX)
		return err_set(e, ERR_USAGE, "the rules have more than %d ports",
			       EGRESS_PORTS_MAX);
	v[(*n)++] = port;
	return 0;
}

int egress_rules_ports(const struct egress_rules *r, uint16_t ret[EGRESS_PORTS_MAX], size_t *ret_n,
		       struct error *e)
{
	size_t i, j, n = 0;

	for (i = 0; i < r->n; i++) {
		if (r->v[i].denies)
			continue;
		if (r->v[i].port && ports_add(r->v[i].port, ret, &n, e) < 0)
			return -1;
		for (j = 0; !r->v[i].port && j < ARRAY_SIZE(usual_ports); j++)
			if (ports_add(usual_ports[j], ret, &n, e) < 0)
				return -1;
	}
	*ret_n = n;
	return 0;
}

/* ---- deciding ---- */

static bool rule_has_port(const struct egress_rule *r, uint16_t port)
{
	size_t i;

	if (r->port || r->denies)
		return !r->port || r->port == port;
	for (i = 0; i < ARRAY_SIZE(usual_ports); i++)
		if (usual_ports[i] == port)
			return true;
	return false;
}

static bool rule_has_host(const struct egress_rule *r, const struct egress_host *h)
{
	if (r->match == EGRESS_RANGE)
		return h->is_address &&
		       egress_address_is_in(&h->address, &r->host.address, r->bits);
	return !h->is_address && rule_has_name(r, h);
}

static bool rule_covers_names(const struct egress_rule *r, const struct egress_rule *other)
{
	const bool below = other->host.len > r->host.len + 1 && rule_has_name(r, &other->host);

	if (r->match == EGRESS_EXACT)
		return other->match == EGRESS_EXACT && rule_has_name(r, &other->host);
	if (below)
		return true;
	return other->host.len == r->host.len &&
	       memcmp(other->host.name, r->host.name, r->host.len) == 0 &&
	       (r->match == EGRESS_AND_BELOW || other->match == EGRESS_BELOW);
}

bool egress_rule_covers(const struct egress_rule *r, const struct egress_rule *other)
{
	if ((r->match == EGRESS_RANGE) != (other->match == EGRESS_RANGE))
		return false;
	if (other->port ? !rule_has_port(r, other->port) : r->port)
		return false;
	if (r->match != EGRESS_RANGE)
		return rule_covers_names(r, other);
	return r->host.address.v6 == other->host.address.v6 && r->bits <= other->bits &&
	       egress_address_is_in(&other->host.address, &r->host.address, r->bits);
}

/* Port 0 is any. */
static enum egress_verdict rules_ask(const struct egress_rules *r, const struct egress_host *h,
				     uint16_t port)
{
	bool allowed = false;
	size_t i;

	for (i = 0; i < r->n; i++) {
		const struct egress_rule *rule = &r->v[i];

		if (!rule_has_host(rule, h))
			continue;
		if (rule->denies && (port ? rule_has_port(rule, port) : !rule->port))
			return EGRESS_DENIED;
		allowed |= !rule->denies && (!port || rule_has_port(rule, port));
	}
	return allowed ? EGRESS_ALLOWED : EGRESS_NOT_ALLOWED;
}

enum egress_verdict egress_decide(const struct egress_rules *r, const struct egress_host *h,
				  uint16_t port)
{
	enum egress_verdict verdict = port ? rules_ask(r, h, port) : EGRESS_BAD_HOST;

	if (verdict == EGRESS_ALLOWED && h->is_address &&
	    egress_address_place(&h->address) == EGRESS_NEVER)
		return EGRESS_BAD_ADDRESS;
	return verdict;
}

enum egress_verdict egress_decide_name(const struct egress_rules *r, const struct egress_host *h)
{
	return rules_ask(r, h, 0);
}

enum egress_verdict egress_judge(const struct egress_rules *r, const struct egress_address *a,
				 uint16_t port)
{
	const struct egress_host h = {.is_address = true, .address = *a};
	const enum egress_place place = egress_address_place(a);
	const enum egress_verdict verdict = rules_ask(r, &h, port);

	if (verdict == EGRESS_DENIED)
		return EGRESS_DENIED;
	if (place == EGRESS_NEVER || (place == EGRESS_PRIVATE && verdict != EGRESS_ALLOWED))
		return EGRESS_BAD_ADDRESS;
	return EGRESS_ALLOWED;
}
