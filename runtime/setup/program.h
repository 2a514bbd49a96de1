/* The program that engines are told of. */
#pragma once

#include "base/err.h"
#include "setup/tree.h"

/* The path to register: the caller's, or our own. As root, one that others than root can change is
 * refused: engines execute it as root. */
int program_choose(const struct tree *t, const char *wanted, bool other_tree, const char **ret,
		   struct error *e);
