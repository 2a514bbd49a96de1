/*
 * Our own program file (rule R5). Verbs that enter a container run from a copy of the binary that
 * root inside can't write through /proc/PID/exe: a detached read-only clone of the mount it lies
 * on, else a sealed memfd, else an unnamed read-only copy; if none can be had, they refuse.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* Returns 0 when this process already runs protected; otherwise starts the program again from a
 * protected copy and returns only on failure. */
int self_protect(char *const argv[], struct error *e);

/* A copy of the arguments, to be used from here on: the caller's own can be forgotten then. */
char **self_copy_arguments(char **argv, struct arena *a);

/* Wipes the caller's environment and arguments, which /proc/PID/environ and cmdline show of this
 * process. In a child, before a container can see it; the copies of the arguments stay. */
void self_forget_words(void);

/* Refuses to run with privileges that the caller does not have: set-user-ID, set-group-ID (R17). */
int self_refuse_setuid(struct error *e);
