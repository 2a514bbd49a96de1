/*
 * The two texts of D-Bus: addresses, and the lines with which a server takes or refuses a client
 * before the first message. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

struct dbus_address {
	bool is_abstract;
	const char *name; /* a path, or a name in no file system. No control characters. */
};

/* The next address of a list ("unix:path=/a;unix:abstract=b,guid=c") that we can speak to, which
 * *list then is behind; others are passed over. 1; 0: there are no more; -1: the list is wrong.
 * Trust: the list comes from the environment. */
int dbus_address_next(const char **list, struct arena *a, struct dbus_address *ret,
		      struct error *e);

/* A client sends this first: the server asks the kernel who we are, for in a user namespace we
 * don't know our number outside of it. */
#define DBUS_AUTH_LINES "\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n"

enum dbus_auth {
	DBUS_AUTH_MORE,	   /* the answer has not come in whole */
	DBUS_AUTH_OK,	   /* *ret_len bytes were the answer, messages follow */
	DBUS_AUTH_REFUSED, /* the server doesn't want us */
	DBUS_AUTH_WRONG,   /* that is no answer */
};

/* Trust: the bytes come from whoever listens at an address. */
enum dbus_auth dbus_auth_read(const char *p, size_t len, size_t *ret_len);
