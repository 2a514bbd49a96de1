/*
 * One loop: the child's end, signals, and with a terminal the bytes of both directions. Our own
 * terminal is put back as it was whatever happens but SIGKILL.
 */
#include "life/foreground.h"

#include <errno.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "life/notify.h"
#include "sys/child.h"
#include "sys/patience.h"
#include "sys/relay.h"

enum {
	END_MS = 100,	/* between looks whether the end of the input has to be said again */
	DRAIN_MS = 100, /* for more output of a program that has ended */
	GRACE_MS = 1000, /* for whoever reads it, after a signal that means "end" */
};

int foreground_prepare(struct foreground *f, struct error *e)
{
	/* Job control is between our caller and us; the rest is for the program. */
	static const int ours[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGPIPE};

	return loop_signals_take(ours, ARRAY_SIZE(ours), &f->signals, e);
}

void foreground_own_size(struct oci_console_size *size)
{
	struct winsize w;

	if (terminal_size(&w))
		*size = (struct oci_console_size){true, w.ws_row, w.ws_col};
}

void foreground_make_sane(struct foreground *f)
{
	terminal_make_sane(&f->terminal);
}

int foreground_open_terminal(struct foreground *f, int sock, struct error *e)
{
	return terminal_take(&f->terminal, sock, e);
}

/* Orphans of a container without a pid namespace of its own are given to us; each one left would
 * count among its processes. The program itself is waited for elsewhere. */
static void foreground_reap(pid_t program)
{
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 ||
		    info.si_pid == 0 || info.si_pid == program)
			return;
		child_collect(info.si_pid);
	}
}

/* The state of foreground_wait(). */
struct watch {
	struct foreground *f;
	pid_t pid;
	int pidfd;
	struct loop_source *notify;
};

static void watch_forward(const struct watch *w, const struct signalfd_siginfo *info)
{
	if (info->ssi_signo == SIGCHLD) {
		foreground_reap(w->pid);
		return;
	}
	/* The one who stopped us may have used our terminal meanwhile. */
	if (info->ssi_signo == SIGCONT)
		terminal_make_raw_again(&w->f->terminal);
	if (info->ssi_signo == SIGWINCH || info->ssi_signo == SIGCONT)
		terminal_resize(&w->f->terminal);
	if (info->ssi_signo == SIGCONT ||
	    (info->ssi_signo == SIGWINCH && w->f->terminal.master_fd >= 0))
		return;
	w->f->told_to_end |= patience_means_end((int)info->ssi_signo);
	/* ESRCH: it ended meanwhile, and its pidfd will say so. */
	if (pidfd_send_signal(w->pidfd, (int)info->ssi_signo, NULL, 0) < 0 && errno != ESRCH)
		note(w->f->noter, "forward signal %u: %s", info->ssi_signo, err_text(errno));
}

static int watch_signals(void *context, short events)
{
	const struct watch *w = context;
	struct signalfd_siginfo info;

	(void)events;
	while (read(w->f->signals.fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		watch_forward(w, &info);
	return 0;
}

static int watch_notify(void *context, short events)
{
	struct watch *w = context;

	(void)events;
	if (notify_forward(w->f->notify_fd, w->pid, w->f->noter)) {
		w->notify->fd = -1;
		fd_close(&w->f->notify_fd);
	}
	return 0;
}

static int watch_end(void *context, short events)
{
	(void)context;
	(void)events;
	return 1;
}

/* While what the program wrote is passed on: a signal ends that. */
static int watch_signals_of_drain(void *context, short events)
{
	const struct foreground *f = context;
	struct signalfd_siginfo info;

	(void)events;
	while (read(f->signals.fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGWINCH)
			return 1;
	return 0;
}

/* The program's last words are still in the terminal; background processes that hold it open are
 * not waited for. Whoever reads our output may take his time, but not for ever. */
static void foreground_drain(struct foreground *f, struct relay *out)
{
	struct loop l = {0};

	loop_add(&l, f->signals.fd, POLLIN, watch_signals_of_drain, f);
	relay_add(out, &l);
	while (!relay_is_done(out)) {
		int64_t until = !out->len	 ? loop_now() + DRAIN_MS * LOOP_MS :
				f->told_to_end ? loop_now() + GRACE_MS * LOOP_MS :
						 LOOP_NEVER;

		if (loop_round(&l, until) || loop_now() >= until)
			return;
	}
}

void foreground_close(struct foreground *f)
{
	foreground_make_sane(f);
	fd_close(&f->terminal.master_fd);
	fd_close(&f->notify_fd);
	loop_signals_give_back(&f->signals);
}

int foreground_wait(struct foreground *f, pid_t pid, int pidfd)
{
	bool terminal = f->terminal.master_fd >= 0;
	struct relay in = {.from = STDIN_FILENO,
			   .to = f->terminal.master_fd,
			   .is_input = true,
			   .last = '\n'};
	struct relay out = {.from = f->terminal.master_fd, .to = STDOUT_FILENO};
	struct watch w = {.f = f, .pid = pid, .pidfd = pidfd};
	struct loop l = {0};
	int status;

	log_flush(); /* the program runs, perhaps for months */
	w.notify = loop_add(&l, f->notify_fd, POLLIN, watch_notify, &w);
	loop_add(&l, f->signals.fd, POLLIN, watch_signals, &w);
	if (terminal) {
		relay_add(&in, &l);
		relay_add(&out, &l);
	}
	loop_add(&l, pidfd, POLLIN, watch_end, &w); /* last: what came before its end is served */
	while (loop_round(&l, in.said_end ? loop_now() + END_MS * LOOP_MS : LOOP_NEVER) == 0) {
		relay_repeat_end(&in);
		if (out.broken && f->terminal.master_fd >= 0) {
			/* Nobody reads any more: the program's terminal is gone, too, and it is
			 * told so (SIGHUP). */
			relay_cut(&in);
			relay_cut(&out);
			fd_close(&f->terminal.master_fd);
		}
	}
	status = child_collect(pid);
	if (terminal && !out.broken)
		foreground_drain(f, &out);
	foreground_make_sane(f);
	return status < 0 ? 0 : child_exit_code(status);
}
