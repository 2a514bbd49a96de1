#include "init/stage.h"

#include <stddef.h>

#include "base/fd.h"
#include "base/log.h"
#include "sys/msg.h"

static const char *stage_name(enum stage stage)
{
	static const char *const names[] = {"mounted", "hooks-run", "born",   "ready", "committed",
					    "start",   "executing", "failed", "page",  "listener"};

	return names[stage - STAGE_MOUNTED];
}

int stage_say(int sock, enum stage stage, struct error *e)
{
	log_debug("stage: %s", stage_name(stage));
	if (msg_send(sock, (int)stage, NULL, -1) < 0)
		return err_sys(e, "say \"%s\" to the other process", stage_name(stage));
	return 0;
}

static int stage_receive(int sock, enum stage stage, int *ret_fd, struct error *e)
{
	struct error from;
	int kind, got;

	got = msg_recv(sock, &kind, &from, ret_fd);
	if (got < 0)
		return err_sys(e, "wait for stage \"%s\"", stage_name(stage));
	if (got == 0)
		return err_set(e, ERR_SYSTEM, "the other process died before stage \"%s\"",
			       stage_name(stage));
	if (kind == STAGE_FAILED) {
		*e = from;
		return -1;
	}
	log_debug("stage: %s has come", stage_name(stage));
	if (kind != (int)stage)
		return err_set(e, ERR_BUG, "stage %d came instead of \"%s\"", kind,
			       stage_name(stage));
	return 0;
}

int stage_await(int sock, enum stage stage, struct error *e)
{
	return stage_receive(sock, stage, NULL, e);
}

int stage_await_fd(int sock, enum stage stage, struct error *e)
{
	autoclose int fd = -1;

	if (stage_receive(sock, stage, &fd, e) < 0)
		return -1;
	if (fd < 0)
		return err_set(e, ERR_BUG, "stage \"%s\" came without its descriptor",
			       stage_name(stage));
	return fd_steal(&fd);
}

void stage_fail(int sock, const struct error *why)
{
	if (msg_send(sock, STAGE_FAILED, why, -1) < 0)
		return;
}
