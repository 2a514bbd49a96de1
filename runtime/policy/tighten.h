/*
 * A policy applied to a config, before the plan is made: each row changes what it may change and
 * refuses what it must. Pure. What can only be judged on an opened file is left to the plan as a
 * condition (plan/guard.h).
 */
#pragma once

#include "oci/config.h"
#include "plan/plan.h"
#include "policy/policy.h"

/* *c is changed in place; strings that it had are shared, lists are new. */
int policy_tighten(const struct policy *p, const struct host_facts *facts, struct oci_config *c,
		   struct arena *a, struct policy_clamps *ret, struct error *e);

/* For who wants to know everything: what a row refuses is listed, and the rows after it go on. */
void policy_tighten_all(const struct policy *p, const struct host_facts *facts,
			struct oci_config *c, struct arena *a, struct policy_clamps *ret,
			struct policy_clamps *ret_refusals);

/* The rows that concern a further process: *c is the container's config with that process. */
int policy_tighten_exec(const struct policy *p, const struct host_facts *facts,
			struct oci_config *c, struct arena *a, struct policy_clamps *ret,
			struct error *e);
