/* `--timing FILE`: microseconds a stage. Costs nothing when it is off. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* Marks are kept in memory shared with children, so init's are seen too. */
int timing_start(struct error *e);
void timing_mark(const char *stage);
/* Writes one line a mark: microseconds since the first, since the one before, name. */
int timing_write(const char *file, struct error *e);
