/* What a policy leaves to the mechanisms: conditions and flags of the plan. Pure. */
#pragma once

#include "plan/plan.h"
#include "policy/policy.h"

/* state_root: where containers' records are; uid: who asks. */
void policy_set_conditions(const struct policy *p, const char *state_root, uint32_t uid,
			   struct arena *a, struct plan *plan);

/* The same for a further process. */
void policy_set_conditions_exec(const struct policy *p, struct plan *plan);
