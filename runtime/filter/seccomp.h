/*
 * From linux.seccomp to a BPF program. Pure: it is a part of the plan, made by the parent before
 * clone, so that errors come early; init loads it (security/seccomp_install.h).
 *
 * The meaning of a profile here:
 *  - The native architecture is always covered; `architectures` adds to it. A system call of any
 *    other architecture kills the process. One of the other byte order can't run on this host: it
 *    is left out.
 *  - Rules for one system call are alternatives; the args of one rule must all hold. A rule that
 *    has two conditions on one argument is taken as one rule per condition, as other runtimes do.
 *    Of those that hold the strictest decides (seccomp_compile.h).
 *  - An argument and the value it is held to are compared with as many low bits as the kernel takes
 *    of the argument: 64 at most, 32 on 32-bit architectures and x32, and everywhere 32 of an int
 *    and 16 of a mode. libseccomp, and so other runtimes, compare an int with 64 bits, and who sets
 *    bits that the kernel drops gets past their rules.
 *    The mask of SCMP_CMP_MASKED_EQ covers argument and value, as with libseccomp.
 *  - i386 and some others also reach sockets and System V IPC through socketcall and ipc, where a
 *    filter can't see the arguments: there a rule that closes a call holds without its args, and
 * one that opens it for some does not hold.
 *  - A rule without args whose action is the default action says nothing and is skipped.
 *  - Names that are unknown are skipped, and noted where the rule would have been a restriction; on
 *    architectures that lack a call, it is skipped.
 *  - errnoRet is EPERM unless given, and an error where the action takes none.
 *  - Unless the default action lets calls pass, a number above the newest call that the profile
 *    names (per architecture) gives ENOSYS: the profile can't have judged it, and C libraries fall
 *    back on ENOSYS alone.
 *  - no_new_privs is a step of its own, never a side effect of the filter.
 */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "oci/config.h"
#include "oci/notes.h"

struct seccomp_program {
	struct sock_filter *filter; /* NULL: no filter */
	unsigned short len;
	unsigned int flags; /* SECCOMP_FILTER_FLAG_* */
	bool notify;	    /* some action is SCMP_ACT_NOTIFY: loading gives a listener */
	const char *listener_path;
	const char *listener_metadata;
};

/* Builds the program. Without linux.seccomp it is empty. Notes are sentences for the log. */
int seccomp_program_build(const struct oci_seccomp *c, struct arena *a,
			  struct seccomp_program *ret_program, struct notes *ret_notes,
			  struct error *e);
