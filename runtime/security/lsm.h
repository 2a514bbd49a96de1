/*
 * AppArmor and SELinux: whether the host runs them, and the label that the payload gets at execve.
 */
#pragma once

#include "base/err.h"
#include "plan/security.h"

/* Asks /sys, and believes only what is a real sysfs or selinuxfs. Never fails: no answer is "no".
 * Costs two lookups, so it is asked only when the config carries a label. */
void lsm_probe_host(struct lsm_host *ret_host);

/* Sets what the next execve of this thread becomes. self_dfd: the directory of this process in a
 * procfs that is known to be one. */
int lsm_set_exec(int self_dfd, const struct lsm_plan *p, struct error *e);
