/*
 * Refusals, as the kernel asks about them (filter/observe.h): answered as the filter would have,
 * counted, and put into words. Trust: numbers and memory are the program's. Nothing here decides
 * anything by memory; a program that lies about a path lies to whoever reads the result. Where the
 * program computes and does nothing else (filter/pure.h), the reaper's calls and the one execve of
 * the program are let pass: by who asks and how often, which the kernel says.
 */
#pragma once

#include "box/box.h"
#include "filter/seccomp.h"
#include "sys/loop.h"

enum {
	DENIALS_MAX = 100,	/* different ones */
	DENIALS_A_CALL = 8,	/* different targets of one call; the others are counted together */
	DENIALS_A_WINDOW = 2000, /* answers … */
	DENIALS_WINDOW_MS = 100, /* … in this time; the rest waits */
};

struct network;

struct denials {
	int listener_fd; /* -1: nobody asks */
	const struct network *network; /* NULL: the box has none */
	const struct box_request *q;
	struct seccomp_program judge;
	pid_t reaper; /* the first process of the box, which is ours */
	bool program_runs; /* of one that executes nothing more: it has been executed */
	struct arena *arena;  /* of the result */
	struct arena scratch; /* of one question */
	struct loop_source *source;
	bool known;
	bool more;
	size_t n;
	struct box_denial v[DENIALS_MAX];
	int64_t window_ends, pause_until;
	unsigned int in_window;
};
#define DENIALS_CLOSED ((struct denials){.listener_fd = -1})

/* Before the box: where nobody can listen, because whoever started us does, the request watches for
 * nothing any more, and *ret_note says so; the box has the plain filter of the profile, which the
 * judge would have been. An error, where that is not enough. */
int denials_settle_request(struct box_request *q, const char **ret_note, struct error *e);

/* Takes the listener over. */
void denials_open(struct denials *d, const struct box_request *q,
		  const struct seccomp_program *judge, int listener_fd, struct arena *a);
void denials_add(struct denials *d, struct loop *l);

/* Counts one that others have found; target, host and name are copied. */
void denials_note(struct denials *d, struct box_denial what);
void denials_note_times(struct denials *d, struct box_denial what, uint64_t times);

/* An answer was given: past a rate, the next ones wait. */
void denials_spend(struct denials *d);

/* Before each round of the loop: whether it is time to answer again. */
void denials_settle(struct denials *d);

void denials_tell(const struct denials *d, struct box_result *r);
void denials_close(struct denials *d);
