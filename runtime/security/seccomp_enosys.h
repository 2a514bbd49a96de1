/*
 * The beginning of a filter that answers ENOSYS for system calls newer than a profile: for each
 * architecture, numbers above the last one that the profile names. The rest of the program follows
 * it and starts afresh, whatever the accumulator holds.
 */
#pragma once

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

/* One architecture: libseccomp's token (the kernel's audit number, but for x32) and the last call. */
struct seccomp_last {
	uint32_t arch;
	uint32_t last;
};

/* The most instructions that seccomp_enosys_write() makes for n architectures. */
size_t seccomp_enosys_max(size_t n);

/* Writes the instructions and returns how many. Entries with .last 0 are left out. */
size_t seccomp_enosys_write(const struct seccomp_last *v, size_t n, struct sock_filter *out);
