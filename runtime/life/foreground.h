/*
 * A program in the foreground: its signals, its terminal, its end. Used by run and exec.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "oci/config.h"
#include "oci/notes.h"
#include "sys/loop.h"
#include "sys/terminal.h"

struct foreground {
	struct loop_signals signals;
	struct terminal terminal;
	int notify_fd; /* where it says that it is ready, or -1 */
	bool told_to_end; /* a signal that means "end" was passed on */
	const struct noter *noter;
};

#define FOREGROUND_NONE                                                                            \
	((struct foreground){                                                                      \
		.signals = LOOP_SIGNALS_NONE, .terminal = TERMINAL_NONE, .notify_fd = -1})

/* Blocks signals from here on, so that none is lost; they are forwarded by foreground_wait(). */
int foreground_prepare(struct foreground *f, struct error *e);

/* The size of our own terminal, if we have one: the program's must have it before it runs. */
void foreground_own_size(struct oci_console_size *size);

/* Takes over the terminal whose master comes over sock: raw mode and size of our own, if we have
 * one. */
int foreground_open_terminal(struct foreground *f, int sock, struct error *e);

/* Forwards signals and bytes until pid (our child) has ended; its exit code, or 128 + signal. */
int foreground_wait(struct foreground *f, pid_t pid, int pidfd);

/* Gives our own terminal back. foreground_wait() has done so. */
void foreground_make_sane(struct foreground *f);

/* That, and the signals: those that came and were not passed on are delivered now. */
void foreground_close(struct foreground *f);
