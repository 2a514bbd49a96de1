/*
 * One event loop, for whoever waits for several things at once: descriptors, signals (as a
 * descriptor) and a moment. A source is a descriptor, the events that it waits for, and what to do
 * then. Sources are served in the order in which they were added.
 */
#pragma once

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Moments are nanoseconds of CLOCK_MONOTONIC. */
#define LOOP_MS INT64_C(1000000)
#define LOOP_SECOND INT64_C(1000000000)
#define LOOP_NEVER INT64_MAX
int64_t loop_now(void);

/* 0: go on. 1: the loop is done. -1: it has failed, and who runs it knows why. */
typedef int loop_serve(void *context, short events);

struct loop_source {
	int fd;	      /* -1: not now */
	short events; /* 0: errors and hang-ups alone */
	loop_serve *serve;
	void *context;
};

enum { LOOP_MAX = 16 };

struct loop {
	size_t n;
	struct loop_source v[LOOP_MAX];
};

/* The source may be changed while the loop runs, by its own serve() too. */
struct loop_source *loop_add(struct loop *l, int fd, short events, loop_serve *serve,
			     void *context);

/* Waits until a source is ready or the moment has come, and serves what is ready. 1: done; 0: go
 * on, also when the moment has come or a signal has; -1: a source has failed. */
int loop_round(struct loop *l, int64_t until);

/* Rounds until a source is done (1), has failed (-1) or the moment has come (0). */
int loop_run(struct loop *l, int64_t until);

/* Whether a single descriptor has one of these events, or has failed, before the moment comes.
 * false also after a signal: whoever waits looks at the clock. */
bool loop_is_ready(int fd, short events, int64_t until);

/* ---- signals as a source ---- */

struct loop_signals {
	int fd; /* of struct signalfd_siginfo; -1: none */
	sigset_t before;
};

#define LOOP_SIGNALS_NONE ((struct loop_signals){.fd = -1})

/* Blocks all signals but those left out and makes them readable. */
int loop_signals_take(const int *left_out, size_t n, struct loop_signals *ret, struct error *e);

/* Puts the mask back as it was. What came meanwhile and nobody has read is delivered then. */
void loop_signals_give_back(struct loop_signals *s);
