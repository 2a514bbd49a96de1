/*
 * Messages between a server and its worker over SOCK_SEQPACKET: one request, then notes, then one
 * answer. A message is a line of JSON by rows, with descriptors beside it, each named in the
 * message. A request has the version of all this: the two may be programs of different age, and
 * what one of them would not understand must not be left out.
 *
 * Trust: neither side takes anything of the other's for granted. Whoever has the server's end may
 * have anything made that the worker's user could make; what he sends is judged as a command line
 * is. Whoever has the worker's end can't make the server do more than report nonsense.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "json/types.h"
#include "worker/end.h"

enum { WIRE_VERSION = 1 };

/* The number of the worker's end, in the worker. */
enum { WIRE_SOCK = 3 };

enum { WIRE_TEXT_MAX = 64 << 10, WIRE_FDS_MAX = 4 }; /* of one message */

/* Descriptors by what they are; -1: none. Whoever received them owns them. */
enum wire_fd {
	WIRE_CONFIG, /* a file with the config */
	WIRE_STDIN,
	WIRE_STDOUT,
	WIRE_STDERR,
	WIRE_PIDFD, /* of the container's init */
	WIRE_TERMINAL,
	WIRE_LISTENER,
	WIRE_FDS
};

struct wire_fds {
	int v[WIRE_FDS];
};
#define WIRE_FDS_NONE ((struct wire_fds){{-1, -1, -1, -1, -1, -1, -1}})
_Static_assert(WIRE_FDS == 7, "WIRE_FDS_NONE has one for each");

void wire_fds_close(struct wire_fds *f);

enum wire_ask {
	WIRE_CREATE,
	WIRE_START,
	WIRE_WAIT, /* how did it end? At once: the server waits by the pidfd */
	WIRE_KILL,
	WIRE_REMOVE,
	WIRE_LET_GO,
	WIRE_ASKS
};
const char *wire_ask_word(enum wire_ask ask);

struct wire_request {
	uint32_t version; /* filled in by wire_send_request() */
	enum wire_ask ask;
	/* create; what they mean stands in life/life.h */
	char *root, *id, *bundle, *policy;
	bool no_pivot, no_new_keyring, no_cgroups, strict, take_listener;
	bool survives; /* the server's end is not the container's */
	/* kill */
	int32_t signal;
	bool all;
	struct strings names; /* of the descriptors, in their order */
	struct wire_fds fds;
};

enum wire_kind { WIRE_DONE, WIRE_NOT_YET, WIRE_FAILED, WIRE_NOTE };

struct wire_answer {
	enum wire_kind kind;
	char *text;	    /* of a note or an error */
	int32_t class, sys; /* of an error */
	int32_t pid;	    /* of the container's init, to create */
	struct life_end end; /* to wait */
	struct strings names;
	struct wire_fds fds;
};

/* The descriptors stay the sender's. -1 also if the other side doesn't take it within
 * PATIENCE_PEER_MS. */
int wire_send_request(int sock, const struct wire_request *r, struct error *e);
int wire_send_answer(int sock, const struct wire_answer *r, struct error *e);

/* 1; 0: the other side is gone; -1: it said what can't be understood, or nothing can be had. */
int wire_recv_request(int sock, struct arena *a, struct wire_request *ret, struct error *e);
int wire_recv_answer(int sock, struct arena *a, struct wire_answer *ret, struct error *e);

/* The texts of them, and what came along: these are *ret's, or are closed. */
int wire_read_request(const char *text, size_t len, const int *fds, size_t n, struct arena *a,
		      struct wire_request *ret, struct error *e);
int wire_read_answer(const char *text, size_t len, const int *fds, size_t n, struct arena *a,
		     struct wire_answer *ret, struct error *e);
