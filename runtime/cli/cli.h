/*
 * The command line: tables of options and commands. A command file exports one struct cli_command;
 * the list of them is in main.c. All values land in one struct, so a row is name, kind and place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "json/types.h"
#include "oci/notes.h"

struct box_deed;
struct create_options;
struct explanation;
struct learning;
struct cli_command;

struct cli {
	/* global */
	char *root;
	char *log;
	char *log_format;
	char *log_level;
	char *rootless;
	char *cgroup_manager;
	char *timing;
	char *policy; /* from --policy, or the name that the program was called by … */
	bool policy_by_name; /* … which it is */
	bool debug;
	bool systemd_cgroup;
	unsigned int systemd_timeout; /* seconds */
	bool strict;
	bool version;
	bool help;
	/* of commands */
	char *bundle;
	char *config;
	char *console_socket;
	char *pidfd_socket;
	char *pid_file;
	char *format;
	unsigned int preserve_fds;
	unsigned int listen_fds; /* from the environment, added to preserve_fds */
	bool no_pivot;
	bool no_new_keyring;
	bool no_subreaper;
	bool detach;
	bool keep;
	bool all;
	bool force;
	bool quiet;
	bool json;
	bool rootless_spec;
	unsigned int last; /* explain */
	/* exec */
	char *process;
	char *cwd;
	char *user;
	char *apparmor;
	char *process_label;
	struct strings cgroups;
	struct strings env;
	struct strings gids;
	struct strings caps;
	bool tty;
	bool no_new_privs;
	bool ignore_paused;
	/* update, events */
	char *resources;
	char *blkio_weight;
	char *cpu_period;
	char *cpu_quota;
	char *cpu_burst;
	char *cpu_share;
	char *cpu_rt_period;
	char *cpu_rt_runtime;
	char *cpu_idle;
	char *cpuset_cpus;
	char *cpuset_mems;
	char *kernel_memory;
	char *kernel_memory_tcp;
	char *memory;
	char *memory_reservation;
	char *memory_swap;
	char *pids_limit;
	char *l3_cache_schema;
	char *mem_bw_schema;
	char *interval;
	bool stats;
	/* audit */
	char *audit_head;
	char *audit_anchor;
	/* install, uninstall */
	char *sysroot;
	char *program_path;
	bool dry_run;
	/* doctor */
	bool try_engines;
	/* do */
	char *rootfs;
	char *cpus;
	char *timeout;
	char *cpu_time;
	char *disk;
	char *tmpfs;
	char *writable_root;
	char *from;
	char *output_limit;
	char *file_size;
	char *network;
	char *preset;
	char *redact_rules;
	char *copy_out;
	char *stdin_file;
	bool no_stdin;
	char *denials;
	char *audit;
	char *env_file;
	char *profile;
	struct strings profile_add;
	struct strings volumes;
	struct strings ulimits, allow, deny;
	bool explain;
	bool stream;
	bool redact;
	bool strict_limits;
	bool is_code, is_file; /* what the word behind the language is; neither: it is guessed */
	/* box */
	char *box_id;
	char *idle;
	char *net_limit, *net_rate;
	struct box_deed *deed; /* what is recorded of the verb (box_audit.c) */
	bool remove;
	char *session;
	bool restart;
	/* pool */
	char *size;
	bool foreground;
	bool no_pool;
	/* mcp */
	bool keep_boxes, no_redact;
	char *ask, *rules, *by;
	bool for_box, always;
	/* learn */
	char *output;
	bool with_refused;
	struct learning *learning;	   /* for the command that is watched … */
	const struct cli_command *wrapped; /* … which this is */
	const struct explanation *held;	   /* by it, if it was refused: what refused it */
	const char *profile_shown;	   /* by `do`: whose list its filter is */
	/* the rest */
	bool dashes; /* "--" stood before the first word */
	const char *reading; /* the command whose options are read; NULL: those of all */
	char **args;
	size_t n_args;
	char **argv; /* the whole command line */
	size_t n_globals; /* words of it between the program and the command */
	struct arena *arena;
	int status; /* exit code when the command itself has succeeded */
	int failure; /* when it has failed; 0 stands for 1 */
	void (*fails)(struct cli *c, const struct error *e); /* of the command; NULL: nothing */
};

enum cli_kind {
	CLI_FLAG,
	CLI_TEXT,
	CLI_NUMBER,
	CLI_LIST,  /* may be repeated */
	CLI_MAYBE, /* a text behind "=", or "default" */
};

/* For learn, after a failure that a policy may be the reason of: what the container would have been
 * held to. */
void cli_held(struct cli *c, const struct create_options *o, const struct error *why);
void cli_held_by(struct cli *c, struct explanation *x, const struct error *why);

struct cli_option {
	const char *name;
	char letter; /* 0: none */
	enum cli_kind kind;
	size_t offset;
	const char *argument; /* its name in the help */
	const char *help;
};

struct cli_command {
	const char *name;
	const char *synopsis; /* what follows the options */
	const char *help;
	const struct cli_option *options;
	size_t n_options;
	size_t min_args, max_args;
	bool enters; /* its process enters a container: needs the protected copy of the program */
	int (*run)(struct cli *c, struct error *e);
	bool program; /* what follows the first argument is a program with its own options */
	int failure;  /* exit code of our own failure; 0 stands for 1 */
	/* Says of a failure what has to be said on standard output; it may come before all options
	 * are read. */
	void (*fails)(struct cli *c, const struct error *e);
	bool stateless; /* has no use for a state directory */
	bool answers;	/* engines parse its output, errors and all: no warning unless asked for */
	bool passing;	/* what it makes ends with it, so that any private directory will do */
	bool diagnoses; /* that there is no place for a state directory is for it to tell */
	bool wraps;	/* what follows its options is another command, which has `watched` … */
	bool watched;	/* … and takes c->learning */
	bool hidden;	/* in no list; what it is given is a descriptor, number 3, and no words */
};

#define CLI_OPTION(field, name, letter, kind, argument, help)                                      \
	{name, letter, kind, offsetof(struct cli, field), argument, help}

/* Reads options of one table from argv[*at] on and collects other words in c->args. After `words`
 * such words everything is one: 0 stops at the first and leaves it, SIZE_MAX takes options
 * anywhere. */
int cli_read_options(struct cli *c, char **argv, size_t *at, const struct cli_option *options,
		     size_t n, size_t words, struct error *e);

/* Notes of the library are warnings in the log. */
extern const struct noter cli_noter;

/* To standard output. */
int cli_print(const struct buf *b, struct error *e);

void cli_print_options(FILE *out, const struct cli_option *options, size_t n);

/* Those before the command. */
/* Which of the two ways to say it does not matter. */
bool cli_wants_systemd(const struct cli *c);

extern const struct cli_option cli_globals[];
extern const size_t cli_n_globals;

extern const struct cli_command cli_create, cli_start, cli_run, cli_state, cli_kill, cli_delete,
	cli_list, cli_exec, cli_spec, cli_features, cli_plan,
	cli_pause, cli_resume, cli_ps, cli_update, cli_events, cli_worker, cli_install,
	cli_uninstall, cli_policy, cli_explain, cli_audit, cli_doctor, cli_do, cli_learn,
	cli_box, cli_pool, cli_mcp, cli_approve;

extern const char cli_version[];
