/* The program that engines are told of, and others that root executes. */
#pragma once

#include "base/err.h"
#include "setup/tree.h"

/* The path to register: the caller's, or our own. As root, one that others than root can change is
 * refused: engines execute it as root. */
int program_choose(const struct tree *t, const char *wanted, bool other_tree, const char **ret,
		   struct error *e);

/* Whether others than root can change what the path stands for: every directory, link and file on
 * the way is judged, also where a link leads. *ret_open is the first of them; NULL: none. */
int program_check_way(const struct tree *t, const char *path, const char **ret_open,
		      struct error *e);
