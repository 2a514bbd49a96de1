/*
 * One request at a time, by a table that says when each is permitted. One that is not permitted now
 * comes from a server that is broken, or taken over: the worker ends, and its container with it.
 *
 * While a request is carried out nothing more is to come. Should the server end meanwhile, the
 * kernel sends a signal (O_ASYNC), which ends every wait there is (sys/patience.h).
 */
#include "life/keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"
#include "json/json.h"
#include "life/internal.h"
#include "sys/loop.h"
#include "sys/msg.h"
#include "sys/patience.h"
#include "sys/unix.h"
#include "worker/wire.h"

/* Where the container is; bits, for "when permitted". */
enum keeper_state {
	NOTHING_YET = 1,
	CREATED = 2,
	STARTED = 4,
	OVER = 8, /* its program has ended, or could not be started */
	GONE = 16, /* removed, let go, or never made */
};

struct keeper {
	int sock;
	enum keeper_state state;
	bool survives;
	const char *root;
	struct created container;
	struct arena arena;   /* as long as the container is kept */
	struct noted noted;   /* of the present request */
	struct noter noter;
};

static bool keeper_has_container(const struct keeper *k)
{
	return k->state & (CREATED | STARTED | OVER);
}

/* ---- requests ---- */

/* Trust: it may be any file. One that has no end, or is not there yet, would keep us waiting. */
static int keeper_read_config(int fd, struct arena *a, struct create_options *o, struct error *e)
{
	struct stat st;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(e, ERR_USAGE, "the config is not a regular file");
	o->config_text = fd_read_all(fd, JSON_BYTES_MAX, a, &o->config_len);
	return o->config_text ? 0 : err_sys(e, "read the config");
}

static int keeper_set_streams(const struct wire_fds *fds, struct create_options *o,
			      struct error *e)
{
	const int *streams = &fds->v[WIRE_STDIN];
	const int given = (streams[0] >= 0) + (streams[1] >= 0) + (streams[2] >= 0);

	if (given != 0 && given != 3)
		return err_set(e, ERR_USAGE, "%d of three streams", given);
	o->streams = given ? streams : NULL;
	return 0;
}

/* Init has sent the terminal's master before it said that it was ready. */
static int keeper_take_terminal(int sock, struct wire_answer *ret, struct error *e)
{
	char name[256];

	if (patience_wait(sock, POLLIN, patience_until(PATIENCE_PEER_MS), e) < 0)
		return -1;
	ret->fds.v[WIRE_TERMINAL] = unix_recv_fd(sock, name, sizeof(name));
	return ret->fds.v[WIRE_TERMINAL] < 0 ? err_sys(e, "receive the terminal") : 0;
}

static int keeper_hand_over(struct keeper *k, int console_sock, struct wire_answer *ret,
			    struct error *e)
{
	const struct created *c = &k->container;

	ret->pid = c->pid;
	ret->fds.v[WIRE_PIDFD] = fcntl(c->pidfd, F_DUPFD_CLOEXEC, 0);
	if (ret->fds.v[WIRE_PIDFD] < 0)
		return err_sys(e, "copy the descriptor of init");
	return c->terminal_is_ours ? keeper_take_terminal(console_sock, ret, e) : 0;
}

static int keeper_make(struct keeper *k, const struct create_options *o, int console[2],
		       struct wire_answer *ret, struct error *e)
{
	struct error ignored;

	if (life_create(o, &k->arena, &k->container, e) < 0)
		return -1;
	fd_close(&console[1]);
	if (keeper_hand_over(k, console[0], ret, e) == 0)
		return 0;
	/* The server would have to have it removed, and it is told that there is none. */
	if (life_remove(&k->container, &k->arena, &ignored) < 0)
		note(&k->noter, "clean-up after the failure: %s", ignored.text);
	return -1;
}

static int keeper_create(struct keeper *k, struct wire_request *r, struct wire_answer *ret,
			 struct error *e)
{
	struct create_options o = {
		.root = r->root,
		.id = r->id,
		.bundle = r->bundle,
		.policy = r->policy,
		.no_pivot = r->no_pivot,
		.no_new_keyring = r->no_new_keyring,
		.no_cgroups = r->no_cgroups,
		.strict = r->strict,
		.take_listener = r->take_listener,
		.noter = &k->noter,
	};
	int console[2], result;

	k->state = GONE;
	if (!r->root || !r->id || !r->bundle)
		return err_set(e, ERR_USAGE, "create: root, id and bundle are needed");
	if (keeper_read_config(r->fds.v[WIRE_CONFIG], &k->arena, &o, e) < 0 ||
	    keeper_set_streams(&r->fds, &o, e) < 0 || msg_stream_pair(console, e) < 0)
		return -1;
	o.console_fd = console[1];
	result = keeper_make(k, &o, console, ret, e);
	fd_close(&console[0]);
	fd_close(&console[1]);
	if (result < 0)
		return -1;
	k->root = r->root;
	k->survives = r->survives;
	k->state = CREATED;
	return 0;
}

static int keeper_start(struct keeper *k, struct wire_request *r, struct wire_answer *ret,
			struct error *e)
{
	struct arena a = {0};
	int result = life_launch(&k->container, &ret->fds.v[WIRE_LISTENER], &a, e);

	(void)r;
	k->state = result < 0 ? OVER : STARTED;
	arena_free(&a);
	return result;
}

static int keeper_wait(struct keeper *k, struct wire_request *r, struct wire_answer *ret,
		       struct error *e)
{
	int result = life_wait(&k->container, loop_now(), &ret->end, e);

