/* Programs that another one has inside, as bytes: their code is never mapped there as such. */
#pragma once

#include <stddef.h>

#include "base/err.h"

/* A sealed file in memory that can be executed. The name is what /proc shows; what is for errors
 * ("the first process of a box"). */
int sealed_open(const char *name, const char *what, const void *p, size_t size, struct error *e);
