/*
 * Looks for processes that could take over what exec brings in, or an init that waits. Nothing of
 * ours that can be traced from inside may hold a right that its program won't have, or lack a
 * filter that its program will have. What needs rights is done before the process is there
 * (init/join.c); what can't be done so is refused here.
 *
 * Only a process with CAP_SYS_PTRACE in the runtime's own user namespace can trace such a process,
 * for it is not dumpable and runs from our file. A container with a user namespace of its own has
 * no such process, but a neighbour in its pid namespace may be one.
 */
#pragma once

#include "init/init.h"
#include "ns/joins.h"
#include "state/record.h"

/* The container's init, which may still be ours: what comes in must not be able to take it over. */
int guard_check_init(const struct record *r, const struct plan *p, struct error *e);

/* The containers whose namespaces are joined: none of them may be in the making, where whoever
 * comes in could see it. */
int guard_check_joins(const struct plan *p, const struct joins *j, struct error *e);

/* The filter of what comes in: one that can't be loaded early, where somebody could be waiting. */
int guard_check_filter(const struct join *j, const struct record *r, struct error *e);
