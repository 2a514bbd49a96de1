/*
 * Walking a cgroup subtree. A container with a cgroup mount of its own decides how deep and wide
 * its part is, so the walk keeps two descriptors open however deep it gets: it closes a directory
 * when it goes down and comes back through "..". cgroupfs has no symlinks; O_NOFOLLOW all the same.
 */
#include "cgroup/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/fd.h"
#include "base/str.h"

#define DEEPEST 8192 /* levels of recursion; some 100 bytes of stack each */
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

bool cgroup_full_path(const char *mount, const char *path, char full[CGROUP_PATH_SIZE])
{
	int n = snprintf(full, CGROUP_PATH_SIZE, "%s%s", mount, path);

	return n > 0 && n < CGROUP_PATH_SIZE;
}

int cgroup_dir_open(const struct cgroup_dir *d)
{
	char full[CGROUP_PATH_SIZE];

	if (!cgroup_full_path(d->mount, d->path, full)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(full, DIR_FLAGS);
}

/* The names of the directories in dfd, one after the other, an empty one last. malloc'ed. */
static char *children_list(int dfd)
{
	char *names = NULL, *grown;
	struct dirent *entry;
	size_t len = 0, add;
	struct stat st;
	DIR *dir;
	int fd;

	/* cgroupfs counts subdirectories in the links: two means none */
	if (fstat(dfd, &st) == 0 && st.st_nlink == 2)
		return calloc(1, 1);
	fd = openat(dfd, ".", DIR_FLAGS);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		fd_close(&fd);
		return errno == ENOENT || errno == ENODEV ? calloc(1, 1) : NULL;
	}
	names = calloc(1, 1);
	while (names && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || str_eq(entry->d_name, ".") ||
		    str_eq(entry->d_name, ".."))
			continue;
		add = strlen(entry->d_name) + 1;
		grown = realloc(names, len + add + 1);
		if (!grown) {
			free(names);
			names = NULL;
			break;
		}
		names = grown;
		memcpy(names + len, entry->d_name, add);
		len += add;
		names[len] = '\0';
	}
	closedir(dir);
	return names;
}

static bool is_gone(int sys)
{
	return sys == ENOENT || sys == ENODEV;
}

/* *dfd is closed and opened again on the way. */
static int walk_down(int *dfd, unsigned int depth, cgroup_visit *visit, cgroup_leave *leave,
		     void *arg)
{
	char *names = NULL;
	char *name;
	int rc = -1;
	int child;

	if (depth == DEEPEST) {
		errno = ELOOP;
		return -1;
	}
	names = children_list(*dfd);
	if (!names)
		return -1;
	for (name = names; *name; name += strlen(name) + 1) {
		child = openat(*dfd, name, DIR_FLAGS);
		if (child < 0) {
			if (is_gone(errno))
				continue;
			goto out;
		}
		fd_close(dfd);
		if (walk_down(&child, depth + 1, visit, leave, arg) == 0)
			*dfd = openat(child, "..", DIR_FLAGS);
		fd_close(&child);
		if (*dfd < 0)
			goto out;
		if (leave && leave(*dfd, name, arg) < 0)
			goto out;
	}
	rc = visit ? visit(*dfd, arg) : 0;
out:
	free(names);
	return rc;
}

int cgroup_walk(int dfd, cgroup_visit *visit, cgroup_leave *leave, void *arg)
{
	int copy = openat(dfd, ".", DIR_FLAGS);
	int rc;

	if (copy < 0)
		return is_gone(errno) ? 0 : -1;
	rc = walk_down(&copy, 0, visit, leave, arg);
	fd_close(&copy);
	return rc;
}

void cgroup_pid_list_free(struct cgroup_pid_list *l)
{
	free(l->v);
	*l = (struct cgroup_pid_list){0};
}

static int pid_list_add(struct cgroup_pid_list *l, pid_t pid)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;
		pid_t *grown = reallocarray(l->v, cap, sizeof(*grown));

		if (!grown)
			return -1;
		l->v = grown;
		l->cap = cap;
	}
	l->v[l->n++] = pid;
	return 0;
}

int cgroup_pids_read(int dfd, struct cgroup_pid_list *l)
{
	autoclose int fd = openat(dfd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	char text[4096];
	pid_t pid = 0;
	ssize_t n, i;

	if (fd < 0)
		return is_gone(errno) ? 0 : -1;
	while ((n = read(fd, text, sizeof(text))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		/* EOPNOTSUPP: a threaded cgroup of v2; its domain's list has them all */
		if (n < 0)
			return is_gone(errno) || errno == EOPNOTSUPP ? 0 : -1;
		for (i = 0; i < n; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			/* 0: a process outside our pid namespace */
			if (pid > 0 && pid_list_add(l, pid) < 0)
				return -1;
			pid = 0;
		}
	}
	return 0;
}

static int visit_pids(int dfd, void *arg)
{
	return cgroup_pids_read(dfd, arg);
}

int cgroup_pids_below(int dfd, struct cgroup_pid_list *l)
{
	return cgroup_walk(dfd, visit_pids, NULL, l);
}

bool cgroup_wait(struct cgroup_waiting *w)
{
	struct timespec ts;

	if (w->left_us <= 0)
		return false;
	if (w->step_us < 200)
		w->step_us = 200;
	ts = (struct timespec){.tv_nsec = w->step_us * 1000};
	w->left_us -= w->step_us;
	if (w->step_us < 50000)
		w->step_us += w->step_us / 2;
	nanosleep(&ts, NULL);
	return true;
}

bool cgroup_dfd_frozen(int dfd, bool unified)
{
	char text[512];

	if (unified)
		return fd_read_at(dfd, "cgroup.events", text, sizeof(text)) > 0 &&
		       strstr(text, "frozen 1");
	return fd_read_at(dfd, "freezer.state", text, sizeof(text)) > 0 && !str_eq(text, "THAWED");
}
