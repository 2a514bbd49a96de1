/*
 * Bytes on their way from one descriptor to another: one chunk at a time, so that a reader who
 * takes his time holds up the writer and nothing else. With a cap: what comes after it is read and
 * dropped, so that the writer goes on, and is counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/loop.h"

enum { RELAY_CHUNK = 4096 }; /* what a pipe that can be written takes at once */

struct relay {
	int from; /* -1: it has ended */
	int to;
	uint64_t cap;	  /* bytes to pass on; 0: no cap */
	uint64_t passed;  /* read, and to be written */
	uint64_t dropped; /* read, and beyond the cap, or nobody took it */
	bool broken;	  /* nobody takes it any more */
	bool is_input;	  /* to a terminal: the end of it is said as a terminal says it … */
	bool said_end;	  /* … which it has been, while the terminal */
	bool in_lines;	  /* gave whole lines to its reader */
	char last;	  /* byte that passed */
	size_t at, len;
	char data[RELAY_CHUNK];
	struct loop_source *in, *out;
};

/* Adds both ends to a loop. r is set up but for what is not said above. */
void relay_add(struct relay *r, struct loop *l);

/* Says the end of the input again if the terminal has another mode than when it was said last: a
 * shell that has begun to read single bytes meanwhile never hears of it. To be called now and then
 * once r->said_end is set. */
void relay_repeat_end(struct relay *r);

/* No more in either direction; its descriptors are the caller's to close. */
void relay_cut(struct relay *r);

/* Everything has been passed on. */
bool relay_is_done(const struct relay *r);
