/*
 * A container that is watched: every system call that its program makes, of all its processes and
 * threads, is noted in a tally. The watcher is a process of ours that traces (ptrace) the
 * container's first process from before its program runs; those that it makes are traced by the
 * kernel's own doing.
 *
 * Nothing about the container is another because of it. Its filter is the one that it would have
 * had, and the kernel judges each call by it, after the watcher has seen the call; the watcher
 * changes no register and no byte. It has the same filter (the judge) to know what the kernel will
 * say. If the watcher dies, the container is killed, so that nothing runs unwatched and is taken
 * for watched; the watcher ends with whoever made it.
 *
 * Not seen: what another program is told to do (a server outside), calls that the C library answers
 * without the kernel (the vDSO's clocks), and processes that `exec` brings in.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "filter/seccomp.h"
#include "learn/tally.h"
#include "policy/policy.h"

struct learning {
	struct tally *tally;
	pid_t watcher; /* 0: none */
	struct seccomp_program judge; /* of the last container; without a filter: none */
	struct policy policy;	      /* … and what it was held to */
};

/* Memory for the tally. */
int learn_open(struct learning *l, struct error *e);

/*
 * Has a container watched whose first process, pid, waits to be told to start. behind_reaper: its
 * program is a child of that one's. -1: this host lets nobody trace; nothing has begun then.
 */
int learn_begin(struct learning *l, pid_t pid, bool behind_reaper, struct error *e);

/* Once all of its processes are gone. */
int learn_end(struct learning *l, struct error *e);

void learn_close(struct learning *l);
