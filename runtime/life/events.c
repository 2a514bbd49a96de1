/*
 * Statistics, once or at every interval, and word of every time that the container ran out of
 * memory, until it ends or nobody wants to know any more. One loop over init's pidfd, what tells of
 * memory, the reader, and the clock.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/log.h"
#include "life/internal.h"
#include "sys/loop.h"

enum { NET_DEV_MAX = 1 << 20 };

/* The pid on record is its while the pidfd says that it lives. */
static int stats_open_proc(pid_t pid, int pidfd)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!store_is_alive(pidfd))
		fd_close(&fd);
	return fd;
}

/* The interfaces of init's network namespace, unless that is ours: then they are not its own. NULL:
 * nothing to say. */
static char *stats_interfaces(int proc_dfd, struct arena *a)
{
	struct stat own, its;
	autoclose int fd = -1;
	size_t len;

	if (proc_dfd < 0 || fstatat(proc_dfd, "ns/net", &its, 0) < 0 ||
	    stat("/proc/self/ns/net", &own) < 0 ||
	    (own.st_dev == its.st_dev && own.st_ino == its.st_ino))
		return NULL;
	fd = openat(proc_dfd, "net/dev", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? NULL : fd_read_all(fd, NET_DEV_MAX, a, &len);
}

static int stats_read(const struct record *r, int pidfd, struct arena *a, struct life_stats *ret,
		      struct error *e)
{
	const struct cgroup_dirs dirs = life_cgroups(r);
	autoclose int proc_dfd = stats_open_proc(r->pid, pidfd);

	if (cgroup_stats_read(&dirs, a, &ret->cgroup, e) < 0)
		return -1;
	rdt_stats_read(&r->rdt, a, &ret->rdt);
	ret->net_dev = stats_interfaces(proc_dfd, a);
	return 0;
}

/* A running container that counts. */
static int stats_load(const char *root, const char *id, struct arena *a, struct record *ret,
		      int *ret_pidfd, struct error *e)
{
	auto_store struct store s = STORE_NONE;
	enum status status;

	if (life_load(root, id, STORE_LOOK, a, &s, ret, e) < 0)
		return -1;
	if (!ret->cgroups.n)
		return err_set(e, ERR_HOST, "events: container \"%s\" has no cgroups that count",
			       id);
	if (store_status(&s, ret, &status, ret_pidfd, e) < 0)
		return -1;
	return *ret_pidfd < 0 ? err_set(e, ERR_WRONG_STATE, "container not running") : 0;
}

int life_stats(const char *root, const char *id, struct arena *a, struct life_stats *ret,
	       struct error *e)
{
	autoclose int pidfd = -1;
	struct record r;

	return stats_load(root, id, a, &r, &pidfd, e) < 0 ? -1 : stats_read(&r, pidfd, a, ret, e);
}

/* The next moment of the beat that is still to come; what was missed is not made up for. */
static int64_t events_next(int64_t due, int64_t interval, int64_t now)
{
	return due > now ? due : due + ((now - due) / interval + 1) * interval;
}

/* The loop's state. */
struct events {
	const struct events_options *o;
	const struct record *record;
	int pidfd;
	struct cgroup_oom *oom;
	struct loop_source *oom_source;
	bool ended;
	struct error *e;
};

static int events_take_oom(struct events *v)
{
	bool gone;
	uint64_t times = cgroup_oom_take(v->oom, &gone);
	int result = 0;

	if (gone)
		v->oom_source->fd = -1;
	for (; times && result == 0; times--)
		result = v->o->each(v->o->context, &(struct life_event){.kind = LIFE_EVENT_OOM});
	return result;
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

static int events_beat(struct events *v)
{
	struct arena a = {0}; /* of this beat: the loop may go on for months */
	struct life_stats *stats = arena_new(&a, struct life_stats);
	int result = stats_read(v->record, v->pidfd, &a, stats, v->e);

	if (result == 0) {
		result = v->o->each(v->o->context,
				    &(struct life_event){.kind = LIFE_EVENT_STATS, .stats = stats});
	} else if (v->e->class == ERR_WRONG_STATE) {
		log_debug("%s", v->e->text); /* it is just being deleted */
		result = 0;
	}
	arena_free(&a);
	return result;
}

/* 1: nobody wants more. */
static int events_loop(struct events *v)
{
	const int64_t interval = v->o->interval_ns;
	struct loop l = {0};
	int64_t due;
	int result;

	loop_add(&l, v->pidfd, POLLIN, events_serve_end, v);
	v->oom_source = loop_add(&l, v->oom->fd, v->oom->events, events_serve_oom, v);
	loop_add(&l, v->o->reader_fd, 0, events_serve_end, v); /* who reads has left */
	if (__builtin_add_overflow(loop_now(), interval, &due))
		due = LOOP_NEVER;
	for (;;) {
		result = loop_round(&l, due);
		/* Why it has ended may be that it ran out of memory. */
		if (result == 0 && v->ended)
			return events_take_oom(v);
		if (result == 0 && loop_now() >= due) {
			result = events_beat(v);
			due = events_next(due, interval, loop_now());
		}
		if (result)
			return result;
	}
}

int life_events(const struct events_options *o, struct arena *a, struct error *e)
{
	struct cgroup_oom oom = CGROUP_OOM_NONE;
	struct cgroup_dirs dirs;
	autoclose int pidfd = -1;
	struct record r;
	int result;

	if (stats_load(o->root, o->id, a, &r, &pidfd, e) < 0)
		return -1;
	dirs = life_cgroups(&r);
	if (cgroup_oom_open(&dirs, &oom, e) < 0)
		return -1;
	result = events_loop(
		&(struct events){.o = o, .record = &r, .pidfd = pidfd, .oom = &oom, .e = e});
	cgroup_oom_close(&oom);
	return result < 0 ? -1 : 0;
}
