/* A container in the hands of the process that made it: its init is our child. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/timing.h"
#include "cgroup/stats.h"
#include "life/internal.h"
#include "sys/child.h"
#include "sys/loop.h"
#include "sys/patience.h"

int life_launch(struct created *c, int *ret_listener_fd, struct arena *a, struct error *e)
{
	autoclose int notify_fd = -1;

	if (!c->record.has_process)
		return err_set(e, ERR_CONFIG,
			       "process: the config has none, so there is nothing to run");
	if (life_start_created(&c->store, &c->record, c->pidfd, &notify_fd,
			       c->take_listener ? &c->listener_fd : NULL,
			       c->learning ? c : NULL, a, e) < 0)
		return -1;
	c->started = loop_now();
	c->notify_fd = fd_steal(&notify_fd);
	if (ret_listener_fd)
		*ret_listener_fd = fd_steal(&c->listener_fd);
	/* Others may look at it, signal it and delete it while it runs. */
	store_unlock(&c->store);
	life_tell_rest(c);
	return 0;
}

static uint64_t end_cpu(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * LOOP_SECOND +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
}

/* Takes the cgroups' counts, if any. */
static void end_measure(const struct created *c, struct life_end *ret)
{
	const struct cgroup_dirs dirs = life_cgroups(&c->record);
	struct cgroup_used used;

	cgroup_used_read(&dirs, &used);
	if (used.cpu_ns)
		ret->cpu_ns = used.cpu_ns - c->cpu_before;
	ret->peak_memory = used.memory_peak;
	ret->peak_pids = used.pids_peak;
	ret->oom = used.oom_kills > c->oom_before;
	ret->pids_refused = used.pids_refused - c->pids_before;
}

bool life_cpu_time(const struct created *c, uint64_t *ret_ns)
{
	const struct cgroup_dirs dirs = life_cgroups(&c->record);

	if (!cgroup_cpu_used(&dirs, ret_ns))
		return false;
	*ret_ns -= c->cpu_before;
	return true;
}

void life_peaks(const struct created *c, uint64_t *ret_memory, uint64_t *ret_pids)
{
	const struct cgroup_dirs dirs = life_cgroups(&c->record);
	struct cgroup_used used;

	cgroup_used_read(&dirs, &used);
	*ret_memory = used.memory_peak;
	*ret_pids = used.pids_peak;
}

int life_wait(struct created *c, int64_t until, struct life_end *ret, struct error *e)
{
	struct life_end end = {0};
	struct rusage usage = {0};
	int status;

	while (!loop_is_ready(c->pidfd, POLLIN, until))
		if (loop_now() >= until)
			return 0;
	status = child_collect_usage(c->pid, &usage);
	if (status < 0)
		return err_sys(e, "wait for container \"%s\"", c->record.id);
	timing_mark("init collected");
	end.status = child_exit_code(status);
	end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	end.cpu_ns = end_cpu(&usage);
	end.wall_ns = c->started ? loop_now() - c->started : 0;
	end_measure(c, &end);
	fd_close(&c->pidfd);
	*ret = end;
	return 1;
}

int life_remove(struct created *c, struct arena *a, struct error *e)
{
	/* Somebody may have deleted it meanwhile, and even made another one of that name. */
	int result = c->store.locked ? 1 : store_relock(&c->store, e);

	if (result > 0)
		result = life_destroy(&c->store, &c->record, c->pidfd, c->noter, a, e);
	life_let_go(c);
	return result < 0 ? -1 : 0;
}

void life_let_go(struct created *c)
{
	life_tell_rest(c);
	fd_close(&c->pidfd);
	fd_close(&c->listener_fd);
	fd_close(&c->notify_fd);
	store_close(&c->store);
	patience_let_signals();
}
