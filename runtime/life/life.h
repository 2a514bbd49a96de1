/*
 * The library's edge: the verbs, and containers in the hands of the process that made them. A call
 * returns -1 with an error, or 0 and structs; what it prints, and with which status a program ends,
 * is the program's affair. It leaves nothing behind in the calling process: no descriptor, child,
 * signal mask, handler, umask or directory that was not there before. What is in the structs lives
 * as long as the arena that was given.
 *
 * A note is what the caller should know though nothing has failed, or besides the failure: it goes
 * to the noter that he gave (oci/notes.h; NULL: to nobody) in the moment when it is known. The log
 * gets what is for those who look for errors, and nothing else: lines of the levels info and debug.
 *
 * One thread, one call at a time; a child of the caller's that ends meanwhile is left alone. A
 * program that serves many should not make containers from its own heap, which init has a copy of
 * until it executes: a small process of its own for each is the way.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "cgroup/boxes.h"
#include "cgroup/rdt.h"
#include "cgroup/stats.h"
#include "filter/observe.h"
#include "learn/watch.h"
#include "oci/notes.h"
#include "plan/plan.h"
#include "state/record.h"
#include "state/store.h"
#include "worker/end.h"

/* A filesystem that the caller has made for the container, in place of the tmpfs that the config
 * has at that place; or, for "/", of the memory that a writable root's layer lies in. */
struct given_tree {
	const char *destination;
	int tree_fd; /* attached nowhere; it stays the caller's to close */
};

/* A source of binds that must be what it was: no link on the way, and the inode. Trust: its name
 * may lie in a directory to which another box writes. */
struct pinned_source {
	const char *path;
	uint64_t device, inode; /* no inode: any */
};

/* For boxes; all zero: it is none. */
struct box_options {
	bool ids_if_possible; /* a host that can't map them is no reason to refuse (policy code) */
	bool limits_if_possible; /* … and without cgroups rlimits hold what they can */
	const char *cgroup_name; /* where the config names none; NULL: the id */
	bool few_cgroups; /* only those of v1 that a box needs (plan/cgroup.h) */
	bool reaped; /* the first process is a reaper of ours (reaper/order.h) … */
	int control_fd; /* … and this its end of the socket; -1: there is no program, it waits */
	bool program_comes; /* its file is not there yet: the reaper writes it */
	size_t n_given;
	const struct given_tree *given;
	size_t n_pinned;
	const struct pinned_source *pinned;
	int64_t root_upper; /* bytes of its own layer over the root; 0: none */
	bool keep_root; /* others run in it, too: nothing is made in it */
	enum observe observe; /* what is denied is asked about, too: with take_listener */
	bool pure; /* it computes and does nothing else (filter/pure.h): with take_listener */
};

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
	bool systemd;	 /* the cgroup is a scope of systemd's */
	uint32_t systemd_timeout_s; /* for all that it is asked, by later verbs too; 0: the default
				     */
	const char *policy; /* a name, or a path; NULL: what the administrator says */
	bool strict; /* a config that can't be carried out in full is an error */
	unsigned int preserve_fds;
	unsigned int listen_fds; /* of these, the first: by socket activation */
	bool notify;		 /* the caller is a service that wants to know when it is ready */
	const int *streams;	 /* three descriptors for the program; NULL: the caller's own */
	bool take_listener; /* of seccomp notifications: it comes with the start instead of going to
			       listenerPath */
	struct learning *learning; /* who watches its system calls (learn/watch.h); NULL: nobody */
	const struct noter *noter; /* also for what is done with the container afterwards */
	struct box_options box;
};

/* A container that this process made, and whose init is its child. */
struct created {
	struct store store; /* locked */
	struct record record;
	pid_t pid;
	int pidfd;
	bool terminal_is_ours; /* its master is on its way over create_options.console_fd */
	bool take_listener;
	int listener_fd;       /* taken already, or -1 */
	struct seccomp_program judge; /* says what to answer, where denials are observed, and what
					 the kernel will, where calls are watched */
	struct learning *learning;
	bool reaped;
	int notify_fd;	       /* where the program says that it is ready, or -1 */
	int64_t started;       /* the moment (sys/loop.h); 0: it was not */
	const struct noter *noter;
	struct telling *telling; /* what is still to be told of it (life/tell.c); NULL: nothing */
	uint64_t cpu_before; /* what was counted before it joined … */
	uint64_t oom_before, pids_before; /* … another's container */
};

/* Whether create_options.take_listener can be had here (security/seccomp_install.h). */
bool life_may_listen(void);

/* Where systemd has given away a place for boxes (cgroup/boxes.h), on machines where the caller may
 * have one. start: it is made if it isn't there. The caller closes it when his box is made. */
int life_open_boxes(bool start, struct arena *a, struct cgroup_boxes *ret, struct error *e);

int life_create(const struct create_options *o, struct arena *a, struct created *ret,
		struct error *e);

