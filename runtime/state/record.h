/*
 * Knowledge of a container between two commands: one JSON document, versioned, written before what
 * it describes is made, replaced atomically.
 *
 *	ROOT/ID/            made first: it claims the id; locked (flock) by whoever changes things
 *	ROOT/ID/state.json  the record
 *	ROOT/ID/config.json the config as it was at create
 *	ROOT/ID/start.sock  init waits here for `start`; gone once started
 *	ROOT/ID/notify/     the program's own notify socket, when the caller is a service
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "json/json.h"
#include "oci/config.h"
#include "plan/cgroup.h"
#include "plan/ids.h"
#include "plan/rdt.h"
#include "policy/policy.h"

#define RECORD_VERSION 1

enum { RECORD_MAX = 4 << 20 }; /* bytes */

struct record {
	uint32_t version;
	char *id;
	char *oci_version;
	char *bundle;
	char *rootfs;
	char *created; /* RFC 3339 with nanoseconds */
	char *boot_id;
	uint32_t owner;
	int32_t pid; /* of init; 0: none yet */
	uint64_t pid_start;
	bool committed;	  /* create has succeeded */
	bool has_process;
	bool own_pid_ns;
	bool own_mount_ns; /* looked at only where there is no cgroup and no pid namespace of its
			      own … */
	bool own_user_ns;
	uint64_t mnt_id; /* … and so are their unique ids; 0: not known */
	uint64_t user_id; /* also that of another's that it has joined */
	struct id_range id_range; /* of the machine's that it was given; size 0: none */
	char *overlay_work; /* a directory of ours beside the root's layers; NULL: none */
	int64_t root_upper; /* bytes of its own layer over the root; 0: none */
	bool notify;	  /* it has a socket to say "ready" */
	bool root_on_host; /* the root is mounted in the runtime's own mount namespace … */
	uint64_t root_mount_id; /* … on top of this mount */
	LIST(struct cgroup_dir) cgroups;
	struct cgroup_unit unit; /* of systemd's that they are in */
	struct rdt_group rdt;
	char *listener_path; /* of seccomp notifications, NULL: none */
	char *listener_metadata;
	struct oci_hooks hooks; /* those that run after create */
	struct pairs annotations;
	char *policy; /* its name; NULL: of a version that knew none */
	struct policy_text policy_text; /* all of it, unless it is a preset */
	char *trusted_hooks; /* the policy's name, if its hooks must be root's own files */
	LIST(struct policy_clamp) clamps; /* what the policy changed */
};

extern const struct json_table record_table;

enum status {
	STATUS_CREATING,
	STATUS_CREATED,
	STATUS_RUNNING,
	STATUS_STOPPED,
	STATUS_PAUSED, /* created or running, and frozen: only life_status() looks for that */
};
const char *status_word(enum status s);

/* The state that engines and hooks read, as the specification has it. */
void record_write_state(const struct record *r, enum status status, pid_t pid, struct arena *a,
			struct buf *b, bool indent);

/* The state on one line, as hooks get it. */
char *record_state_text(const struct record *r, enum status status, pid_t pid, struct arena *a);

/* Writes for a seccomp listener: the specification's container process state. */
void record_write_process_state(const struct record *r, pid_t pid, struct arena *a, struct buf *b);

/* The moment as text. */
char *record_now(struct arena *a);
