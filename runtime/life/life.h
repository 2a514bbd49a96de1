/*
 * The verbs. Each loads what it needs, does one thing, and records it. They return -1 with an error
 * and leave printing and exit codes to the programs.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "ns/joins.h"
#include "ns/members.h"
#include "plan/plan.h"
#include "state/record.h"
#include "state/store.h"

struct create_options {
	const char *root; /* of the state */
	const char *id;
	const char *bundle;
	const char *config; /* another file than config.json of the bundle; NULL: that */
	const char *config_text; /* the config itself, in memory; NULL: it is in a file */
	size_t config_len;
	const char *pid_file;
	const char *console_socket;
	int console_fd; /* instead of the socket: where the terminal's master goes; -1: none */
	const char *pidfd_socket;
	bool no_pivot;
	bool no_new_keyring;
	bool no_cgroups; /* --cgroup-manager disabled */
	bool strict; /* a config that can't be carried out in full is an error */
	unsigned int preserve_fds;
	unsigned int listen_fds; /* of these, the first: by socket activation */
	bool notify;		 /* the caller is a service that wants to know when it is ready */
};

/* A container that this process made, and whose init is its child. */
struct created {
	struct store store; /* locked */
	struct record record;
	pid_t pid;
	int pidfd;
	bool terminal_is_ours; /* its master is on its way over create_options.console_fd */
};

int life_create(const struct create_options *o, struct arena *a, struct created *ret,
		struct error *e);

/* What a create of these options would do, in words. Nothing is made or changed. */
int life_describe(const struct create_options *o, enum plan_form form, struct arena *a, struct buf *b,
		  struct error *e);

int life_start(const char *root, const char *id, struct arena *a, struct error *e);

struct run_options {
	struct create_options create;
	bool detach;
	bool keep;
};
/* *ret_status is what the foreground program ended with: its exit code, or 128 + signal. */
int life_run(const struct run_options *o, struct arena *a, int *ret_status, struct error *e);

struct exec_options {
	const char *root;
	const char *id;
	const char *process_file; /* NULL: the config's process, changed by what follows */
	const char *cwd;
	const char *user; /* UID[:GID] */
	const char *apparmor;
	const char *label;
	const char *pid_file;
	const char *console_socket;
	const char *pidfd_socket;
	struct strings args, env, gids, caps;
	struct strings cgroups; /* below the container's own: [CONTROLLER[,…]:]PATH */
	bool tty;
	bool no_new_privs;
	bool ignore_paused;
	bool detach;
	bool strict;
	unsigned int preserve_fds;
};
int life_exec(const struct exec_options *o, struct arena *a, int *ret_status, struct error *e);

int life_state(const char *root, const char *id, struct arena *a, struct buf *b, struct error *e);

int life_kill(const char *root, const char *id, int sig, bool all, struct arena *a,
	      struct error *e);

int life_delete(const char *root, const char *id, bool force, struct arena *a, struct error *e);

enum list_format { LIST_TABLE, LIST_JSON, LIST_QUIET };
/* Printed as it goes, since there may be many. */
int life_list(const char *root, enum list_format format, FILE *out, struct arena *a,
	      struct error *e);

/* Freezes all processes of a container; resume is the way back. */
int life_pause(const char *root, const char *id, struct arena *a, struct error *e);
int life_resume(const char *root, const char *id, struct arena *a, struct error *e);

struct ps_options {
	const char *root;
	const char *id;
	bool json;	   /* an array of pids; otherwise the table of the host's ps … */
	char *const *args; /* … run with these */
	size_t n_args;
};
int life_ps(const struct ps_options *o, struct arena *a, struct buf *b, struct error *e);
/* Of what ps has printed the title and the lines of these pids (sorted). text is cut up. */
int life_ps_filter(char *text, const pid_t *pids, size_t n, struct buf *b, struct error *e);

/* New limits; what is not given stays. All of them or, on failure, none. */
int life_update(const char *root, const char *id, const struct oci_resources *resources,
		const struct oci_intel_rdt *rdt, struct arena *a, struct error *e);

