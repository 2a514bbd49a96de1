/*
 * events: a line for the statistics at every interval and for every time the container ran out of
 * memory, until it ends or nobody reads any more. One loop over init's pidfd, what tells of memory,
 * the reader, and the clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/fd.h"
#include "base/log.h"
#include "cgroup/stats.h"
#include "json/json.h"
#include "life/life.h"
#include "life/stats.h"
#include "sys/loop.h"

enum { LINE_MAX_BYTES = 4 << 20 };

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
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!store_is_alive(pidfd))
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

/* The next moment of the beat that is still to come; what was missed is not made up for. */
static int64_t events_next(int64_t due, int64_t interval, int64_t now)
{
	return due > now ? due : due + ((now - due) / interval + 1) * interval;
}

/* What the loop knows. */
struct events {
	const struct record *record;
	int pidfd;
	int out_fd;
	struct cgroup_oom *oom;
	struct loop_source *oom_source;
	bool ended;
	struct error *e;
};

static int events_take_oom(struct events *v)
{
	bool gone;
	uint64_t times = cgroup_oom_take(v->oom, &gone);

	if (gone)
		v->oom_source->fd = -1;
	return times ? events_send_oom(v->record, times, v->out_fd, v->e) : 0;
}

static int events_serve_oom(void *context, short events)
{
	(void)events;
	return events_take_oom(context);
}

static int events_serve_end(void *context, short events)
{
	struct events *v = context;

	(void)events;
	v->ended = true;
	return 0;
}

/* A line at each beat. */
static int events_beat(struct events *v)
{
	if (events_send_stats(v->record, v->pidfd, v->out_fd, v->e) == 0)
		return 0;
	if (v->e->class != ERR_WRONG_STATE)
		return -1;
	log_debug("%s", v->e->text); /* it is just being deleted */
	return 0;
}

static int events_loop(struct events *v, int64_t interval)
{
	struct loop l = {0};
	int64_t due;

	loop_add(&l, v->pidfd, POLLIN, events_serve_end, v);
	v->oom_source = loop_add(&l, v->oom->fd, v->oom->events, events_serve_oom, v);
	loop_add(&l, v->out_fd, 0, events_serve_end, v); /* its reader has left */
	if (__builtin_add_overflow(loop_now(), interval, &due))
		due = LOOP_NEVER;
	for (;;) {
		if (loop_round(&l, due) < 0)
			return -1;
		/* Why it has ended may be that it ran out of memory. */
		if (v->ended)
			return events_take_oom(v);
		if (loop_now() < due)
			continue;
		if (events_beat(v) < 0)
			return -1;
		due = events_next(due, interval, loop_now());
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
	result = events_loop(&(struct events){.record = &r, .pidfd = pidfd, .out_fd = o->out_fd, .oom = &oom, .e = e},
			     o->interval_ns);
	cgroup_oom_close(&oom);
	return result < 0 && e->sys == EPIPE ? 0 : result; /* the reader left just now */
}
