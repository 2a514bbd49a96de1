/*
 * trace.h: run one command under ptrace and kill one of its processes at an exact syscall.
 *
 * Processes are numbered in the order of their birth: 0 is the command itself, 1… are its
 * descendants. A process attached with .attach is number 1. System calls are counted per process,
 * at their entry; the victim dies before the call is done.
 */
#ifndef CRASH_TRACE_H
#define CRASH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TRACE_PROCS 64

struct trace_spec {
	char *const *argv;
	pid_t attach;	     /* a process that was there before and is traced too; 0: none */
	const char *payload; /* argv[0] of the contained program: after its execve a process is no
				longer the runtime's */
	int log_fd;	     /* stdout and stderr of the command */
	int victim;	     /* number of the process to kill, -1 none */
	unsigned long at;    /* the victim's system call, from 1 */
	int limit_ms;	     /* for the whole */
};

struct trace_result {
	bool reached; /* the victim was killed */
	bool hung;    /* the limit passed; the command was killed */
	long nr;      /* the system call it was about to do */
	int status;   /* the command's wait status */
	size_t nprocs;
	unsigned long calls[TRACE_PROCS];
};

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
