/* tmpcopyup: a tmpfs that starts with what it covers. */
#pragma once

#include "base/err.h"

/* Copies the tree below from_dfd (of the image: untrusted) into to_dfd, on one filesystem only. */
int copyup_tree(int from_dfd, int to_dfd, struct error *e);
