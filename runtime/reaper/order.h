/*
 * Words between the reaper of a box and its caller, over its socket. Both sides are of one build:
 * the program is inside sbxrun (init/reaper.c).
 *
 *	order, name of the file, its bytes      ──►
 *	                                        ◄──  word: RUNS, or FAILED with an errno
 *	a byte: a signal for all processes      ──►
 *	                                        ◄──  word: ENDED with a status as of wait()
 *
 * A program whose code comes later (order.later) is started all the same. Where it looks for its
 * file there is a pipe, so it waits there, with all behind it that programs do at their start:
 *
 *	                                        ◄──  word: READY, with the bytes that the pipe holds
 *	a byte: 0, a size of 64 bits, the file  ──►
 *
 * The end of the socket is the end of the box. Of a call beside others (beside) it is the end of
 * its program, which is told as any end of it; and signals are for the program's process group.
 */
#pragma once

#include <stdint.h>

enum { REAPER_CPU_WORDS = 16, REAPER_NAME_MAX = 256 };

/* In place of the number of a socket: it has none, and is the first process of a box that stays
 * … */
#define REAPER_WAITS "wait"
/* … and this signal (SIGTERM) has it kill all others. They are dying once it is no longer
 * pending. */
enum { REAPER_END_CALLS = 15 };

struct reaper_order {
	uint64_t cpus[REAPER_CPU_WORDS]; /* which processors it may run on; all zero: any */
	uint64_t file_size;
	uint32_t name_size;	     /* of the file to write, with its final zero; 0: none */
	uint32_t file_mode;
	uint32_t deny_write_execute; /* for the program and all it starts */
	uint32_t beside; /* others are there that stay: it signals and takes along its own alone */
	uint32_t later;	 /* the file comes when the program waits for it */
};

enum reaper_kind { REAPER_RUNS = 1, REAPER_ENDED, REAPER_FAILED, REAPER_READY };

/* In place of a signal. */
enum { REAPER_FILE_COMES = 0 };

/* Where it failed, in the upper half of a FAILED value; the errno is in the lower. */
enum reaper_place { REAPER_AT_FILE = 1, REAPER_AT_PROGRAM, REAPER_AT_FORK, REAPER_AT_SETUP };

struct reaper_word {
	uint32_t kind;
	int32_t value;
};
