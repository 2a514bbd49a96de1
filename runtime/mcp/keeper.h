/*
 * The child that outlives the server for a moment: it is told of every call that runs and of every
 * box that was made, and ends them when its socket does. It is started with the first of them.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/arena.h"
#include "mcp/mcp.h"

struct keeper {
	int sock; /* -1: none yet */
	pid_t pid;
};
#define KEEPER_NONE ((struct keeper){.sock = -1, .pid = -1})

/* Starts it unless it runs. */
int keeper_start(struct keeper *k, const struct mcp_options *o, struct error *e);

/* slot: which of the calls; a copy of the pidfd goes along. */
int keeper_call(const struct keeper *k, unsigned int slot, int pidfd, struct error *e);
void keeper_call_ended(const struct keeper *k, unsigned int slot);
int keeper_box(const struct keeper *k, const char *id, struct error *e);
void keeper_box_ended(const struct keeper *k, const char *id);

/* Lets it do its work; nobody waits for that. */
void keeper_let(struct keeper *k);

/* argv of sbxrun with the options that the server was given. */
char **keeper_argv(const struct mcp_options *o, const struct strings *words, struct arena *a);

/* sbxrun itself, as this process has it. */
#define KEEPER_PROGRAM "/proc/self/exe"
