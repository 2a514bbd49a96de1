/*
 * A box as this host would hold it, before anything runs: its program, its limits and who holds
 * each of them, its mounts; the policy's part is life's (life/explain.h).
 */
#pragma once

#include "box/box.h"
#include "life/explain.h"

/* A limit of the request. */
struct box_holding {
	const char *name;  /* as in the result's limits */
	const char *value; /* for people, and as a number */
	const char *number;
	const char *by; /* NULL: nobody holds it */
};

struct box_explanation {
	const struct box_request *q;
	struct box_root root;
	struct explanation held;
	const char *disk; /* what the workspace lies in, as in the result */
	size_t n_holdings;
	struct box_holding *holdings;
};

int box_explain(const struct box_request *q, struct arena *a, struct box_explanation *ret,
		struct error *e);

/* For people; and as members of a JSON object. */
void box_explain_print(const struct box_explanation *x, struct buf *b);
void box_explain_write(const struct box_explanation *x, struct buf *b);

/* e: why no box was made of it. If a policy refuses more than that, it says so of all. Returns
 * -1. */
int box_refuse_all(const struct box_request *q, struct arena *a, struct error *e);
