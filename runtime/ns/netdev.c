/*
 * An interface loses its name, its addresses and its routes when it changes its namespace. So both
 * are read before, and each step is one request to the kernel: the move, under a name that nobody
 * has; the rename, which fails when the name is taken; the addresses; up.
 *
 * Trust: root in the container's namespace, a neighbour if it is joined, may rename, delete and
 * make interfaces there at any moment, also with a number that has become free. So which number one
 * got is heard from the kernel, and it is ours until the kernel tells that this number has left.
 *
 * Caveat: a parent that is killed between the move and the commit brings nothing back. Then the
 * kernel ends the namespace together with init: a physical interface returns to the first namespace
 * of the machine, a virtual one ends.
 */
#include "ns/netdev.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "sys/netlink.h"

#ifndef IFLA_NEW_IFINDEX
#define IFLA_NEW_IFINDEX 49
#endif
#ifndef IFA_PROTO
#define IFA_PROTO 11
#endif

/* Flags of an address that are its owner's wish; the others are its state. */
#define ADDRESS_WISHES                                                                             \
	(IFA_F_NODAD | IFA_F_HOMEADDRESS | IFA_F_MANAGETEMPADDR | IFA_F_NOPREFIXROUTE |            \
	 IFA_F_MCAUTOJOIN)

/* An address or a route, as the kernel told it. */
struct kept {
	const struct nlmsghdr *message;
	struct kept *next;
};

struct netdev {
	const char *field; /* for errors */
	char home_name[IFNAMSIZ];
	char away_name[IFNAMSIZ];
	uint32_t home_index;
	uint32_t away_index; /* 0: not known */
	size_t left;	     /* how often this number left the container's namespace … */
	uint32_t left_as;    /* … and its number where it went the last time, 0: nowhere */
	uint32_t master;     /* the bridge or bond that it is a port of, 0: none */
	bool loopback;
	bool up;
	struct kept *addresses;
	struct kept *routes;
	struct kept **last; /* where the next one goes while they are read */
	struct arena *arena;
};

/* ---- what an interface is ---- */

static void link_take(const struct nlmsghdr *answer, void *context)
{
	struct netlink_attrs attrs = netlink_attrs_of(answer, sizeof(struct ifinfomsg));
	struct netdev *d = context;
	struct netlink_attr attr;
	struct ifinfomsg link;

	memcpy(&link, netlink_fixed(answer), sizeof(link));
	d->home_index = (uint32_t)link.ifi_index;
	d->up = link.ifi_flags & IFF_UP;
	d->loopback = link.ifi_flags & IFF_LOOPBACK;
	while (netlink_next(&attrs, &attr)) {
		if (attr.type == IFLA_MASTER)
			netlink_attr_u32(&attr, &d->master);
		if (attr.type == IFLA_IFNAME && attr.len && attr.len <= IFNAMSIZ)
			snprintf(d->home_name, sizeof(d->home_name), "%.*s", (int)attr.len,
				 (const char *)attr.data);
	}
}

/* By name, which may be one of its other names, or by index. */
static int link_read(int sock, const char *name, uint32_t index, struct netdev *ret)
{
	struct ifinfomsg link = {.ifi_index = (int)index};
	struct netlink_request r;

	netlink_begin(&r, RTM_GETLINK, 0, &link, sizeof(link));
	if (name)
		netlink_put_str(&r, IFLA_IFNAME, name);
	return netlink_ask(sock, &r, link_take, ret);
}

static void keep(struct netdev *d, const struct nlmsghdr *answer)
{
	struct kept *k = arena_new(d->arena, struct kept);
	void *copy = arena_alloc(d->arena, 1, answer->nlmsg_len);

	memcpy(copy, answer, answer->nlmsg_len);
	k->message = copy;
	*d->last = k;
	d->last = &k->next;
}

static uint32_t address_flags(const struct nlmsghdr *m)
{
	struct netlink_attrs attrs = netlink_attrs_of(m, sizeof(struct ifaddrmsg));
	struct netlink_attr attr;
	struct ifaddrmsg address;
	uint32_t flags;

	memcpy(&address, netlink_fixed(m), sizeof(address));
	flags = address.ifa_flags; /* the first eight; all of them in the attribute */
	while (netlink_next(&attrs, &attr))
		if (attr.type == IFA_FLAGS)
			netlink_attr_u32(&attr, &flags);
	return flags;
}

