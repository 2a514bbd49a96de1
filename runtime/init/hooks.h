/*
 * Running hooks: programs of the host that are told the container's state on standard input. The
 * parent runs those of the runtime's namespaces, init those of the container's.
 */
#pragma once

#include "base/err.h"
#include "oci/config.h"
#include "oci/notes.h"
#include "plan/security.h"

struct hook_setting {
	/* For a hook without an environment of its own; NULL: a PATH. */
	const struct strings *env;
	/* The directory it runs in, by name (if that isn't there any more: /) or by descriptor.
	 * Neither: that of the process. */
	const char *dir;
	const int *dfd;
	/* For programs of the image, run by a process that has more rights than they may have:
	 * these, without the one to take that process over. NULL: the rights of the process. */
	const struct cap_sets *caps;
	/* The policy that wants only root's own files, or the caller's, run; NULL: any. */
	const char *trust_policy;
};

/* Runs the list in order; the first failure ends it. state is the document for standard input.
 * Errors read "error running KIND hook #N: …". */
int hooks_run(const struct oci_hook_list *hooks, const char *kind, const char *state,
	      const struct hook_setting *setting, struct error *e);

/* Runs all of them, whatever becomes of each; failures are notes. */
void hooks_run_all(const struct oci_hook_list *hooks, const char *kind, const char *state,
		   const struct hook_setting *setting, const struct noter *noter);
