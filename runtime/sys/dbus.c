/* Where the service itself listens, its answer to who we are need not be waited for: the first call
 * is sent with it. sd-bus takes 256 bytes at a time while it reads who we are, and does not look at
 * what it has read already before more comes. So a call goes along only if it is larger than that,
 * and a service that says nothing after it has taken us is nudged once, by a Ping that it need not
 * answer. */
#include "sys/dbus.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/str.h"
#include "sys/loop.h"
#include "sys/patience.h"
#include "sys/unix.h"

#define BUS "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"

enum {
	PIECE = 4096,
	LOOK_MS = 200,
	ALONG_MIN = 512, /* bytes of a call that goes along with who we are */
	NUDGE_MS = 200,
};

/* ---- waiting ---- */

static int dbus_give_up(const struct dbus *d, struct error *e)
{
	if (patience_check(e) < 0)
		return -1;
	err_set(e, ERR_SYSTEM, "no answer within %lld s",
		(long long)((d->until - d->since + LOOP_SECOND - 1) / LOOP_SECOND));
	e->sys = ETIMEDOUT;
	return -1;
}

static int dbus_wait(struct dbus *d, short events, struct error *e)
{
	return patience_wait(d->fd, events, d->until, e) < 0 ? dbus_give_up(d, e) : 0;
}

/* Until more comes. Whoever has taken us may have read the call before that, and forgotten it. */
static int dbus_wait_for_more(struct dbus *d, struct error *e)
{
	const int64_t soon = loop_now() + NUDGE_MS * LOOP_MS;

	if (!d->nudge || soon >= d->until)
		return dbus_wait(d, POLLIN, e);
	if (patience_wait(d->fd, POLLIN, soon, e) == 0)
		return 0;
	if (patience_check(e) < 0)
		return -1;
	d->nudge = false;
	dbus_tell(d,
		  (struct dbus_message){.path = "/", .interface = BUS ".Peer", .member = "Ping"});
	return dbus_wait(d, POLLIN, e);
}

/* A peer that never stops sending lets nobody wait: the clock is looked at here. */
static int dbus_look(struct dbus *d, struct error *e)
{
	const int64_t now = loop_now();

	if (now >= d->until)
		return dbus_give_up(d, e);
	if (now - d->looked < LOOK_MS * LOOP_MS)
		return 0;
	d->looked = now;
	return patience_check(e);
}

/* ---- bytes ---- */

static int dbus_gone(const char *what, struct error *e)
{
	if (errno == 0 || errno == EPIPE || errno == ECONNRESET)
		return err_set(e, ERR_SYSTEM, "it closed the connection");
	return err_sys(e, "%s", what);
}

static int dbus_send(struct dbus *d, const char *p, size_t len, struct error *e)
{
	ssize_t n;

	while (len) {
		n = send(d->fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0) {
			p += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			if (dbus_wait(d, POLLOUT, e) < 0)
				return -1;
		} else if (errno != EINTR) {
			return dbus_gone("send", e);
		}
	}
	return 0;
}

/* Some more bytes behind those that were not used up. Not recvmsg(): descriptors that came along
 * are closed by the kernel. */
static int dbus_fill(struct dbus *d, struct error *e)
{
	ssize_t n;

	d->in_len -= d->in_at;
	if (d->in_at && d->in_len)
		memmove(d->in, d->in + d->in_at, d->in_len);
	d->in_at = 0;
	d->in = arena_grow(&d->arena, d->in, &d->in_cap, d->in_len + PIECE, 1);
	while ((n = recv(d->fd, d->in + d->in_len, d->in_cap - d->in_len, MSG_DONTWAIT)) <= 0) {
		if (n == 0)
			errno = 0;
		else if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return dbus_gone("receive", e);
		if (dbus_wait_for_more(d, e) < 0)
			return -1;
	}
	d->in_len += (size_t)n;
	return dbus_look(d, e);
}

/* ---- messages ---- */

/* On a bus everybody can send us something. */
static bool dbus_is_known(const struct dbus *d, const struct dbus_message *m)
{
	if (!d->is_bus)
		return true;
	return m->sender && (str_eq(m->sender, BUS) || str_eq(m->sender, d->owner));
}