static void address_take(const struct nlmsghdr *answer, void *context)
{
	struct netdev *d = context;
	struct ifaddrmsg address;

	memcpy(&address, netlink_fixed(answer), sizeof(address));
	if (answer->nlmsg_type == RTM_NEWADDR && address.ifa_index == d->home_index &&
	    (address_flags(answer) & IFA_F_PERMANENT))
		keep(d, answer);
}

/* Those that the kernel does not make by itself once the interface is up. */
static void route_take(const struct nlmsghdr *answer, void *context)
{
	struct netlink_attrs attrs = netlink_attrs_of(answer, sizeof(struct rtmsg));
	struct netdev *d = context;
	struct netlink_attr attr;
	struct rtmsg route;
	uint32_t index = 0;

	memcpy(&route, netlink_fixed(answer), sizeof(route));
	while (netlink_next(&attrs, &attr))
		if (attr.type == RTA_OIF)
			netlink_attr_u32(&attr, &index);
	if (answer->nlmsg_type == RTM_NEWROUTE && index == d->home_index &&
	    route.rtm_type == RTN_UNICAST && route.rtm_protocol != RTPROT_KERNEL &&
	    route.rtm_protocol != RTPROT_RA && !(route.rtm_flags & RTM_F_CLONED))
		keep(d, answer);
}

/* A whole list into *to; begun anew when it changed meanwhile. */
static int list_read(int sock, uint16_t type, const void *fixed, size_t len, struct netdev *d,
		     struct kept **to, void (*take)(const struct nlmsghdr *, void *))
{
	enum { TRIES = 8 };
	struct netlink_request r;
	int i;

	for (i = 0; i < TRIES; i++) {
		*to = NULL;
		d->last = to;
		netlink_begin(&r, type, NLM_F_DUMP, fixed, len);
		if (netlink_ask(sock, &r, take, d) == 0)
			return 0;
		if (errno != EAGAIN)
			break;
	}
	return -1;
}

static int netdev_read(int sock, const struct netdev_plan *p, struct netdev *d, struct error *e)
{
	struct ifaddrmsg addresses = {.ifa_family = AF_UNSPEC};
	struct rtmsg routes = {.rtm_family = AF_UNSPEC};

	if (link_read(sock, p->host_name, 0, d) < 0)
		return errno == ENODEV ? err_set(e, ERR_HOST, "%s: there is no such interface here",
						 p->field) :
					 err_sys(e, "%s: look at the interface", p->field);
	if (d->loopback)
		return err_set(e, ERR_CONFIG, "%s: the loopback interface can't be moved",
			       p->field);
	if (list_read(sock, RTM_GETADDR, &addresses, sizeof(addresses), d, &d->addresses,
		      address_take) < 0)
		return err_sys(e, "%s: read its addresses", p->field);
	if (list_read(sock, RTM_GETROUTE, &routes, sizeof(routes), d, &d->routes, route_take) < 0)
		return err_sys(e, "%s: read its routes", p->field);
	return 0;
}

/* ---- what is done to it ---- */

/* name: what it is called there at first, which nobody may have. index: 0 for any. */
static int link_move(int sock, uint32_t from, int ns_fd, const char *name, uint32_t index)
{
	struct ifinfomsg link = {.ifi_index = (int)from};
	struct netlink_request r;

	netlink_begin(&r, RTM_SETLINK, 0, &link, sizeof(link));
	netlink_put_u32(&r, IFLA_NET_NS_FD, (uint32_t)ns_fd);
	netlink_put_str(&r, IFLA_IFNAME, name);
	if (index)
		netlink_put_u32(&r, IFLA_NEW_IFINDEX, index);
	return netlink_ask(sock, &r, NULL, NULL);
}

static int link_rename(int sock, uint32_t index, const char *name)
{
	struct ifinfomsg link = {.ifi_index = (int)index};
	struct netlink_request r;

	netlink_begin(&r, RTM_SETLINK, 0, &link, sizeof(link));
	netlink_put_str(&r, IFLA_IFNAME, name);
	return netlink_ask(sock, &r, NULL, NULL);
}

