/*
 * Signals to everything in a container's cgroups.
 *
 * cgroup.kill of the unified tree takes all at once, forks included. What is in v1 hierarchies only
 * is frozen first, so that it can't fork away, signalled one by one, and thawed, since a frozen
 * process does not die. A pid in a list may be another process by the time it is signalled; so a
 * pidfd is opened, and the signal sent only if the pid is still listed after that.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "cgroup/tree.h"
#include "cgroup/write.h"
#include "sys/loop.h"

#define KILL_US 10000000L
#define REST_US 2000000L
#define BATCH 64

static int pid_compare(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static void pids_sort(struct cgroup_pid_list *l)
{
	size_t i, n = 0;

	if (!l->n)
		return;
	qsort(l->v, l->n, sizeof(*l->v), pid_compare);
	for (i = 0; i < l->n; i++)
		if (!n || l->v[n - 1] != l->v[i])
			l->v[n++] = l->v[i];
	l->n = n;
}

static bool pids_have(const struct cgroup_pid_list *l, pid_t pid)
{
	return l->n && bsearch(&pid, l->v, l->n, sizeof(pid), pid_compare);
}

/* The processes directly in dfd: up to BATCH at a time. */
static int batch_signal(int dfd, const pid_t *pids, size_t n, int sig)
{
	struct cgroup_pid_list now = {0};
	int fds[BATCH];
	int rc;
	size_t i;

	for (i = 0; i < n; i++)
		fds[i] = (int)syscall(SYS_pidfd_open, pids[i], 0);
	rc = cgroup_pids_read(dfd, &now);
	pids_sort(&now);
	for (i = 0; i < n; i++) {
		if (rc == 0 && fds[i] >= 0 && pids[i] != getpid() && pids_have(&now, pids[i]) &&
		    syscall(SYS_pidfd_send_signal, fds[i], sig, NULL, 0) < 0 && errno != ESRCH)
			rc = -1;
		fd_close(&fds[i]);
	}
	cgroup_pid_list_free(&now);
	return rc;
}

static int visit_signal(int dfd, void *arg)
{
	struct cgroup_pid_list l = {0};
	const int *sig = arg;
	int rc = cgroup_pids_read(dfd, &l);
	size_t i;

	for (i = 0; rc == 0 && i < l.n; i += BATCH)
		rc = batch_signal(dfd, l.v + i, l.n - i < BATCH ? l.n - i : BATCH, *sig);
	cgroup_pid_list_free(&l);
	return rc;
}

static int pids_collect(const struct cgroup_dirs *d, struct cgroup_pid_list *l, struct error *e);

int cgroup_signal(const struct cgroup_dirs *d, int sig, struct error *e)
{
	struct cgroup_pid_list all = {0};
	/* Another try where something is closed must not signal the rest twice. */
	int rc = pids_collect(d, &all, e);
	size_t i;

	cgroup_pid_list_free(&all);
	if (rc < 0)
		return -1;
	for (i = 0; i < d->n; i++) {
		autoclose int dfd = cgroup_dir_open(&d->v[i]);

		if (dfd < 0 && errno == ENOENT)
			continue;
		if (dfd < 0 || cgroup_walk(dfd, visit_signal, NULL, &sig) < 0)
			return err_sys(e, "cgroup: signal the processes of %s%s", d->v[i].mount,
				       d->v[i].path);
		/* All of the unified tree is in the others too, and has got it. */
		if (d->v[i].unified)
			return 0;
	}
	return 0;
}

/* When it fails, what could be read is in the list. */
static int pids_collect(const struct cgroup_dirs *d, struct cgroup_pid_list *l, struct error *e)
{
	size_t i;

	int rc = 0;

	for (i = 0; i < d->n && rc == 0; i++) {
		autoclose int dfd = cgroup_dir_open(&d->v[i]);

		if (dfd < 0 && errno == ENOENT)
			continue;
		if (dfd < 0 || cgroup_pids_below(dfd, l) < 0)
			rc = err_sys(e, "cgroup: read the processes of %s%s", d->v[i].mount,
				     d->v[i].path);
	}
	pids_sort(l);
	return rc;
}

bool cgroup_is_empty(const struct cgroup_dirs *d)
{
	struct cgroup_pid_list l = {0};
	struct error ignored;
	bool empty = pids_collect(d, &l, &ignored) == 0 && l.n == 0;

	cgroup_pid_list_free(&l);
	return empty;
}

