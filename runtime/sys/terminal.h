/* A program's terminal that is relayed to our own: its master, and our own as it was. */
#pragma once

#include <stdbool.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base/err.h"

struct terminal {
	int master_fd; /* or -1 */
	bool own_is_raw;
	struct termios own; /* as it was */
};
#define TERMINAL_NONE ((struct terminal){.master_fd = -1})

/* The size of our own, if we have one. */
bool terminal_size(struct winsize *ret);

/* Takes over the one whose master comes over sock; our own becomes raw. */
int terminal_take(struct terminal *t, int sock, struct error *e);

/* It gets the size of ours. */
void terminal_resize(const struct terminal *t);

/* We were stopped, and somebody may have used our own meanwhile. */
void terminal_make_raw_again(struct terminal *t);

/* Gives our own back. */
void terminal_make_sane(struct terminal *t);
