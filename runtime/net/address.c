#include "net/address.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>

#include "sys/netlink.h"

socklen_t address_to_socket(const struct egress_address *a, uint16_t port,
			    struct sockaddr_storage *ret)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};

	memset(ret, 0, sizeof(*ret));
	memcpy(&v6.sin6_addr, a->b, sizeof(v6.sin6_addr));
	memcpy(&v4.sin_addr, a->b, sizeof(v4.sin_addr));
	if (a->v6)
		memcpy(ret, &v6, sizeof(v6));
	else
		memcpy(ret, &v4, sizeof(v4));
	return a->v6 ? sizeof(v6) : sizeof(v4);
}

void address_from_socket(const struct sockaddr_storage *s, struct egress_address *ret,
			 uint16_t *ret_port)
{
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;
	struct egress_address a = {.v6 = s->ss_family == AF_INET6};
	char text[EGRESS_ADDRESS_SIZE];

	memcpy(&v6, s, sizeof(v6));
	memcpy(&v4, s, sizeof(v4));
	*ret_port = ntohs(a.v6 ? v6.sin6_port : v4.sin_port);
	if (a.v6)
		memcpy(a.b, &v6.sin6_addr, sizeof(v6.sin6_addr));
	else
		memcpy(a.b, &v4.sin_addr, sizeof(v4.sin_addr));
	*ret = a;
	egress_address_write(&a, text);
	egress_address_read(text, strlen(text), ret);
}

static void way_take(const struct nlmsghdr *answer, void *context)
{
	enum address_way *way = context;
	struct rtmsg route;

	memcpy(&route, netlink_fixed(answer), sizeof(route));
	switch (route.rtm_type) {
	case RTN_UNICAST:
		*way = ADDRESS_ELSEWHERE;
		break;
	case RTN_LOCAL:
	case RTN_BROADCAST:
	case RTN_ANYCAST:
	case RTN_MULTICAST:
		*way = ADDRESS_OWN;
		break;
	default: /* the machine's routes say that nobody goes there */
		*way = ADDRESS_NOWHERE;
	}
}

enum address_way address_ask_way(int route_fd, const struct egress_address *a)
{
	const struct rtmsg fixed = {.rtm_family = a->v6 ? AF_INET6 : AF_INET,
				    .rtm_dst_len = a->v6 ? 128 : 32};
	enum address_way way = ADDRESS_NOWHERE;
	struct netlink_request r;

	netlink_begin(&r, RTM_GETROUTE, 0, &fixed, sizeof(fixed));
	netlink_put(&r, RTA_DST, a->b, a->v6 ? 16 : 4);
	if (netlink_ask(route_fd, &r, way_take, &way) < 0)
		return ADDRESS_NOWHERE;
	return way;
}
