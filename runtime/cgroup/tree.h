/* A cgroup directory and what is below it. For the files of cgroup/ only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "plan/cgroup.h"

/* xattr of parents that a create made, so that the last delete takes them away. */
#define CGROUP_MARK "trusted.sbxrun"

/* mount + path. false: too long. */
#define CGROUP_PATH_SIZE 4096
bool cgroup_full_path(const char *mount, const char *path, char full[CGROUP_PATH_SIZE]);

/* The directory of d. -1 with errno; ENOENT when there is none. */
int cgroup_dir_open(const struct cgroup_dir *d);

/*
 * Calls visit for every cgroup below dfd and then for dfd itself, children first. parent_dfd and
 * name are where the visited one hangs (-1 and NULL for the top). visit returns 0 to go on, -1 with
 * errno to end the walk. A cgroup that vanishes on the way is no error.
 * Trust: the container may have made, named and nested what is below dfd.
 */
typedef int cgroup_visit(int dfd, void *arg);
typedef int cgroup_leave(int parent_dfd, const char *name, void *arg);
int cgroup_walk(int dfd, cgroup_visit *visit, cgroup_leave *leave, void *arg);

/* A growing list of pids; malloc'ed, because a kill loop fills it again and again. */
struct cgroup_pid_list {
	size_t n;
	size_t cap;
	pid_t *v;
};
void cgroup_pid_list_free(struct cgroup_pid_list *l);

/* Appends the processes that are directly in dfd. -1 with errno. */
int cgroup_pids_read(int dfd, struct cgroup_pid_list *l);

/* Appends the processes in and below dfd. */
int cgroup_pids_below(int dfd, struct cgroup_pid_list *l);

/* Waiting in growing steps up to a limit: wait = {.left_ms = 5000}; while (cgroup_wait(&wait)). */
struct cgroup_waiting {
	long left_us;
	long step_us;
};
bool cgroup_wait(struct cgroup_waiting *w);

/* Frozen or on the way there, by either version's files. Missing files: false. */
bool cgroup_dfd_frozen(int dfd, bool unified);
