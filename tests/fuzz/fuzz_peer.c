/* Messages between our processes: whatever comes over the socket is a stage, an error or refused.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "init/stage.h"
#include "sys/msg.h"

static int socks[2] = {-1, -1};

/* What was received can be sent on, and arrives as it was; a descriptor comes along. */
static void check_way_back(int kind, const struct error *error)
{
	struct error again = {0};
	int got_kind, fd = -1;

	DEMAND(msg_send(socks[1], kind, error, socks[1]) == 0);
	DEMAND(msg_recv(socks[0], &got_kind, &again, &fd) == 1 && fd >= 0);
	close(fd);
	DEMAND(got_kind == kind && again.class == error->class && str_eq(again.text, error->text));
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct error e = {0}, from = {0};
	int kind = 0, fd = -1, got;

	(void)a;
	if (socks[0] < 0)
		DEMAND(msg_pair(socks, &e) == 0);
	/* An empty message looks like the end. */
	if (!len)
		return;
	DEMAND(send(socks[0], text, len, 0) == (ssize_t)len &&
	       send(socks[0], text, len, 0) == (ssize_t)len);
	got = msg_recv(socks[1], &kind, &from, &fd);
	DEMAND(fd == -1 && (got == 1 || (got == -1 && errno == EPROTO)));
	DEMAND(got != 1 || strnlen(from.text, sizeof(from.text)) < sizeof(from.text));
	if (stage_await(socks[1], STAGE_READY, &e) == 0)
		DEMAND(got == 1 && kind == STAGE_READY);
	else
		DEMAND(strnlen(e.text, sizeof(e.text)) < sizeof(e.text));
	if (got == 1)
		check_way_back(kind, &from);
}
