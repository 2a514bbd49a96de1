/*
 * Containers for a server: a worker each. Init is a copy of the process that makes it, so a server
 * that serves many must not be that process; its memory, threads and descriptors are nothing for a
 * container. A worker is sbxrun, started from its protected copy, with one thread, an environment
 * of its own and no descriptor of the server's but a socket. It makes one container, waits for it
 * and removes it, when it is told to, and is gone afterwards. Nothing of the rooms that enter
 * containers is linked into who uses this.
 *
 * A server that ends, or closes, has its container removed, unless it is to survive. A worker that
 * ends before it was told to is an error of the next call, and its container is for `delete
 * --force`.
 *
 * Every call has a deadline, a moment of sys/loop.h. One that passes ends the conversation, as the
 * server's end would: worker_close() is what is left then. Calls of one worker come from one thread
 * at a time; the worker is a child of the server's, collected by worker_close().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "oci/notes.h"
#include "worker/end.h"

struct worker_options {
	const char *program; /* the path of sbxrun */
	const char *root;    /* of the state */
	const char *id;
	const char *bundle;
	const char *config_text; /* NULL: config.json of the bundle */
	size_t config_len;
	const int *streams; /* three descriptors for the program; NULL: /dev/null */
	const char *policy;
	bool no_pivot, no_new_keyring, no_cgroups, strict, take_listener; /* as in life/life.h */
	bool survives; /* the server's end is not the container's */
	const struct noter *noter; /* also for what is done with the container afterwards */
};

struct worker {
	char id[256];
	int sock;
	pid_t pid;
	int init_pidfd;
	const struct noter *noter;
	bool ended;
	struct life_end end;
};
#define WORKER_NONE ((struct worker){.sock = -1, .pid = -1, .init_pidfd = -1})

struct worker_made {
	pid_t pid;	 /* of init */
	int pidfd;	 /* the caller's, as the next one is */
	int terminal_fd; /* its master, where the config has a terminal; or -1 */
};

/* Starts a worker and has it make a container that waits. After a failure there is neither. */
int worker_create(const struct worker_options *o, int64_t until, struct worker *ret,
		  struct worker_made *ret_made, struct error *e);

/* *ret_listener_fd (may be NULL) is the listener that take_listener asks for, or -1. After a
 * failure the container can be removed, and nothing else. */
int worker_start(struct worker *w, int64_t until, int *ret_listener_fd, struct error *e);

/* Waits until the program has ended. 1; 0: it has not, and can be waited for again. */
int worker_wait(struct worker *w, int64_t until, struct life_end *ret, struct error *e);

int worker_kill(struct worker *w, int sig, bool all, int64_t until, struct error *e);

/* Kills what is left of it and removes it. Nothing but worker_close() comes after it, nor after the
 * next one, which leaves the container there. */
int worker_remove(struct worker *w, int64_t until, struct error *e);
int worker_let_go(struct worker *w, int64_t until, struct error *e);

/* The end of the conversation, and of the worker: what it removes then has WORKER_END_MS. */
enum { WORKER_END_MS = 30000 };
void worker_close(struct worker *w);