static int link_set_master(int sock, uint32_t index, uint32_t master)
{
	struct ifinfomsg link = {.ifi_index = (int)index};
	struct netlink_request r;

	netlink_begin(&r, RTM_SETLINK, 0, &link, sizeof(link));
	netlink_put_u32(&r, IFLA_MASTER, master);
	return netlink_ask(sock, &r, NULL, NULL);
}

static int link_set_up(int sock, uint32_t index)
{
	struct ifinfomsg link = {
		.ifi_index = (int)index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
	struct netlink_request r;

	netlink_begin(&r, RTM_SETLINK, 0, &link, sizeof(link));
	return netlink_ask(sock, &r, NULL, NULL);
}

/* "eth0:web" follows the interface's name; a plain "eth0" is what the kernel takes by itself. */
static void put_label(struct netlink_request *r, const struct netlink_attr *label, const char *from,
		      const char *to)
{
	char text[IFNAMSIZ], moved[IFNAMSIZ];
	const char *rest;

	snprintf(text, sizeof(text), "%.*s", (int)label->len, (const char *)label->data);
	rest = str_after(text, from);
	if (rest && *rest == ':' &&
	    snprintf(moved, sizeof(moved), "%s%s", to, rest) < (int)sizeof(moved))
		netlink_put_str(r, IFA_LABEL, moved);
}

static int address_add(int sock, const struct nlmsghdr *m, uint32_t index, const char *from,
		       const char *to)
{
	struct netlink_attrs attrs = netlink_attrs_of(m, sizeof(struct ifaddrmsg));
	struct ifaddrmsg address;
	struct netlink_request r;
	struct netlink_attr attr;

	memcpy(&address, netlink_fixed(m), sizeof(address));
	address.ifa_index = index;
	address.ifa_flags = 0;
	netlink_begin(&r, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &address, sizeof(address));
	netlink_put_u32(&r, IFA_FLAGS, address_flags(m) & ADDRESS_WISHES);
	while (netlink_next(&attrs, &attr)) {
		switch (attr.type) {
		case IFA_LOCAL:
		case IFA_ADDRESS:
		case IFA_BROADCAST:
		case IFA_CACHEINFO:
		case IFA_RT_PRIORITY:
		case IFA_PROTO:
			netlink_put(&r, attr.type, attr.data, attr.len);
			break;
		case IFA_LABEL:
			put_label(&r, &attr, from, to);
			break;
		default:
			break;
		}
	}
	return netlink_ask(sock, &r, NULL, NULL);
}

static bool address_is_global(const struct nlmsghdr *m)
{
	struct ifaddrmsg address;

	memcpy(&address, netlink_fixed(m), sizeof(address));
	return address.ifa_scope == RT_SCOPE_UNIVERSE;
}

static int route_add(int sock, const struct nlmsghdr *m, uint32_t index)
{
	struct netlink_attrs attrs = netlink_attrs_of(m, sizeof(struct rtmsg));
	struct netlink_request r;
	struct netlink_attr attr;
	struct rtmsg route;

	memcpy(&route, netlink_fixed(m), sizeof(route));
	route.rtm_flags &= RTNH_F_ONLINK;
	netlink_begin(&r, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &route, sizeof(route));
	while (netlink_next(&attrs, &attr))
		if (attr.type != RTA_OIF && attr.type != RTA_CACHEINFO)
			netlink_put(&r, attr.type, attr.data, attr.len);
	netlink_put_u32(&r, RTA_OIF, index);
	return netlink_ask(sock, &r, NULL, NULL);
}

/* ---- who leaves ---- */

/* 0: no interface, but a port that leaves its bridge. */
static uint32_t departure_read(const struct nlmsghdr *told, uint32_t *ret_as)
{
	struct netlink_attrs attrs = netlink_attrs_of(told, sizeof(struct ifinfomsg));
	struct netlink_attr attr;
	struct ifinfomsg link;

	memcpy(&link, netlink_fixed(told), sizeof(link));
	*ret_as = 0;
	while (netlink_next(&attrs, &attr))
		if (attr.type == IFLA_NEW_IFINDEX)
			netlink_attr_u32(&attr, ret_as);
	return link.ifi_family == AF_UNSPEC ? (uint32_t)link.ifi_index : 0;
}

static void departure_from_home(const struct nlmsghdr *told, void *context)
{
	struct netdev *d = context;
	uint32_t as;

	if (departure_read(told, &as) == d->home_index)
		d->away_index = as;
}

static void departure_from_away(const struct nlmsghdr *told, void *context)
{
	struct netdevs *n = context;
	uint32_t as, index = departure_read(told, &as);
	size_t i;

	for (i = 0; i < n->n; i++) {
		if (!index || n->v[i].away_index != index)
			continue;
		n->v[i].left++;
		n->v[i].left_as = as;
	}
}

static void departures_note(struct netdevs *n)
{
	if (netlink_hear(n->away_watch, sizeof(struct ifinfomsg), departure_from_away, n) < 0)
		n->missed = true;
}

/* ---- there ---- */

/* From here on it is in the container's namespace, and the caller brings it back on failure. */
static int netdev_arrive(const struct netdevs *n, struct netdev *d, const char *name,
			 struct error *e)
{
	struct netdev there = {0};
	const struct kept *k;

	if (netlink_hear(n->home_watch, sizeof(struct ifinfomsg), departure_from_home, d) < 0)
		return err_sys(e, "%s: hear where it went", d->field);
	if (!d->away_index)
		return err_set(e, ERR_SYSTEM, "%s: the kernel does not tell where it went",
			       d->field);
	if (link_rename(n->away_sock, d->away_index, name) < 0)
		return err_sys(e, "%s: name it %s inside", d->field, name);
	/* "eth%d" has become a name by now. */
	if (link_read(n->away_sock, NULL, d->away_index, &there) < 0)
		return err_sys(e, "%s: look at the interface inside", d->field);
	memcpy(d->away_name, there.home_name, sizeof(d->away_name));
	for (k = d->addresses; k; k = k->next)
		if (address_is_global(k->message) &&
		    address_add(n->away_sock, k->message, d->away_index, d->home_name,
				d->away_name) < 0)
			return err_sys(e, "%s: give it an address inside", d->field);
	if (link_set_up(n->away_sock, d->away_index) < 0)
		return err_sys(e, "%s: set it up inside", d->field);
	return 0;
}

static int netdev_move(struct netdevs *n, const struct netdev_plan *p, struct arena *a,
		       struct error *e)
{
	struct netdev *d = &n->v[n->n], other = {0};
	bool is_template = strchr(p->name, '%') != NULL;

	*d = (struct netdev){.field = p->field, .arena = a};
	if (netdev_read(n->home_sock, p, d, e) < 0)
		return -1;
	/* The rename would fail too, but by then the interface has been away. */
	if (!is_template && link_read(n->away_sock, p->name, 0, &other) == 0)
		return err_set(e, ERR_CONFIG, "%s: the container has an interface %s already",
			       p->field, p->name);
	snprintf(d->away_name, sizeof(d->away_name), "sbx%x.%zu", (unsigned int)getpid(), n->n);
	departures_note(n); /* who left before has nothing to do with this one */
	if (link_move(n->home_sock, d->home_index, n->away_fd, d->away_name, 0) < 0)
		return err_sys(e, "%s: move it into the container", p->field);
	n->n++;
	return netdev_arrive(n, d, p->name, e);
}

/* ---- and back ---- */

static void warn(const struct netdevs *n, const struct netdev *d, const char *what)
{
	note(n->noter, "%s: %s: %s", d->field, what, err_text(errno));
}

static void addresses_restore(const struct netdevs *n, const struct netdev *d, uint32_t index)
{
	const struct kept *k;

	for (k = d->addresses; k; k = k->next)
		if (address_add(n->home_sock, k->message, index, d->home_name, d->home_name) < 0 &&
		    errno != EEXIST)
			warn(n, d, "bring back an address");
}

/* A route through a gateway needs the one to the gateway: those that fail are tried once more. */
static void routes_restore(const struct netdevs *n, const struct netdev *d, uint32_t index)
{
	const struct kept *k;
	int round;

	for (round = 0; round < 2; round++)
		for (k = d->routes; k; k = k->next)
			if (route_add(n->home_sock, k->message, index) < 0 && errno != EEXIST &&
			    round)
				warn(n, d, "bring back a route");
}

/* It is down since the move, and has no address yet. Any name will do there. */
static void netdev_send_off(const struct netdevs *n, const struct netdev *d)
{
	note(n->noter, "%s: not brought back: somebody has put another in its place", d->field);
	if (!d->left_as || link_move(n->home_sock, d->left_as, n->away_fd, "dev%d", 0) < 0)
		note(n->noter, "%s: %s here is that other one: delete it", d->field, d->home_name);
}

static void netdev_bring_back(struct netdevs *n, const struct netdev *d)
{
	departures_note(n);
	if (!d->away_index || d->left || n->missed) {
		note(n->noter,
		     "%s: not brought back: it has left the container's network namespace, "
		     "or can't be told from others there",
		     d->field);
		return;
	}
	/* With its old number, if nobody has it now. */
	if (link_move(n->away_sock, d->away_index, n->home_fd, d->home_name, d->home_index) < 0 &&
	    link_move(n->away_sock, d->away_index, n->home_fd, d->home_name, 0) < 0) {
		warn(n, d, "bring it back");
		return;
	}
	/* Only now is it certain: ours has left once, by our own move. */
	departures_note(n);
	if (d->left != 1 || !d->left_as || n->missed) {
		netdev_send_off(n, d);
		return;
	}
	if (d->master && link_set_master(n->home_sock, d->left_as, d->master) < 0)
		warn(n, d, "bring it back to its bridge");
	if (d->up && link_set_up(n->home_sock, d->left_as) < 0)
		warn(n, d, "set it up again");
	addresses_restore(n, d, d->left_as);
	routes_restore(n, d, d->left_as);
}

void netdevs_bring_back(struct netdevs *n)
{
	size_t i;

	for (i = n->n; i-- > 0;)
		netdev_bring_back(n, &n->v[i]);
	netdevs_close(n);
}

void netdevs_close(struct netdevs *n)
{
	fd_close(&n->home_fd);
	fd_close(&n->away_fd);
	fd_close(&n->home_sock);
	fd_close(&n->away_sock);
	fd_close(&n->home_watch);
	fd_close(&n->away_watch);
	n->n = 0;
}

static int sockets_open(int *ret_sock, int *ret_watch)
{
	*ret_sock = netlink_open();
	*ret_watch = netlink_listen(RTNLGRP_LINK, RTM_DELLINK);
	return *ret_sock < 0 || *ret_watch < 0 ? -1 : 0;
}

/* A socket belongs to the namespace in which it was made. */
static int away_sockets_open(struct netdevs *n)
{
	int result;

	if (setns(n->away_fd, CLONE_NEWNET) < 0)
		return -1;
	result = sockets_open(&n->away_sock, &n->away_watch);
	return setns(n->home_fd, CLONE_NEWNET) < 0 ? -1 : result;
}

/* They are two: the plan would have been refused otherwise (plan_check_shared). */
static int netdevs_open(pid_t pid, struct netdevs *n, struct error *e)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	n->home_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	n->away_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (n->home_fd < 0 || n->away_fd < 0)
		return err_sys(e, "linux.netDevices: open the network namespaces");
	if (sockets_open(&n->home_sock, &n->home_watch) < 0 || away_sockets_open(n) < 0)
		return err_sys(e, "linux.netDevices: open a netlink socket");
	return 0;
}

int netdevs_move(const struct plan *p, pid_t pid, const struct noter *noter, struct arena *a,
		 struct netdevs *ret, struct error *e)
{
	struct netdevs n = NETDEVS_NONE;
	size_t i;
	int result;

	n.noter = noter;
	if (!p->n_netdevs) {
		*ret = n;
		return 0;
	}
	n.v = arena_array(a, p->n_netdevs, struct netdev);
	result = netdevs_open(pid, &n, e);
	for (i = 0; result == 0 && i < p->n_netdevs; i++)
		result = netdev_move(&n, &p->netdevs[i], a, e);
	if (result < 0)
		netdevs_bring_back(&n);
	else
		*ret = n;
	return result;
}
