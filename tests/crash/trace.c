/*
 * trace.c: the ptrace half of the harnesses.
 *
 * PTRACE_SEIZE is used throughout: seized processes can be interrupted and let go at any moment
 * without a stray SIGSTOP. There is no PTRACE_O_EXITKILL, since survivors must live as they would
 * have lived without us.
 *
 * Caveat: threads count for their process, so a runtime with threads (Go) has no exact numbering
 * from run to run.
 */
#define _GNU_SOURCE
#include "trace.h"
#include "tool.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	TASKS = 512,
	NUMBERS = 1024, /* of system calls */
	QUIET_MS = 40, /* nothing moves for so long after the command's end: the rest is asleep */
	DETACH_MS = 3000, /* a frozen or vfork-waiting task answers late */
};

#define OPTIONS                                                                                   \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
	 PTRACE_O_TRACEEXEC)

/* One traced thread. */
struct task {
	pid_t tid;
	pid_t tgid;
	size_t proc;
	bool inside;  /* a system call; kept for kernels that can't tell */
	bool failing; /* the call it is in is the one that fails */
	bool loading; /* the C library is not ready yet */
};

struct trace {
	const struct trace_spec *spec;
	struct trace_result *res;
	struct task task[TASKS];
	size_t ntasks;
	pid_t leader[TRACE_PROCS];
	unsigned long seen[TRACE_PROCS][NUMBERS]; /* how often each was called */
	pid_t main;
	pid_t caller; /* 0: none */
	/* The command has been executed: from here on it is not the harness itself. */
	bool counting;
	bool main_done;
	bool letting_go;
};

/* ptrace(2) is variadic with pointers for numbers. */
static long pt(enum __ptrace_request req, pid_t tid, unsigned long addr, unsigned long data)
{
	return ptrace(req, tid, (void *)(uintptr_t)addr, (void *)(uintptr_t)data);
}

static pid_t tgid_of(pid_t tid)
{
	char *path = text("/proc/%d/status", tid);
	char *s = file_read(path, NULL);
	char *at = s ? strstr(s, "\nTgid:") : NULL;
	pid_t tgid = at ? (pid_t)strtol(at + 6, NULL, 10) : tid;

	free(path);
	free(s);
	return tgid;
}

static size_t proc_of(struct trace *t, pid_t tgid)
{
	for (size_t i = 0; i < t->res->nprocs; i++)
		if (t->leader[i] == tgid)
			return i;
	if (t->res->nprocs == TRACE_PROCS)
		die("more than %d processes", TRACE_PROCS);
	t->leader[t->res->nprocs] = tgid;
	t->res->calls[t->res->nprocs] = 0;
	return t->res->nprocs++;
}

static struct task *task_find(struct trace *t, pid_t tid)
{
	for (size_t i = 0; i < t->ntasks; i++)
		if (t->task[i].tid == tid)
			return &t->task[i];
	return NULL;
}

static struct task *task_add(struct trace *t, pid_t tid)
{
	struct task *k = task_find(t, tid);

	if (k)
		return k;
	if (t->ntasks == TASKS)
		die("more than %d threads", TASKS);
	k = &t->task[t->ntasks++];
	k->tid = tid;
	k->tgid = tgid_of(tid);
	k->proc = proc_of(t, k->tgid);
	k->inside = k->failing = k->loading = false;
	return k;
}

static void task_drop(struct trace *t, pid_t tid)
{
	struct task *k = task_find(t, tid);

	if (k)
		*k = t->task[--t->ntasks];
}

static void let_go(struct trace *t, pid_t tid, int sig)
{
	(void)pt(PTRACE_DETACH, tid, 0, (unsigned long)sig);
	task_drop(t, tid);
}

static bool is_payload(const struct trace *t, pid_t tid)
{
	char *path = text("/proc/%d/cmdline", tid);
	char *s = file_read(path, NULL);
	bool yes = s && strcmp(s, t->spec->payload) == 0;

	free(path);
	free(s);
	return yes;
}

/*
 * Says whether a syscall-stop is an entry, and of which call. User-mode Linux lacks
 * PTRACE_GET_SYSCALL_INFO: there entries and exits alternate.
 */