int cgroup_pids(const struct cgroup_dirs *d, struct arena *a, pid_t **ret_pids, size_t *ret_n,
		struct error *e)
{
	struct cgroup_pid_list l = {0};

	if (pids_collect(d, &l, e) < 0) {
		cgroup_pid_list_free(&l);
		return -1;
	}
	*ret_pids = arena_array(a, l.n + 1, pid_t);
	if (l.n)
		memcpy(*ret_pids, l.v, l.n * sizeof(pid_t));
	*ret_n = l.n;
	cgroup_pid_list_free(&l);
	return 0;
}

static int visit_thaw(int dfd, void *arg)
{
	(void)arg;
	(void)!cgroup_write_at(dfd, "freezer.state", "THAWED");
	return 0;
}

/* Starts freezing the v1 freezer, or thaws it and all below it, for a container that may write its
 * cgroups can have frozen a part of itself; best effort. */
static void freezer_set(const struct cgroup_dirs *d, bool freeze)
{
	size_t i;

	for (i = 0; i < d->n; i++) {
		if (d->v[i].freezer) {
			autoclose int dfd = cgroup_dir_open(&d->v[i]);

			if (dfd >= 0 && freeze)
				(void)!cgroup_write_at(dfd, "freezer.state", "FROZEN");
			else if (dfd >= 0)
				(void)!cgroup_walk(dfd, visit_thaw, NULL, NULL);
		}
	}
}

static bool has_unified(const struct cgroup_dirs *d)
{
	return d->n && d->v[d->n - 1].unified;
}

/* SIGKILL to all, once. Failures show in what is left. */
static void kill_once(const struct cgroup_dirs *d)
{
	bool unified = has_unified(d);
	struct error ignored;
	size_t i;

	if (unified) {
		autoclose int dfd = cgroup_dir_open(&d->v[d->n - 1]);

		if (dfd >= 0)
			(void)!cgroup_write_at(dfd, "cgroup.kill", "1");
	} else {
		freezer_set(d, true);
	}
	/* One hierarchy at a time: a process may have been left in some of them only. */
	for (i = 0; i < d->n - unified; i++) {
		struct cgroup_dirs one = {.n = 1, .v = &d->v[i]};

		(void)cgroup_signal(&one, SIGKILL, &ignored);
	}
	freezer_set(d, false);
}

/* For what can be killed, but not be listed, since the container has closed it. -1:
 * can't be told. */
static int is_populated(const struct cgroup_dirs *d)
{
	autoclose int dfd = has_unified(d) ? cgroup_dir_open(&d->v[d->n - 1]) : -1;
	char text[512];

	if (dfd < 0 || fd_read_at(dfd, "cgroup.events", text, sizeof(text)) <= 0)
		return -1;
	return strstr(text, "populated 1") != NULL;
}

/* Directories of a unit are the container's for certain while its init is alive. What was killed
 * with init has a moment to end. */
static bool kill_is_over(const struct cgroup_dirs *d, int init_pidfd)
{
	struct cgroup_waiting wait = {.left_us = REST_US};

	if (init_pidfd < 0 || !loop_is_ready(init_pidfd, POLLIN, 0))
		return false;
	while (!cgroup_is_empty(d) && cgroup_wait(&wait))
		;
	return true;
}

int cgroup_kill_with_init(const struct cgroup_dirs *d, int init_pidfd, struct error *e)
{
	struct cgroup_waiting wait = {.left_us = KILL_US};
	struct cgroup_pid_list left = {0};
	int rc, closed;
	size_t n;

	do {
		cgroup_pid_list_free(&left);
		if (kill_is_over(d, init_pidfd))
			return 0;
		rc = pids_collect(d, &left, e);
		n = left.n;
		closed = rc < 0 && e->sys == EACCES ? is_populated(d) : -1;
		if (closed == 0)
			rc = 0;
		if ((rc < 0 && closed < 0) ||
		    (rc == 0 && (n == 0 || (n == 1 && left.v[0] == getpid()))))
			break;
		kill_once(d);
		rc = -1;
	} while (cgroup_wait(&wait));
	if (rc < 0 && n)
		err_set(e, ERR_SYSTEM,
			"cgroup: %zu process%s still there %ld s after SIGKILL, first %d", n,
			n == 1 ? " is" : "es are", KILL_US / 1000000, (int)left.v[0]);
	cgroup_pid_list_free(&left);
	return rc;
}

int cgroup_kill(const struct cgroup_dirs *d, struct error *e)
{
	return cgroup_kill_with_init(d, -1, e);
}
