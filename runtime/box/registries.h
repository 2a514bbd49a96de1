/*
 * Where packages come from: "@pypi", "@npm" and "@debian" as hosts that a box may reach, and the
 * address of a registry that packages are installed from. None of it is written here: it is in the
 * operator's file, or in what the package manager has in the root filesystem, its configuration
 * before the defaults of its own program.
 *
 * Trust: the root filesystem is whoever's who made it. Names in it are looked up below it, what is
 * read is bounded, and what it names becomes a rule like any that a caller writes: a host, never an
 * address of the machine's own.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "box/operator.h"

struct registry {
	const char *name; /* pypi, npm, debian */
	const char *index; /* a URL; NULL: none was found */
	struct strings hosts; /* as rules */
};

/* "@NAME"; the error says which there are. */
int registry_check(const char *word, struct error *e);

/* root: of the box; "/" is the host's. */
int registry_find(const char *name, const char *root, const struct operator_file *f,
		  struct arena *a, struct registry *ret, struct error *e);

/* Each "@NAME" of a list becomes its hosts. */
int registry_expand(struct strings *rules, const char *root, const struct operator_file *f,
		    struct arena *a, struct error *e);

/* Where a root filesystem has what its box sees of the package managers. */
struct box_root;
const char *registry_root(const struct box_root *root);

/* ---- pure ---- */

enum registry_form {
	REGISTRY_PIP_CONF,
	REGISTRY_PIP_CODE,
	REGISTRY_NPM_CONF,
	REGISTRY_NPM_CODE,
	REGISTRY_APT_LIST,
	REGISTRY_APT_SOURCES,
};

/* Adds what a file says; what is no address of a host is passed over. Trust: anybody's text. */
void registry_read(struct registry *r, enum registry_form form, const char *text, struct arena *a);

/* The rule for the host of a URL; NULL: it has none that is reached by http. */
const char *registry_rule(const char *url, struct arena *a);