static bool is_entry(struct task *k, long *ret_nr)
{
	struct __ptrace_syscall_info si;

	k->inside = !k->inside;
	if (pt(PTRACE_GET_SYSCALL_INFO, k->tid, sizeof(si), (uintptr_t)&si) >= 0) {
		*ret_nr = (long)si.entry.nr;
		return si.op == PTRACE_SYSCALL_INFO_ENTRY;
	}
	*ret_nr = -1;
#ifdef __x86_64__
	*ret_nr = pt(PTRACE_PEEKUSER, k->tid, offsetof(struct user, regs.orig_rax), 0);
#endif
	return k->inside;
}

static bool is_point(const struct trace_spec *s, const struct trace_call *c)
{
	if (s->victim < 0 || (size_t)s->victim != c->proc)
		return false;
	return s->nth ? s->nth == c->nth && s->nr == c->nr : s->at == c->at;
}

/* Counts a system call's entry; true when this is where something has to happen. */
static bool count_call(struct trace *t, struct task *k)
{
	struct trace_call c = { .proc = k->proc, .loading = k->loading };
	long nr;

	if (!is_entry(k, &nr) || !t->counting)
		return false;
	c.at = ++t->res->calls[k->proc];
	c.nr = nr;
	c.nth = nr >= 0 && nr < NUMBERS ? ++t->seen[k->proc][nr] : 0;
	if (t->res->ncalls < t->spec->max_calls)
		t->spec->ret_calls[t->res->ncalls++] = c;
	/* The last thing that a static program does before main: its relocations become
	 * read-only. */
	if (nr == SYS_mprotect)
		k->loading = false;
	if (!is_point(t->spec, &c))
		return false;
	t->res->nr = nr;
	/* The numbering may differ a little from run to run, where processes wait for each
	 * other. */
	t->res->reached = !t->spec->fault || trace_can_fail(nr);
	return t->res->reached;
}

bool trace_can_fail(long nr)
{
	static const long never[] = {
		SYS_exit,    SYS_exit_group, SYS_rt_sigreturn, SYS_restart_syscall, SYS_getpid,
		SYS_getppid, SYS_gettid,     SYS_getuid,       SYS_geteuid,	    SYS_getgid,
		SYS_getegid, SYS_umask,	     SYS_set_tid_address,
		SYS_brk, /* what it can't do it tells by the old end, not by an errno */
	};

	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
		if (never[i] == nr)
			return false;
	return nr >= 0;
}

#ifdef __x86_64__
/* At a call's entry: nothing is done. */
static void call_skip(pid_t tid)
{
	(void)pt(PTRACE_POKEUSER, tid, offsetof(struct user, regs.orig_rax), (unsigned long)-1L);
}

/* At a call's exit: what it returns. */
static void call_return(pid_t tid, long value)
{
	(void)pt(PTRACE_POKEUSER, tid, offsetof(struct user, regs.rax), (unsigned long)value);
}
#else
static void call_skip(pid_t tid)
{
	int none = -1;
	struct iovec nr = { &none, sizeof(none) };

	(void)pt(PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, (uintptr_t)&nr);
}

static void call_return(pid_t tid, long value)
{
	struct user_regs_struct regs;
	struct iovec all = { &regs, sizeof(regs) };

	(void)pt(PTRACE_GETREGSET, tid, NT_PRSTATUS, (uintptr_t)&all);
	regs.regs[0] = (unsigned long)value;
	(void)pt(PTRACE_SETREGSET, tid, NT_PRSTATUS, (uintptr_t)&all);
}
#endif

static void begin_letting_go(struct trace *t)
{
	t->letting_go = true;
	for (size_t i = 0; i < t->ntasks; i++)
		(void)pt(PTRACE_INTERRUPT, t->task[i].tid, 0, 0);
}

static void new_child(struct trace *t, pid_t tid)
{
	unsigned long child = 0;

	if (pt(PTRACE_GETEVENTMSG, tid, 0, (uintptr_t)&child) == 0 && child) {
		(void)task_add(t, (pid_t)child);
		if (t->letting_go)
			(void)pt(PTRACE_INTERRUPT, (pid_t)child, 0, 0);
	}
}

