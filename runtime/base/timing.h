/* `--timing FILE`: microseconds a stage. Costs nothing when it is off. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* Opens the file. Marks are kept in memory shared with children, so init's are seen too. */
int timing_start(const char *file, struct error *e);
void timing_mark(const char *stage);
/* Writes one line a mark: microseconds since the first, since the one before, name. */
void timing_write(void);