int dbus_next(struct dbus *d, struct dbus_message *ret, struct error *e)
{
	struct dbus_message m;
	size_t len = 0;
	int got;

	for (;;) {
		got = dbus_message_read(d->in + d->in_at, d->in_len - d->in_at, &m, &len, e);
		if (got < 0)
			return -1;
		if (got == 0) {
			if (dbus_fill(d, e) < 0)
				return -1;
			continue;
		}
		d->in_at += len;
		d->nudge = false;
		if (dbus_is_known(d, &m)) {
			*ret = m;
			return 0;
		}
	}
}

/* The bytes of a call, in an arena of their own. */
static struct buf dbus_write_call(struct dbus *d, struct arena *a, struct dbus_message *m)
{
	struct buf b = buf_new(a, DBUS_MESSAGE_MAX);

	m->type = DBUS_CALL;
	m->serial = ++d->serial;
	m->flags |= DBUS_NO_AUTOSTART;
	if (!m->destination)
		m->destination = d->service;
	dbus_message_write(&b, m);
	return b;
}

static int dbus_send_call(struct dbus *d, struct dbus_message *m, struct error *e)
{
	struct arena a = {0};
	struct buf b = dbus_write_call(d, &a, m);
	int result;

	if (b.overflow)
		result = err_set(e, ERR_CONFIG, "the call is larger than %d bytes", DBUS_BODY_MAX);
	else
		result = dbus_send(d, b.data, b.len, e);
	arena_free(&a);
	return result;
}

int dbus_call(struct dbus *d, struct dbus_message m, dbus_hear *hear, void *context,
	      struct dbus_message *ret, struct error *e)
{
	struct dbus_message got;

	if (d->ahead)
		m.serial = d->serial;
	else if (dbus_send_call(d, &m, e) < 0)
		return -1;
	d->ahead = false;
	for (;;) {
		if (dbus_next(d, &got, e) < 0)
			return -1;
		if ((got.type == DBUS_RETURN || got.type == DBUS_ERROR) &&
		    got.reply_serial == m.serial) {
			*ret = got;
			return 0;
		}
		if (got.type == DBUS_SIGNAL && hear)
			hear(context, &got);
	}
}

