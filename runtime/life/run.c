/* create, start, and in the foreground: wait and delete. The container's init is our child. */
#include <sys/prctl.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/timing.h"
#include "life/foreground.h"
#include "life/internal.h"
#include "life/notify.h"
#include "sys/msg.h"

/* Nothing stays of a container that did not start. */
static int run_give_up(struct created *c, struct arena *a)
{
	struct error ignored;

	if (life_remove(c, a, &ignored) < 0)
		note(c->noter, "clean-up after the failure: %s", ignored.text);
	return -1;
}

static int run_detached(const struct run_options *o, struct arena *a, struct error *e)
{
	struct created c;
	int result = 0;

	if (life_create(&o->create, a, &c, e) < 0)
		return -1;
	if (life_launch(&c, NULL, a, e) < 0)
		return run_give_up(&c, a);
	if (c.notify_fd >= 0)
		result = notify_wait(c.notify_fd, c.pid, c.pidfd, c.noter, e);
	life_let_go(&c);
	return result;
}

/* From a program that runs to one that has ended. */
static int run_attend(struct created *c, bool keep, struct foreground *f, struct arena *a,
		      int *ret_status, struct error *e)
{
	int result = 0;

	f->notify_fd = fd_steal(&c->notify_fd);
	f->noter = c->noter;
	*ret_status = foreground_wait(f, c->pid, c->pidfd);
	fd_close(&c->pidfd);
	timing_mark("program ended");
	log_info("container %s ended with status %d", c->record.id, *ret_status);
	if (keep)
		life_let_go(c);
	else
		result = life_remove(c, a, e);
	timing_mark("deleted");
	return result < 0 ?
		       err_wrap(
			       e,
			       "the program ended with status %d, but its container is still there",
			       *ret_status) :
		       0;
}

static int run_in_foreground(const struct run_options *o, int console[2], struct foreground *f,
			     struct arena *a, int *ret_status, struct error *e)
{
	struct create_options create = o->create;
	struct created c;

	if (!create.console_socket)
		create.console_fd = console[1];
	if (life_create(&create, a, &c, e) < 0)
		return -1;
	fd_close(&console[1]);
	if ((c.terminal_is_ours && foreground_open_terminal(f, console[0], e) < 0) ||
	    life_launch(&c, NULL, a, e) < 0) {
		foreground_make_sane(f);
		return run_give_up(&c, a);
	}
	return run_attend(&c, o->keep, f, a, ret_status, e);
}

static int run_foreground(const struct run_options *o, struct arena *a, int *ret_status,
			  struct error *e)
{
	struct foreground f = FOREGROUND_NONE;
	int console[2] = {-1, -1}, reaps = 0, result = -1;

	/* Orphans of a container without a pid namespace of its own come to us. */
	prctl(PR_GET_CHILD_SUBREAPER, &reaps);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (msg_stream_pair(console, e) == 0 && foreground_prepare(&f, e) == 0)
		result = run_in_foreground(o, console, &f, a, ret_status, e);
	fd_close(&console[0]);
	fd_close(&console[1]);
	foreground_close(&f);
	prctl(PR_SET_CHILD_SUBREAPER, reaps);
	return result;
}

int life_run(const struct run_options *o, struct arena *a, int *ret_status, struct error *e)
{
	*ret_status = 0;
	return o->detach ? run_detached(o, a, e) : run_foreground(o, a, ret_status, e);
}
