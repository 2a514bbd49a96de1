/* Landlock: the kernel's ABI, and the plan (plan/landlock.h) carried out by the process itself. */
#pragma once

#include "base/err.h"
#include "plan/landlock.h"

/* 0: the kernel has none, or was started without it. */
int landlock_probe(int *ret_abi, struct error *e);

/* For this process and what it executes: needs no_new_privs, and the container's root as its own.
 * Paths are looked up as the program's own user, without a way out of the root. */
int landlock_confine(const struct landlock_plan *p, struct error *e);