/* Starts it: the program runs. *ret_listener_fd (may be NULL) is the listener that
 * create_options.take_listener asks for, or -1. Others may look at it and signal it from here on.
 * After a failure it is the caller's to remove. */
int life_launch(struct created *c, int *ret_listener_fd, struct arena *a, struct error *e);

/* Waits until the program has ended, or until the moment (sys/loop.h; LOOP_NEVER). 1; 0: it has
 * not. */
int life_wait(struct created *c, int64_t until, struct life_end *ret, struct error *e);

/* The processor time that it has taken so far; false: nobody counts it. */
bool life_cpu_time(const struct created *c, uint64_t *ret_ns);

/* The most memory, and the most processes and threads at once, that its cgroup has had so far; 0:
 * nobody counts them. */
void life_peaks(const struct created *c, uint64_t *ret_memory, uint64_t *ret_pids);

/* Kills what is left of it, removes it, and lets go. */
int life_remove(struct created *c, struct arena *a, struct error *e);

/* Lets go; the container stays. */
void life_let_go(struct created *c);

/* Describes a create of these options in words. Nothing is made or changed. */
int life_describe(const struct create_options *o, enum plan_form form, struct arena *a,
		  struct buf *b, struct error *e);

int life_start(const char *root, const char *id, const struct noter *noter, struct arena *a,
	       struct error *e);

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
	const struct noter *noter;
	/* For life_join() alone, as create_options has them. */
	const int *streams;
	int control_fd;
	bool program_comes;
	enum observe observe;
};
int life_exec(const struct exec_options *o, struct arena *a, int *ret_status, struct error *e);

/* Executes a reaper of ours, which becomes a child of this process; it is for life_wait(),
 * life_cpu_time() and life_leave(). The container itself stays. *ret_listener_fd as of
 * life_launch(). */
int life_join(const struct exec_options *o, struct arena *a, struct created *ret,
	      int *ret_listener_fd, struct error *e);

/* Kills a process that has joined a container, collects it, and lets go. */
void life_leave(struct created *c);

/* A container as it is now. */
struct life_view {
	struct record record;
	enum status status;
	pid_t pid; /* of init; 0: it has ended */
};
int life_state(const char *root, const char *id, struct arena *a, struct life_view *ret,
	       struct error *e);

int life_kill(const char *root, const char *id, int sig, bool all, const struct noter *noter,
	      struct arena *a, struct error *e);

int life_delete(const char *root, const char *id, bool force, const struct noter *noter,
		struct arena *a, struct error *e);

/* Where the administrator wants every run of code recorded: by his file, and by the file of
 * policies that was chosen (asked, as of create_options.policy). */
int life_audit_files(const char *asked, struct arena *a, struct strings *ret, struct error *e);

/* The ids below a root, sorted. */
int life_ids(const char *root, struct arena *a, struct strings *ret, struct error *e);

/* Each container, one by one, since there may be many: the view, and the arena, are gone when
 * each() returns. One whose record can't be read is among them; one whose status can't be told
 * makes it -1, after all others. */
typedef void life_each(void *context, const struct life_view *v, struct arena *a);
int life_list(const char *root, life_each *each, void *context, const struct noter *noter,
	      struct arena *a, struct error *e);

/* Freezes all processes of a container; resume is the way back. */
int life_pause(const char *root, const char *id, struct arena *a, struct error *e);
int life_resume(const char *root, const char *id, struct arena *a, struct error *e);

/* Its processes as the host numbers them, sorted. */
int life_pids(const char *root, const char *id, struct arena *a, pid_t **ret_pids, size_t *ret_n,
	      struct error *e);

/* Whether its first process is its only one. For containers that can't move their processes to
 * other cgroups: one hierarchy is asked. */
bool life_is_alone(const char *root, const struct record *r, struct arena *a);

/* New limits; what is not given stays. All of them or, on failure, none. */
int life_update(const char *root, const char *id, const struct oci_resources *resources,
		const struct oci_intel_rdt *rdt, const struct noter *noter, struct arena *a,
		struct error *e);

/* Counts of a running container. */
struct life_stats {
	struct cgroup_stats cgroup;
	struct rdt_stats rdt;
	char *net_dev; /* init's /proc/PID/net/dev; NULL: its interfaces are not its own */
};
int life_stats(const char *root, const char *id, struct arena *a, struct life_stats *ret,
	       struct error *e);

enum life_event_kind { LIFE_EVENT_STATS, LIFE_EVENT_OOM };
struct life_event {
	enum life_event_kind kind;
	struct life_stats *stats; /* until each() returns */
};

struct events_options {
	const char *root;
	const char *id;
	int64_t interval_ns; /* above 0 */
	int reader_fd;	     /* its hang-up ends it; -1: none */
	/* 0: go on; 1: no more; -1: failed, and the caller knows why. */
	int (*each)(void *context, const struct life_event *v);
	void *context;
};
/* Until the container ends. */
int life_events(const struct events_options *o, struct arena *a, struct error *e);
