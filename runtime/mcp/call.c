/*
 * Children get their input as a file in memory, so that nobody has to feed them, and no descriptor
 * of ours but their three streams. Their output is read as it comes, up to a bound; one that says
 * more is ended.
 */
#include "mcp/call.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "mcp/server.h"
#include "sys/child.h"
#include "sys/loop.h"

enum {
	READ_SIZE = 64 << 10,
	GRACE_S = 30, /* beyond the time of the program: making a box, waiting for another call */
	TICK_S = 5,   /* between two words of progress */
	KILL_S = 5,   /* from SIGTERM to SIGKILL */
};

struct call *call_new(struct server *s, const char *id, bool modern)
{
	struct call *c;
	unsigned int slot = 0;

	while (slot < CALLS_MAX && s->calls[slot])
		slot++;
	if (slot == CALLS_MAX)
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c) {
		arena_out_of_memory();
		return NULL;
	}
	c->server = s;
	c->slot = slot;
	c->id = arena_strdup(&c->arena, id);
	c->modern = modern;
	c->pid = -1;
	c->end.fd = c->pipes[0].fd = c->pipes[1].fd = -1;
	c->began = loop_now();
	c->tick = c->began + TICK_S * LOOP_SECOND;
	c->deadline = LOOP_NEVER;
	s->calls[slot] = c;
	return c;
}

void call_free(struct call *c)
{
	struct server *s = c->server;
	size_t i;

	if (c->pid > 0)
		child_end(c->pid);
	for (i = 0; i < 2; i++)
		crowd_close(s->crowd_fd, &c->pipes[i]);
	crowd_close(s->crowd_fd, &c->end);
	s->calls[c->slot] = NULL;
	arena_free(&c->arena);
	free(c);
}

/* ---- a child ---- */

static int input_make(const struct step *step, struct error *e)
{
	autoclose int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || fd_write_all(fd, step->input, step->input_len) < 0 ||
	    lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(e, "make the input");
	return fd_steal(&fd);
}

static const struct step *call_step(const struct call *c)
{
	return c->by_child ? &c->question : &c->job.steps[c->at];
}

static int child_start(struct call *c, const int fds[3], struct error *e)
{
	const struct step *step = call_step(c);
	char **argv = keeper_argv(c->server->o, &step->argv, &c->arena);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int why, i;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	/* Of its own session: a key pressed at the client's terminal is not for it, but for what
	 * asks there. */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						      (c->by_child ? 0 : POSIX_SPAWN_SETSID));
	why = 0;
	for (i = 0; !why && i < 3; i++)
		why = posix_spawn_file_actions_adddup2(&actions, fds[i], i);
	if (!why)
		why = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	if (!why)
		why = posix_spawn(&c->pid, KEEPER_PROGRAM, &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	errno = why;
	if (why)
		c->pid = -1;
	return why ? err_sys(e, "start sbxrun") : 0;
}

static void pipe_serve(struct crowd_member *m, uint32_t events);
static void end_serve(struct crowd_member *m, uint32_t events);

static int child_watch(struct call *c, struct error *e)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		c->pipes[i].serve = pipe_serve;
		c->pipes[i].context = c;
		fcntl(c->pipes[i].fd, F_SETFL, O_NONBLOCK);
		if (crowd_wait_for(c->server->crowd_fd, &c->pipes[i], EPOLLIN) < 0)
			return err_sys(e, "watch a call");
	}
	c->end = (struct crowd_member){
		.fd = pidfd_open(c->pid, 0), .serve = end_serve, .context = c};
	if (c->end.fd < 0 || crowd_wait_for(c->server->crowd_fd, &c->end, EPOLLIN) < 0)
		return err_sys(e, "watch a call");
	return keeper_call(&c->server->keeper, c->slot, c->end.fd, e);
}

int call_go(struct call *c, struct error *e)
{
	const struct step *step = call_step(c);
	autoclose int in = -1, out = -1, err = -1;
	int pair[2], fds[3];
	size_t i;

	c->out = buf_new(&c->arena, CALL_OUTPUT_MAX);
	c->err = buf_new(&c->arena, CALL_ERRORS_MAX);
	if (keeper_start(&c->server->keeper, c->server->o, e) < 0 ||
	    (step->creates && !c->job.keep && keeper_box(&c->server->keeper, c->job.box, e) < 0) ||
	    (in = input_make(step, e)) < 0)
		return -1;
	for (i = 0; i < 2; i++) {
		if (pipe2(pair, O_CLOEXEC) < 0)
			return err_sys(e, "make a pipe");
		c->pipes[i].fd = pair[0];
		*(i ? &err : &out) = pair[1];
	}
	/* Above 2: they are moved there one by one. */
	if (fd_move_above(&in, 3) < 0 || fd_move_above(&out, 3) < 0 || fd_move_above(&err, 3) < 0)
		return err_sys(e, "move a descriptor");
	fds[0] = in;
	fds[1] = out;
	fds[2] = err;
	if (child_start(c, fds, e) < 0)
		return -1;
	c->deadline = c->by_child ?
			      LOOP_NEVER :
			      loop_now() + (int64_t)(2 * c->job.timeout_s + GRACE_S) * LOOP_SECOND;
	return child_watch(c, e);
}

static void child_stop(struct call *c, int sig)
{
	if (c->end.fd >= 0)
		pidfd_send_signal(c->end.fd, sig, NULL, 0);
}

/* Its own way to end takes the program along, and leaves the box. */
static void call_stop(struct call *c)
{
	if (c->killed)
		return;
	c->killed = true;
	child_stop(c, SIGTERM);
	c->deadline = loop_now() + KILL_S * LOOP_SECOND;
}

void call_cancel(struct call *c)
{
	c->id = NULL;
	c->cancelled = true;
	call_stop(c);
}

/* false: there is nothing more to be read now. */
static bool pipe_read(struct call *c, size_t i)
{
	struct buf *b = i ? &c->err : &c->out;
	char text[READ_SIZE];
	ssize_t n = read(c->pipes[i].fd, text, sizeof(text));

	if (n > 0)
		buf_add(b, text, i && b->len + (size_t)n > b->max ? b->max - b->len : (size_t)n);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		crowd_close(c->server->crowd_fd, &c->pipes[i]);
	return n > 0;
}

static void pipe_serve(struct crowd_member *m, uint32_t events)
{
	struct call *c = m->context;

	(void)events;
	pipe_read(c, m == &c->pipes[1]);
	if (c->out.overflow)
		call_stop(c);
}

static void end_serve(struct crowd_member *m, uint32_t events)
{
	struct call *c = m->context;
	size_t i;

	(void)events;
	for (i = 0; i < 2; i++)
		while (c->pipes[i].fd >= 0 && !c->out.overflow && pipe_read(c, i))
			;
	c->status = child_collect(c->pid);
	c->pid = -1;
	keeper_call_ended(&c->server->keeper, c->slot);
	for (i = 0; i < 2; i++)
		crowd_close(c->server->crowd_fd, &c->pipes[i]);
	crowd_close(c->server->crowd_fd, &c->end);
	c->deadline = LOOP_NEVER;
	server_step_done(c);
}

void call_look(struct call *c, int64_t now)
{
	if (c->asking) {
		consent_look(c, now);
		return;
	}
	if (now >= c->deadline && c->killed) {
		child_stop(c, SIGKILL);
		c->deadline = LOOP_NEVER;
	} else if (now >= c->deadline) {
		c->late = true;
		call_stop(c);
	}
	if (now >= c->tick) {
		c->tick = now + TICK_S * LOOP_SECOND;
		server_tell_progress(c, ++c->ticks * TICK_S);
	}
}
