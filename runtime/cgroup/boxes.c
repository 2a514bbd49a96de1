#include "cgroup/boxes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cgroup/systemd.h"
#include "cgroup/tree.h"
#include "sys/child.h"
#include "sys/loop.h"

#define SLICE "system.slice"
#define HOLDER "holder" /* its cgroup in the scope: what gives controllers on has no processes */

enum { START_S = 5, LOCK_TRIES = 500, LOCK_US = 10000, IDLE_S = 60 };

/* ---- the tree ---- */

/* The hierarchy in which systemd looks for processes. */
static const struct cgroup_hierarchy *boxes_tree(const struct cgroup_host *host)
{
	const struct cgroup_hierarchy *found = NULL;
	size_t i;

	for (i = 0; i < host->n; i++) {
		const struct cgroup_hierarchy *h = &host->v[i];

		if (h->units &&
		    (h->unified || (!found && str_eq(h->controllers, "name=systemd"))))
			found = h;
	}
	return found;
}

static int boxes_open_dir(const struct cgroup_hierarchy *h, const char *path)
{
	char full[CGROUP_PATH_SIZE];

	return cgroup_full_path(h->mount, path, full) ?
		       open(full, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) :
		       -1;
}

static bool dir_has_process(int dfd, const char *name)
{
	autoclose int sub_dfd =
		openat(dfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct cgroup_pid_list pids = {0};
	bool found;

	if (sub_dfd < 0)
		return false;
	found = cgroup_pids_read(sub_dfd, &pids) == 0 && pids.n > 0;
	cgroup_pid_list_free(&pids);
	return found;
}

static bool boxes_are_held(int dfd)
{
	return dir_has_process(dfd, HOLDER) || dir_has_process(dfd, ".");
}

static bool lock_within(int dfd, int how)
{
	struct cgroup_waiting wait = {.left_us = LOCK_TRIES * LOCK_US};

	while (flock(dfd, how | LOCK_NB) < 0)
		if (errno != EWOULDBLOCK || !cgroup_wait(&wait))
			return false;
	return true;
}

/* ---- the holder ---- */

static bool holder_is_alone(int dfd)
{
	int own_dfd = openat(dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own_dfd < 0 ? NULL : fdopendir(own_dfd);
	struct dirent *d;
	bool alone = true;

	if (!dir) {
		fd_close(&own_dfd);
		return true;
	}
	while ((d = readdir(dir)))
		alone = alone && (d->d_type != DT_DIR || d->d_name[0] == '.' ||
				  str_eq(d->d_name, HOLDER));
	closedir(dir);
	return alone;
}

/* Out of the scope's own cgroup, in the unified tree: on v1 there is no need. */
static void holder_step_aside(int dfd)
{
	char text[32];

	if (mkdirat(dfd, HOLDER, 0755) < 0 && errno != EEXIST)
		return;
	snprintf(text, sizeof(text), "%d", getpid());
	(void)!fd_write_at(dfd, HOLDER "/cgroup.procs", text);
}

/* Nobody who looks at processes reads there what somebody's program was. */
static void holder_forget_words(void)
{
	enum { ARG_START = 48, ENV_END = 51 };
	unsigned long v[ENV_END + 1] = {0};
	char text[2048], *p;
	int i;

	if (fd_read_at(AT_FDCWD, "/proc/self/stat", text, sizeof(text)) < 0 ||
	    !(p = strrchr(text, ')')))
		return;
	for (i = 3; i <= ENV_END && p && (p = strchr(p, ' ')); i++)
		v[i] = strtoul(++p, NULL, 10);
	if (i > ENV_END && v[ARG_START] && v[ARG_START] < v[ENV_END])
		memset((void *)v[ARG_START], 0, v[ENV_END] - v[ARG_START]);
}

/* In a process of its own, which nobody waits for. `go`: closed when systemd has put it there. */
__attribute__((noreturn)) static void holder_main(const struct cgroup_hierarchy *h,
						  const char *path, int go_fd)
{
	sigset_t none;
	char byte;
	int dfd;

	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NAME, "sbxrun:boxes");
	setsid();
	signal(SIGTERM, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (read(go_fd, &byte, 1) != 1 || chdir("/") < 0)
		_exit(1); /* it came to nothing */
	dfd = boxes_open_dir(h, path);
	if (h->unified)
		holder_step_aside(dfd);
	if (dup3(dfd, 0, 0) < 0)
		_exit(1);
	holder_forget_words();
	close_range(1, ~0U, 0);
	for (;;) {
		sleep(IDLE_S);
		if (flock(0, LOCK_EX | LOCK_NB) == 0 && holder_is_alone(0))
			_exit(0);
		flock(0, LOCK_UN);
	}
}

/* A grandchild: when it ends, the machine's first process collects it. */
static pid_t holder_start(const struct cgroup_hierarchy *h, const char *path, int *ret_go_fd,
			  struct error *e)
{
	autoclose int pids_read = -1, pids_write = -1;
	int go[2], pids[2];
	pid_t child, holder = 0;

	if (pipe2(go, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe");
	*ret_go_fd = go[1];
	if (pipe2(pids, O_CLOEXEC) < 0) {
		fd_close(&go[0]);
		return err_sys(e, "make a pipe");
	}
	pids_read = pids[0];
	pids_write = pids[1];
	child = fork();
	if (child == 0) {
		holder = fork();
		if (holder == 0) {
			fd_close(&go[1]);
			holder_main(h, path, go[0]);
		}
		_exit(write(pids_write, &holder, sizeof(holder)) == sizeof(holder) ? 0 : 1);
	}
	fd_close(&go[0]);
	if (child < 0)
		return err_sys(e, "fork");
	child_collect(child);
	if (read(pids_read, &holder, sizeof(holder)) != sizeof(holder) || holder <= 0)
		return err_set(e, ERR_SYSTEM, "the holder of " CGROUP_BOXES " did not start");
	return holder;
}

/* ---- the scope ---- */

static int scope_ask(pid_t holder, struct error *e)
{
	struct unit_property all[] = {
		{.name = "Description", .type = UNIT_TEXT, .text = "boxes of sbxrun"},
		{.name = "Slice", .type = UNIT_TEXT, .text = SLICE},
		{.name = "CollectMode", .type = UNIT_TEXT, .text = "inactive-or-failed"},
		{.name = "Delegate", .type = UNIT_BOOL, .yes = true},
		/* Of all boxes together: each has its own. */
		{.name = "TasksMax", .type = UNIT_NUMBER, .number = UINT64_MAX},
	};
	const struct unit_properties properties = {.n = ARRAY_SIZE(all), .v = all};
	struct systemd s;
	int rc;

	if (systemd_open(SYSTEMD_OF_MACHINE, loop_now() + START_S * LOOP_SECOND, &s, e) < 0)
		return -1;
	rc = systemd_start_unit(&s, CGROUP_BOXES, &properties, holder, e);
	/* One without its holder: killed, or on v1, where systemd does not see that it is empty. */
	if (rc < 0 && e->class == ERR_EXISTS && systemd_stop_unit(&s, CGROUP_BOXES, e) == 0)
		rc = systemd_start_unit(&s, CGROUP_BOXES, &properties, holder, e);
	systemd_close(&s);
	return rc;
}

/* Until it has gone where it belongs: a box could give no controllers on before. */
static int scope_await(const struct cgroup_hierarchy *h, const char *path, struct error *e)
{
	struct cgroup_waiting wait = {.left_us = LOCK_TRIES * LOCK_US};
	autoclose int dfd = -1;

	do {
		fd_close(&dfd);
		dfd = boxes_open_dir(h, path);
		if (dfd >= 0 && boxes_are_held(dfd) &&
		    !(h->unified && dir_has_process(dfd, ".")))
			return 0;
	} while (cgroup_wait(&wait));
	return err_set(e, ERR_HOST, "the holder is not in " CGROUP_BOXES);
}

static int scope_start(const struct cgroup_hierarchy *h, const char *path, struct error *e)
{
	autoclose int go_fd = -1;
	pid_t holder = holder_start(h, path, &go_fd, e);

	if (holder < 0 || scope_ask(holder, e) < 0)
		return -1; /* the holder sees its pipe end */
	if (write(go_fd, "", 1) != 1)
		return err_sys(e, "tell the holder of " CGROUP_BOXES);
	log_info("systemd has started " CGROUP_BOXES);
	return scope_await(h, path, e);
}

/* Of those who find none, one starts it. */
static int scope_start_locked(const struct cgroup_hierarchy *h, const char *path, struct error *e)
{
	char *slice = strdup(path), *slash = slice ? strrchr(slice, '/') : NULL;
	autoclose int slice_dfd = -1, dfd = -1;
	bool held;

	if (slash)
		*slash = '\0';
	slice_dfd = slash ? boxes_open_dir(h, slice) : -1;
	free(slice);
	if (slice_dfd < 0 || !lock_within(slice_dfd, LOCK_EX))
		return err_sys(e, "lock " SLICE);
	dfd = boxes_open_dir(h, path);
	held = dfd >= 0 && boxes_are_held(dfd);
	return held ? 0 : scope_start(h, path, e);
}

/* ---- for those who make boxes ---- */

static bool boxes_take(const struct cgroup_hierarchy *h, const char *path, struct cgroup_boxes *ret)
{
	autoclose int dfd = boxes_open_dir(h, path);

	if (dfd < 0 || !lock_within(dfd, LOCK_SH) || !boxes_are_held(dfd))
		return false;
	ret->lock_dfd = fd_steal(&dfd);
	ret->path = path;
	return true;
}

void cgroup_boxes_open(const struct cgroup_host *host, bool start, struct arena *a,
		       struct cgroup_boxes *ret)
{
	const struct cgroup_hierarchy *h = boxes_tree(host);
	struct error e = {0};
	const char *path;

	*ret = CGROUP_BOXES_NONE;
	if (!h)
		return;
	path = arena_printf(a, "%s/" SLICE "/" CGROUP_BOXES, h->units);
	if (boxes_take(h, path, ret))
		return;
	if (!start) {
		ret->path = path;
		return;
	}
	if (scope_start_locked(h, path, &e) < 0 || !boxes_take(h, path, ret))
		log_info("boxes are in the caller's own cgroup: %s",
			 *e.text ? e.text : CGROUP_BOXES " is gone again");
}

/* ---- for ordinary users ---- */

/* Out of the scope's own cgroup, which is to give controllers on. */
static int enter_step_aside(struct error *e)
{
	struct cgroup_host host;
	struct arena a = {0};
	autoclose int dfd = -1;
	size_t i;
	int rc = cgroup_host_probe(true, &a, &host, e);

	for (i = 0; rc == 0 && i < host.n; i++)
		if (host.v[i].unified)
			dfd = boxes_open_dir(&host.v[i], host.v[i].own);
	if (rc == 0 && (dfd < 0 || (mkdirat(dfd, "runner", 0755) < 0 && errno != EEXIST) ||
			fd_write_at(dfd, "runner/cgroup.procs", "0") < 0))
		rc = err_sys(e, "divide the scope of this process");
	arena_free(&a);
	return rc;
}

int cgroup_boxes_enter(struct error *e)
{
	struct unit_property all[] = {
		{.name = "Description", .type = UNIT_TEXT, .text = "boxes of sbxrun"},
		{.name = "CollectMode", .type = UNIT_TEXT, .text = "inactive-or-failed"},
		{.name = "Delegate", .type = UNIT_BOOL, .yes = true},
	};
	const struct unit_properties properties = {.n = ARRAY_SIZE(all), .v = all};
	char name[64];
	int rc;

	snprintf(name, sizeof(name), "sbxrun-boxes-%d.scope", getpid());
	rc = systemd_open_and_start(SYSTEMD_OF_USER, loop_now() + START_S * LOOP_SECOND, name,
				    &properties, getpid(), e);
	return rc < 0 ? -1 : enter_step_aside(e);
}

void cgroup_boxes_close(struct cgroup_boxes *b)
{
	fd_close(&b->lock_dfd);
}
