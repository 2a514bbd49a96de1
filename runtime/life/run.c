/*
 * create, start, and in the foreground: wait, forward signals, delete. The container's init is our
 * child; signals that reach us are for it, except those of our own job control.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/timing.h"
#include "life/life.h"

static int run_open_signals(struct error *e)
{
	static const int ours[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGURG, SIGWINCH, SIGPIPE};
	sigset_t set;
	size_t i;
	int fd;

	sigfillset(&set);
	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		sigdelset(&set, ours[i]);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return err_sys(e, "block signals");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return err_sys(e, "signalfd");
	return fd;
}

static void run_forward(int signal_fd, int pidfd)
{
	struct signalfd_siginfo info;

	while (read(signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		/* ESRCH: it ended meanwhile, and poll will say so. */
		if (pidfd_send_signal(pidfd, (int)info.ssi_signo, NULL, 0) < 0 && errno != ESRCH)
			log_warn("forward signal %u: %s", info.ssi_signo, err_text(errno));
	}
}

/* Returns when init has ended. Orphans that became our children are collected on the way. */
static int run_wait(struct created *c, int signal_fd)
{
	int status = 0;

	for (;;) {
		struct pollfd fds[] = {{.fd = c->pidfd, .events = POLLIN},
				       {.fd = signal_fd, .events = POLLIN}};

		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			run_forward(signal_fd, c->pidfd);
		if (fds[0].revents)
			break;
	}
	while (waitpid(c->pid, &status, __WALL) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void run_close(struct created *c)
{
	fd_close(&c->pidfd);
	store_close(&c->store);
}

int life_run(const struct run_options *o, struct arena *a, int *ret_status, struct error *e)
{
	autoclose int signal_fd = o->detach ? -1 : run_open_signals(e);
	struct error ignored;
	struct created c;

	*ret_status = 0;
	if (!o->detach && (signal_fd < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0))
		return err_sys(e, "prepare to wait");
	if (life_create(&o->create, a, &c, e) < 0)
		return -1;
	if (!c.record.has_process)
		err_set(e, ERR_CONFIG, "process: the config has none, so there is nothing to run");
	else if (life_start_created(&c.store, &c.record, c.pidfd, a, e) == 0)
		goto started;
	/* Nothing stays of a container that did not start. */
	if (life_destroy(&c.store, &c.record, c.pidfd, a, &ignored) < 0)
		log_warn("clean-up after the failure: %s", ignored.text);
	run_close(&c);
	return -1;
started:
	if (o->detach) {
		run_close(&c);
		return 0;
	}
	/* Others may look at it, signal it and delete it while it runs. */
	store_unlock(&c.store);
	*ret_status = run_wait(&c, signal_fd);
	timing_mark("program ended");
	if (!o->keep) {
		run_close(&c);
		/* Somebody may have deleted it meanwhile, and that is fine. */
		if (life_delete(o->create.root, o->create.id, true, a, &ignored) < 0)
			log_warn("%s", ignored.text);
		timing_mark("deleted");
		return 0;
	}
	run_close(&c);
	return 0;
}
