/*
 * A filter whose refusals somebody hears of. What the filter denies, the kernel asks about instead,
 * and whoever holds the listener gives the very answer that the filter would have given: he has the
 * filter of the profile itself (the judge), and evaluates it (filter/seccomp_eval.h). So calls that
 * are allowed cost nothing, and no verdict depends on memory that the program could change. If
 * nobody answers, the calls fail all the same (ENOSYS).
 *
 * With OBSERVE_FULL, calls that are allowed but that the box is likely to fail at are asked about,
 * too: connecting, and changing files. That a call is asked about says nothing of whether it is
 * allowed: a rule that watches mkdir holds for those arguments, too, for which the profile has no
 * rule and so denies it. The judge knows nothing of these rules, and it alone decides.
 *
 * Never asked about: calls that fail with ENOSYS, as clone3 and numbers that nobody knows. C
 * libraries try these, and have another way.
 *
 * Pure.
 */
#pragma once

#include "base/arena.h"
#include "filter/seccomp.h"
#include "oci/config.h"

enum observe { OBSERVE_NOTHING, OBSERVE_CALLS, OBSERVE_FULL };

/* Before the filter is built: what is asked about though it is allowed. c->profile is the judge's:
 * what c was. */
void observe_add_rules(struct oci_seccomp *c, enum observe how, struct arena *a);

/* After it: the filter asks where it denied. */
void observe_denials(struct seccomp_program *filter);
