/*
 * The words in a mount's options that the runtime itself understands; all others are handed to the
 * filesystem as parameters.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum mount_option_kind {
	OPT_NOTHING,  /* recognised, and without effect on Linux's new mount calls: see the table */
	OPT_ATTR,     /* an attribute of the mount */
	OPT_ATTR_ALL, /* the same for all mounts of the tree */
	OPT_FS_FLAG,  /* a flag of the filesystem instance */
	OPT_FS_UNFLAG,	 /* takes back such a flag; it is off by default */
	OPT_PROPAGATION, /* of the mount */
	OPT_PROPAGATION_ALL,
	OPT_BIND,
	OPT_RBIND,
	OPT_REMOUNT,
	OPT_TMPCOPYUP,
	OPT_IDMAP,
	OPT_RIDMAP,
};

struct mount_option {
	const char *name;
	enum mount_option_kind kind;
	uint64_t set;	     /* attributes to set, or the propagation */
	uint64_t clear;	     /* attributes to clear */
	const char *fs_flag; /* OPT_FS_FLAG: the flag's name for fsconfig() */
};

/* The option of that name, or NULL: then it belongs to the filesystem. */
const struct mount_option *mount_option_find(const char *name);

/* All names, for `features`; ends with NULL. */
extern const char *const mount_option_names[];
