/*
 * containerd's config.toml with and without a runtime handler of ours. Pure: text in, text out.
 *
 * Seen of containerd: with `version = 2` (1.x; 2.x reads it, too) a file that is
 * imported replaces all that others say of the CRI plugin, and a table of runtimes replaces the
 * built-in one, which has runc. So our tables go into config.toml itself, and bring runc's along if
 * the file has no runtimes. With `version = 3` (2.x) everything is merged, and a file of its own in
 * conf.d does, where that is imported.
 *
 * Our addition stands between two lines of comment, at the end of the file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "json/types.h"

struct containerd_toml {
	const char *text;
	size_t len;
	bool blank; /* it says nothing: no version either */
	unsigned long version;
	struct strings imports;
	bool cri_is_disabled;
	bool systemd;		    /* the default runtime is told to use systemd's cgroups */
	bool has_runtimes;	    /* besides ours */
	size_t block_at, block_end; /* ours; both 0: none */
	bool block_has_version;
	bool has_others;     /* something is said outside of it */
	size_t foreign_line; /* of a handler "sbxrun" outside of it; 0: none */
};

#define CONTAINERD_CONF_D "/etc/containerd/conf.d"

/* Reads it. What could not be added to safely is an error that names the line. */
int containerd_toml_read(const char *what, const char *text, size_t len, struct arena *a,
			 struct containerd_toml *ret, struct error *e);

/* Whether it imports /etc/containerd/conf.d/ *.toml. */
bool containerd_toml_imports_conf_d(const struct containerd_toml *c);

/* The text with our handler (a blank one gets version 2), or without it. */
const char *containerd_toml_add(const struct containerd_toml *c, const char *program,
				struct arena *a, size_t *ret_len);
const char *containerd_toml_remove(const struct containerd_toml *c, struct arena *a,
				   size_t *ret_len);

/* A blank text with version 3 and the import of conf.d. */
const char *containerd_toml_add_imports(const struct containerd_toml *c, struct arena *a,
					size_t *ret_len);

/* Our file in conf.d. */
const char *containerd_toml_drop_in(const char *program, bool systemd, const char *mark,
				    struct arena *a);
