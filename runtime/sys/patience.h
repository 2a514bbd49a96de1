/*
 * Waiting for what somebody else does: it may never happen. Every wait of ours under a container's
 * lock ends with a signal that means "end", and when a `delete --force` wants the lock, so that
 * whoever is waited for has no say in whether a container can be removed. One for others than our
 * own processes has a deadline, too.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Many times the need of a peer that is at work. */
enum { PATIENCE_PEER_MS = 10000 };

/* TERM, INT, HUP, QUIT. */
bool patience_means_end(int sig);

/* From here on signals that mean "end" (if the caller doesn't ignore them) no longer kill
 * this process: they end its waits, and it can clean up. A foreground run blocks them to pass them
 * on: then those that are pending count. */
void patience_catch_signals(void);

/* The end of that. Calls may lie in each other; the last one puts back what was there before. */
void patience_let_signals(void);

/* A process that locks (flock) the file of this name in dfd ends our waits as well. dfd -1: nobody
 * does any more. */
void patience_watch(int dfd, const char *name);

/* Signals so far have been obeyed: they do not cut short the clean-up that follows. One that comes
 * from here on counts. */
void patience_renew(void);

/* One of the caught signals has come. No system call. */
bool patience_is_signalled(void);

/* 0; -1 if it is time to give up, with the reason. For when a wait takes long. */
int patience_check(struct error *e);

/* The moment when ms from now are over. */
int64_t patience_until(int ms);

/* A moment, for what can only be tried again. -1 if it is time to give up, or it is later than
 * `until`. */
int patience_nap(int64_t until, struct error *e);

/* Until fd has one of these events or has failed, which is for who uses it to see. until 0: no
 * deadline. -1 if it is time to give up. */
int patience_wait(int fd, short events, int64_t until, struct error *e);
