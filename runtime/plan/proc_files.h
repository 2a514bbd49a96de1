/*
 * Files of /proc that programs count on, made up for the container: what it has by its limits, and
 * nothing of the machine. They stand where a policy shows processes alone in /proc. They say what
 * held when the container was created, and never change. Pure; rootfs/proc_files.c puts them there.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "oci/config.h"

struct proc_file {
	const char *name; /* in /proc */
	const char *text;
};

struct proc_files {
	size_t n;
	struct proc_file *v;
};

/* Programs can ask the kernel for it anyway: without limits, they have all of this. */
struct machine_facts {
	uint32_t cpus;	 /* that a process may run on; 0 is taken for one */
	uint64_t memory; /* bytes */
	uint64_t now;	 /* seconds since 1970 */
};

struct proc_files plan_proc_files(const struct oci_resources *r, const struct machine_facts *m,
				  struct arena *a);
