/*
 * Init: the process that becomes the payload. It runs in the container's namespaces, carries out
 * the plan step by step (the tables in init.c are what the sandbox is), reports to the parent,
 * waits for `start`, and executes the program.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>

#include "base/arena.h"
#include "cgroup/cgroup.h"
#include "init/console.h"
#include "ns/spawn.h"
#include "plan/plan.h"
#include "rootfs/resolve.h"
#include "rootfs/rootfs.h"
#include "rootfs/sources.h"
#include "state/record.h"
#include "state/store.h"

/* Init's name (comm) until it executes the program. */
#define INIT_NAME "sbxrun:init"

/* Init's ways to the host, until the step "settle" closes the last of them. */
struct init_host {
	struct sources sources;
	struct cgroup_handle cgroup;
	struct pid_ns pid_ns; /* that of others, which the program will be in */
	struct store *store;  /* the parent's; closed at once */
};

/* With whom init speaks. */
struct init_talk {
	int stage_fd;  /* the parent */
	int parent_fd; /* the parent's end of it: closed at once, or it would never end */
	int listen_fd; /* `start` */
};

/* In which way the steps are done. */
struct init_way {
	bool make_cgroup_ns; /* after joining */
	bool forks_program;  /* the program will be a child of who takes the steps */
	bool parent_acts;    /* hooks and interfaces are its work, once the mounts are there */
	bool watched;	     /* the program's system calls are, from its first on (learn/watch.h) */
};

/* Descriptors that the program gets. */
struct init_io {
	const int *streams; /* NULL: those of the caller */
	unsigned int preserve_fds;
	unsigned int listen_fds;  /* of those preserved, the first, by socket activation */
	int console_fd;		  /* gets the terminal's master; -1: no terminal */
	bool terminal_is_relayed; /* by the runtime, to the terminal that it was called from */
};

/* The first process of a box, if there is one: the program is its child. */
struct init_reaper {
	int file_fd;	    /* its program; -1: there is none */
	int control_fd;	    /* its socket; -1: it has none, and waits for calls */
	bool program_comes; /* and is not there yet: the reaper writes it */
};

/* Results of the steps so far, for those that follow. */
struct init_own {
	struct rootfs root;
	struct console console;
	int proc_dfd;
	bool cwd_is_set;
	bool filter_is_loaded; /* before the last moment */
	char *program;	       /* what to execute, found by its user */
	struct strings env;
};

/* The parent fills all but `own`, and init reads nothing else. */
struct init {
	const struct plan *plan;
	const struct record *record; /* for the state that hooks are told */
	struct arena *arena;
	struct init_host host;
	struct init_talk talk;
	struct init_way way;
	struct init_io io;
	struct init_reaper reaper;
	struct init_own own;
};

/* Root of the machine can set any score, but init in a user namespace can't: the parent does it. */
bool init_is_given_oom_score(const struct plan *p);

/* Some schedulers are lost in a fork, or forbid one. They can't be set before the program's
 * process is born, and that process has no right to set them: the parent does it, and then says
 * STAGE_BORN. */
bool init_is_given_scheduler(const struct init *in);

/* A filter under which nothing could be executed is an error. */
int init_check_filter(const struct init *in, struct error *e);

/* The call that keeps init from loading the filter before its last moment, for the filter does not
 * simply allow it; NULL: none. */
const char *init_filter_obstacle(const struct init *in);

/* The error where the filter must not come that late. */
int init_refuse_late_filter(const char *call, struct error *e);

/* Context is a struct init. Never returns. */
__attribute__((noreturn)) void init_main(void *context);

/* ---- a further process (exec) ---- */

struct join {
	struct init init;      /* what both kinds of process have in common; first */
	int init_pidfd;	       /* the container's init */
	int namespaces;	       /* CLONE_NEW* of those to join */
	int root_dfd; /* its root where that isn't the root of its mount namespace, or -1 */
	cpu_set_t *affinity_initial; /* NULL: none */
	cpu_set_t *affinity_final;
};

/*
 * For the launcher: into the cgroups and namespaces, and through everything that needs rights. A
 * process of the container with CAP_SYS_PTRACE could take over whatever shows up in its pid
 * namespace; the launcher itself never does, and its child has the payload's rights and no others.
 * Context is a struct join.
 */
int join_enter(void *context, int sock, struct error *e);

/* For the process born there. Never returns. */
__attribute__((noreturn)) void join_main(void *context);
