/*
 * Boxes that stay between calls, without a daemon.
 *
 * Processes. Between calls a box is one process, its reaper (reaper/reaper.c): the first of a
 * container that is made like that of `do`. It has no socket and listens to nobody; a signal from
 * outside has it kill all others. During a call there are the caller, a reaper of the call's own,
 * and the program. The call's reaper comes in by the way of exec (life_join()), and not by a
 * request to the one that waits: so ids, rights, cgroup and filter are set by the functions that
 * set those of any program, each call has a filter of its own, whose listener (denials) is in the
 * hands of who waits for the call, and nothing in the box could be asked for anything by what runs
 * there.
 *
 * On record. The container is called box-ID. What never changes of a box (language, limits …) is an
 * annotation, and so stands in the record before anything is made. ROOT/box-ID/box has the moment
 * of its last use, by the clock that nobody sets (CLOCK_BOOTTIME). ROOT/boxes:expired has the ids
 * that have expired.
 *
 * Sessions. Interpreters may stay between calls (session.h). What ends with a call then is what it
 * has started, and nothing else: the call's reaper takes its own along (reaper_order.beside). A
 * mark in ROOT/box-ID/box says that a call is on; a call that finds it ends all that is in the box,
 * with the sessions, for nobody knows what was left there. Another one says that sessions are
 * frozen while a snapshot is made; a call that finds it thaws them.
 *
 * Locks. A call holds one on ROOT/box-ID/box: calls come one at a time, which is why the end of a
 * call may kill all that is in the box. One on ROOT/boxes:expired is held while a box is made, so
 * that the number of boxes holds, and while boxes are swept. destroy takes neither, and wins over a
 * call.
 *
 * After SIGKILL of …
 *	the caller: the call's reaper reads the end of its socket and kills all of the call
 *	the call's reaper (its program can do that): the caller has the first process kill the rest
 *	both: the rest runs on within the box's limits, until the next call, which begins so
 *	the first process: the kernel kills all; any verb then finds the box ended, and removes it
 *	create, fork: a container without a file `box`, which the next sweep removes; the file gets
 *	its name when all is done that there is to be done
 *	destroy, sweep: the record goes last, so the next one finds it. A mark that destroy has
 *	made says that for callers the box is gone
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "box/box.h"
#include "life/life.h"

#define SANDBOX_PREFIX "box-"

enum {
	SANDBOX_MOST = 100,
	SANDBOX_IDLE_S = 3600,
	SANDBOX_ID_MAX = 64,
	SANDBOX_FACTS_MAX = 1 << 20,
};

/* As a request has them. */
struct sandbox_volume {
	char *source, *target;
	bool writable;
	uint64_t device, inode; /* of the source; no inode: of a box that was made before */
};

struct sandbox_ulimit {
	char *type;
	uint64_t soft, hard;
};

/* Facts that never change. */
struct sandbox_facts {
	uint32_t version;
	char *language; /* NULL: none was named */
	char *rootfs;	/* for people */
	uint32_t uid, gid;
	uint32_t idle_s; /* unused for so long, it is removed */
	bool on_volume;	 /* its workspace is a directory of the caller's */
	bool on_disk;	 /* its workspace is a filesystem on disk */
	int64_t writable_root; /* bytes of its own layer over the root; 0: that is read-only */
	char *root_asked; /* the root filesystem that was asked for; NULL: the language's */
	bool strict;
	struct strings env; /* of all calls */
	LIST(struct sandbox_volume) volumes;
	LIST(struct sandbox_ulimit) ulimits;
	struct box_limits limits;
};

struct sandbox {
	const char *root;
	const char *id;	       /* as people have it … */
	const char *container; /* … and as the record has it */
	struct sandbox_facts facts;
	struct record record;
	int dfd;	/* of ROOT/box-ID */
	int lock_fd;	/* of the file in it; locked: for a call */
	int init_pidfd; /* of its first process */
	int64_t used;	/* when it was used last: nanoseconds since the machine's start */
	bool has_sessions; /* once it is locked: interpreters that stay (session.h) */
};
#define SANDBOX_NONE ((struct sandbox){.dfd = -1, .lock_fd = -1, .init_pidfd = -1})

void sandbox_close(struct sandbox *s);
#define auto_sandbox __attribute__((cleanup(sandbox_close)))

/* [A-Za-z0-9_.-]+, at most SANDBOX_ID_MAX bytes. Trust: it comes from the caller, perhaps from a
 * model. */
int sandbox_check_id(const char *id, struct error *e);

/* A box that is to be made, beside what the request says, which has no program. */
struct sandbox_wish {
	const char *id;	 /* NULL: one is made up */
	uint32_t idle_s; /* 0: the default */
	uint32_t most;	 /* how many there may be */
	const char *rootfs; /* that it must have, by name and digest, if its root has files to be
			     * changed; NULL: any */
	/* Puts files into it before anybody may call it; NULL: none are. If it fails, there is no
	 * box. */
	int (*fill)(void *context, const struct sandbox *s, struct arena *a, struct error *e);
	void *context;
};
int sandbox_create(const struct box_request *q, const struct sandbox_wish *wish, struct arena *a,
		   const char **ret_id, struct noted *notes, struct error *e);

struct sandbox_facts sandbox_facts_of(const struct box_request *q, const struct sandbox_wish *wish,
				      struct arena *a);

/* A request for a box like that one. */
void sandbox_request_again(const struct sandbox_facts *f, struct arena *a, struct box_request *q);

