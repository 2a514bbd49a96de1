/* Families of sockets, and protocols of netlink, that can be had. None is bound or used. */
#define _GNU_SOURCE
#include "probe.h"

#include <stdio.h>
#include <sys/socket.h>

enum { LIMIT = 10, FAMILIES = 47, PROTOCOLS = 32 };

struct choice {
	int family, protocol;
};

static long make_any(const void *arg)
{
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RAW, SOCK_RDM};
	const struct choice *c = arg;
	long ret = -EPERM;

	for (size_t i = 0; i < ARRAY_SIZE(types) && ret < 0; i++)
		ret = RESULT(socket(c->family, types[i], c->protocol));
	return ret;
}

static long make_raw(const void *arg)
{
	const struct choice *c = arg;

	return RESULT(socket(c->family, SOCK_RAW, c->protocol));
}

static void count(const char *name, long (*make)(const void *arg), int family, int n)
{
	unsigned int made = 0;

	for (int i = 0; i < n; i++) {
		const struct choice c = {family < 0 ? i : family, family < 0 ? 0 : i};
		struct outcome o = attempt(make, &c, LIMIT);

		made += outcome_is_success(&o);
		if (list_names && outcome_is_success(&o))
			printf("%s %d\n", name, i);
	}
	printf("%s_creatable %u\n", name, made);
}

void probe_sockets(void)
{
	count("family", make_any, -1, FAMILIES);
	count("netlink", make_raw, AF_NETLINK, PROTOCOLS);
}
