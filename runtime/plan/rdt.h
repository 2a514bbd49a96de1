/*
 * linux.intelRdt as a plan: which directory of resctrl is the container's class of service, what
 * its schemata must be, and whether it has a monitoring group. Pure.
 *
 * The rules are the specification's: without closID the class is the container's own, made and
 * removed with it; with closID it is shared, and stays; "/" is the class that everybody is in.
 * Schemata are written to a class that is made, and compared with those of one that exists.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "oci/config.h"

/* The state record has it. */
struct rdt_group {
	bool set;
	char *root;    /* where resctrl is mounted */
	char *class;   /* the directory of the class … */
	char *monitor; /* … and of the monitoring group in it; NULL: none */
	bool ours;     /* the class goes with the container */
	bool made;     /* it is shared, but made by a create that isn't committed */
};

struct rdt_plan {
	struct rdt_group group;
	bool may_make;	      /* the class, if it isn't there */
	const char *schemata; /* lines, each with its newline; NULL: none */
};

/* root: where resctrl is mounted, or NULL, which is an error if the config has intelRdt. */
int plan_rdt(const struct oci_intel_rdt *r, const char *id, const char *root, struct arena *a,
	     struct rdt_plan *ret, struct error *e);

/* The lines of both fields (either may be NULL) and then of `more`, or NULL if there are none. */
const char *rdt_schemata(const char *l3, const char *mb, const struct strings *more,
			 struct arena *a);

/* Does a schemata file say all that is asked for? Values are compared as numbers in text: the
 * kernel pads them. */
bool rdt_schemata_agree(const char *file, const char *asked);