/* Opens a box that runs. ERR_NOT_FOUND: there is none; ERR_EXPIRED: there was. */
int sandbox_open(const char *root, const char *id, struct arena *a, struct sandbox *ret,
		 struct error *e);

/* For a call: waits until no other is there, until the moment (sys/loop.h). Nothing of a call
 * before is left in it then. */
int sandbox_lock(struct sandbox *s, int64_t until, struct arena *a, struct error *e);

/* From here on until sandbox_leave() what is in it can't be told from what a session has started:
 * if the call is not heard of again, the next one ends all. Of a box with sessions alone; a lock
 * enters, and sandbox_close() leaves. */
void sandbox_enter(struct sandbox *s);
void sandbox_leave(struct sandbox *s);

/* It was used now. */
void sandbox_touch(struct sandbox *s);

/* Freezes what runs in it, and thaws it. The time of a call goes on. */
int sandbox_pause(const char *root, const char *id, bool pause, struct arena *a, struct error *e);

int sandbox_destroy(const char *root, const char *id, struct arena *a, struct error *e);

/* Removes boxes that nobody has used for their time. Thoroughly: also those that have ended by
 * themselves, for which their records are read. Nothing that goes wrong is an error. How many. */
size_t sandbox_sweep(const char *root, bool thoroughly);

/* Told of each box that was swept, and why, by whichever function did; NULL: nobody is. */
extern void (*sandbox_on_swept)(const char *id, const char *why);

struct sandbox_view {
	const char *id;
	const char *status; /* idle, busy, paused, ended */
	const char *created;
	int64_t idle_s;
	struct sandbox_facts facts;
};
/* Puts what it may reach as of now among the limits of a view. */
void sandbox_view_network(struct sandbox_view *v, const struct sandbox *s, struct arena *a);
int sandbox_list(const char *root, struct arena *a, struct sandbox_view **ret, size_t *ret_n,
		 struct error *e);

/* memory, disk, volume */
const char *sandbox_backing(const struct sandbox_facts *f);

/* As one object. */
void sandbox_write(const struct sandbox_view *v, struct buf *b);

/* ---- what was done in it ---- */

struct sandbox_event {
	const char *verb;
	const char *path;		 /* of a file; NULL: none */
	const struct box_result *result; /* of a call; NULL: it was none */
	struct strings args;
	bool failed;
};
/* An empty log, in the directory of a box that is being made. */
int sandbox_log_make(int dfd, struct error *e);

int sandbox_log(const struct sandbox *s, const struct sandbox_event *ev, struct arena *a,
		struct error *e);

/* Lines of JSON, the newest last. */
int sandbox_read_log(const struct sandbox *s, struct buf *b, struct arena *a, struct error *e);

/* ---- calls ---- */

/* Makes a request one for a call in s: with the box's limits and ids, and a place for the code.
 * Before the caller's own limits are read, and after q->language is known. */
void sandbox_request(struct sandbox *s, struct box_request *q, struct arena *a);

/* Its root, as the result has it. */
int sandbox_root(const struct sandbox *s, struct box_root *ret);

/* Starts the call's reaper; streams and control_fd are its ends. */
int sandbox_join(const struct box_request *q, bool network, const int streams[3], int control_fd,
		 struct arena *a, struct created *ret, int *ret_listener_fd, struct error *e);

/* Kills all that runs in the box but its first process; what is frozen is thawed for it. */
void sandbox_kill(const struct sandbox *s);

bool sandbox_is_paused(const char *root, const char *container);

/* Stops what sessions do between calls, until sandbox_unfreeze(). Of a locked box with sessions,
 * that is not paused. false: this host can't, and e says why. */
bool sandbox_freeze(struct sandbox *s, struct arena *a, struct error *e);
void sandbox_unfreeze(struct sandbox *s);

/* Waits until all of that is gone. false: it is not, or nobody can tell. */
bool sandbox_settle(const struct sandbox *s, struct arena *a);

/* Whether its first process lives. */
bool sandbox_lives(const struct sandbox *s);

/* Whether it dies as soon as it is thawed: of a frozen process cgroup v1 has SIGKILL wait. */
bool sandbox_is_doomed(const struct sandbox *s);

/* ---- for sandbox*.c ---- */

/* Opens the list of boxes, locked, and makes it if it may; -1: there is none, or somebody else
 * works on it, and did not finish by then. */
int sandbox_registry_open(const char *root, bool make, int64_t until, struct error *e);
size_t sandbox_registry_sweep(int registry_fd, const char *root, bool thoroughly);
size_t sandbox_registry_count(const char *root, struct arena *a);
/* Whether it is among those that have expired, and why. */
const char *sandbox_registry_find(const char *root, const char *id, struct arena *a);
void sandbox_registry_add(int registry_fd, const char *id, const char *why, struct arena *a);

/* The id of its container. */
const char *sandbox_container(const char *id, struct arena *a);

extern const struct json_table sandbox_facts_table;
int sandbox_read_facts(const struct record *r, struct arena *a, struct sandbox_facts *ret,
		       struct error *e);

/* Reads what there is, whatever its state. *ret_status may be NULL. */
int sandbox_look(const char *root, const char *container, struct arena *a, struct sandbox *ret,
		 enum status *ret_status, struct error *e);
int64_t sandbox_now(void);

/* The file that is locked, and what it says. */
#define SANDBOX_FILE "box"
bool sandbox_read_used(int fd, int64_t *ret_used, uint32_t *ret_idle_s);
/* Whether somebody has begun to destroy it: nobody finds it any more, and a sweep finishes that. */
bool sandbox_is_going(int fd);
