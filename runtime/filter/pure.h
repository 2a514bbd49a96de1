/*
 * The filter of a program that computes and does nothing else: it reads files and its input, writes
 * to what is open, takes memory, looks at the clock. It starts no process and no thread, executes
 * nothing, makes no socket, and opens nothing for writing.
 *
 * That its own first execve passes is no affair of a filter, which can't count: the call is refused
 * here, and whoever answers for the filter (filter/observe.h) lets it pass once (box/denials.c).
 * Pure.
 */
#pragma once

#include "base/arena.h"
#include "oci/config.h"

/* Takes everything else out of a profile; nothing is added that it did not give. */
void pure_narrow(struct oci_seccomp *c, struct arena *a);
