/* Steps that init (init.c) and further processes (join.c) share; inside init/ only. */
#pragma once

#include "init/init.h"

/* Root of the container's user namespace, where it has one of its own. */
int init_become_root(struct init *in, struct error *e);

/* No ptrace and no /proc/PID/fd for others without CAP_SYS_PTRACE. */
int init_hide(struct init *in, struct error *e);

/* Through in->own.proc_dfd. */
int init_write_oom_score(struct init *in, struct error *e);

/* Personality, memory policy, scheduling, and hard limits that must be raised. */
int init_set_limits(struct init *in, struct error *e);

int init_new_keyring(struct init *in, struct error *e);

/* Working directory, standard streams, groups, ids, capabilities, no_new_privs, umask. */
int init_take_identity(struct init *in, struct error *e);

/* The filter goes in with CAP_SYS_ADMIN, for there is no no_new_privs. */
bool init_filter_needs_admin(const struct init *in);

/* Sets in->own.program and in->own.env. */
int init_find_program(struct init *in, struct error *e);

/* A program whose system calls the policy does not let work is named, and refused, while somebody
 * can be told. It is for the user's sake: the filter is what holds. */
int init_check_abi(const struct init *in, struct error *e);

/* Label, Landlock, signals, descriptors: all but the streams, those to be kept, the stage socket,
 * and the one on which the next word comes. */
int init_clear_inheritance(struct init *in, int next_fd, struct error *e);

/* Keeps what the last steps need and wipes the rest: config, plan and record. Not where hooks of
 * start are to come, which are told of them. */
void init_forget(struct init *in);

/* Loads the filter before `start` comes, if it lets init do what is left, and gives up the
 * right that was kept for it. An error if it must be there before others see this process,
 * and can't be. */
int init_load_filter_early(struct init *in, struct error *e);

/* Executes the program; a failure is told to the other side. */
__attribute__((noreturn)) void init_execute_or_die(struct init *in, int report_fd);
