/*
 * trace.h: run one command under ptrace, and at an exact system call of one of its processes kill
 * that process, or its caller, or let the call fail.
 *
 * Processes are numbered in the order of their birth: 0 is the command itself, 1… are its
 * descendants. A process attached with .attach is number 1. System calls are counted per process,
 * at their entry and from the command's execve on; the victim dies before the call is done. A call
 * that is to fail is not done at all, but for close, which the kernel carries out even when it
 * fails.
 */
#ifndef CRASH_TRACE_H
#define CRASH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TRACE_PROCS 64

/* A process between us and the command, which dies instead of the victim. */
enum trace_caller {
	CALLER_NONE,
	CALLER_TIED, /* the command asked to be killed when its caller dies */
	CALLER_PIPE, /* the command only loses the readers of its standard streams */
};

/* One system call of a run. */
struct trace_call {
	size_t proc;
	unsigned long at; /* its number in the process, from 1 */
	long nr;
	unsigned long nth; /* its number among those of the same nr there */
	bool loading; /* the C library's own, before main */
};

struct trace_spec {
	char *const *argv;
	pid_t attach;	     /* a process that was there before and is traced too; 0: none */
	const char *payload; /* argv[0] of the contained program: after its execve a process is no
				longer the runtime's */
	int log_fd;	     /* stdout and stderr of the command */
	int victim;	     /* number of the process that is struck, -1 none */
	unsigned long at;    /* the victim's system call, from 1 */
	unsigned long
		nth; /* or, if not 0, its nth call of nr: how often it waits in between changes */
	long nr;
	int fault;	     /* the errno with which that call fails; 0: the victim dies */
	enum trace_caller caller;
	struct trace_call *ret_calls; /* every call is noted here, up to max_calls */
	size_t max_calls;
	int limit_ms; /* for the whole */
};

struct trace_result {
	bool reached; /* the victim was struck */
	bool hung;    /* the limit passed; the command was killed */
	long nr;      /* the system call it was about to do */
	size_t ncalls; /* how many are in ret_calls */
	pid_t pid;    /* of the command */
	int status;   /* the command's wait status */
	size_t nprocs;
	unsigned long calls[TRACE_PROCS];
};

/* Whether the kernel can let this call fail at all: exit and getpid can't. */
bool trace_can_fail(long nr);

/*
 * Runs spec. On return no process is traced any more: what still lives goes on by itself. The
 * caller must be the subreaper and have SIGCHLD blocked.
 */
void trace_run(const struct trace_spec *spec, struct trace_result *ret);

/* Runs argv untraced and returns its wait status, reaping whatever else ends meanwhile; -1 when it
 * took too long. */
int plain_run(char *const *argv, int log_fd, int limit_ms);

/* Reaps one ended child, waiting for at most ms; false if there was none. */
bool reap_one(int ms);

#endif
