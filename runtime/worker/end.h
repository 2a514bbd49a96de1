/* How a program ended, and what it took: the same for who made it and for whom it was made. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct life_end {
	int status;	      /* exit code, or 128 + signal */
	int signal;	      /* 0: none */
	bool oom;	      /* the kernel has killed something of it, for it was out of memory */
	uint64_t pids_refused; /* processes that the limit of the cgroup has refused */
	uint64_t cpu_ns; /* of all its processes; without cgroups, of those that were waited for */
	uint64_t peak_memory; /* bytes; 0: not known */
	uint64_t peak_pids; /* processes and threads at once; 0: not known */
	int64_t wall_ns;
};
