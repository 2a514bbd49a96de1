/* Conditions and flags of the plan, for the mechanisms to keep. Pure. */
#pragma once

#include "plan/plan.h"
#include "policy/policy.h"

/* c: the config that the policy has tightened; state_root: where containers' records are. */
void policy_set_conditions(const struct policy *p, const struct oci_config *c,
			   const struct host_facts *facts, const char *state_root, struct arena *a,
			   struct plan *plan);

/* For the plan of a further process (exec). */
void policy_set_conditions_exec(const struct policy *p, const struct oci_config *c,
				const struct host_facts *facts, struct arena *a, struct plan *plan);
