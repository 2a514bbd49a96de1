/*
 * Capabilities of the process that becomes the payload. Runs in init, before execve, in one thread.
 *
 * Order in init, and why (rules R11, R13, R15 of spec/rules.md):
 *
 *	caps_drop_bounding()      needs CAP_SETPCAP, so it comes while all is still held
 *	identity_set_groups(), identity_set_ids()    permitted is kept, effective is gone afterwards
 *
 *	with no_new_privs:		without:
 *	  caps_apply_final()		  caps_set_for_setup(1 << CAP_SYS_ADMIN)
 *	  identity_set_no_new_privs()	  …anything that the payload's credentials should judge
 *	  …				  seccomp_install()        allowed by CAP_SYS_ADMIN
 *	  seccomp_install()	  caps_give_up()           before anybody sees this process
 *	  execve()			  execve()
 *
 * Where nobody else is there to see it, and the filter forbids capset, the last step is left to
 * execve. That gives nothing away: execve computes the payload's permitted and effective sets from
 * the bounding, inheritable and ambient ones, which are final by then, and never from the permitted
 * set that still has CAP_SYS_ADMIN. Under no_new_privs permitted does count (root's new set is cut
 * down to it), and there it is final.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/security.h"

#define CAPS_BIT(number) (UINT64_C(1) << (number))

/* For plan_caps(). */
int caps_probe_host(struct cap_host *ret_host, struct error *e);

/* As for a payload in a user namespace of its own (new or joined), where it starts with every
 * capability. */
struct cap_host caps_of_userns(const struct cap_host *host);

/* The caller's securebits back to none: with them a program that leaves root keeps its
 * capabilities, or root is nobody. Before the ids change. */
int caps_reset_securebits(struct error *e);

/* Drops from the bounding set whatever s->bounding lacks; only drops that change something. */
int caps_drop_bounding(const struct cap_sets *s, struct error *e);

/* The final sets, but permitted and effective also keep `needs`: what later steps must still do. */
int caps_set_for_setup(const struct cap_sets *s, uint64_t needs, struct error *e);

/* After caps_set_for_setup(): without what was needed. One capset and nothing else, for a filter is
 * loaded by now. */
int caps_give_up(const struct cap_sets *s, struct error *e);

/* The final sets: ambient cleared, one capset, ambient raised. */
int caps_apply_final(const struct cap_sets *s, struct error *e);

/* Less than the final sets, for a program that must not have `lost` either, nor get it back by
 * execve: sets no_new_privs. */
int caps_apply_without(const struct cap_sets *s, uint64_t lost, struct error *e);
