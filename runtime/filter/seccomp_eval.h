/*
 * Runs a seccomp program as the kernel would: classic BPF over struct seccomp_data, with the checks
 * that the kernel makes when it loads one.
 */
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_result {
	const char *error; /* NULL: the program ended in a return */
	uint32_t action;
	bool looked_at_args;
	unsigned int steps;
};

struct bpf_result bpf_eval(const struct sock_filter *filter, size_t len,
			   const struct seccomp_data *data);

/* Whether a call of this machine's own architecture, with these arguments, would simply pass. */
bool bpf_allows(const struct sock_filter *filter, size_t len, int nr, const uint64_t args[6]);

/* Whether such a call would simply pass whatever its arguments: the program does not look at
 * them. */
bool bpf_allows_always(const struct sock_filter *filter, size_t len, int nr);

/* It fails whatever the arguments, and whoever is asked. */
bool bpf_forbids_always(const struct sock_filter *filter, size_t len, int nr);
