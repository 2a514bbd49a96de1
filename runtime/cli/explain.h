/* An explanation (life/explain.h) for people, and as members of a JSON object. */
#pragma once

#include "base/buf.h"
#include "life/explain.h"

/* A row of a policy: a line (cli/policy.c). */
void policy_print_row(struct buf *b, const struct policy *p, size_t i);

void explain_print(struct buf *b, const struct explanation *x, struct arena *a);
void explain_write(struct buf *b, const struct explanation *x, struct arena *a);
