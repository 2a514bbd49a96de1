/*
 * What an operator lets boxes that stay have at most: /etc/sbxrun/boxes.json. The file is root's or
 * the caller's own, as a policy is; one that can't be trusted, read or understood lets no box be
 * made. What a caller asks for beyond it is refused; what he doesn't say, and is more by default,
 * becomes what the file says.
 */
#pragma once

#include "box/box.h"
#include "json/types.h"

#define OPERATOR_FILE "/etc/sbxrun/boxes.json"

struct operator_limits {
	struct opt_u32 memory_mb, cpu_percent, pids, disk_mb, root_mb, execution_time;
	struct opt_i64 output_bytes;
};

struct operator_file {
	uint32_t version;
	struct opt_u32 boxes;  /* how many there may be */
	struct opt_u32 idle_s; /* the longest time without use */
	struct operator_limits limits;
	struct pairs languages; /* language to rootfs; none: all, as sbxrun-rootfs has them */
};

/* *ret is empty where there is no file. */
int operator_read(struct arena *a, struct operator_file *ret, struct error *e);

/* Pure. given: which limits the caller has named; they are refused above the file's, the others
 * lowered. Also the root filesystem of the language. */
struct operator_given {
	bool memory, cpus, pids, disk, writable_root, timeout, output;
};
int operator_hold(const struct operator_file *f, const struct operator_given *given,
		  struct box_request *q, struct error *e);

/* Pure. Of a call, whose other limits are the box's. */
int operator_hold_call(const struct operator_file *f, const struct operator_given *given,
		       struct box_request *q, struct error *e);

/* Pure. */
int operator_parse(const char *text, size_t len, struct arena *a, struct operator_file *ret,
		   struct error *e);
