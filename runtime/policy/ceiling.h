/* The most that a filter may let through: spec/seccomp/calls.def, and conditions on arguments. */
#pragma once

#include "oci/config.h"
#include "policy/policy.h"

enum ceiling_verdict { CALL_no, CALL_nosys, CALL_kill, CALL_some, CALL_yes };

/* The policy's verdict on a call; the list may lack the call. */
enum ceiling_verdict ceiling_verdict(const struct policy *p, const char *name);

/* Why, as the list says; NULL: it does not have the call. */
const char *ceiling_reason(const char *name);

/* Calls of the list in order: their names, up to NULL. */
const char *ceiling_name(size_t i);
