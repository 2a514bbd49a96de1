/* A bundle: a directory with a root filesystem, and the config that goes with it. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "oci/config.h"

struct create_options;

struct bundle {
	const char *dir; /* absolute, links resolved, as hooks and `state` are told it */
	const char *text; /* of the config, as the record keeps it */
	size_t len;
	struct oci_config *config; /* with what the caller's own situation adds to it */
};

/* Reads and judges it. Trust: whatever is in the directory may be hostile; the config may come from
 * memory. */
int bundle_load(const struct create_options *o, struct arena *a, struct bundle *ret,
		struct error *e);
