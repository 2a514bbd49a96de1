/*
 * Children: one way to collect them. A child that nobody collects stays a zombie, and counts among
 * the processes of its container.
 */
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"

/* Waits until a child has ended. Its status as waitpid() tells it, or -1 with errno: there is no
 * such child. */
int child_collect(pid_t pid);

/* Waits like child_collect(), and returns the resources that the child and those it waited for have
 * used. */
int child_collect_usage(pid_t pid, struct rusage *ret);

/* Kills a child and collects it; one that can't be killed is not waited for. For our own, which do
 * not hang in the kernel. */
void child_end(pid_t pid);

/* Waits until a child that this process traces has stopped or ended. 0, or -1: there is no such
 * child. */
int child_stopped(pid_t pid, int *ret_status);

/* The next one, of those that this process traces or has made, that has stopped or ended. Its
 * number; -1: there is none left. */
pid_t child_next(int *ret_status);

/* Collects a child that is about to end; -1 if it doesn't within ms. *ret_status may be NULL. */
int child_collect_within(pid_t pid, int ms, int *ret_status, struct error *e);

/* A status in a shell's terms: the exit code, or 128 + signal. */
int child_exit_code(int status);
