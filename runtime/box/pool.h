/*
 * Warm boxes: each waits for one call, with its interpreter started, serves it, and is removed. So
 * no call ever meets what another one has left, and none waits for a container and an interpreter.
 *
 * How a program can wait for code that nobody knows yet: where it looks for its file there is a
 * pipe (reaper/order.h). It has done all that programs of its language do at their start, and is
 * held up by opening or reading its own file, for which the real one is exchanged then. There is no
 * driver, and nothing that a program could see of it.
 *
 * Processes.
 *
 *	sbxrun-pool	the keeper: listens at ROOT/do:pools/FINGERPRINT, starts holders, and
 *			gives each caller to one of them
 *	sbxrun-warm	a holder, one a box: has made it, as `do` makes one of its own, answers
 *			the questions of its filter as long as it waits, lends it to one caller,
 *			and removes it
 *
 *	do ── "take", length of the code ─► keeper ── the caller's socket ─► holder
 *	   ◄──────────── warm_hello, descriptors ────────────────────────────  │
 *	   ── 0, size, code ─► reaper, in the box                              │ waits
 *	   ◄──────────── life_end ───────────────────────────────────────────  │
 *	   ── end of the socket ────────────────────────────────────────────►  │ removes it
 *
 * Which box is whose. The fingerprint is a digest of all that a box is made of: the config that
 * this very request would have had written, the policy's file, the root, what of the caller himself
 * passes on to a box, and the build of this program. A call whose fingerprint has no pool gets a
 * box of its own. So a box from a pool is the box that the call would have had, and nothing is ever
 * granted by a pool.
 *
 * After SIGKILL of …
 *	the caller: the reaper's socket ends, and so does the box; the holder removes it
 *	the keeper: the holders' sockets end, and they end what waits; calls go on
 *	a holder: its box ends if it waits; a call goes on, does not learn how much memory it took,
 *		and leaves a record, which a later run of `do` removes
 *	a reaper: the box ends
 *
 * Trust: nothing of this is in a box. The directory is its owner's alone, and keeper and caller
 * look at each other's uid all the same.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/sha256.h"
#include "box/box.h"

#define POOL_DIR "do:pools" /* no id has a colon */

enum { POOL_SIZE = 4, POOL_MOST = 256, POOL_VERSION = 1, POOL_TEXT = 512, POOL_ROOTFS = 160 };

struct running;

/* ---- for `do` ---- */

/* Takes a box that waits, if the request may have one and there is one: x->warm_sock is who holds
 * it then. That there is none is no failure. */
void pool_take(struct running *x);

/* The code goes to the program that waits for it. */
void pool_send_code(struct running *x);

/* The box has ended: how, and what it took. */
int pool_await_end(struct running *x, struct error *e);

/* ---- for `pool` ---- */

struct pool_view {
	uint32_t version, size, ready, served, failures;
	int32_t pid;
	int64_t begun; /* sandbox_now() */
	char id[SHA256_HEX_SIZE];
	char language[24];
	char rootfs[POOL_ROOTFS];
	char failure[POOL_TEXT]; /* the last one; "": none */
};

/* Starts one, or changes the size of the one that is there already; waits until all its boxes wait,
 * or can't. tell() hears of it every two seconds. stays: this process is the keeper, until it is
 * told to end. */
struct pool_start {
	uint32_t size;
	bool stays;
	void (*tell)(const struct pool_view *v);
};
int pool_start(const struct box_request *q, const struct pool_start *s, struct arena *a,
	       struct pool_view *ret, struct error *e);

/* Those that there are. What keepers that were killed have left is removed. */
int pool_list(const char *state_root, struct arena *a, struct pool_view **ret, size_t *ret_n,
	      struct error *e);

/* Ends one, and waits until it has ended. Calls that have taken a box go on. */
int pool_stop(const char *state_root, const char *id, struct error *e);

void pool_write(const struct pool_view *v, struct buf *b);

/* ---- for pool*.c ---- */

enum pool_ask { POOL_TAKE = 't', POOL_LOOK = 'l', POOL_RESIZE = 's', POOL_END = 'e' };

struct pool_question {
	uint32_t ask;
	uint32_t number; /* length of the code, or the new size */
};

/* A holder's word to its keeper. */
struct pool_word {
	uint32_t room; /* the box waits, and takes code of so many bytes; 0: it has failed */
	char failure[POOL_TEXT];
};

struct warm_hello {
	uint32_t version;
	int32_t pid; /* of the reaper */
	uint32_t mdwe;
	uint32_t judge_len;
	uint32_t has_listener, has_resolver;
	char id[96];
	char notes[4096]; /* what could not be had, a line each */
};

/* In this order; those that a box lacks are left out. */
enum warm_fd {
	WARM_STDIN,
	WARM_STDIN_READ,
	WARM_STDOUT,
	WARM_STDERR,
	WARM_CONTROL,
	WARM_PIDFD,
	WARM_JUDGE,
	WARM_LISTENER,
	WARM_RESOLVER,
	WARM_FDS,
};

/* Whether such a box can wait for its code. false, and e says why not. */
bool pool_is_possible(const struct box_request *q, struct error *e);

/* Of a request with root and profile. */
int pool_fingerprint(const struct box_request *q, const struct box_root *root, struct arena *a,
		     char ret[SHA256_HEX_SIZE], struct error *e);

/* Both of a request that has neither yet: where its pool is, and what its root is called. */
int pool_name(const struct box_request *q, struct arena *a, char ret_id[SHA256_HEX_SIZE],
	      char ret_rootfs[POOL_ROOTFS], struct error *e);

/* The directory of the sockets, open; -1: there is none, or it is not ours. */
int pool_open_dir(const char *state_root, bool make, struct error *e);

/* If there is no pool any more. */
void pool_remove_dir(const char *state_root);

/* The socket of a pool of that name. */
int pool_listen(int dir_dfd, const char *id, struct error *e);

/* The keeper, until it is told to end. stays: it is the caller's own process. */
struct pool_keeping {
	const struct box_request *q;
	uint32_t size;
	int dir_dfd, listen_fd;
	bool stays;
	struct pool_view view;
};
void pool_keep(struct pool_keeping *k);

/* A holder, in a process of its own: it does not return. */
__attribute__((noreturn)) void pool_hold(const struct box_request *q, int keeper_sock);