/* The moment has come: somebody dies, and all are let go. A call that fails must end first. */
static void strike(struct trace *t, struct task *k)
{
	if (t->spec->fault) {
		k->failing = true;
		if (t->res->nr != SYS_close)
			call_skip(k->tid);
		(void)pt(PTRACE_SYSCALL, k->tid, 0, 0);
		return;
	}
	if (t->caller) {
		int status;

		kill(t->caller, SIGKILL);
		/* Its death is over, and what the kernel sends for it is sent, when it can be
		 * reaped. */
		while (waitpid(t->caller, &status, 0) < 0 && errno == EINTR)
			;
		let_go(t, k->tid, 0);
	} else {
		kill(k->tgid, SIGKILL);
	}
	begin_letting_go(t);
}

static void finish_fault(struct trace *t, struct task *k)
{
	call_return(k->tid, -(long)t->spec->fault);
	let_go(t, k->tid, 0);
	begin_letting_go(t);
}

/* A traced thread has stopped: look at why, then resume it, let it go, or kill its process. */
static void on_stop(struct trace *t, pid_t tid, int status)
{
	struct task *k = task_add(t, tid);
	int sig = WSTOPSIG(status), event = status >> 16;
	bool is_signal = event == 0 && sig != (SIGTRAP | 0x80);

	if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK ||
	    event == PTRACE_EVENT_VFORK)
		new_child(t, tid);
	if (t->letting_go) {
		let_go(t, tid, is_signal ? sig : 0);
		return;
	}
	if (event == PTRACE_EVENT_EXEC) {
		k->inside = k->loading = true;
		t->counting = t->counting || tid == t->main;
	}
	if (event == PTRACE_EVENT_EXEC && tid != t->main && is_payload(t, tid)) {
		let_go(t, tid, 0);
		return;
	}
	if (event == 0 && sig == (SIGTRAP | 0x80) && k->failing) {
		finish_fault(t, k);
		return;
	}
	if (event == 0 && sig == (SIGTRAP | 0x80) && count_call(t, k)) {
		strike(t, k);
		return;
	}
	if (event == PTRACE_EVENT_STOP && sig != SIGTRAP)
		(void)pt(PTRACE_LISTEN, tid, 0, 0);
	else
		(void)pt(PTRACE_SYSCALL, tid, 0, is_signal ? (unsigned long)sig : 0);
}

/* waitpid for any child with a time limit; 0 when nothing happened. */
static pid_t wait_any(int *status, int ms)
{
	long long end = now_ms() + ms;
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	for (;;) {
		pid_t pid = waitpid(-1, status, WNOHANG | __WALL);
		long long left = end - now_ms();
		struct timespec slice = { 0, 5000000 };

		if (pid > 0)
			return pid;
		if (left <= 0)
			return 0;
		(void)sigtimedwait(&chld, NULL, &slice);
	}
}

/* wait_any for times when nothing should be traced: a task that answered too late (it was frozen)
 * is let go here. */
static pid_t wait_ended(int *status, int ms)
{
	pid_t pid;

	while ((pid = wait_any(status, ms)) > 0 && WIFSTOPPED(*status))
		(void)pt(PTRACE_DETACH, pid, 0, 0);
	return pid;
}

bool reap_one(int ms)
{
	int status;

	return wait_ended(&status, ms) > 0;
}

/* Becomes argv; with a go pipe it waits for a byte first. */
__attribute__((noreturn)) static void become(char *const *argv, int log_fd, int go_fd)
{
	sigset_t none;
	int null_fd;
	char c;

	if (go_fd >= 0 && read(go_fd, &c, 1) != 1)
		_exit(125);
	null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (dup2(null_fd, 0) < 0 || dup2(log_fd, 1) < 0 || dup2(log_fd, 2) < 0)
		_exit(125);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static pid_t spawn(char *const *argv, int log_fd, int go_fd)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid == 0)
		become(argv, log_fd, go_fd);
	return pid;
}

