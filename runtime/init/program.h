/* The payload's program and environment, found as the payload's own user would find them. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "plan/program.h"

/* The path to execute for args[0]: as it is if it has a slash, else by PATH of env. The error texts
 * are those that engines turn into exit codes 126 and 127. Trust: the tree is the container's. */
int program_find(const char *name, const struct strings *env, struct arena *a, char **ret_path,
		 struct error *e);

/* The config's environment; HOME is added from the container's /etc/passwd when it is missing. */
struct strings program_env(const struct program_plan *p, struct arena *a);

/* Adds what socket activation says of that many descriptors, to the process that executes. */
void program_env_add_sockets(struct strings *env, unsigned int listen_fds, struct arena *a);

/* The words of execve's failure. Returns -1. */
int program_exec_failed(const char *path, int sys, struct error *e);
