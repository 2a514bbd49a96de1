/* Dates as text. Not by the C library, which reads the host's time zone even for UTC. */
#pragma once

#include <time.h>

enum { DATE_SIZE = sizeof("2026-11-17T02:40:00") };

/* UTC as RFC 3339 has it, to the second and without a zone. From 1970 to 9999. */
void date_format(time_t seconds, char text[DATE_SIZE]);
