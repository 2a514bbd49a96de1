/*
 * Seccomp notification: getting the listener's descriptor out of a process that is already under
 * its filter. There are two ways.
 *
 * Where others may see init or what exec brings in before it executes, the filter is there first:
 * it is loaded by a process that they don't see, which sends the descriptor (listener_send())
 * before the other one is born. For that, the filter has to let a few calls pass without asking.
 *
 * Otherwise the filter comes last, and no system call of ours may follow it but execve, for the
 * filter may make any of them wait for a listener that nobody holds yet. So the two sides share a
 * page: init writes the descriptor's number there, the other side takes the descriptor with
 * pidfd_getfd() and says so.
 *
 *	init                                        start or exec
 *	  │ ───── STAGE_PAGE (the page) ──────────►   │ connects to listenerPath
 *	  │ ◄──── STAGE_START ─────────────────────   │
 *	  │ ───── STAGE_EXECUTING ────────────────►   │
 *	  │ loads the filter, page: number            │
 *	  │ waits (futex, or spins)                   │ takes it, sends it on, page: taken
 *	  │ execve                                    │
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"

struct listener_page {
	atomic_int number; /* the descriptor + 1; 0: not there yet */
	atomic_int taken;
};

/* The first way: sends the listener as STAGE_LISTENER and closes it. */
int listener_send(int sock, int *listener_fd, struct error *e);

/* The other side of both: what came must be a listener. Trust: whoever can trace init may have sent
 * it. */
int listener_check(int fd, struct error *e);

/* The parent: it is not needed any more, and nobody is told. */
void listener_unmap(struct listener_page *page);

/* Init: offers a page and waits until the other side is ready. NULL on failure. */
struct listener_page *listener_offer(int sock, struct error *e);

/* Init, before the filter: a process that nobody comes for, or whose other side dies, ends by
 * itself. Until execve. */
int listener_set_deadline(const struct listener_page *page, int sock, struct error *e);

/* Init, under the filter: returns when the other side has it. May it sleep, or is there no call
 * that the filter lets pass? */
void listener_hand_over(struct listener_page *page, int listener_fd, bool may_sleep);

/* The other side: maps the page that came along. NULL on failure. */
struct listener_page *listener_map(int page_fd, struct error *e);

/* Waits for the number and takes the descriptor out of the process. -1 on failure. */
int listener_take(struct listener_page *page, int pidfd, struct error *e);

/* Lets init go on. */
void listener_release(struct listener_page *page);