struct events_options {
	const char *root;
	const char *id;
	bool once;	     /* the statistics of now, and no more */
	int64_t interval_ns; /* above 0 */
	int out_fd;
};
/* Writes events as lines of JSON until the container ends. */
int life_events(const struct events_options *o, struct arena *a, struct error *e);

/* ---- shared by the verbs ---- */

/* Opens a container's store and reads its record. *ret_store is the caller's to close. */
int life_load(const char *root, const char *id, enum store_lock how, struct arena *a,
	      struct store *ret_store, struct record *ret_record, struct error *e);

/* Reads the config that the container was made from. */
int life_read_config(const struct store *s, struct arena *a, struct oci_config *ret, struct error *e);

/* Engines protect themselves from being killed when memory is short. Unless the config says so, that is not for
 * the program: without oomScoreAdj a score below 0 becomes 0. */
void life_settle_oom_score(struct oci_process *p);

/* Each decision of the plan as a line of the log at level debug. */
void life_log_plan(const struct plan *p, struct arena *a);

/* What a plan has to say of things in the config that can't be had: warnings, or with strict an error that
 * names all of them. */
int life_settle_notes(const struct plan *p, bool strict, struct arena *a, struct error *e);

/* The record's cgroups, as cgroup/ takes them. */
struct cgroup_dirs life_cgroups(const struct record *r);

/* How to find the processes of a container that has no cgroups; pidfd: its init, -1 when it has ended.
 * Where they can't be found, *ret finds nothing. */
void life_find_members(const struct record *r, int pidfd, struct members *ret);

/* store_status(), and whether it is frozen. */
int life_status(const struct store *s, const struct record *r, enum status *ret, int *ret_pidfd,
		struct error *e);

/* cgroups false: without them, for verbs that use those on record. */
int life_probe_host(bool cgroups, struct arena *a, struct host_facts *ret, struct error *e);

/* Where a container's record is: an absolute path, though there may be nothing yet. */
const char *life_state_dir(const char *root, const char *id, struct arena *a);

/* Opens the namespaces that a bundle joins, and makes its plan. *ret_joins is the caller's to close. */
struct bundle;
int life_plan(const struct create_options *o, const struct host_facts *facts, const struct bundle *b,
	      struct arena *a, struct joins *ret_joins, struct plan *ret_plan, struct error *e);

/* Starts a created container: tells init, waits until the program runs, runs poststart hooks. After a
 * failed hook (ERR_HOOK) the caller must destroy the container, as the specification demands.
 * *ret_notify_fd is where the program will say that it is ready, if anybody waits for it, or -1. */
int life_start_created(struct store *s, struct record *r, int pidfd, int *ret_notify_fd,
		       struct arena *a, struct error *e);

/* Waits until the program runs. -1 with the reason why it doesn't; the process may still be there. */
int life_await_program(int sock, pid_t pid, int pidfd, const struct record *r, struct arena *a,
		       struct error *e);

/* Hands the listener of a process's filter to whoever listenerPath names. */
int life_serve_listener(int listener_fd, pid_t pid, const struct record *r, struct arena *a,
			struct error *e);

/* Whether there is room for one (file NULL: none is wanted): nothing, or an old one that may be replaced. */
int life_check_pid_file(const char *file, struct error *e);

/* Digits alone, whole at once. */
int life_write_pid_file(const char *file, pid_t pid, struct arena *a, struct error *e);

int life_send_pidfd(const char *path, int pidfd, struct error *e);

int life_is_of_this_boot(const struct record *r, bool *ret, struct error *e);

/* Does act; where an ordinary user is refused what his container has closed or given away (EACCES), once more,
 * by a child that has the container's ids. What act leaves in memory is not seen then. */
typedef int life_act(void *arg, struct error *e);
int life_act_by_ids(life_act *act, void *arg, const struct store *s, struct arena *a, struct error *e);

/* Kills what is left of a container and removes everything that create made. Goes on after a
 * failure, reports the first. The store is gone afterwards unless something could not be removed. */
int life_destroy(struct store *s, const struct record *r, int pidfd, struct arena *a,
		 struct error *e);
