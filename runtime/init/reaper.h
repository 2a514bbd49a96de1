/* The program that is the first process of a box (reaper/reaper.c): it is inside ours. */
#pragma once

#include "base/err.h"

/* A file without a name that nobody can change, to be executed by its descriptor. */
int reaper_open(struct error *e);
