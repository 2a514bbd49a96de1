/* A filter into the kernel: one system call of the process that becomes the payload. */
#pragma once

#include "base/err.h"
#include "filter/seccomp.h"

/* Whether this kernel knows the program's flags. For the parent, before anything is made. */
int seccomp_check_host(const struct seccomp_program *p, struct error *e);

/* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, or 0 if this kernel lacks it. */
unsigned int seccomp_waits_killable(void);

/* Whether a filter of a child of this process can have a listener: the kernel refuses it (EBUSY)
 * where whoever started us has one, for a process can ask one alone. It takes a child to know,
 * and that only of who is under a filter already. */
bool seccomp_may_listen(void);

/*
 * Puts the program on the calling thread, which needs no_new_privs or CAP_SYS_ADMIN.
 * *ret_listener_fd is the notify listener (close-on-exec) or -1. After this every call of ours must
 * pass the filter: the listener is best taken by the parent with pidfd_getfd, for a send could wait
 * for an answer that only its receiver can give.
 */
int seccomp_install(const struct seccomp_program *p, int *ret_listener_fd, struct error *e);
