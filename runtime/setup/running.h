/* Containers that are there while the engines forget us. */
#pragma once

#include "json/types.h"
#include "setup/tree.h"

/* A line for each directory that has records of ours: how many, and where. Records are looked at,
 * nothing else. */
void running_look(const struct tree *t, struct strings *ret);
