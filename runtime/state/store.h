/* The state directory: claiming, finding, locking, replacing and removing records. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "state/record.h"

/* An open ROOT/ID directory. */
struct store {
	int root_dfd;
	int dfd;
	bool locked; /* by us; our waits end when a `delete --force` wants it */
	const char *id;
};

/* Why a container is opened. */
enum store_lock {
	STORE_LOOK,  /* others may change it meanwhile */
	STORE_LOCK,  /* waits for others to be done with it */
	STORE_FORCE, /* tells them to be done with it at once */
};

#define STORE_NONE ((struct store){.root_dfd = -1, .dfd = -1})
void store_close(struct store *s);
#define auto_store __attribute__((cleanup(store_close)))

/* [A-Za-z0-9_+.-]+, at most 255 bytes, not "." or "..". Trust: the id comes from the caller. */
int store_check_id(const char *id, struct error *e);

/* The state root for this caller when --root is absent. NULL with the error: he has none. */
char *store_default_root(struct arena *a, struct error *e);

/* Where there is none: for containers that end with their caller. That it is his own is looked at
 * when it is opened, as always. */
char *store_passing_root(struct arena *a);

/* Makes ROOT/ID, locked. An id in use is ERR_EXISTS. */
int store_claim(const char *root, const char *id, struct store *ret, struct error *e);

/* Opens ROOT/ID. Not there: ERR_NOT_FOUND. */
int store_open(const char *root, const char *id, enum store_lock how, struct store *ret,
	       struct error *e);

/* The state root itself. A descriptor; -1 with e->sys ENOENT if it isn't there and need not be
 * made. Trust: on the way to it may be directories that other users can write to; what they put
 * there is refused. */
int store_open_root(const char *root, bool make, struct error *e);

/* Opens ID below an open root, to look at it only. */
int store_open_below(int root_dfd, const char *id, struct store *ret, struct error *e);

/* Lets others at it again; the directory stays open. */
void store_unlock(struct store *s);

/* Is somebody else at work on it? */
bool store_is_busy(const struct store *s);

/* Writes a file in it, atomically. */
int store_put(const struct store *s, const char *name, const char *text, size_t len,
	      struct error *e);

int store_write(const struct store *s, const struct record *r, struct arena *a, struct error *e);

/* The two halves of it: nobody sees what was prepared before it is committed, and nothing else may
 * be written in between. */
int store_prepare(const struct store *s, const struct record *r, struct arena *a, struct error *e);
int store_commit(const struct store *s, struct error *e);

/* Reads the record. A directory without one is a create that was cut short: *ret_found is false. */
int store_read(const struct store *s, struct arena *a, struct record *ret, bool *ret_found,
	       struct error *e);

/* Removes the directory and all in it. There is, or was until now, a record. */
int store_remove(struct store *s, struct error *e);

/* Removes a directory without a record, which a create that was cut short has left. Anything else
 * there is not ours, and an error. */
int store_remove_unrecorded(struct store *s, struct error *e);

/* Removes the directory of the notify socket; part of store_remove(). The container saw it
 * read-only, but root of a user namespace who may mount lifts that, and where the state is his own
 * (an ordinary user's) he writes what he likes. EACCES: it belongs to another of the container's
 * ids. */
int store_sweep(const struct store *s, struct error *e);

/* The ids below a root, sorted. */
int store_list(const char *root, struct arena *a, struct strings *ret_ids, struct error *e);
/* The ids below an open root, sorted. */
int store_list_below(int root_dfd, struct arena *a, struct strings *ret_ids, struct error *e);

/* Binds and listens on start.sock. A descriptor, or -1. */
int store_listen(const struct store *s, struct error *e);
/* Connects to it. */
int store_connect(const struct store *s, struct error *e);
int store_forget_start(const struct store *s);

/* The process has not ended: not a zombie either. */
bool store_is_alive(int pidfd);

/* Locks again what was unlocked. 1; 0: it has been deleted meanwhile, and the name may be
 * another's. */
int store_relock(struct store *s, struct error *e);

/* Tells what the container is doing. *ret_pidfd (may be NULL) is its init's, or -1. */
int store_status(const struct store *s, const struct record *r, enum status *ret, int *ret_pidfd,
		 struct error *e);
