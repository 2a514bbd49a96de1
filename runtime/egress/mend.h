/* Rules that are none. */
#pragma once

#include "egress/egress.h"

/* Says what is wrong with the text, and what to write. Returns -1. */
int egress_mend(const char *text, struct error *e);
