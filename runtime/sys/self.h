/*
 * Our own program file (rule R5). Verbs that enter a container run from a copy of the binary that
 * root inside can't write through /proc/PID/exe: a detached read-only clone of the mount it lies
 * on, else a sealed memfd, else an unnamed read-only copy; if none can be had, they refuse.
 */
#pragma once

#include "base/err.h"

/* Returns 0 when this process already runs protected; otherwise starts the program again from a
 * protected copy and returns only on failure. */
int self_protect(char *const argv[], struct error *e);

/* Refuses to run with privileges that the caller does not have: set-user-ID, set-group-ID (R17). */
int self_refuse_setuid(struct error *e);
