/*
 * From tables of system calls to a BPF program: for each architecture a balanced tree over ranges
 * of numbers, with argument checks at its leaves. Pure; knows no names.
 *
 * libseccomp's own generator is not used. With two rules of several arguments on one call it gives
 * wrong answers (2.5.4: {arg0 != 2, arg1 & 2} and {arg0 > 0} on i386 lets arg0 = 4 pass) and for
 * some never returns, and profiles come from outside. It also takes a hundred times as long.
 */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "oci/config.h"
#include "filter/syscalls.h"

/* One alternative for one call: all args hold → action. */
struct seccomp_entry {
	uint32_t nr;
	uint32_t order; /* in the profile */
	uint32_t action;
	size_t arg_count;
	const struct oci_seccomp_arg *args;
	uint8_t bits[6]; /* of each argument of the call: 64, 32 or 16; unset without args */
	bool vague; /* stands for a rule whose args can't be seen at this call: socketcall, ipc */
};

struct seccomp_table {
	const struct syscall_arch *arch;
	uint32_t last; /* newest call that the profile names; 0: none */
	size_t n;
	size_t cap;
	struct seccomp_entry *entries;
};

struct seccomp_code {
	struct seccomp_table *tables; /* entries get sorted */
	size_t table_count;
	uint32_t default_action;
	uint32_t foreign_action; /* for architectures without a table */
	bool enosys;		 /* numbers above .last give ENOSYS, not the default */
};

/* The kernel's own order: of two answers it takes the one that is less as a signed number. */
bool seccomp_is_stricter(uint32_t action, uint32_t than);

/*
 * Of the alternatives for one call that hold, the strictest decides, and of equally strict ones the
 * first. Without args there is one at most, the first in the profile: with it in place, others
 * count where they are stricter, and vague ones not at all, for the profile has spoken of the call
 * itself.
 *
 * Writes at most max instructions to out. Returns how many, or 0 when there is no room.
 */
size_t seccomp_compile(const struct seccomp_code *c, struct arena *a, struct sock_filter *out,
		       size_t max);
