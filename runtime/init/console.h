/*
 * The container's terminal (rule R10): a pair made on its own devpts, whose other end is sent to
 * whoever asked for it. Trust: the tree is the container's; what is opened is checked to be a
 * devpts.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "oci/config.h"
#include "rootfs/rootfs.h"

struct console {
	int slave_fd; /* -1: no terminal, or console_use() has been called */
	bool in_use;
};

#define CONSOLE_PTMX "/dev/pts/ptmx"

/* Opens a pair at ptmx, which is looked up in dfd (CONSOLE_PTMX in a root), sets its size, and
 * sends the master over sock. relayed: to another terminal, which does what is to be done at the
 * end of a line. */
int console_open(int dfd, const char *ptmx, const struct oci_console_size *size, bool relayed,
		 int sock, struct console *ret, struct error *e);

/* Binds it to /dev/console. */
int console_bind(const struct rootfs *r, const struct console *c, struct error *e);

/* Makes it standard input, output and error. */
int console_use(struct console *c, struct error *e);

/* Makes it the controlling terminal of the calling session leader. */
int console_own(const struct console *c, struct error *e);
