#include "learn/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "filter/seccomp_eval.h"
#include "sys/child.h"
#include "sys/sys.h"

enum {
	PIDS = 1 << 22, /* the most that the kernel gives out */
	HELD_MAX = 64,
	END_MS = 10000,
	KERNEL_RESTARTS = 512, /* errors from here on are the kernel's own: it begins anew */
};

enum phase {
	UNKNOWN,
	ENDED,	/* its parent may still tell of it; or the number comes again */
	BEFORE, /* init, and hooks that it runs */
	OURS,	/* the first process of a box, and its child until that executes the program */
	PROGRAM,
};

/* A process or thread. In an array by number: most of it is never touched. */
struct task {
	uint8_t phase;
	int16_t call; /* which of the tally it is in */
	uint8_t protection; /* that it asks for, of memory */
};

struct watching {
	struct tally *tally;
	struct seccomp_program judge;
	struct task *tasks;
	pid_t init;
	bool behind_reaper;
	pid_t held[HELD_MAX]; /* stopped, until it is known whose children they are */
	size_t n_held;
};

/* ---- one that has stopped ---- */

/* ESRCH: it was killed meanwhile, and its end is told next. */
static void task_go_on(const struct watching *w, pid_t pid, int sig)
{
	const bool counts = w->tasks[pid].phase >= OURS;

	ptrace(counts ? PTRACE_SYSCALL : PTRACE_CONT, pid, NULL, (void *)(long)sig);
}

static void task_enters(struct watching *w, struct task *t,
			const struct __ptrace_syscall_info *info)
{
	struct seccomp_data data = {
		.nr = (int)info->entry.nr,
		.arch = info->arch,
		.instruction_pointer = info->instruction_pointer,
	};
	struct bpf_result said = {.action = SECCOMP_RET_ALLOW};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(data.args); i++)
		data.args[i] = info->entry.args[i];
	if (w->judge.len)
		said = bpf_eval(w->judge.filter, w->judge.len, &data);
	t->protection = (uint8_t)data.args[2];
	t->call = (int16_t)tally_note(w->tally, &data,
				      said.error ? SECCOMP_RET_KILL_PROCESS : said.action,
				      t->phase == OURS ? TALLY_OURS : TALLY_PROGRAM);
}

static void task_leaves(struct watching *w, struct task *t,
			const struct __ptrace_syscall_info *info)
{
	if (info->exit.is_error && info->exit.rval > -KERNEL_RESTARTS)
		tally_note_failure(w->tally, t->call, (int)-info->exit.rval, t->protection);
	t->call = TALLY_NONE;
}

