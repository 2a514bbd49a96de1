/* The device program of cgroup v2. Making it is pure; cgroup/devices.c loads and attaches it. */
#pragma once

#include <linux/bpf.h>
#include <stddef.h>

#include "base/arena.h"
#include "plan/cgroup.h"

struct cgroup_program {
	size_t n;
	struct bpf_insn *v;
};

/* The rules as a BPF_PROG_TYPE_CGROUP_DEVICE program, which returns 1 to allow. */
struct cgroup_program cgroup_devices_program(const struct cgroup_devices *d, struct arena *a);
