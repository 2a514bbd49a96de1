/*
 * One loop: the child's end, signals, and with a terminal the bytes of both directions. Our own
 * terminal is put back as it was whatever happens but SIGKILL.
 */
#include "life/foreground.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "life/notify.h"
#include "sys/patience.h"
#include "sys/unix.h"

enum {
	CHUNK = 4096, /* what a pipe that can be written takes at once */
	CTRL_D = 4,
	DRAIN_MS = 100, /* for more output of a program that has ended */
	GRACE_MS = 1000, /* for whoever reads it, after a signal that means "end" */
};

/* Bytes on their way from one descriptor to another. */
struct flow {
	int from, to; /* -1: ended */
	size_t at, len;
	char last; /* byte that passed */
	char data[CHUNK];
};

static bool own_terminal_is_raw;
static struct termios own_terminal;

int foreground_prepare(struct foreground *f, struct error *e)
{
	/* Job control is between our caller and us; the rest is for the program. */
	static const int ours[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGURG, SIGPIPE};
	sigset_t set;
	size_t i;

	sigfillset(&set);
	for (i = 0; i < ARRAY_SIZE(ours); i++)
		sigdelset(&set, ours[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return err_sys(e, "block signals");
	f->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (f->signal_fd < 0)
		return err_sys(e, "signalfd");
	return 0;
}

static bool foreground_size(struct winsize *w)
{
	return ioctl(STDIN_FILENO, TIOCGWINSZ, w) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, w) == 0;
}

void foreground_own_size(struct oci_console_size *size)
{
	struct winsize w;

	if (foreground_size(&w))
		*size = (struct oci_console_size){true, w.ws_row, w.ws_col};
}

static void foreground_resize(int master_fd)
{
	struct winsize w;

	if (foreground_size(&w))
		ioctl(master_fd, TIOCSWINSZ, &w);
}

static void foreground_make_raw(void)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &own_terminal) < 0)
		return;
	raw = own_terminal;
	cfmakeraw(&raw);
	/* The container's terminal leaves "\n" alone (ONLCR is off there), so ours turns it around. */
	raw.c_oflag |= OPOST | ONLCR;
	own_terminal_is_raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

static void foreground_make_sane(void)
{
	if (own_terminal_is_raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &own_terminal); /* not to wait for a line that is held up */
	own_terminal_is_raw = false;
}

int foreground_open_terminal(struct foreground *f, int sock, struct error *e)
{
	char name[256];

	f->master_fd = unix_recv_fd(sock, name, sizeof(name));
	if (f->master_fd < 0)
		return err_sys(e, "process.terminal: receive the terminal");
	fcntl(f->master_fd, F_SETFL, O_NONBLOCK | O_RDWR);
	foreground_make_raw();
	return 0;
}

static void flow_read(struct flow *w, bool from_stdin)
{
	ssize_t n = read(w->from, w->data, sizeof(w->data));

	if (n > 0) {
		w->at = 0;
		w->len = (size_t)n;
		w->last = w->data[n - 1];
	} else if (n == 0 && from_stdin) {
		/* The end of our input is the end of the program's, as a terminal says it: the first one
		 * ends an incomplete line, if there is one. */
		w->data[0] = w->data[1] = CTRL_D;
		w->at = 0;
		w->len = w->last == '\n' ? 1 : 2;
		w->from = -1;
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		w->from = -1; /* EIO: the last process has closed the terminal */
	}
}

static void flow_write(struct flow *w)
{
	ssize_t n = write(w->to, w->data + w->at, w->len);

	if (n > 0) {
		w->at += (size_t)n;
		w->len -= (size_t)n;
	} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
		w->len = 0; /* nobody listens: drop it, and let the program go on */
	}
}

static void flow_poll(const struct flow *w, struct pollfd *in, struct pollfd *out)
{
	*in = (struct pollfd){.fd = w->len ? -1 : w->from, .events = POLLIN};
	*out = (struct pollfd){.fd = w->len ? w->to : -1, .events = POLLOUT};
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
		waitpid(info.si_pid, NULL, __WALL);
	}
}

static void foreground_forward(struct foreground *f, pid_t pid, int pidfd)
{
	struct signalfd_siginfo info;

	while (read(f->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			foreground_reap(pid);
			continue;
		}
		if (info.ssi_signo == SIGWINCH && f->master_fd >= 0) {
			foreground_resize(f->master_fd);
			continue;
		}
		f->told_to_end |= patience_means_end((int)info.ssi_signo);
		/* ESRCH: it ended meanwhile, and poll will say so. */
		if (pidfd_send_signal(pidfd, (int)info.ssi_signo, NULL, 0) < 0 && errno != ESRCH)
			log_warn("forward signal %u: %s", info.ssi_signo, err_text(errno));
	}
}

static bool foreground_is_told_to_end(int signal_fd)
{
	struct signalfd_siginfo info;

	while (read(signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGWINCH)
			return true;
	return false;
}

/* What the program wrote before it ended is still in the terminal; background processes that hold
 * it open are not waited for. */
static void foreground_drain(const struct foreground *f, struct flow *out)
{
	while (out->from >= 0 || out->len) {
		struct pollfd p[3] = {{.fd = f->signal_fd, .events = POLLIN}};
		int ms = !out->len ? DRAIN_MS : f->told_to_end ? GRACE_MS : -1;

		flow_poll(out, &p[1], &p[2]);
		/* Whoever reads our output may take his time, but not for ever: a signal ends it. */
		if (poll(p, 3, ms) <= 0 || foreground_is_told_to_end(f->signal_fd))
			return;
		if (p[1].revents)
			flow_read(out, false);
		if (p[2].revents)
			flow_write(out);
	}
}

void foreground_close(struct foreground *f)
{
	foreground_make_sane();
	fd_close(&f->master_fd);
	fd_close(&f->signal_fd);
	fd_close(&f->notify_fd);
}

int foreground_wait(struct foreground *f, pid_t pid, int pidfd)
{
	bool terminal = f->master_fd >= 0;
	struct flow in = {.from = terminal ? STDIN_FILENO : -1, .to = f->master_fd, .last = '\n'};
	struct flow out = {.from = f->master_fd, .to = STDOUT_FILENO};
	int status = 0;

	log_flush(); /* the program runs, perhaps for months */
	for (;;) {
		struct pollfd p[7] = {{.fd = pidfd, .events = POLLIN},
				      {.fd = f->signal_fd, .events = POLLIN}};

		flow_poll(&in, &p[2], &p[3]);
		flow_poll(&out, &p[4], &p[5]);
		p[6] = (struct pollfd){.fd = f->notify_fd, .events = POLLIN};
		patience_poll(p, ARRAY_SIZE(p), -1);
		if (p[6].revents && notify_forward(f->notify_fd, pid))
			fd_close(&f->notify_fd);
		if (p[1].revents)
			foreground_forward(f, pid, pidfd);
		if (p[2].revents)
			flow_read(&in, true);
		if (p[3].revents)
			flow_write(&in);
		if (p[4].revents)
			flow_read(&out, false);
		if (p[5].revents)
			flow_write(&out);
		if (p[0].revents)
			break;
	}
	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		;
	if (terminal)
		foreground_drain(f, &out);
	foreground_close(f);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
