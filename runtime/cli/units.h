/* Values with units, as Go programs write them on our command line. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A duration such as "5s", "500ms", "1m30s", "1.5h" → nanoseconds. Units: ns us µs ms s m h; a bare
 * "0" has none. No sign. false: anything else, or more than 292 years. */
bool units_duration(const char *s, int64_t *ret_ns);

/* A size in bytes: digits, perhaps a fraction and one of b k m g t p (also kb, KiB; 1024 each), or
 * "-1". false: anything else. */
bool units_size(const char *s, int64_t *ret);
