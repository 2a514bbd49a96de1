#include "sys/relay.h"

#include <errno.h>
#include <termios.h>
#include <unistd.h>

enum { CTRL_D = 4 };

/* A chunk is read when there is none, and written when there is one. */
static void relay_settle(struct relay *r)
{
	r->in->fd = r->len ? -1 : r->from;
	r->out->fd = r->len ? r->to : -1;
}

static bool relay_is_in_lines(const struct relay *r)
{
	struct termios t;

	return tcgetattr(r->to, &t) == 0 && (t.c_lflag & ICANON);
}

/* The end of our input is the end of the program's: the first one ends an incomplete line, if there
 * is one. */
static void relay_say_end(struct relay *r)
{
	r->said_end = true;
	r->in_lines = relay_is_in_lines(r);
	r->data[0] = r->data[1] = CTRL_D;
	r->at = 0;
	r->len = r->last == '\n' ? 1 : 2;
}

/* Of n bytes that have come, those that the cap has room for. */
static size_t relay_count(struct relay *r, size_t n)
{
	uint64_t room = r->cap ? r->cap - r->passed : UINT64_MAX;
	size_t take = n < room ? n : (size_t)room;

	r->passed += take;
	r->dropped += n - take;
	return take;
}

static int relay_read(void *context, short events)
{
	struct relay *r = context;
	ssize_t n = read(r->from, r->data, sizeof(r->data));

	(void)events;
	if (n > 0) {
		r->at = 0;
		r->len = relay_count(r, (size_t)n);
		r->last = r->data[n - 1];
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		if (n == 0 && r->is_input)
			relay_say_end(r);
		r->from = -1; /* EIO: the last process has closed the terminal */
	}
	relay_settle(r);
	return 0;
}

static int relay_write(void *context, short events)
{
	struct relay *r = context;
	ssize_t n = write(r->to, r->data + r->at, r->len);

	(void)events;
	if (n > 0) {
		r->at += (size_t)n;
		r->len -= (size_t)n;
	} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
		r->dropped += r->len; /* nobody listens: let the program go on */
		r->len = 0;
		r->broken = true;
	}
	relay_settle(r);
	return 0;
}

void relay_add(struct relay *r, struct loop *l)
{
	r->in = loop_add(l, -1, POLLIN, relay_read, r);
	r->out = loop_add(l, -1, POLLOUT, relay_write, r);
	relay_settle(r);
}

void relay_repeat_end(struct relay *r)
{
	if (!r->said_end || r->len || r->to < 0 || relay_is_in_lines(r) == r->in_lines)
		return;
	relay_say_end(r);
	relay_settle(r);
}

void relay_cut(struct relay *r)
{
	r->from = r->to = -1;
	r->len = 0;
	relay_settle(r);
}

bool relay_is_done(const struct relay *r)
{
	return r->from < 0 && !r->len;
}
