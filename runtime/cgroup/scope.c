/*
 * The systemd driver: the container's cgroup is that of a scope.
 *
 * systemd starts a scope only with a process in it, and init shall be born inside, under its
 * limits, as with cgroupfs. So a child that does nothing, the holder, is the scope's first process;
 * it ends when init is there, or with the runtime. The record names the unit before systemd hears
 * of it.
 *
 * A scope without processes goes away by itself where systemd has the unified tree; on v1 alone it
 * has to be stopped. A unit is stopped only if its description has the container's claim: by now,
 * somebody else may have one of that name.
 *
 * A directory that systemd can't remove when a unit ends, since somebody has entered it in that
 * moment, stays with the claim on it, and is that of the next unit of this name. While init is
 * alive, the unit is the container's. Afterwards, what is in its directories is killed only if
 * systemd says that it still is.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cgroup/driver.h"
#include "cgroup/systemd.h"
#include "cgroup/tree.h"
#include "sys/child.h"
#include "sys/loop.h"

/* For undoing what a systemd that did not answer may have done. */
enum { UNDO_S = 2 };

enum { EMPTY_US = 20000 };

static int scope_open_for(const struct cgroup_unit *u, int64_t seconds, struct systemd *ret,
			  struct error *e)
{
	return systemd_open(u->of_user ? SYSTEMD_OF_USER : SYSTEMD_OF_MACHINE,
			    loop_now() + seconds * LOOP_SECOND, ret, e);
}

static int scope_open(const struct cgroup_unit *u, struct systemd *ret, struct error *e)
{
	return scope_open_for(u, u->timeout_s, ret, e);
}

/* Holds no descriptor, and hears systemd's signals. */
static void holder_main(pid_t parent)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NAME, "sbxrun:holder");
	if (getppid() != parent)
		_exit(1);
	signal(SIGTERM, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	close_range(0, ~0U, 0);
	for (;;)
		pause();
}

static pid_t holder_start(struct error *e)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0)
		holder_main(parent);
	return pid;
}

void cgroup_holder_end(struct cgroup_handle *h)
{
	if (h->holder > 0)
		child_end(h->holder);
	h->holder = 0;
}

/* Claims are words that no other container has. */
static const char *scope_description(const struct cgroup_dirs *d, struct arena *a)
{
	return arena_printf(a, SYSTEMD_CONTAINER "%s", d->n && d->v[0].claim ? d->v[0].claim : "");
}

static int scope_start(const struct cgroup_plan *p, const struct cgroup_dirs *d, pid_t holder,
		       struct error *e)
{
	const int64_t until = loop_now() + p->unit.timeout_s * LOOP_SECOND;
	struct unit_properties all = {.n = p->properties.n + 1};
	struct arena a = {0};
	int rc;

	all.v = arena_array(&a, all.n, struct unit_property);
	all.v[0] = (struct unit_property){
		.name = "Description", .type = UNIT_TEXT, .text = scope_description(d, &a)};
	memcpy(all.v + 1, p->properties.v, p->properties.n * sizeof(*all.v));
	rc = systemd_open_and_start(p->unit.of_user ? SYSTEMD_OF_USER : SYSTEMD_OF_MACHINE, until,
				    p->unit.name, &all, holder, e);
	arena_free(&a);
	return rc;
}

static bool dir_holds(const struct cgroup_dir *d, pid_t pid)
{
	struct cgroup_pid_list pids = {0};
	char full[CGROUP_PATH_SIZE];
	autoclose int dfd = -1;
	bool found = false;
	size_t i;

	if (!cgroup_full_path(d->mount, d->path, full))
		return false;
	dfd = open(full, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dfd >= 0 && cgroup_pids_read(dfd, &pids) == 0)
		for (i = 0; i < pids.n; i++)
			found = found || pids.v[i] == pid;
	cgroup_pid_list_free(&pids);
	return found;
}

/* Where we expect it, or limits would be written elsewhere than systemd's. */
static int scope_check_place(const struct cgroup_plan *p, pid_t holder, struct error *e)
{
	size_t i;

	for (i = 0; i < p->dirs.n; i++)
		if (p->dirs.v[i].by_systemd && dir_holds(&p->dirs.v[i], holder))
			return 0;
	return err_set(e, ERR_HOST,
		       "systemd has started %s, but not as the cgroup %s: is this the systemd of "
		       "another cgroup namespace?",
		       p->unit.name, p->dirs.n ? p->dirs.v[p->dirs.n - 1].path : "");
}

/* 1: the unit of this name is the container's; 0: another's, or there is none; -1: no answer. */
static int scope_is_ours(struct systemd *s, const struct cgroup_unit *u,
			 const struct cgroup_dirs *d, struct error *e)
{
	struct arena a = {0};
	char *text = NULL;
	int rc = systemd_describe_unit(s, u->name, &a, &text, e);

	if (rc == 0)
		rc = str_eq(text, scope_description(d, &a));
	arena_free(&a);
	return rc;
}

/* Only what is the container's: a name is free, and may be another's, once the last process has
 * ended, which was before we could ask. */
static int scope_stop(struct systemd *s, const struct cgroup_unit *u, const struct cgroup_dirs *d,
		      struct error *e)
{
	int ours = scope_is_ours(s, u, d, e);

	return ours > 0 ? systemd_stop_unit(s, u->name, e) : ours;
}

