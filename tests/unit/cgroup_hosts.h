/* Fake hosts for tests of cgroup plans. */
#pragma once

#include "plan/cgroup.h"

#define HIERARCHY(names, where)                                                                    \
	{                                                                                          \
		.controllers = (char *)(uintptr_t)(names), .mount = (char *)(uintptr_t)(where),    \
		.root = (char *)(uintptr_t) "/", .own = (char *)(uintptr_t) "/",                   \
		.base = (char *)(uintptr_t) ""                                                     \
	}
#define UNIFIED(where, has)                                                                        \
	{                                                                                          \
		.controllers = (char *)(uintptr_t) "", .mount = (char *)(uintptr_t)(where),        \
		.root = (char *)(uintptr_t) "/", .own = (char *)(uintptr_t) "/init",               \
		.base = (char *)(uintptr_t) "", .unified = true,                                   \
		.v2_controllers = (char *)(uintptr_t)(has)                                         \
	}

static struct cgroup_hierarchy v1_hierarchies[] = {
	HIERARCHY("name=systemd", "/c/systemd"),
	HIERARCHY("net_cls,net_prio", "/c/net_cls"),
	HIERARCHY("hugetlb", "/c/hugetlb"),
	HIERARCHY("pids", "/c/pids"),
	HIERARCHY("blkio", "/c/blkio"),
	HIERARCHY("freezer", "/c/freezer"),
	HIERARCHY("devices", "/c/devices"),
	HIERARCHY("memory", "/c/memory"),
	HIERARCHY("cpuset", "/c/cpuset"),
	HIERARCHY("cpu,cpuacct", "/c/cpu,cpuacct"),
	HIERARCHY("rdma", "/c/rdma"),
};
static struct cgroup_hierarchy hybrid_hierarchies[] = {
	HIERARCHY("pids", "/c/pids"),	    HIERARCHY("freezer", "/c/freezer"),
	HIERARCHY("devices", "/c/devices"), HIERARCHY("memory", "/c/memory"),
	HIERARCHY("cpuset", "/c/cpuset"),   HIERARCHY("cpu", "/c/cpu"),
	UNIFIED("/c/unified", "hugetlb"),
};
static struct cgroup_hierarchy v2_hierarchies[] = {
	UNIFIED("/c", "cpuset cpu io memory hugetlb pids rdma misc"),
};

static const struct cgroup_host host_v1 = {CGROUP_V1, 11, v1_hierarchies};
static const struct cgroup_host host_hybrid = {CGROUP_HYBRID, 7, hybrid_hierarchies};
static const struct cgroup_host host_v2 = {CGROUP_V2, 1, v2_hierarchies};
