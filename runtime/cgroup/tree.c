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

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

bool cgroup_full_path(const char *mount, const char *path, char full[CGROUP_PATH_SIZE])
{
	int n = snprintf(full, CGROUP_PATH_SIZE, "%s%s", mount, path);

	return n > 0 && n < CGROUP_PATH_SIZE;
}

int cgroup_dir_open(const struct cgroup_dir *d)
{
	char full[CGROUP_PATH_SIZE];
	autoclose int dfd = -1;
	int whose;

	if (!cgroup_full_path(d->mount, d->path, full)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	dfd = open(full, DIR_FLAGS);
	whose = dfd < 0 ? -1 : cgroup_claim_whose(d, dfd, full);
	if (whose == CGROUP_OURS)
		return fd_steal(&dfd);
	if (whose >= 0)
		errno = ENOENT;
	return -1;
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

/* A directory on the way down, whose children are being gone through. On the heap and not on the
 * stack, for whoever is in the container decides how many there are. */
struct level {
	struct level *up;
	char *names;
	char *name; /* of the child that is next, or that the walk is in */
};

static struct level *level_push(struct level *up, int dfd)
{
	struct level *l = malloc(sizeof(*l));
	char *names = l ? children_list(dfd) : NULL;

	if (!names) {
		free(l);
		return NULL;
	}
	*l = (struct level){.up = up, .names = names, .name = names};
	return l;
}

static struct level *level_pop(struct level *l)
{
	struct level *up = l->up;

	free(l->names);
	free(l);
	return up;
}

/* The child that is next is closed to us: what it has below is, too, but it may have nothing. */
static int walk_past(int dfd, struct level *l, cgroup_leave *leave, void *arg, bool *denied)
{
	if (leave && leave(dfd, l->name, arg) < 0)
		return -1;
	if (!leave || faccessat(dfd, l->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		*denied = true;
	l->name += strlen(l->name) + 1;
	return 0;
}

/* Into the child that is next. 0 also when it is gone. */
static int walk_down(int *dfd, struct level **l, cgroup_leave *leave, void *arg, bool *denied)
{
	struct level *below;
	int child = openat(*dfd, (*l)->name, DIR_FLAGS);

	if (child < 0 && errno == EACCES)
		return walk_past(*dfd, *l, leave, arg, denied);
	if (child < 0) {
		(*l)->name += strlen((*l)->name) + 1;
		return is_gone(errno) ? 0 : -1;
	}
	fd_close(dfd);
	*dfd = child;
	below = level_push(*l, child);
	if (!below)
		return -1;
	*l = below;
	return 0;
}

/* Back to the parent, if the walk did not begin here. */
static int walk_up(int *dfd, struct level **l, cgroup_leave *leave, void *arg)
{
	int parent;

	*l = level_pop(*l);
	if (!*l)
		return 0;
	parent = openat(*dfd, "..", DIR_FLAGS);
	if (parent < 0)
		return -1;
	fd_close(dfd);
	*dfd = parent;
	if (leave && leave(parent, (*l)->name, arg) < 0)
		return -1;
	(*l)->name += strlen((*l)->name) + 1;
	return 0;
}

int cgroup_walk(int dfd, cgroup_visit *visit, cgroup_leave *leave, void *arg)
{
	int at = openat(dfd, ".", DIR_FLAGS);
	bool denied = false;
	struct level *l;
	int rc;

	if (at < 0)
		return is_gone(errno) ? 0 : -1;
	l = level_push(NULL, at);
	rc = l ? 0 : -1;
	while (l && rc == 0) {
		if (*l->name) {
			rc = walk_down(&at, &l, leave, arg, &denied);
			continue;
		}
		if (visit && visit(at, arg) < 0) {
			denied = denied || errno == EACCES;
			rc = errno == EACCES ? 0 : -1;
		}
		if (rc == 0)
			rc = walk_up(&at, &l, leave, arg);
	}
	while (l)
		l = level_pop(l);
	fd_close(&at);
	if (rc == 0 && denied) {
		errno = EACCES;
		rc = -1;
	}
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
