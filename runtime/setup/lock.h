/*
 * Of several callers one is at work in a directory at a time. The lock is on a file there, made for
 * the while and for its owner alone (0600): on the directory itself anybody who can read it could
 * take one, and keep root out.
 */
#pragma once

#include "base/err.h"

struct dir_lock {
	int dfd;
	int fd;
};

#define DIR_LOCK_NONE ((struct dir_lock){.dfd = -1, .fd = -1})

/* Nobody waits: that another one is at it is an error. The directory's descriptor stays the
 * caller's, and open until the lock is dropped; shown is what the work is about, for messages. */
int dir_lock_take(int dfd, const char *shown, struct dir_lock *ret, struct error *e);

/* Removes the file, and with it the lock. */
void dir_lock_drop(struct dir_lock *l);
#define auto_dir_lock __attribute__((cleanup(dir_lock_drop)))

/* Removes the file where a crash has left one. */
void dir_lock_sweep(int dfd);
