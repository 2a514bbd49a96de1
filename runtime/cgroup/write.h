/* Carrying out a plan's writes. For the files of cgroup/ only. */
#pragma once

#include "plan/cgroup.h"

/* fd_write_at(), with a line in the log. */
int cgroup_write_at(int dfd, const char *file, const char *value);

/* Logs what was done to a file of directory dfd, or to dfd itself (NULL). Keeps errno. */
void cgroup_log(const char *what, int dfd, const char *file, int result);

/* All writes of plan p for its dir number i, whose directory is dfd. warning: of size bytes; what
 * was tolerated is appended. */
int cgroup_write_all(const struct cgroup_plan *p, size_t i, int dfd, char *warning, size_t size,
		     struct error *e);

/* Are there any that new parents need? They are written into the parent dfd. */
bool cgroup_write_has_parents(const struct cgroup_plan *p, size_t i);
int cgroup_write_parent(const struct cgroup_plan *p, size_t i, int dfd, struct error *e);

/* cgroup/update.c, pure: what brings a file back to what it said (old, without the last newline)
 * after `written` was written to it. NULL: nothing can. */
const char *cgroup_write_back(const char *file, const char *written, const char *old,
			      struct arena *a);

/* cgroup/devices.c: attaches the plan's device program to dfd. */
int cgroup_devices_attach(const struct cgroup_plan *p, int dfd, char *warning, size_t size,
			  struct error *e);
