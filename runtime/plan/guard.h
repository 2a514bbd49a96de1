/*
 * Conditions of a policy that can only be judged on what was opened: sources of mounts, files of
 * hooks, and the program. The plan carries them; the mechanisms check them where they open
 * (rootfs/guard.c, init/hooks.c, init/confine.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "json/types.h"

enum guard_how {
	GUARD_ANY,     /* nothing on, below or above it is a source */
	GUARD_WRITE,   /* the same for writing */
	GUARD_ENGINES, /* what is below it, is the engine's own doing, and always normal */
};

struct guard_path {
	const char *path;
	enum guard_how how;
};

struct plan_guard {
	const char *policy; /* the name, for errors; NULL: no conditions */
	bool sources;
	bool hooks;
	bool native_only; /* no program of another architecture */
	size_t n_paths;
	const struct guard_path *paths;
	bool shows_sys; /* a read-only /sys is a source: where root is not the machine's */
	const char *state_root;	 /* as for GUARD_ANY */
	const char *runtime_dir; /* an ordinary user's, as for GUARD_ENGINES; NULL: none */
	/* An administrator's list, as he wrote it: PATH or PATH:rw. */
	size_t n_allowed;
	const char *const *allowed;
};