static void task_calls(struct watching *w, pid_t pid)
{
	struct __ptrace_syscall_info info = {0};
	struct task *t = &w->tasks[pid];

	if (t->phase < OURS ||
	    ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		task_enters(w, t, &info);
	else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
		task_leaves(w, t, &info);
}

static void task_begins(struct watching *w, pid_t pid, enum phase phase)
{
	w->tasks[pid] = (struct task){.phase = (uint8_t)phase, .call = TALLY_NONE};
	if (phase == PROGRAM)
		w->tally->tasks++;
}

static void task_executes(struct watching *w, pid_t pid)
{
	struct task *t = &w->tasks[pid];

	if (pid == w->init && t->phase == BEFORE)
		task_begins(w, pid, w->behind_reaper ? OURS : PROGRAM);
	else if (t->phase == OURS && pid != w->init)
		task_begins(w, pid, PROGRAM);
	w->tally->begun |= t->phase == PROGRAM;
}

/* ---- children ---- */

static void held_release(struct watching *w, pid_t only, enum phase phase)
{
	size_t i, kept = 0;

	for (i = 0; i < w->n_held; i++) {
		if (only && w->held[i] != only) {
			w->held[kept++] = w->held[i];
			continue;
		}
		task_begins(w, w->held[i], phase);
		task_go_on(w, w->held[i], 0);
	}
	w->n_held = kept;
}

/* The kernel tells of a child twice, by itself and by its parent, in any order. Once the program
 * runs, nobody else has children. */
static bool child_is_held(struct watching *w, pid_t pid)
{
	if (w->tasks[pid].phase > ENDED)
		return false;
	if (w->tally->begun || w->n_held == HELD_MAX) {
		task_begins(w, pid, PROGRAM);
		return false;
	}
	w->held[w->n_held++] = pid;
	return true;
}

static void parent_tells(struct watching *w, pid_t parent)
{
	const enum phase phase = w->tasks[parent].phase;
	unsigned long pid = 0;

	if (ptrace(PTRACE_GETEVENTMSG, parent, NULL, &pid) < 0 || pid >= PIDS)
		return;
	if (w->tasks[pid].phase != UNKNOWN)
		return;
	held_release(w, (pid_t)pid, phase);
	if (w->tasks[pid].phase == UNKNOWN)
		task_begins(w, (pid_t)pid, phase);
}

/* ---- the watcher ---- */

static bool is_group_stop(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

static void watch_event(struct watching *w, pid_t pid, int event, int sig)
{
	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		parent_tells(w, pid);
		break;
	case PTRACE_EVENT_EXEC:
		task_executes(w, pid);
		break;
	case PTRACE_EVENT_STOP:
		if (is_group_stop(sig)) { /* it stays stopped, as it would be */
			ptrace(PTRACE_LISTEN, pid, NULL, NULL);
			return;
		}
		if (child_is_held(w, pid))
			return;
		break;
	default:
		break;
	}
	task_go_on(w, pid, 0);
}

static void watch_one(struct watching *w, pid_t pid, int status)
{
	const int sig = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;

	if (pid >= PIDS)
		return;
	if (!WIFSTOPPED(status)) {
		w->tasks[pid].phase = ENDED;
		if (!w->tally->begun) /* it may have been killed before it told of a child */
			held_release(w, 0, BEFORE);
	} else if (status >> 16) {
		watch_event(w, pid, status >> 16, sig);
	} else if (sig == (SIGTRAP | 0x80)) {
		task_calls(w, pid);
		task_go_on(w, pid, 0);
	} else {
		task_go_on(w, pid, sig); /* a signal, on its way to the program */
	}
}

static const long watch_options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
				  PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;

/* Never returns: the first byte says whether it could begin. */
__attribute__((noreturn)) static void watch_run(struct watching *w, int sock, pid_t maker)
{
	sigset_t all;
	int status, error = 0;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL); /* a terminal's are for the program */
	prctl(PR_SET_NAME, "sbxrun-learn");
	if (dup2(sock, STDIN_FILENO) < 0 || close_range(1, ~0U, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		_exit(1);
	if (getppid() != maker)
		_exit(1);
	if (ptrace(PTRACE_SEIZE, w->init, NULL, (void *)watch_options) < 0)
		error = errno;
	if (write(STDIN_FILENO, &error, sizeof(error)) != (ssize_t)sizeof(error) || error)
		_exit(1);
	close(STDIN_FILENO);
	while ((pid = child_next(&status)) >= 0)
		watch_one(w, pid, status);
	_exit(0);
}

/* ---- the other side ---- */

int learn_open(struct learning *l, struct error *e)
{
	*l = (struct learning){0};
	l->tally = mmap(NULL, sizeof(*l->tally), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l->tally == MAP_FAILED) {
		l->tally = NULL;
		return err_sys(e, "learn: memory");
	}
	return 0;
}

static int learn_await(int sock, struct error *e)
{
	int error = 0;
	ssize_t n;

	do
		n = read(sock, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(error))
		return err_set(e, ERR_SYSTEM, "learn: the process that was to watch has ended");
	if (!error)
		return 0;
	errno = error;
	return err_sys(e, "learn: trace the container's first process%s",
		       error == EPERM ? " (is kernel.yama.ptrace_scope 3, or is ptrace forbidden "
					"to sbxrun itself?)" :
					"");
}

int learn_begin(struct learning *l, pid_t pid, bool behind_reaper, struct error *e)
{
	struct watching w = {
		.tally = l->tally,
		.judge = l->judge,
		.init = pid,
		.behind_reaper = behind_reaper,
	};
	const pid_t self = getpid();
	int pair[2], result;

	if (learn_end(l, e) < 0)
		return -1;
	l->tally->begun = false;
	if (pid >= PIDS)
		return err_set(e, ERR_SYSTEM, "learn: process %d is none", pid);
	w.tasks = mmap(NULL, PIDS * sizeof(*w.tasks), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w.tasks == MAP_FAILED)
		return err_sys(e, "learn: memory");
	w.tasks[pid] = (struct task){.phase = BEFORE, .call = TALLY_NONE};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		munmap(w.tasks, PIDS * sizeof(*w.tasks));
		return err_sys(e, "learn: make a socket");
	}
	l->watcher = fork();
	if (l->watcher == 0)
		watch_run(&w, pair[1], self);
	munmap(w.tasks, PIDS * sizeof(*w.tasks));
	fd_close(&pair[1]);
	result = l->watcher < 0 ? err_sys(e, "learn: fork") : learn_await(pair[0], e);
	fd_close(&pair[0]);
	if (result < 0 && l->watcher > 0)
		child_end(l->watcher);
	if (result < 0)
		l->watcher = 0;
	return result;
}

int learn_end(struct learning *l, struct error *e)
{
	const pid_t watcher = l->watcher;

	l->watcher = 0;
	if (watcher <= 0)
		return 0;
	/* Another part of us may have collected it (ECHILD). */
	if (child_collect_within(watcher, END_MS, NULL, e) < 0 && e->sys != ECHILD) {
		child_end(watcher);
		return err_wrap(e, "learn: what was watched has not ended");
	}
	return 0;
}

void learn_close(struct learning *l)
{
	struct error ignored;

	learn_end(l, &ignored);
	if (l->tally)
		munmap(l->tally, sizeof(*l->tally));
	l->tally = NULL;
}