/* After a call that failed, too: it may have reached systemd, and only its answer not us. A scope
 * whose process ends while it is started stays, empty, since nobody is seen to leave it; once the
 * holder has ended, systemd refuses to start it. */
static void scope_undo(const struct cgroup_unit *u, const struct cgroup_dirs *d, int64_t seconds,
		       struct cgroup_handle *h)
{
	struct error ignored;
	struct systemd s;

	cgroup_holder_end(h);
	if (scope_open_for(u, seconds, &s, &ignored) < 0)
		return;
	(void)!scope_stop(&s, u, d, &ignored);
	systemd_close(&s);
}

static void scope_give_up(const struct cgroup_unit *u, const struct cgroup_dirs *d,
			  struct cgroup_handle *h)
{
	scope_undo(u, d, u->timeout_s, h);
}

static int scope_begin(const struct cgroup_plan *p, const struct cgroup_dirs *d,
		       struct cgroup_handle *h, struct error *e)
{
	h->holder = holder_start(e);
	if (h->holder < 0) {
		h->holder = 0;
		return -1;
	}
	if (scope_start(p, d, h->holder, e) < 0) {
		scope_undo(&p->unit, d, UNDO_S, h);
		return -1;
	}
	log_info("systemd has started %s", p->unit.name);
	if (scope_check_place(p, h->holder, e) < 0) {
		scope_give_up(&p->unit, d, h);
		return -1;
	}
	return 0;
}

static int scope_update(const struct cgroup_plan *p, struct error *e)
{
	struct systemd s;
	int rc;

	if (!p->properties.n)
		return 0;
	if (scope_open(&p->unit, &s, e) < 0)
		return -1;
	rc = systemd_set_properties(&s, p->unit.name, &p->properties, e);
	systemd_close(&s);
	return rc;
}

static int scope_holds(const struct cgroup_unit *u, const struct cgroup_dirs *d, struct error *e)
{
	struct systemd s;
	int ours;

	if (scope_open(u, &s, e) < 0)
		return -1;
	ours = scope_is_ours(&s, u, d, e);
	systemd_close(&s);
	return ours;
}

/* Whose the unit's cgroup is; -1: there is none any more. Of a create that was cut short, systemd
 * may be about to make it. */
static int scope_whose(const struct cgroup_dirs *d)
{
	char full[CGROUP_PATH_SIZE];
	int whose = -1, one;
	size_t i;

	for (i = 0; i < d->n; i++) {
		if (!d->v[i].by_systemd || !cgroup_full_path(d->v[i].mount, d->v[i].path, full))
			continue;
		one = cgroup_claim_whose(&d->v[i], -1, full);
		if (one < 0 && !d->v[i].inode)
			one = CGROUP_NOBODYS;
		if (one == CGROUP_OURS)
			return one;
		whose = one < 0 ? whose : one;
	}
	return whose;
}

/* The last one may still be on its way out: of the processes, and then of the cgroup. */
static bool scope_is_empty(int dfd)
{
	struct cgroup_waiting wait = {.left_us = EMPTY_US};
	char text[256];

	do {
		if (fd_read_at(dfd, "cgroup.events", text, sizeof(text)) < 0)
			return false;
		if (strstr(text, "populated 0"))
			return true;
	} while (cgroup_wait(&wait));
	return false;
}

/* Of a scope in the unified tree systemd is told by the kernel when its last process has ended. It
 * need not be asked to stop it, which would mean to wait until it is done with everything before;
 * and the directory is left to it, where it looks. */
static bool scope_ends_by_itself(const struct cgroup_dirs *d)
{
	char full[CGROUP_PATH_SIZE];
	autoclose int dfd = -1;
	size_t i;

	for (i = 0; i < d->n; i++)
		if (d->v[i].by_systemd && d->v[i].unified)
			break;
	if (i == d->n || !cgroup_full_path(d->v[i].mount, d->v[i].path, full))
		return false;
	dfd = open(full, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dfd < 0 && errno == ENOENT)
		return d->v[i].inode != 0; /* it was there, and systemd has been quick */
	return dfd >= 0 && cgroup_claim_whose(&d->v[i], -1, full) == CGROUP_OURS &&
	       scope_is_empty(dfd);
}

/* A systemd that doesn't answer must not keep a container from being deleted: its processes are
 * gone, and systemd finds the unit empty sooner or later. */
static bool scope_end(const struct cgroup_unit *u, const struct cgroup_dirs *d,
		      const struct noter *noter)
{
	int whose = scope_whose(d);
	struct error e;
	struct systemd s;
	int rc;

	if (whose != CGROUP_OURS && whose != CGROUP_NOBODYS)
		return true;
	if (whose == CGROUP_OURS && scope_ends_by_itself(d))
		return false;
	rc = scope_open(u, &s, &e);
	if (rc == 0) {
		rc = scope_stop(&s, u, d, &e);
		systemd_close(&s);
	}
	if (rc < 0)
		note(noter,
		     "%s (the container is deleted; `systemctl stop %s` removes what systemd still "
		     "knows of it)",
		     e.text, u->name);
	return rc == 0;
}

const struct cgroup_driver_calls cgroup_by_systemd = {
	.begin = scope_begin,
	.give_up = scope_give_up,
	.update = scope_update,
	.holds = scope_holds,
	.end = scope_end,
};
