/*
 * Seccomp notification: getting the listener's descriptor out of a process that is already under its
 * filter. No system call of ours may follow the filter but execve, for the filter may make any of
 * them wait for a listener that nobody holds yet. So the two sides share a page: init writes the
 * descriptor's number there, the other side takes the descriptor with pidfd_getfd() and says so.
 *
 *	init                                        start or exec
 *	  │ ───── STAGE_LISTENER (the page) ──────►   │ connects to listenerPath
 *	  │ ◄──── STAGE_START ─────────────────────   │
 *	  │ ───── STAGE_EXECUTING ────────────────►   │
 *	  │ loads the filter, page: number            │
 *	  │ spins                                     │ takes the descriptor, sends it on, page: taken
 *	  │ execve                                    │
 */
#pragma once

#include <stdatomic.h>

#include "base/err.h"

struct listener_page {
	atomic_int number; /* the descriptor + 1; 0: not there yet */
	atomic_int taken;
};

/* Init: offers a page and waits until the other side is ready. NULL on failure. */
struct listener_page *listener_offer(int sock, struct error *e);

/* Init, under the filter: no system calls. -1 if nobody came for it in good time. */
int listener_hand_over(struct listener_page *page, int listener_fd);

/* The other side: maps the page that came along. NULL on failure. */
struct listener_page *listener_map(int page_fd, struct error *e);

/* Waits for the number and takes the descriptor out of the process. -1 on failure. */
int listener_take(struct listener_page *page, int pidfd, struct error *e);

/* Lets init go on. */
void listener_release(struct listener_page *page);
