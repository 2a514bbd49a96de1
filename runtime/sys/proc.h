/*
 * Reading and writing procfs. Writes go through a procfs of our own that no one else can mount over
 * or replace; or through the host's, checked to be one, where the kernel allows no other or a
 * private one would show nothing else (rule R6).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* The host's /proc, checked to be one. Paths below it that something is mounted on don't open. */
int proc_open_host(struct error *e);

/* Opens a procfs for this process's pid namespace: private if possible, else a checked /proc. */
int proc_open(struct error *e);

/* Opens for writing files of a process like PID/name: the host's /proc, if it is that of our pid
 * namespace and lets us; else as above. A private one costs a superblock, and its end waits for the
 * kernel (RCU). */
int proc_open_for(pid_t pid, const char *name, struct error *e);

/* Opens path below a procfs root without crossing mounts or following links of any kind.
 * The one link allowed is a leading "self" or "thread-self", which is resolved to the
 * caller's own number. */
int proc_openat(int proc_dfd, const char *path, int flags);

/* Writes text to such a file with one write(2). */
int proc_write(int proc_dfd, const char *path, const char *text);

/* Identifies a process beyond its number. */
struct proc_stat {
	char state;	/* of its main thread; 'Z' and 'X': that has ended, others may live on */
	bool executed;	/* something, since it was forked */
	uint64_t start; /* clock ticks since boot */
};

/* Reads /proc/PID/stat. -1 with errno (ENOENT or ESRCH: no such process). */
int proc_stat_read(pid_t pid, struct proc_stat *ret);
/* Parses the text of /proc/PID/stat. Trust: the command's name in it is anything. -1 with
 * EINVAL. */
int proc_stat_parse(const char *text, struct proc_stat *ret);

/* The number of the process that a pidfd refers to, as seen here; -1 with errno (ESRCH: it is
 * gone). */
pid_t proc_pid_of(int pidfd);

/* The number of a child of ours that a pidfd refers to; -1 with ECHILD if it refers to anybody
 * else. Trust: a process that can trace the child may have sent a descriptor of its choice. */
pid_t proc_pid_of_child(int pidfd);

/* The first process of a pid namespace, as seen here; -1 with errno (ESRCH: there is none, or it
 * can't be seen). */
pid_t proc_first_of_pid_ns(int ns_fd);

/* The kernel's boot id (36 characters and a NUL). */
int proc_boot_id(char id[37], struct error *e);
