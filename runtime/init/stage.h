/*
 * The stages of a create, and who says what to whom:
 *
 *	parent                                init
 *	  │                                    │  joins cgroups, opens sources, builds the root
 *	  │ ◄──────── STAGE_MOUNTED ────────── │  only with prestart or createRuntime hooks,
 *	  │ moves interfaces, runs the hooks   │  or with netDevices
 *	  │ ───────── STAGE_HOOKS_RUN ───────► │
 *	  │                                    │  createContainer hooks, pivot_root, confinement
 *	  │ ◄──────── STAGE_LISTENER ───────── │  only with that and a filter that has one
 *	  │ ◄──────── STAGE_BORN ───────────── │  into a joined pid namespace: with a pidfd of a
 *	  │                                    ●──► child of the parent's, which goes on from here
 *	  │ ───────── STAGE_BORN ────────────► │  once the parent knows of it
 *	  │ ◄──────── STAGE_READY ──────────── │
 *	  │ writes record and pid file         │
 *	  │ ───────── STAGE_COMMITTED ───────► │  waits for `start` on its listener
 *	  │ ◄──────── STAGE_COMMITTED ──────── │  no longer dies with the parent
 *
 * An error may stand for any stage of init's. End of file instead of a stage means that the other
 * side died; init then ends itself, so that a killed create leaves no process.
 */
#pragma once

#include "base/err.h"

enum stage {
	STAGE_MOUNTED = 100,
	STAGE_HOOKS_RUN,
	STAGE_BORN,
	STAGE_READY,
	STAGE_COMMITTED,
	/* Between `start` and init, on the start socket. */
	STAGE_START,	 /* start → init: go */
	STAGE_EXECUTING, /* init → start: the next call is execve; end of file then means done */
	STAGE_FAILED,	 /* with an error */
	STAGE_PAGE,	 /* init → start: for the listener (init/listener.h) */
	STAGE_WATCH,	 /* init → start: whoever watches me (learn/watch.h) may begin */
	STAGE_LISTENER,	 /* launcher → create or exec: the listener of the process to be born */
};

/* Says a stage, or -1 with the error that the peer is gone. */
int stage_say(int sock, enum stage stage, struct error *e);

/* Waits for exactly this stage. The peer's error becomes ours. */
int stage_await(int sock, enum stage stage, struct error *e);

/* Waits for a stage that comes with a descriptor. The descriptor, or -1. */
int stage_await_fd(int sock, enum stage stage, struct error *e);

/* Tells the peer what went wrong; nothing more can be done if it isn't there. */
void stage_fail(int sock, const struct error *why);
