/*
 * The keeper is a fork that keeps nothing of the server's but its end of the socket. Descriptors of
 * processes (pidfds) and no numbers: a number may be another's by then.
 */
#include "mcp/keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "mcp/call.h"
#include "sys/child.h"
#include "sys/msg.h"

enum keeper_word { CALL_BEGAN, CALL_ENDED, BOX_MADE, BOX_ENDED };
enum { BOXES_MAX = 4096 };

char **keeper_argv(const struct mcp_options *o, const struct strings *words, struct arena *a)
{
	char **v = arena_array(a, o->globals.n + words->n + 2, char *);
	size_t i, n = 0;

	v[n++] = o->program;
	for (i = 0; i < o->globals.n; i++)
		v[n++] = o->globals.v[i];
	for (i = 0; i < words->n; i++)
		v[n++] = words->v[i];
	return v;
}

/* ---- the child ---- */

struct kept {
	int pidfds[CALLS_MAX];
	size_t n;
	char *boxes[BOXES_MAX];
};

static void kept_drop(struct kept *k, const char *id)
{
	size_t i;

	for (i = 0; i < k->n; i++)
		if (str_eq(k->boxes[i], id)) {
			free(k->boxes[i]);
			k->boxes[i] = k->boxes[--k->n];
			return;
		}
}

static void kept_hear(struct kept *k, int word, const char *text, int pidfd)
{
	uint32_t slot;

	if (word == BOX_MADE && k->n < BOXES_MAX && (k->boxes[k->n] = strdup(text)))
		k->n++;
	else if (word == BOX_ENDED)
		kept_drop(k, text);
	else if (str_to_u32(text, &slot) && slot < CALLS_MAX) {
		fd_close(&k->pidfds[slot]);
		if (word == CALL_BEGAN)
			k->pidfds[slot] = pidfd;
	}
}

static void kept_destroy(const struct mcp_options *o, const char *id, struct arena *a)
{
	char *v[] = {arena_strdup(a, "box"), arena_strdup(a, "destroy"), arena_strdup(a, "--"),
		     arena_strdup(a, id)};
	const struct strings words = {.n = 4, .v = v};
	pid_t pid;

	if (posix_spawn(&pid, KEEPER_PROGRAM, NULL, NULL, keeper_argv(o, &words, a), environ) == 0)
		child_collect(pid);
}

static void keeper_end_all(struct kept *k, const struct mcp_options *o)
{
	struct arena a = {0};
	size_t i;

	for (i = 0; i < CALLS_MAX; i++)
		if (k->pidfds[i] >= 0)
			pidfd_send_signal(k->pidfds[i], SIGTERM, NULL, 0);
	for (i = 0; i < k->n && !o->keep; i++)
		kept_destroy(o, k->boxes[i], &a);
}

static void keeper_be(int sock, const struct mcp_options *o)
{
	const int keep[] = {sock};
	struct error text;
	struct kept k = {0};
	int word, pidfd, fd;
	size_t i;

	for (i = 0; i < CALLS_MAX; i++)
		k.pidfds[i] = -1;
	/* A signal for the server and its terminal is none for us; theirs is the socket's end. */
	setsid();
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_NAME, "sbxrun-keeper");
	fd_close_all_but(0, keep, 1);
	for (fd = 0; fd < 3; fd++)
		if (open("/dev/null", O_RDWR) < 0)
			break;
	while (msg_recv(sock, &word, &text, &pidfd) == 1)
		kept_hear(&k, word, text.text, pidfd);
	fd_close(&sock);
	keeper_end_all(&k, o);
	_exit(0);
}

/* ---- the server's side ---- */

int keeper_start(struct keeper *k, const struct mcp_options *o, struct error *e)
{
	int socks[2];

	if (k->sock >= 0)
		return 0;
	if (msg_pair(socks, e) < 0)
		return -1;
	/* Above 2, which become /dev/null there. */
	if (fd_move_above(&socks[1], 3) < 0 || (k->pid = fork()) < 0) {
		err_sys(e, "start the keeper");
		fd_close(&socks[0]);
		fd_close(&socks[1]);
		return -1;
	}
	if (k->pid == 0) {
		fd_close(&socks[0]);
		keeper_be(socks[1], o);
	}
	fd_close(&socks[1]);
	k->sock = socks[0];
	return 0;
}

static int keeper_say(const struct keeper *k, enum keeper_word word, const char *text, int pass_fd,
		      struct error *e)
{
	struct error said = {.class = ERR_BUG};

	snprintf(said.text, sizeof(said.text), "%s", text);
	return msg_send(k->sock, (int)word, &said, pass_fd) < 0 ? err_sys(e, "the keeper is gone") :
								  0;
}

int keeper_call(const struct keeper *k, unsigned int slot, int pidfd, struct error *e)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", slot);
	return keeper_say(k, CALL_BEGAN, text, pidfd, e);
}

void keeper_call_ended(const struct keeper *k, unsigned int slot)
{
	struct error ignored;
	char text[16];

	snprintf(text, sizeof(text), "%u", slot);
	keeper_say(k, CALL_ENDED, text, -1, &ignored);
}

int keeper_box(const struct keeper *k, const char *id, struct error *e)
{
	return keeper_say(k, BOX_MADE, id, -1, e);
}

void keeper_box_ended(const struct keeper *k, const char *id)
{
	struct error ignored;

	keeper_say(k, BOX_ENDED, id, -1, &ignored);
}

void keeper_let(struct keeper *k)
{
	fd_close(&k->sock);
}
