/*
 * Packages for a box that stays: a call in it that runs the package manager of its root filesystem,
 * with a network that has the hosts of one registry and no others, until it has ended. Packages go
 * into the workspace, where the languages look for them by themselves.
 *
 * Trust: a name comes from the caller, perhaps from a model. It is a name of the registry's and
 * perhaps a version, and nothing else that a package manager understands: no option, URL, path,
 * archive, or version control. What the package manager says that it has installed comes from the
 * box, where the packages' own programs run: it is bounded, and is shown as what the box says.
 */
#pragma once

#include "box/box.h"
#include "box/registries.h"

enum { INSTALL_TIMEOUT_S = 300, INSTALLED_MAX = 1000, INSTALL_REPORT_MAX = 8 << 20 };

struct install {
	const char *registry; /* pypi, npm */
	const char *package; /* as it was asked for */
	const char *name, *version; /* version NULL: the newest */
	const char *index; /* a URL */
	const char *report; /* what the package manager writes, in the workspace */
};

struct installed {
	const char *name, *version;
	const char *hash; /* "sha256:…", "sha512-…"; NULL: none was told */
};

/* Pure: whether it is a name; the registry is "pypi" or "npm". */
int install_read(const char *registry, const char *package, struct arena *a, struct install *ret,
		 struct error *e);

/* The command and its environment; r has the registry's address. */
void install_request(struct install *x, const struct registry *r, struct box_request *q,
		     struct arena *a);

/* Pure: what a report says, the newest first. Nothing if it is none. */
size_t install_read_report(const struct install *x, const char *text, size_t len, struct arena *a,
			   struct installed **ret);

/* One object, for the result. */
void install_write(const struct install *x, const struct installed *v, size_t n, struct buf *b);
