/* Which address stands for which name: found without looking at all of them. */
#include <stdio.h>
#include <string.h>

#include "net/net.h"
#include "unit.h"

enum { LONGEST = 16 };

static struct net net;

static struct egress_host host(size_t i)
{
	struct egress_host h;
	char name[32];
	int len = snprintf(name, sizeof(name), "n%zu.example", i);

	CHECK(egress_host_read(name, (size_t)len, &h));
	return h;
}

TEST(each_name_has_one_entry)
{
	struct egress_host h;
	size_t i;

	net.salt = 0x1234567;
	for (i = 0; i < NET_NAMES_MAX; i++) {
		h = host(i);
		CHECK(name_get(&net, &h) == &net.names[i]);
	}
	h = host(NET_NAMES_MAX);
	CHECK(!name_get(&net, &h));
	for (i = 0; i < NET_NAMES_MAX; i++) {
		h = host(i);
		CHECK(name_get(&net, &h) == &net.names[i]);
		CHECK_STR(net.names[i].host.name, h.name);
	}
	CHECK_INT(net.n_names, NET_NAMES_MAX);
}

TEST(no_chain_is_long)
{
	struct egress_host h;
	size_t i, at, len;

	for (i = 0; i < NET_NAMES_MAX; i++) {
		h = host(i);
		CHECK(name_get(&net, &h));
	}
	for (i = 0; i < NET_CHAINS; i++) {
		for (len = 0, at = net.chains[i]; at; at = net.names[at - 1].next)
			len++;
		if (len > LONGEST)
			FAIL("a chain has %zu names", len);
	}
}

int main(void)
{
	return unit_main();
}
