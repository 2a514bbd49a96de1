/* Made-up hosts to plan for. */
#pragma once

#include "../unit/cgroup_hosts.h"
#include "plan/plan.h"

static inline struct host_facts fuzz_host(const struct cgroup_host *cgroup, bool privileged)
{
	static const uint64_t all = (1ULL << 41) - 1;

	return (struct host_facts){
		.cgroup = *cgroup,
		.uid = privileged ? 0 : 1000,
		.gid = privileged ? 0 : 1000,
		.privileged = privileged,
		.has_time_ns = true,
		.can_mount_detached = true,
		.caps = {.known = all, .available = privileged ? all : 0},
		.caps_userns = {.known = all, .available = all},
	};
}
