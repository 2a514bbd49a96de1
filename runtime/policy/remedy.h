/*
 * From refusals to the rows that would allow them. A refusal says how an administrator allows it,
 * as members of a policy in a file, and that is what is read here. Pure.
 */
#pragma once

#include "policy/policy.h"

/* Adds to *t what the text of a refusal says has to be given. path: the source of the mount that is
 * refused, for which PATH stands there; NULL: there is none. False: the text says nothing that *t
 * lacks, or something that a person has to complete. */
bool policy_remedy_add(const char *refusal, const char *path, struct arena *a,
		       struct policy_text *t);

/* The row that a refusal names; "" if it names none. */
char *policy_remedy_row(const char *refusal, struct arena *a);

/* The gifts of *t, as members of a policy in a file: `"row": …, …`. Empty if it gives nothing. */
const char *policy_remedy_rows(const struct policy_text *t, struct arena *a);
