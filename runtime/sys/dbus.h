/*
 * A connection to one service over D-Bus: to the service itself, or through a bus. Whoever listens
 * there is not trusted: what it sends is checked (sys/dbus_message.h) and takes DBUS_MESSAGE_MAX
 * bytes of memory or some more, and every wait ends with the connection's deadline, with a signal
 * and for a delete --force (sys/patience.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "sys/dbus_message.h"
#include "sys/dbus_text.h"

struct dbus {
	int fd;
	int64_t since, until; /* moments of sys/loop.h */
	int64_t looked;	      /* when it was last asked whether to give up */
	uint32_t serial;      /* of what we sent last */
	const char *service;
	char owner[DBUS_NAME_MAX + 1]; /* the service's own name on the bus */
	bool is_bus;
	bool ahead;	    /* the first call was sent along with who we are */
	bool nudge;	    /* and there is no answer yet */
	struct arena arena; /* of what was received: */
	char *in;
	size_t in_cap, in_len, in_at;
};
#define DBUS_NONE ((struct dbus){.fd = -1})

/* A call that a service itself gets along with who we are, before it has said that it takes us:
 * one wait less. The first dbus_call() has to be this one, and sends nothing then. */
struct dbus_first {
	struct dbus_message call;
	bool sent; /* it may have been carried out, although the connection could not be opened */
};

/* Connects and says who we are; on a bus, looks who the service is there. until: everything on
 * this connection has to be done by then; no call on it lasts longer. first: NULL for none; a bus,
 * or a call that is too small for it, goes the longer way. e->sys is ETIMEDOUT when `until` was too
 * early, with this connection's other calls too. */
int dbus_open(const struct dbus_address *at, bool is_bus, const char *service, int64_t until,
	      struct dbus_first *first, struct dbus *ret, struct error *e);
void dbus_close(struct dbus *d);

/* Signals that match the rule are to come, where a bus stands between. A service itself sends them
 * all, unasked. */
int dbus_match(struct dbus *d, const char *rule, struct error *e);

/* Sends m, whose type, serial and destination are filled in, and waits for the answer: *ret is of
 * type DBUS_RETURN or DBUS_ERROR, and good until the next call here. Signals that come before it go
 * to hear(), if that is not NULL. */
typedef void dbus_hear(void *context, const struct dbus_message *signal);
int dbus_call(struct dbus *d, struct dbus_message m, dbus_hear *hear, void *context,
	      struct dbus_message *ret, struct error *e);

/* Sends a call that nobody waits for: now or not at all. Nothing else may follow. */
void dbus_tell(struct dbus *d, struct dbus_message m);

/* The next message of the service, or of the bus. Good until the next call here. */
int dbus_next(struct dbus *d, struct dbus_message *ret, struct error *e);
