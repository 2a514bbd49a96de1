/* create, start, and in the foreground: wait and delete. The container's init is our child. */
#include <sys/prctl.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/timing.h"
#include "life/foreground.h"
#include "life/life.h"
#include "life/notify.h"
#include "sys/msg.h"

static void run_close(struct created *c)
{
	fd_close(&c->pidfd);
	store_close(&c->store);
}

/* Nothing stays of a container that did not start. */
static int run_give_up(struct created *c, struct arena *a)
{
	struct error ignored;

	if (life_destroy(&c->store, &c->record, c->pidfd, a, &ignored) < 0)
		log_warn("clean-up after the failure: %s", ignored.text);
	run_close(c);
	return -1;
}

static int run_start(struct created *c, int *ret_notify_fd, struct arena *a, struct error *e)
{
	if (!c->record.has_process)
		return err_set(e, ERR_CONFIG,
			       "process: the config has none, so there is nothing to run");
	return life_start_created(&c->store, &c->record, c->pidfd, ret_notify_fd, a, e);
}

static int run_detached(const struct run_options *o, struct arena *a, struct error *e)
{
	autoclose int notify_fd = -1;
	struct created c;
	int result = 0;

	if (life_create(&o->create, a, &c, e) < 0)
		return -1;
	if (run_start(&c, &notify_fd, a, e) < 0)
		return run_give_up(&c, a);
	store_unlock(&c.store);
	if (notify_fd >= 0)
		result = notify_wait(notify_fd, c.pid, c.pidfd, e);
	run_close(&c);
	return result;
}

static int run_foreground(const struct run_options *o, struct arena *a, int *ret_status,
			  struct error *e)
{
	struct foreground f = FOREGROUND_NONE;
	struct create_options create = o->create;
	struct created c;
	int console[2], result;

	if (msg_stream_pair(console, e) < 0 || foreground_prepare(&f, e) < 0)
		return -1;
	if (!create.console_socket)
		create.console_fd = console[1];
	/* Orphans of a container without a pid namespace of its own come to us. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (life_create(&create, a, &c, e) < 0)
		return -1;
	fd_close(&console[1]);
	if (c.terminal_is_ours && foreground_open_terminal(&f, console[0], e) < 0)
		return run_give_up(&c, a);
	if (run_start(&c, &f.notify_fd, a, e) < 0) {
		foreground_close(&f);
		return run_give_up(&c, a);
	}
	/* Others may look at it, signal it and delete it while it runs. */
	store_unlock(&c.store);
	*ret_status = foreground_wait(&f, c.pid, c.pidfd);
	timing_mark("program ended");
	log_info("container %s ended with status %d", c.record.id, *ret_status);
	/* Somebody may have deleted it meanwhile, and even made another one of that name. */
	result = o->keep ? 0 : store_relock(&c.store, e);
	if (result > 0)
		result = life_destroy(&c.store, &c.record, -1, a, e);
	run_close(&c);
	timing_mark("deleted");
	return result < 0 ? err_wrap(e, "the program ended with status %d, but its container is still there",
				     *ret_status) :
			    0;
}

int life_run(const struct run_options *o, struct arena *a, int *ret_status, struct error *e)
{
	*ret_status = 0;
	return o->detach ? run_detached(o, a, e) : run_foreground(o, a, ret_status, e);
}
