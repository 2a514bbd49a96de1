/* A cgroup directory and what is below it. For the files of cgroup/ only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "plan/cgroup.h"

/* xattr of parents that a create made, so that the last delete takes them away. */
#define CGROUP_MARK "trusted.sbxrun"

/* mount + path. false: too long. */
#define CGROUP_PATH_SIZE 4096
bool cgroup_full_path(const char *mount, const char *path, char full[CGROUP_PATH_SIZE]);

/* The directory of d. -1 with errno; ENOENT when there is none, or it is another container's. */
int cgroup_dir_open(const struct cgroup_dir *d);

/* cgroup/claim.c. Whose the directory at d's path is, which is dfd, or, if that is -1, at full. -1
 * with errno. */
enum cgroup_whose {
	CGROUP_OURS,
	CGROUP_NOBODYS, /* nothing says that it is ours; it holds no process that is */
	CGROUP_ANOTHERS,
};
int cgroup_claim_whose(const struct cgroup_dir *d, int dfd, const char *full);

/* Makes dfd, at full, the cgroup of d's container and sets d->inode. It must be nobody's
 * and, if it was there before, empty but for holder. 1: it was there, and had to be removed
 * to be made anew. */
int cgroup_claim(int dfd, const char *full, bool existed, pid_t holder, struct cgroup_dir *d,
		 struct error *e);

/* Refuses d if it is in another container's cgroup; after it was claimed. */
int cgroup_claim_check_above(const struct cgroup_dir *d, struct error *e);

/* Refuses d for the policy if it is in the cgroup of a service, or of a process, that we are not in
 * ourselves. */
int cgroup_check_apart(const struct cgroup_dir *d, const char *policy, struct error *e);

void cgroup_disclaim(int dfd);

/* cgroup/inner.c. What is in the container's cgroup dfd and is the container's: a descriptor, or -1
 * with errno. */
int cgroup_inner_make(int dfd);
int cgroup_inner_open(int dfd);

/* Writes the limits of the plan for hierarchy i to the inner cgroup dfd, as far as that works. */
void cgroup_inner_repeat(const struct cgroup_plan *p, size_t i, int dfd);

/* A claim that is no other container's. record: the absolute path of where its
 * record is, ROOT/ID. */
char *cgroup_claim_new(const char *record, struct arena *a);

/* cgroup/remove.c: removes all that is below the cgroup full and holds no process.
 * -1 with errno. */
int cgroup_empty(const char *full);

/*
 * Calls visit for every cgroup below dfd and then for dfd itself, children first. parent_dfd and
 * name are where the visited one hangs (-1 and NULL for the top). visit returns 0 to go on, -1 with
 * errno to end the walk. A cgroup that vanishes on the way is no error. One that is closed to us
 * (EACCES) is passed over, and the walk, once it has been everywhere else, ends with that error.
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
