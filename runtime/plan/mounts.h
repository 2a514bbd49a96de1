/* A mount of config.json, taken apart: pure, and in the order of the list. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "oci/config.h"
#include "oci/notes.h"

enum mount_kind {
	MOUNT_FS,      /* a new instance of a filesystem */
	MOUNT_BIND,    /* a clone of a tree of the host */
	MOUNT_CGROUP,  /* the container's view of its cgroups, by layout */
	MOUNT_REMOUNT, /* attributes of what is mounted there already */
};

enum idmap_kind { IDMAP_NONE, IDMAP_TOP, IDMAP_ALL };

/* By whom a mount's maps were chosen. */
enum map_choice {
	MAPS_OF_CONFIG,
	MAPS_OF_IMAGE, /* the container's range (plan/ids.h): on the disk as inside … */
	MAPS_OF_OWNER, /* … or as it depends on whose the source is, once that is opened */
};

struct mount_param {
	const char *key;
	const char *value; /* NULL: a flag */
};

struct mount_plan {
	const char *field;	 /* "mounts[3]", for errors */
	enum mount_kind kind;
	const char *type;
	const char *source;	 /* binds: absolute; else as given, or NULL */
	const char *inside;	 /* binds: where the source is in the root filesystem itself; NULL:
				    outside */
	const char *destination; /* clean, absolute inside the root */
	bool binds;		 /* it is a bind, or a remount of one */
	bool recursive;		 /* rbind */
	bool stands_in;		 /* for a filesystem that can't be made: nobody asked for it */
	bool ours;		 /* the runtime's own, which no config asks for */
	bool tmpcopyup;
	bool pinned;		 /* binds: no link on the way to the source, and it is that one: */
	uint64_t device, inode;	 /* … no inode: any */
	bool proc_files;	 /* a procfs: it gets the plan's, and then shows processes alone */
	uint64_t set, clear;	     /* attributes of the mount … */
	uint64_t set_all, clear_all; /* … and of all mounts in the tree */
	uint64_t propagation;
	bool propagation_all;
	enum idmap_kind idmap;
	struct oci_id_maps uid_maps, gid_maps; /* empty with idmap: the container's own */
	enum map_choice maps;
	size_t n_params;
	struct mount_param *params;
};

/* linux.mountLabel: SELinux's context of a new filesystem, unless its options have one or its files
 * have labels of the policy. */
void plan_mount_label(struct mount_plan *m, const char *label, struct arena *a);

/* Absolute paths without the "/" and "/." that would make directories of files at their end. For
 * one with ".." there is a second that means what the text says without looking: "/file/../other"
 * is not there for the kernel. These are the last. */
struct strings plan_paths(const struct strings *paths, struct arena *a);

/* bundle is absolute. Notes are sentences for the log. */
int plan_mount(const struct oci_mount *m, const char *bundle, struct arena *a,
	       struct mount_plan *ret, struct notes *notes, struct error *e);
