/*
 * Counts of a program's system calls: how often each was made, how often it failed, whether the
 * filter refused it, and with which values of an argument that says what it is about. A table of
 * fixed size without pointers to anything that moves, so that it can lie in memory which two
 * processes share: one that watches, and one that was forked into it. Pure.
 */
#pragma once

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filter/syscalls.h"

enum {
	TALLY_CALLS = 1024, /* more than any machine has, other architectures included */
	TALLY_VALUES = 16,  /* of one call; what comes then is only counted */
};

/* Whose call it was. */
enum tally_who {
	TALLY_PROGRAM,
	TALLY_OURS, /* the first process of a box, and what becomes its program */
};

struct tally_value {
	uint64_t value, count;
	bool refused;
};

struct tally_call {
	uint32_t token, nr;
	const struct syscall_row *row;	 /* NULL: nobody knows it */
	const struct syscall_arch *arch; /* NULL: nobody knows it */
	uint64_t made[2];		 /* by enum tally_who */
	uint64_t failed;		 /* in the kernel, not by the filter */
	uint64_t refused;
	uint32_t verdict; /* of the last time that it was refused: SECCOMP_RET_… */
	bool exec_gain;	  /* it failed, and wanted memory that is writable and executable */
	bool more;	  /* values than there is room for */
	uint32_t n_values;
	struct tally_value values[TALLY_VALUES];
};

struct tally {
	uint32_t n;
	uint64_t lost;	/* calls for which there was no row */
	uint64_t tasks; /* processes and threads of the program */
	bool begun;	/* the program was executed */
	struct tally_call v[TALLY_CALLS];
};

enum { TALLY_NONE = -1 };

/* Notes a call that is about to be made, and what the filter will say to it (SECCOMP_RET_…). Which
 * one it is in the table; TALLY_NONE: there is nothing more to note of it. */
int tally_note(struct tally *t, const struct seccomp_data *data, uint32_t verdict,
	       enum tally_who who);

/* Notes that it failed so; `data` is what the call began with, as far as is needed. */
void tally_note_failure(struct tally *t, int which, int error, uint64_t arg2);

/* Whether that verdict keeps a call from being made. */
bool tally_refuses(uint32_t verdict);

/* Which argument of a call says what it is about, and what of it; -1: none. */
int tally_argument(const char *name, uint64_t *ret_mask);
