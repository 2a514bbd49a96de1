/*
 * Judges for seccomp programs, shared by unit tests and fuzzing.
 *
 *	profile ──► the compiler ──► program ──► bpf_eval ──┐
 *	   ├──────► judge_answer: its meaning, straight ────┼── must agree, call by call
 *	   └──────► libseccomp ────► program ──► bpf_eval ──┘   (where libseccomp can be believed)
 *
 * For fuzzing: judge_bytes() makes a profile of any bytes and lets the first two judge it.
 */
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "oci/config.h"
#include "filter/seccomp.h"

/* libseccomp compares ints with 64 bits and all of x32 with 32, knows no ENOSYS for what is newer
 * than the profile, and lets the order of rules decide rather than their strictness. */
enum judge_view { JUDGE_OURS, JUDGE_LIBSECCOMPS };

/* A profile with its names resolved. */
struct judge;
struct judge *judge_new(const struct oci_seccomp *c, struct arena *a);
uint32_t judge_answer(const struct judge *j, enum judge_view view, const struct seccomp_data *d);

/* A profile out of bytes: any bytes give one that can be compiled, but for its length. */
struct judge_bytes {
	const uint8_t *data;
	size_t len;
};
void judge_profile(struct judge_bytes bytes, struct arena *a, struct oci_seccomp *ret);

/* libseccomp's program. It is made in a child, because for some profiles libseccomp never returns.
 */
enum oracle_verdict { ORACLE_MADE, ORACLE_REFUSED, ORACLE_HUNG, ORACLE_BROKEN };
struct oracle {
	struct sock_filter filter[BPF_MAXINSNS];
	size_t len;
};
enum oracle_verdict oracle_make(const struct judge *j, struct oracle *ret);

/* What a comparison came to. */
struct judge_tally {
	uint64_t calls;	       /* judged */
	uint64_t oracle_calls; /* of these, judged by libseccomp too */
	uint64_t oracle_wrong; /* where rules of one call overlap and libseccomp goes astray */
	char why[256];	       /* the first difference that counts; empty: none */
};

/* Every number of every architecture, with the boundary values of the arguments that rules mention.
 * o may be NULL. */
void judge_compare(const struct judge *j, const struct seccomp_program *p, const struct oracle *o,
		   struct judge_tally *t);

/* All at once, without libseccomp. false: t->why says what is wrong. */
bool judge_run(struct judge_bytes bytes, struct judge_tally *t);