void dbus_tell(struct dbus *d, struct dbus_message m)
{
	struct arena a = {0};
	struct buf b;

	m.flags |= DBUS_NO_REPLY;
	b = dbus_write_call(d, &a, &m);
	if (!b.overflow)
		(void)!send(d->fd, b.data, b.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	arena_free(&a);
}

/* ---- the bus between ---- */

/* A call to the bus itself, with a text or none; its answer must be a text, or none. */
static int bus_ask(struct dbus *d, const char *member, const char *argument, const char **ret,
		   struct error *e)
{
	struct arena a = {0};
	struct buf body = buf_new(&a, DBUS_BODY_MAX);
	struct dbus_message m = {
		.path = BUS_PATH, .interface = BUS, .member = member, .destination = BUS};
	struct dbus_reader r;
	int result;

	if (argument) {
		dbus_put_string(&body, argument);
		m.signature = "s";
		m.body = body.data;
		m.body_len = body.len;
	}
	result = body.overflow ? err_set(e, ERR_CONFIG, "%s: too long", member) :
				 dbus_call(d, m, NULL, NULL, &m, e);
	arena_free(&a);
	if (result < 0)
		return err_wrap(e, "%s", member);
	r = dbus_body(&m);
	if (m.type == DBUS_ERROR)
		return err_set(e, ERR_SYSTEM, "%s: %s", member, dbus_show(m.error_name).text);
	if (ret && (!str_eq(m.signature, "s") || !dbus_get_string(&r, ret)))
		return err_set(e, ERR_SYSTEM, "%s: not the answer that was asked for", member);
	return 0;
}

static int bus_enter(struct dbus *d, struct error *e)
{
	const char *name;

	if (bus_ask(d, "Hello", NULL, NULL, e) < 0 ||
	    bus_ask(d, "GetNameOwner", d->service, &name, e) < 0)
		return -1;
	if (name[0] != ':' || strlen(name) >= sizeof(d->owner))
		return err_set(e, ERR_SYSTEM, "GetNameOwner: not a name");
	memcpy(d->owner, name, strlen(name) + 1);
	return 0;
}

int dbus_match(struct dbus *d, const char *rule, struct error *e)
{
	return d->is_bus ? bus_ask(d, "AddMatch", rule, NULL, e) : 0;
}

/* ---- opening ---- */

/* Says who we are, and sends the first call along if it may go. */
static int dbus_greet(struct dbus *d, struct dbus_first *first, struct error *e)
{
	/* The NUL at the beginning is sent, the one at the end is not. */
	static const char lines[] = DBUS_AUTH_LINES;
	const size_t len = sizeof(lines) - 1;
	struct arena a = {0};
	struct buf call, all;
	int result;

	if (!first || d->is_bus)
		return dbus_send(d, lines, len, e);
	call = dbus_write_call(d, &a, &first->call);
	all = buf_new(&a, len + DBUS_MESSAGE_MAX);
	buf_add(&all, lines, len);
	d->ahead = !call.overflow && call.len >= ALONG_MIN;
	if (d->ahead)
		buf_add(&all, call.data, call.len);
	else
		d->serial = 0; /* as if it had not been written */
	first->sent = d->ahead;
	result = dbus_send(d, all.data, all.len, e);
	arena_free(&a);
	return result;
}

/* Whether it takes us. */
static int dbus_hear_verdict(struct dbus *d, struct error *e)
{
	size_t len = 0;

	for (;;) {
		if (dbus_fill(d, e) < 0)
			return -1;
		switch (dbus_auth_read(d->in, d->in_len, &len)) {
		case DBUS_AUTH_OK:
			d->in_at = len;
			return 0;
		case DBUS_AUTH_REFUSED:
			return err_set(e, ERR_SYSTEM, "it does not take us for who we are");
		case DBUS_AUTH_WRONG:
			return err_set(e, ERR_SYSTEM, "what it sends is not D-Bus");
		case DBUS_AUTH_MORE:
			break;
		}
	}
}

/* A peer that refuses us, or hangs up before a verdict, has not done what was asked for along with
 * it. One that we could not hear may have. */
static int dbus_authenticate(struct dbus *d, struct dbus_first *first, struct error *e)
{
	struct error unheard;

	if (dbus_greet(d, first, e) < 0) {
		/* A verdict may have come before it hung up, which says more. */
		if (e->sys || dbus_hear_verdict(d, &unheard) == 0)
			return -1;
		*e = unheard;
	} else if (dbus_hear_verdict(d, e) == 0) {
		d->nudge = d->ahead;
		return 0;
	}
	if (first && !e->sys)
		first->sent = false;
	return -1;
}

static int dbus_connect(struct dbus *d, const struct dbus_address *at, struct error *e)
{
	d->fd = at->is_abstract ? unix_connect_abstract(at->name, d->until, e) :
				  unix_connect_until(at->name, d->until, e);
	if (d->fd >= 0)
		return 0;
	if (loop_now() < d->until)
		return -1;
	dbus_give_up(d, e);
	return err_wrap(e, "connect to %s", at->name);
}

int dbus_open(const struct dbus_address *at, bool is_bus, const char *service, int64_t until,
	      struct dbus_first *first, struct dbus *ret, struct error *e)
{
	struct dbus d = {.fd = -1,
			 .until = until,
			 .since = loop_now(),
			 .service = service,
			 .is_bus = is_bus};

	d.looked = d.since;
	if (dbus_connect(&d, at, e) < 0)
		return -1;
	if (dbus_authenticate(&d, first, e) < 0 || (is_bus && bus_enter(&d, e) < 0)) {
		dbus_close(&d);
		return err_wrap(e, "connect to %s", at->name);
	}
	*ret = d;
	return 0;
}

void dbus_close(struct dbus *d)
{
	fd_close(&d->fd);
	arena_free(&d->arena);
	*d = DBUS_NONE;
}
