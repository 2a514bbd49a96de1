/* Judges sources of mounts by the conditions of the plan, on what was opened. */
#pragma once

#include "base/err.h"
#include "plan/plan.h"

/* fd: the source, opened; write: it will be mounted writable. */
int guard_check_source(const struct plan *plan, const char *field, int fd, bool write,
		       struct error *e);

/* The root filesystem must not be, or hold, what is the runtime's own. */
int guard_check_root(const struct plan_guard *g, int root_fd, struct error *e);
