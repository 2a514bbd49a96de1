/*
 * A call: one or more children, one after the other, and what the last one printed. Nobody waits
 * here: the server's crowd serves the pipes and the end of each child.
 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/sha256.h"
#include "mcp/tool.h"
#include "sys/crowd.h"

enum { CALLS_MAX = 64, CALL_OUTPUT_MAX = 12 << 20, CALL_ERRORS_MAX = 16 << 10 };

struct server;
struct message;

enum { VERSION_SIZE = 16, CLIENT_SIZE = 96 };

/* A client's word on itself: once in the legacy era, with every request in the modern one. */
struct client {
	bool known; /* it has said initialize */
	char version[VERSION_SIZE];
	char name[CLIENT_SIZE]; /* quoted */
	bool asks;		/* it can ask its user (elicitation, as a form) */
};

struct call {
	struct server *server;
	unsigned int slot;
	struct arena arena;
	const char *id; /* whom to answer: JSON; NULL: nobody any more */
	bool modern;
	const char *progress; /* the token: JSON; NULL: none is asked for */
	const struct tool *tool;
	const char *uri; /* of resources/read, as it was given */
	struct tool_args args;
	struct job job;
	struct client client;
	char digest[SHA256_HEX_SIZE]; /* of what will run */
	const char *state;	      /* requestState, as it was given back */
	struct json_span responses;
	uint64_t asking;      /* the request in which the client is asked; 0: it isn't */
	char *asked_id;	      /* of the question */
	bool by_child;	      /* what runs asks, and is not the call */
	struct step question; /* … by this */
	const char *approved; /* how, for the record */
	size_t at;	      /* the step that runs */
	pid_t pid;	      /* of its child; -1: none */
	struct crowd_member end, pipes[2];
	struct buf out, err;
	bool killed, cancelled, late;
	int status;
	int64_t began, deadline, tick; /* moments: sys/loop.h */
	unsigned int ticks;
};

/* A call that waits for its first step; NULL: there are CALLS_MAX. */
struct call *call_new(struct server *s, const char *id, bool modern);

/* Starts the step at which it is. -1: it did not start. */
int call_go(struct call *c, struct error *e);

/* Told to end; it does so by itself, or is killed. Its answer is nobody's. */
void call_cancel(struct call *c);

/* Does what is due: progress, the end. */
void call_look(struct call *c, int64_t now);

/* Of its record, and all that it has; its child is killed. */
void call_free(struct call *c);