	(void)r;
	if (result == 0)
		ret->kind = WIRE_NOT_YET;
	else
		k->state = OVER;
	return result < 0 ? -1 : 0;
}

static int keeper_kill(struct keeper *k, struct wire_request *r, struct wire_answer *ret,
		       struct error *e)
{
	struct arena a = {0};
	int result;

	(void)ret;
	if (r->signal <= 0 || r->signal > SIGRTMAX)
		return err_set(e, ERR_USAGE, "kill: %d is not a signal", r->signal);
	result = life_kill(k->root, k->container.record.id, r->signal, r->all, &k->noter, &a, e);
	arena_free(&a);
	return result;
}

static int keeper_remove(struct keeper *k, struct wire_request *r, struct wire_answer *ret,
			 struct error *e)
{
	struct arena a = {0};
	int result;

	(void)r;
	(void)ret;
	result = life_remove(&k->container, &a, e);
	k->state = GONE;
	arena_free(&a);
	return result;
}

static int keeper_let_go(struct keeper *k, struct wire_request *r, struct wire_answer *ret,
			 struct error *e)
{
	(void)r;
	(void)ret;
	(void)e;
	life_let_go(&k->container);
	k->state = GONE;
	return 0;
}

static const struct {
	unsigned int permitted; /* states */
	/* 0, and the answer is *ret; -1, and it is the error. */
	int (*handle)(struct keeper *k, struct wire_request *r, struct wire_answer *ret,
		      struct error *e);
} requests[WIRE_ASKS] = {
	[WIRE_CREATE] = {NOTHING_YET, keeper_create},
	[WIRE_START] = {CREATED, keeper_start},
	[WIRE_WAIT] = {CREATED | STARTED, keeper_wait},
	[WIRE_KILL] = {CREATED | STARTED | OVER, keeper_kill},
	[WIRE_REMOVE] = {CREATED | STARTED | OVER, keeper_remove},
	[WIRE_LET_GO] = {CREATED | STARTED | OVER, keeper_let_go},
};

/* ---- the conversation ---- */

/* From here on whatever the server does, also to end, is a signal that means "end". */
static void keeper_listen_by_signal(int sock, bool on)
{
	int flags = fcntl(sock, F_GETFL);

	fcntl(sock, F_SETSIG, SIGTERM);
	fcntl(sock, F_SETOWN, on ? getpid() : 0);
	fcntl(sock, F_SETFL, on ? flags | O_ASYNC : flags & ~O_ASYNC);
}

static int keeper_send_notes(struct keeper *k, struct error *e)
{
	size_t i;

	for (i = 0; i < k->noted.notes.n; i++) {
		const struct wire_answer r = {
			.kind = WIRE_NOTE, .text = k->noted.notes.v[i], .fds = WIRE_FDS_NONE};

		if (wire_send_answer(k->sock, &r, e) < 0)
			return -1;
	}
	return 0;
}

static int keeper_answer(struct keeper *k, struct wire_request *r, struct error *e)
{
	struct wire_answer answer = {.kind = WIRE_DONE, .fds = WIRE_FDS_NONE};
	struct arena notes = {0};
	struct error why = {0};
	int result;

	k->noted = (struct noted){.arena = &notes};
	keeper_listen_by_signal(k->sock, true);
	if (requests[r->ask].handle(k, r, &answer, &why) < 0) {
		answer.kind = WIRE_FAILED;
		answer.text = why.text;
		answer.class = (int32_t)why.class;
		answer.sys = why.sys;
	}
	keeper_listen_by_signal(k->sock, false);
	result = keeper_send_notes(k, e) < 0 ? -1 : wire_send_answer(k->sock, &answer, e);
	wire_fds_close(&answer.fds);
	arena_free(&notes);
	return result;
}

/* 1: go on; 0: the server is gone. What a create is given must last. */
static int keeper_serve_one(struct keeper *k, struct error *e)
{
	struct arena own = {0};
	struct arena *a = k->state == NOTHING_YET ? &k->arena : &own;
	struct wire_request r;
	int got = wire_recv_request(k->sock, a, &r, e);

	if (got > 0) {
		if (k->state & requests[r.ask].permitted)
			got = keeper_answer(k, &r, e) < 0 ? -1 : 1;
		else
			got = err_set(e, ERR_USAGE, "%s: not permitted now", wire_ask_word(r.ask));
		wire_fds_close(&r.fds);
	}
	arena_free(&own);
	return got;
}

/* Nobody is there any more whom a note could be told. */
static int keeper_end(struct keeper *k, struct error *e)
{
	struct arena a = {0};
	int result = 0;

	k->container.noter = NULL;
	if (k->survives)
		life_let_go(&k->container);
	else
		result = life_remove(&k->container, &a, e);
	arena_free(&a);
	return result;
}

int keeper_serve(int sock, struct error *e)
{
	struct keeper k = {.sock = sock, .state = NOTHING_YET};
	int result = 1;

	k.noter = (struct noter){.take = noted_take, .context = &k.noted};
	while (result > 0 && k.state != GONE) {
		/* Idle, for as long as the program runs. */
		while (!loop_is_ready(sock, POLLIN, LOOP_NEVER) && !patience_is_signalled())
			;
		result = patience_is_signalled() ? 0 : keeper_serve_one(&k, e);
	}
	if (keeper_has_container(&k) && keeper_end(&k, e) < 0)
		result = -1;
	arena_free(&k.arena);
	return result < 0 ? -1 : 0;
}
