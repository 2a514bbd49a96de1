/*
 * sbxrun mcp: boxes for clients of the Model Context Protocol, on standard input and output.
 *
 * Processes. The server (server.c) is one process with one thread that parses what the client, and
 * in the end a model, has written. It makes no box and enters none: for each call it starts
 * `sbxrun box …` as a child (call.c), with words that stand in a table (tools.c), and reads what
 * the child prints. So it holds no capability (root's children get theirs by execve, as any program
 * that root starts), and where the caller is an ordinary user, no_new_privs. Starting it makes
 * nothing: clients start one to look what it can, and end it again.
 *
 *	client ── lines ──► server ── argv, a file in memory ──► sbxrun box VERB --json
 *	       ◄── lines ──        ◄── one object ─────────────
 *	                      │
 *	                      └─ a socket ─► keeper (keeper.c): knows the calls that run and
 *	                                     the boxes that were made; ends both when the
 *	                                     socket does
 *
 * After SIGKILL of the server, the keeper ends what is left of it; of the keeper: the server makes
 * no more boxes and ends itself; of both: calls end with their time, boxes with theirs (--idle).
 *
 *	message.c  JSON-RPC       line.c    lines in and out     server.c  methods, eras
 *	tools.c    the tools      words.c   what they start      answer.c  what the client is told
 *	call.c     a call         keeper.c  what outlives it     resource.c   resources
 *	consent.c  who is asked before a call                values.c  of sessions
 *	spelling.c what rules judge: parameters as they will be used
 */
#pragma once

#include "approve/approve.h"
#include "base/err.h"
#include "json/types.h"

struct mcp_options {
	char *program;		/* by which name it was called */
	struct strings globals; /* options before the command, passed on */
	const char *root;	/* of the state; NULL: there is no place for it */
	const char *version;
	const char *ask; /* client, queue, terminal, none, or a command; NULL: client, or queue */
	const struct approve_rules *rules;
	char *audit;	       /* a file that the caller named; NULL: none */
	struct strings audits; /* where calls are recorded: this one too */
	bool keep;	       /* boxes stay when it ends */
	bool raw;	       /* nothing is taken out of outputs */
};

/* Serves until its input ends or a signal comes. */
int mcp_serve(const struct mcp_options *o, struct error *e);
