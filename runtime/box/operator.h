/*
 * An operator's bounds for boxes that stay: /etc/sbxrun/boxes.json. The file is root's or the
 * caller's own, as a policy is; one that can't be trusted, read or understood lets no box be made.
 * A wish beyond it is refused; one that the caller doesn't say, and that is more by default,
 * becomes what the file says.
 */
#pragma once

#include "box/box.h"
#include "json/types.h"

#define OPERATOR_FILE "/etc/sbxrun/boxes.json"

struct operator_limits {
	struct opt_u32 memory_mb, cpu_percent, pids, disk_mb, root_mb, snapshot_mb, execution_time;
	struct opt_i64 output_bytes;
};

/* The most that a model may ask for (sbxrun mcp), within the limits. */
struct operator_models {
	struct opt_u32 memory_mb, cpu_percent, disk_mb;
};

/* Where packages of one kind come from (box/registries.h). */
struct operator_registry {
	char *name;
	char *index; /* a URL; NULL: none is installed from */
	struct strings hosts; /* besides the URL's */
};

struct operator_network {
	struct opt_bool enabled; /* false: no box reaches anything */
	struct strings allowed;	 /* the most that a box may be allowed; none: anything */
	struct strings denied;	 /* what every box is denied */
	struct strings given;	 /* what a box is allowed that does not say */
	struct opt_i64 bytes, rate;
};

struct operator_file {
	uint32_t version;
	struct opt_u32 boxes;  /* how many there may be */
	struct opt_u32 snapshots; /* how many there may be */
	struct opt_u32 idle_s; /* the longest time without use */
	struct operator_limits limits;
	struct operator_models models;
	struct pairs languages; /* language to rootfs; none: all, as sbxrun-rootfs has them */
	struct operator_network network;
	struct {
		size_t n;
		struct operator_registry *v;
	} registries; /* none: as the root filesystem has them; else these alone */
};

/* *ret is empty where there is no file. */
int operator_read(struct arena *a, struct operator_file *ret, struct error *e);

/* Pure. given: which limits the caller has named; they are refused above the file's, the others
 * lowered. Also the root filesystem of the language. */
struct operator_given {
	bool memory, cpus, pids, disk, writable_root, timeout, output, allow, bytes, rate;
};
int operator_hold(const struct operator_file *f, const struct operator_given *given,
		  struct box_request *q, struct error *e);

/* Pure. Of a call, whose other limits are the box's. */
int operator_hold_call(const struct operator_file *f, const struct operator_given *given,
		       struct box_request *q, struct error *e);

/* Pure. Of what a model asks for; the default is OPERATOR_MODEL_*. */
enum {
	OPERATOR_MODEL_MEMORY_MB = 2048,
	OPERATOR_MODEL_CPU_PERCENT = 200,
	OPERATOR_MODEL_DISK_MB = 4096,
};
int operator_hold_model(const struct operator_file *f, const struct operator_models *wish,
			struct error *e);

/* Pure. Of rules that a box is to get: all of what is allowed must be so by the file, which adds
 * what it denies. Also where packages come from. */
int operator_hold_rules(const struct operator_file *f, const struct strings *allow,
			struct strings *deny, struct arena *a, struct error *e);

/* Pure. Of rules that a box is no longer to have: what the file denies, each keeps. */
int operator_hold_removal(const struct operator_file *f, const struct strings *deny,
			  struct error *e);

/* Pure. Whether packages may be installed. */
int operator_hold_install(const struct operator_file *f, struct error *e);

/* Pure. Whether they may be of these hosts, which the operator's file names or the root filesystem
 * does. */
int operator_hold_registry(const struct operator_file *f, const char *name,
			   const struct strings *hosts, struct arena *a, struct error *e);

/* Pure. */
int operator_parse(const char *text, size_t len, struct arena *a, struct operator_file *ret,
		   struct error *e);
