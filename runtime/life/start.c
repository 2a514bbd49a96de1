#include <errno.h>
#include <signal.h>
#include <sys/pidfd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/timing.h"
#include "init/hooks.h"
#include "init/stage.h"
#include "life/internal.h"
#include "life/notify.h"
#include "sys/patience.h"

static int start_tell_init(struct store *s, const struct record *r, int pidfd, int *take_fd,
			   struct created *watched, struct arena *a, struct error *e)
{
	autoclose int sock = store_connect(s, e);

	if (sock < 0)
		return -1;
	/* From here on it counts as started. If we die before init is told, init ends itself. */
	if (store_forget_start(s) < 0)
		return err_sys(e, "remove the start socket");
	if (stage_say(sock, STAGE_START, e) < 0)
		return -1;
	if (watched && life_await_watched(sock, watched, a, e) < 0)
		return -1;
	return life_await_program(sock, r->pid, pidfd, r, take_fd, a, e);
}

static int start_run_poststart(const struct record *r, struct arena *a, struct error *e)
{
	if (!r->hooks.poststart.n)
		return 0;
	return hooks_run(&r->hooks.poststart, "poststart",
			 record_state_text(r, STATUS_RUNNING, r->pid, a),
			 &(struct hook_setting){.dir = r->bundle,
						.trust_policy = r->trusted_hooks},
			 e);
}

int life_start_created(struct store *s, struct record *r, int pidfd, int *ret_notify_fd,
		       int *take_fd, struct created *watched, struct arena *a, struct error *e)
{
	*ret_notify_fd = -1;
	if (r->notify && notify_is_wanted() && (*ret_notify_fd = notify_bind(s, e)) < 0)
		return -1;
	if (start_tell_init(s, r, pidfd, take_fd, watched, a, e) < 0) {
		/* It may wait for a seccomp listener that nobody serves. */
		if (pidfd >= 0)
			pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
		return err_wrap(e, "unable to start container process");
	}
	timing_mark("program runs");
	log_info("container %s started", r->id);
	return start_run_poststart(r, a, e);
}

static int start_it(const char *root, const char *id, const struct noter *noter, struct arena *a,
		    struct error *e)
{
	auto_store struct store s = STORE_NONE;
	autoclose int pidfd = -1, notify_fd = -1;
	struct error ignored;
	enum status status;
	struct record r;

	if (life_load(root, id, STORE_LOCK, a, &s, &r, e) < 0 ||
	    life_status(&s, &r, &status, &pidfd, e) < 0)
		return -1;
	switch (status) {
	case STATUS_CREATED:
		break;
	case STATUS_RUNNING:
		return err_set(e, ERR_WRONG_STATE, "cannot start an already running container");
	case STATUS_PAUSED: /* its init could not answer */
		return err_set(e, ERR_WRONG_STATE, "cannot start a container that is paused");
	case STATUS_STOPPED:
	case STATUS_CREATING:
		return err_set(e, ERR_WRONG_STATE, "cannot start a container that has stopped");
	}
	if (!r.has_process)
		return err_set(
			e, ERR_CONFIG,
			"process: the config of container \"%s\" has none, so it can't be started",
			id);
	if (life_start_created(&s, &r, pidfd, &notify_fd, NULL, NULL, a, e) == 0) {
		store_unlock(&s);
		return notify_fd < 0 ? 0 : notify_wait(notify_fd, r.pid, pidfd, noter, e);
	}
	/* A failed hook is the end of the container; a program that can't run leaves it stopped. */
	if (e->class == ERR_HOOK && life_destroy(&s, &r, pidfd, noter, a, &ignored) < 0)
		note(noter, "clean-up after the failure: %s", ignored.text);
	return -1;
}

int life_start(const char *root, const char *id, const struct noter *noter, struct arena *a,
	       struct error *e)
{
	int result;

	patience_catch_signals();
	result = start_it(root, id, noter, a, e);
	patience_let_signals();
	return result;
}
