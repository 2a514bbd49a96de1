/*
 * rtnetlink, as much of it as moving an interface takes: a request that is put together attribute
 * by attribute, and the kernel's answers. Lengths of requests are checked when they are put
 * together: the fields of the protocol are 16 bits wide, and a length that wraps turns data into
 * attributes.
 */
#pragma once

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct netlink_request {
	union {
		struct nlmsghdr head;
		char space[4096];
	};
	size_t fixed;  /* bytes before the attributes */
	bool too_long; /* an attribute had no room; netlink_ask() will refuse */
};

/* Starts a request with the fixed part of its type, which is copied. */
void netlink_begin(struct netlink_request *r, uint16_t type, uint16_t flags, const void *fixed,
		   size_t len);
void netlink_put(struct netlink_request *r, uint16_t type, const void *data, size_t len);
void netlink_put_u32(struct netlink_request *r, uint16_t type, uint32_t value);
/* With its NUL. */
void netlink_put_str(struct netlink_request *r, uint16_t type, const char *s);

/* Attributes of an answer, one after the other. Trust: only what lies within .left is looked at. */
struct netlink_attrs {
	const char *at;
	size_t left;
};
struct netlink_attr {
	uint16_t type;
	const void *data;
	size_t len;
};

/* The fixed part of an answer. */
const void *netlink_fixed(const struct nlmsghdr *answer);

/* The attributes behind the fixed part, which has len bytes; none if the answer is shorter. */
struct netlink_attrs netlink_attrs_of(const struct nlmsghdr *answer, size_t len);
bool netlink_next(struct netlink_attrs *attrs, struct netlink_attr *ret);

/* A number; false if the attribute has another size. */
bool netlink_attr_u32(const struct netlink_attr *attr, uint32_t *ret);

/* Of the network namespace that the caller is in now. -1 with errno. */
int netlink_open(void);

/*
 * Sends the request and calls each (which may be NULL) with every answer that is at least as long
 * as the request's fixed part. 0, or -1 with the errno that the kernel gave; EAGAIN: a list changed
 * while it was read, and isn't whole.
 */
int netlink_ask(int sock, struct netlink_request *r,
		void (*each)(const struct nlmsghdr *answer, void *context), void *context);

/*
 * A socket that hears from now on what the kernel tells a group (RTNLGRP_…) in messages of one
 * type. Of the network namespace that the caller is in now. -1 with errno.
 */
int netlink_listen(int group, uint16_t type);

/*
 * Calls each with everything told since the last time that has a fixed part of len bytes. Does not
 * wait. -1 with errno: something may have been missed, ENOBUFS because it was too much.
 */
int netlink_hear(int sock, size_t len, void (*each)(const struct nlmsghdr *told, void *context),
		 void *context);
