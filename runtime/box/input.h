/*
 * The program's input: a pipe of its own, into which the caller's is passed on. What the program
 * does not read stays the caller's, as it would without a box: in a loop that reads lines, the next
 * line is there after a program that has read nothing. A pipe of the caller's is shown to the
 * program page by page (tee), and taken from only as far as the program has read; a file of his is
 * read ahead, and its place is put back in the end. A socket or a terminal can't be given back:
 * from there is taken what comes.
 */
#pragma once

#include <sys/types.h>

#include "sys/relay.h"

struct input {
	struct relay relay; /* of what can't be given back, of a file, and to a terminal */
	int from, to;	    /* of a pipe: -1: it has ended */
	int file_fd;	    /* of a file: the caller's … */
	int rest_fd;	    /* … and where the program reads */
	size_t shown;	    /* of a pipe: in the program's, and still in the caller's */
	int null_fd;
	bool is_pipe;
	struct loop_source *in, *out;
};

#define INPUT_NONE                                                                                 \
	((struct input){.relay = {.from = -1, .to = -1},                                          \
			.from = -1,                                                                \
			.to = -1,                                                                  \
			.file_fd = -1,                                                             \
			.rest_fd = -1,                                                             \
			.null_fd = -1})

/* from: the caller's, -1: none. to: where we write of the program's pipe; at: where it reads, which
 * is taken over if it is of use, and is -1 then. */
void input_add(struct input *x, int from, int to, int *at, struct loop *l);

/* Of a terminal: to its master. */
void input_add_terminal(struct input *x, int from, int master_fd, struct loop *l);

/* Before each round of the loop. */
void input_settle(struct input *x);

/* Nothing more will come: the program's pipe can be closed. */
bool input_is_done(const struct input *x);

/* The program has ended: what it did not read is given back. */
void input_finish(struct input *x);

void input_close(struct input *x);
