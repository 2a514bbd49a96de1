#include "sys/netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"

#define ALIGN(n) (((n) + NLMSG_ALIGNTO - 1) & ~(size_t)(NLMSG_ALIGNTO - 1))
#define HEAD ALIGN(sizeof(struct nlmsghdr))
#define ATTR_HEAD ALIGN(sizeof(struct rtattr))

void netlink_begin(struct netlink_request *r, uint16_t type, uint16_t flags, const void *fixed,
		   size_t len)
{
	*r = (struct netlink_request){
		.head = {.nlmsg_len = (uint32_t)(HEAD + ALIGN(len)),
			 .nlmsg_type = type,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags},
		.fixed = len,
		.too_long = len > sizeof(r->space) - HEAD,
	};
	if (!r->too_long)
		memcpy(r->space + HEAD, fixed, len);
}

void netlink_put(struct netlink_request *r, uint16_t type, const void *data, size_t len)
{
	struct rtattr head = {.rta_len = (uint16_t)(ATTR_HEAD + len), .rta_type = type};

	if (r->too_long || len > sizeof(r->space) ||
	    ATTR_HEAD + ALIGN(len) > sizeof(r->space) - r->head.nlmsg_len) {
		r->too_long = true;
		return;
	}
	memcpy(r->space + r->head.nlmsg_len, &head, sizeof(head));
	memcpy(r->space + r->head.nlmsg_len + ATTR_HEAD, data, len);
	r->head.nlmsg_len += (uint32_t)(ATTR_HEAD + ALIGN(len));
}

void netlink_put_u32(struct netlink_request *r, uint16_t type, uint32_t value)
{
	netlink_put(r, type, &value, sizeof(value));
}

void netlink_put_str(struct netlink_request *r, uint16_t type, const char *s)
{
	netlink_put(r, type, s, strlen(s) + 1);
}

const void *netlink_fixed(const struct nlmsghdr *answer)
{
	return (const char *)answer + HEAD;
}

struct netlink_attrs netlink_attrs_of(const struct nlmsghdr *answer, size_t len)
{
	size_t skip = HEAD + ALIGN(len);

	if (answer->nlmsg_len < skip)
		return (struct netlink_attrs){0};
	return (struct netlink_attrs){(const char *)answer + skip, answer->nlmsg_len - skip};
}

bool netlink_next(struct netlink_attrs *attrs, struct netlink_attr *ret)
{
	struct rtattr head;
	size_t whole;

	if (attrs->left < sizeof(head))
		return false;
	memcpy(&head, attrs->at, sizeof(head));
	if (head.rta_len < ATTR_HEAD || head.rta_len > attrs->left)
		return false;
	*ret = (struct netlink_attr){
		(uint16_t)(head.rta_type & ~(NLA_F_NESTED | NLA_F_NET_BYTEORDER)),
		attrs->at + ATTR_HEAD, head.rta_len - ATTR_HEAD};
	whole = ALIGN((size_t)head.rta_len);
	if (whole > attrs->left)
		whole = attrs->left;
	attrs->at += whole;
	attrs->left -= whole;
	return true;
}

bool netlink_attr_u32(const struct netlink_attr *attr, uint32_t *ret)
{
	if (attr->len != sizeof(*ret))
		return false;
	memcpy(ret, attr->data, sizeof(*ret));
	return true;
}

int netlink_open(void)
{
	autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

	/* Connected to the kernel: nobody else's datagrams reach us. */
	if (fd < 0 || connect(fd, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -1;
	return fd_steal(&fd);
}

/* A request whose answers are being read. */
struct exchange {
	const struct netlink_request *request;
	void (*each)(const struct nlmsghdr *answer, void *context);
	void *context;
	bool changed; /* the list, while it was read */
};

/* 1: this was the last message. */
static int exchange_take(struct exchange *x, const struct nlmsghdr *h)
{
	struct nlmsgerr verdict;

	if (h->nlmsg_seq != x->request->head.nlmsg_seq)
		return 0; /* of a request before this one */
	x->changed |= (h->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
	switch (h->nlmsg_type) {
	case NLMSG_DONE:
		errno = EAGAIN;
		return x->changed ? -1 : 1;
	case NLMSG_ERROR:
		if (h->nlmsg_len < HEAD + sizeof(verdict)) {
			errno = EPROTO;
			return -1;
		}
		memcpy(&verdict, (const char *)h + HEAD, sizeof(verdict));
		errno = -verdict.error;
		return verdict.error ? -1 : 1;
	case NLMSG_NOOP:
		return 0;
	default:
		if (x->each && h->nlmsg_len >= HEAD + x->request->fixed)
			x->each(h, x->context);
		return 0;
	}
}

static int exchange_receive(struct exchange *x, int sock)
{
	union {
		struct nlmsghdr head;
		char space[32768]; /* the kernel's largest piece of a list */
	} in;
	struct nlmsghdr *h = &in.head;
	size_t left, whole;
	ssize_t n;
	int done;

	do
		n = recv(sock, in.space, sizeof(in.space), MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	if ((size_t)n > sizeof(in.space)) {
		errno = EMSGSIZE;
		return -1;
	}
	for (left = (size_t)n; left >= HEAD; left -= whole) {
		if (h->nlmsg_len < HEAD || h->nlmsg_len > left)
			break;
		done = exchange_take(x, h);
		if (done)
			return done;
		whole = ALIGN((size_t)h->nlmsg_len);
		if (whole >= left)
			break;
		h = (struct nlmsghdr *)(void *)((char *)h + whole);
	}
	return 0;
}

int netlink_ask(int sock, struct netlink_request *r,
		void (*each)(const struct nlmsghdr *answer, void *context), void *context)
{
	struct exchange x = {.request = r, .each = each, .context = context};
	static uint32_t sequence;
	ssize_t sent;
	int done;

	if (r->too_long) {
		errno = EMSGSIZE;
		return -1;
	}
	r->head.nlmsg_seq = ++sequence;
	do
		sent = send(sock, r->space, r->head.nlmsg_len, 0);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -1;
	do
		done = exchange_receive(&x, sock);
	while (done == 0);
	return done < 0 ? -1 : 0;
}

/* The filter is there before the first message: others would only fill the buffer. */
int netlink_listen(int group, uint16_t type)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, offsetof(struct nlmsghdr, nlmsg_type)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(type), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};
	autoclose int fd = netlink_open();

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) < 0 ||
	    setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0)
		return -1;
	return fd_steal(&fd);
}

int netlink_hear(int sock, size_t len, void (*each)(const struct nlmsghdr *told, void *context),
		 void *context)
{
	union {
		struct nlmsghdr head;
		char space[32768];
	} in;
	struct iovec piece = {in.space, sizeof(in.space)};
	struct sockaddr_nl from = {0};
	struct msghdr m = {.msg_name = &from, .msg_iov = &piece, .msg_iovlen = 1};
	ssize_t n;

	for (;;) {
		m.msg_namelen = sizeof(from);
		n = recvmsg(sock, &m, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		/* Root of the namespace may speak to a group, too. The kernel's id is 0. */
		if (from.nl_pid == 0 && (size_t)n >= HEAD + ALIGN(len) &&
		    in.head.nlmsg_len <= (size_t)n && in.head.nlmsg_len >= HEAD + ALIGN(len))
			each(&in.head, context);
	}
}
