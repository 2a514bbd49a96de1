/*
 * Between load and plan: what the caller's options, the policy and this host make of a config. It
 * is the only step that changes one; planning reads it. In the parent.
 */
#pragma once

#include "life/bundle.h"
#include "life/internal.h"

/* Gathers the facts that this config asks for, and opens the namespaces that it joins, which are
 * the caller's to close. */
int settle_config(const struct create_options *o, const struct bundle *b, struct host_facts *facts,
		  struct arena *a, struct joins *ret_joins, struct tightened *ret, struct error *e);

/* Facts that only some configs need, and namespaces that the config joins, opened. */
int settle_facts(const struct oci_config *c, const char *id, struct arena *a,
		 struct joins *ret_joins, struct host_facts *f, struct error *e);

/* Calls are asked about (filter/observe.h), or watched: the profile as it is now is the judge. */
void settle_filter(struct oci_seccomp *c, enum observe how, bool learns, struct arena *a,
		   struct host_facts *f);

/* Where limits are had if possible and there are no cgroups, or not all of their controllers:
 * rlimits in their place, and notes about those that the plan won't see. */
void settle_limits(const struct host_facts *f, struct oci_config *c, struct arena *a,
		   struct notes *notes);

/* Those limits for a process that joins a container without cgroups. */
void settle_limits_by_rlimits(struct oci_config *c, struct arena *a);

/* Measures the machine for made-up files of /proc. */
void settle_machine(const struct policy *p, struct host_facts *f);
