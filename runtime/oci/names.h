/* Tables of names that config.json uses and the kernel doesn't: both directions, no policy. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "oci/enums.h"

/* "CAP_CHOWN" (upper case, with prefix) → number, or -1. */
int oci_cap_number(const char *name);
const char *oci_cap_name(int number); /* NULL past the last known */

/* "RLIMIT_NOFILE" → resource, or -1. */
int oci_rlimit_number(const char *name);

/* "KILL", "SIGKILL", "sigkill", "9", "RTMIN+3" → number, or -1. 0 only as "0". */
int oci_signal_number(const char *text);
const char *oci_signal_name(int number); /* "SIGKILL"; NULL for real-time ones */

/* A namespace's word in config.json, its CLONE_NEW* flag, and its file in /proc/PID/ns. */
struct oci_ns_name {
	enum oci_ns type;
	const char *word;
	int flag;
	const char *proc;
};
extern const struct oci_ns_name oci_ns_names[OCI_NS_COUNT];
