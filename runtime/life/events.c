/*
 * events: a line for the statistics at every interval and for every time the container ran out of
 * memory, until it ends or nobody reads any more. One loop over init's pidfd, what tells of memory,
 * the reader, and the clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

#include "base/fd.h"
#include "base/log.h"
#include "cgroup/stats.h"
#include "json/json.h"
#include "life/life.h"
#include "life/stats.h"

enum { LINE_MAX_BYTES = 4 << 20 };
#define SECOND_NS 1000000000

static int events_send(int out_fd, const struct buf *b, struct error *e)
{
	if (b->overflow)
		return err_set(e, ERR_SYSTEM, "events: the statistics are too large");
	if (fd_write_all(out_fd, b->data, b->len) < 0)
		return err_sys(e, "write to standard output");
	return 0;
}

/* The pid on record is its while the pidfd says that it lives. */
static int events_open_proc(pid_t pid, int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (poll(&p, 1, 0) != 0)
		fd_close(&fd);
	return fd;
}

static int events_send_stats(const struct record *r, int pidfd, int out_fd, struct error *e)
{
	const struct cgroup_dirs dirs = life_cgroups(r);
	autoclose int proc_dfd = events_open_proc(r->pid, pidfd);
	struct arena a = {0}; /* of this line: the loop may go on for months */
	struct buf b = buf_new(&a, LINE_MAX_BYTES);
	struct cgroup_stats stats;
	struct rdt_stats rdt;
	int result = -1;

	if (cgroup_stats_read(&dirs, &a, &stats, e) == 0) {
		rdt_stats_read(&r->rdt, &a, &rdt);
		life_stats_write(r->id, &stats, &rdt, proc_dfd, &a, &b);
		result = events_send(out_fd, &b, e);
	}
	arena_free(&a);
	return result;
}

static int events_send_oom(const struct record *r, uint64_t times, int out_fd, struct error *e)
{
	struct arena a = {0};
	struct buf b = buf_new(&a, LINE_MAX_BYTES);
	int result = 0;

	buf_str(&b, "{\"type\":\"oom\",\"id\":");
	json_write_string(&b, r->id);
	buf_str(&b, "}\n");
	while (result == 0 && times-- > 0)
		result = events_send(out_fd, &b, e);
	arena_free(&a);
	return result;
}

static int64_t events_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND_NS + t.tv_nsec;
}

/* The next moment of the beat that is still to come; what was missed is not made up for. */
static int64_t events_next(int64_t due, int64_t interval, int64_t now)
{
	return due > now ? due : due + ((now - due) / interval + 1) * interval;
}

static int events_wait(struct pollfd *fds, nfds_t n, int64_t until)
{
	int64_t left = until - events_now();
	struct timespec t;

	if (left < 0)
		left = 0;
	t = (struct timespec){.tv_sec = left / SECOND_NS, .tv_nsec = left % SECOND_NS};
	return ppoll(fds, n, &t, NULL) < 0 && errno != EINTR ? -1 : 0;
}

static int events_loop(const struct record *r, int pidfd, struct cgroup_oom *oom, int64_t interval,
		       int out_fd, struct error *e)
{
	struct pollfd fds[3] = {{.fd = pidfd, .events = POLLIN},
				{.fd = oom->fd, .events = oom->events},
				{.fd = out_fd}};
	int64_t due;

	if (__builtin_add_overflow(events_now(), interval, &due))
		due = INT64_MAX;
	for (;;) {
		uint64_t times;
		bool gone;

		if (events_wait(fds, 3, due) < 0)
			return err_sys(e, "poll");
		/* Also when it has ended: that may have been why. */
		times = cgroup_oom_take(oom, &gone);
		if (times && events_send_oom(r, times, out_fd, e) < 0)
			return -1;
		if (fds[0].revents || fds[2].revents)
			return 0;
		if (gone)
			fds[1].fd = -1;
		if (events_now() < due)
			continue;
		if (events_send_stats(r, pidfd, out_fd, e) < 0) {
			if (e->class != ERR_WRONG_STATE)
				return -1;
			log_debug("%s", e->text); /* it is just being deleted */
		}
		due = events_next(due, interval, events_now());
	}
}

int life_events(const struct events_options *o, struct arena *a, struct error *e)
{
	auto_store struct store s = STORE_NONE;
	struct cgroup_oom oom = CGROUP_OOM_NONE;
	autoclose int pidfd = -1;
	struct cgroup_dirs dirs;
	enum status status;
	struct record r;
	int result;

	if (life_load(o->root, o->id, STORE_LOOK, a, &s, &r, e) < 0)
		return -1;
	dirs = life_cgroups(&r);
	if (!dirs.n)
		return err_set(e, ERR_HOST, "events: container \"%s\" has no cgroups that count",
			       o->id);
	if (store_status(&s, &r, &status, &pidfd, e) < 0)
		return -1;
	if (pidfd < 0)
		return err_set(e, ERR_WRONG_STATE, "container not running");
	if (o->once)
		return events_send_stats(&r, pidfd, o->out_fd, e);
	if (cgroup_oom_open(&dirs, &oom, e) < 0)
		return -1;
	result = events_loop(&r, pidfd, &oom, o->interval_ns, o->out_fd, e);
	cgroup_oom_close(&oom);
	return result < 0 && e->sys == EPIPE ? 0 : result; /* the reader left just now */
}
