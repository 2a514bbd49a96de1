#include "policy/words.h"

#include <linux/netlink.h>
#include <sys/socket.h>

#include "base/str.h"

#ifndef AF_SMC
#define AF_SMC 43
#endif
#ifndef AF_XDP
#define AF_XDP 44
#endif

/* clang-format off */
const struct policy_socket policy_sockets[] = {
	{"unix", AF_UNIX, -1},
	{"inet", AF_INET, -1},
	{"inet6", AF_INET6, -1},
	{"netlink", AF_NETLINK, -1},
	{"netlink-route", AF_NETLINK, NETLINK_ROUTE},
	{"netlink-audit", AF_NETLINK, NETLINK_AUDIT},
	{"netlink-netfilter", AF_NETLINK, NETLINK_NETFILTER},
	{"netlink-kobject-uevent", AF_NETLINK, NETLINK_KOBJECT_UEVENT},
	{"netlink-generic", AF_NETLINK, NETLINK_GENERIC},
	{"packet", AF_PACKET, -1},
	{"alg", AF_ALG, -1},
	{"vsock", AF_VSOCK, -1},
	{"xdp", AF_XDP, -1},
	{"can", AF_CAN, -1},
	{"bluetooth", AF_BLUETOOTH, -1},
	{"tipc", AF_TIPC, -1},
	{"rds", AF_RDS, -1},
	{"smc", AF_SMC, -1},
	{"key", AF_KEY, -1},
	{"ppp", AF_PPPOX, -1},
};
/* clang-format on */
const unsigned int policy_socket_count = ARRAY_SIZE(policy_sockets);

const struct policy_socket *policy_socket_find(const char *word)
{
	size_t i;

	for (i = 0; i < policy_socket_count; i++)
		if (str_eq(policy_sockets[i].word, word))
			return &policy_sockets[i];
	return NULL;
}
