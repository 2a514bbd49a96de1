/*
 * What a server and its worker say to each other, in both directions. The first byte says how many
 * descriptors come along: each is in the message that was read, or closed.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "fuzz.h"
#include "sys/msg.h"
#include "worker/wire.h"

static int socks[2] = {-1, -1};

static size_t open_some(int fds[WIRE_FDS_MAX], unsigned char first)
{
	size_t i, n = first % (WIRE_FDS_MAX + 1);

	for (i = 0; i < n; i++)
		DEMAND((fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0);
	return n;
}

static void check_closed(const int *fds, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		DEMAND(fcntl(fds[i], F_GETFD) < 0);
}

static size_t count(const struct wire_fds *f)
{
	size_t i, n = 0;

	for (i = 0; i < WIRE_FDS; i++)
		n += f->v[i] >= 0;
	return n;
}

/* What was understood can be said, and is understood again. */
static void check_request(struct wire_request *r, size_t n, struct arena *a)
{
	struct wire_request again;
	struct error e;

	DEMAND(r->ask < WIRE_ASKS && wire_ask_word(r->ask) && count(&r->fds) == n);
	if (wire_send_request(socks[0], r, &e) == 0) { /* what is escaped may be too long then */
		DEMAND(wire_recv_request(socks[1], a, &again, &e) == 1);
		DEMAND(again.ask == r->ask && again.signal == r->signal &&
		       again.survives == r->survives && count(&again.fds) == n);
		DEMAND(!r->id == !again.id && (!r->id || str_eq(r->id, again.id)));
		wire_fds_close(&again.fds);
	}
	wire_fds_close(&r->fds);
}

static void check_answer(struct wire_answer *r, size_t n, struct arena *a)
{
	struct wire_answer again;
	struct error e;

	DEMAND(r->kind <= WIRE_NOTE && r->class > ERR_NONE && r->class <= ERR_BUG &&
	       count(&r->fds) == n);
	if (wire_send_answer(socks[0], r, &e) == 0) {
		DEMAND(wire_recv_answer(socks[1], a, &again, &e) == 1);
		DEMAND(again.kind == r->kind && again.pid == r->pid &&
		       again.end.wall_ns == r->end.wall_ns && count(&again.fds) == n);
		wire_fds_close(&again.fds);
	}
	wire_fds_close(&r->fds);
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct wire_request request;
	struct wire_answer answer;
	int fds[WIRE_FDS_MAX];
	struct error e = {0};
	size_t n;

	if (socks[0] < 0)
		DEMAND(msg_pair(socks, &e) == 0);
	if (!len)
		return;
	n = open_some(fds, (unsigned char)text[0]);
	if (wire_read_request(text + 1, len - 1, fds, n, a, &request, &e) == 0)
		check_request(&request, n, a);
	check_closed(fds, n);
	n = open_some(fds, (unsigned char)text[0]);
	if (wire_read_answer(text + 1, len - 1, fds, n, a, &answer, &e) == 0)
		check_answer(&answer, n, a);
	check_closed(fds, n);
}