/* The caller's own life: it starts the command, says its pid, and stays as long as it. */
__attribute__((noreturn)) static void be_caller(const struct trace_spec *spec, int go_fd,
						int say_fd)
{
	int out[2], status;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		_exit(125);
	if (pid == 0) {
		/* Only the caller itself reads what the command says. */
		close(out[0]);
		if (spec->caller == CALLER_TIED && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
			_exit(125);
		become(spec->argv, out[1], go_fd);
	}
	close(out[1]);
	if (write(say_fd, &pid, sizeof(pid)) != sizeof(pid))
		_exit(125);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	_exit(0);
}

/* Starts the command through a caller; its pid. */
static pid_t spawn_called(struct trace *t, int go_fd)
{
	int say[2];
	pid_t pid;

	if (pipe2(say, O_CLOEXEC) < 0 || (t->caller = fork()) < 0)
		die("pipe or fork: %s", strerror(errno));
	if (t->caller == 0)
		be_caller(t->spec, go_fd, say[1]);
	close(say[1]);
	if (read(say[0], &pid, sizeof(pid)) != sizeof(pid))
		die("the caller could not start the command");
	close(say[0]);
	return pid;
}

int plain_run(char *const *argv, int log_fd, int limit_ms)
{
	pid_t pid = spawn(argv, log_fd, -1), got;
	long long end = now_ms() + limit_ms;
	int status;

	while (now_ms() < end) {
		got = wait_ended(&status, 50);
		if (got == pid)
			return status;
	}
	kill(pid, SIGKILL);
	do {
		got = wait_ended(&status, 1000);
	} while (got > 0 && got != pid);
	return -1;
}

/* Takes every thread of a process that was there before. */
static void attach(struct trace *t, pid_t pid)
{
	char *path = text("/proc/%d/task", pid);
	DIR *d = opendir(path);
	struct dirent *e;

	free(path);
	if (!d)
		die("process %d has gone before it could be traced", pid);
	while ((e = readdir(d))) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

		if (tid <= 0 || pt(PTRACE_SEIZE, tid, 0, OPTIONS) < 0)
			continue;
		(void)task_add(t, tid);
		(void)pt(PTRACE_INTERRUPT, tid, 0, 0);
	}
	closedir(d);
}

static void on_end(struct trace *t, pid_t pid, int status)
{
	task_drop(t, pid);
	if (pid != t->main)
		return;
	t->main_done = true;
	t->res->status = status;
}

static void give_up(struct trace *t)
{
	t->res->hung = true;
	if (!t->main_done)
		kill(t->main, SIGKILL);
	begin_letting_go(t);
}

/* A killed child leaves the command to find out by itself: wait for its end, untraced. */
static void wait_for_main(struct trace *t, long long end)
{
	int status;

	while (!t->main_done) {
		pid_t pid = wait_ended(&status, 50);

		if (pid > 0)
			on_end(t, pid, status);
		else if (now_ms() > end && !t->res->hung) {
			t->res->hung = true;
			kill(t->main, SIGKILL);
			end += 2000;
		} else if (now_ms() > end)
			die("the command does not die");
	}
}

static void follow(struct trace *t, long long end)
{
	long long gone = 0;

	while (t->ntasks > 0) {
		int status;
		pid_t pid = wait_any(&status, t->main_done ? QUIET_MS : 500);

		if (pid > 0 && WIFSTOPPED(status))
			on_stop(t, pid, status);
		else if (pid > 0)
			on_end(t, pid, status);
		else if (t->main_done && !t->letting_go)
			begin_letting_go(t);
		if (t->letting_go && !gone)
			gone = now_ms() + DETACH_MS;
		if (t->letting_go && now_ms() > gone)
			break;
		if (!t->letting_go && now_ms() > end)
			give_up(t);
	}
}

void trace_run(const struct trace_spec *spec, struct trace_result *ret)
{
	struct trace *t = calloc(1, sizeof(*t));
	long long end = now_ms() + spec->limit_ms;
	int go[2];

	if (!t || pipe2(go, O_CLOEXEC) < 0)
		die("out of memory or descriptors");
	memset(ret, 0, sizeof(*ret));
	t->spec = spec;
	t->res = ret;
	t->main = spec->caller ? spawn_called(t, go[0]) : spawn(spec->argv, spec->log_fd, go[0]);
	ret->pid = t->main;
	if (pt(PTRACE_SEIZE, t->main, 0, OPTIONS) < 0)
		die("ptrace: %s", strerror(errno));
	(void)task_add(t, t->main);
	if (spec->attach)
		attach(t, spec->attach);
	if (write(go[1], "g", 1) != 1)
		die("write: %s", strerror(errno));
	close(go[0]);
	close(go[1]);
	follow(t, end);
	wait_for_main(t, end);
	free(t);
}
