/*
 * Loading and attaching the device program of cgroup v2. Runs in the runtime's process with
 * CAP_BPF or CAP_SYS_ADMIN.
 *
 * The program is attached with BPF_F_ALLOW_MULTI: what cgroups above have attached stays in force,
 * and several programs at one cgroup must all agree. So at a cgroup that existed before, programs
 * that an earlier container left are taken off after ours is on; there is no moment without one.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "cgroup/bpf.h"
#include "cgroup/write.h"

#define FIELD "linux.resources.devices"
#define OLD_MAX 64

static int bpf(int cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static uint64_t pointer(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static int program_load_once(const struct cgroup_program *p)
{
	/* The program uses no helper, so the licence is a formality of the interface. */
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
		.insn_cnt = (uint32_t)p->n,
		.insns = pointer(p->v),
		.license = pointer("Apache-2.0"),
	};

	memcpy(attr.prog_name, "sbxrun_devices", sizeof("sbxrun_devices"));
	return bpf(BPF_PROG_LOAD, &attr);
}

/* Kernels before 5.11 count the program against RLIMIT_MEMLOCK, and so may a patched one. */
static int program_load(const struct cgroup_program *p)
{
	struct rlimit old, all = {RLIM_INFINITY, RLIM_INFINITY};
	int fd = program_load_once(p);

	if (fd >= 0 || errno != EPERM || getrlimit(RLIMIT_MEMLOCK, &old) < 0)
		return fd;
	if (setrlimit(RLIMIT_MEMLOCK, &all) < 0) {
		errno = EPERM;
		return -1;
	}
	fd = program_load_once(p);
	setrlimit(RLIMIT_MEMLOCK, &old);
	return fd;
}

static uint32_t programs_query(int dfd, uint32_t ids[OLD_MAX])
{
	union bpf_attr attr = {0};

	attr.query.target_fd = (uint32_t)dfd;
	attr.query.attach_type = BPF_CGROUP_DEVICE;
	attr.query.prog_ids = pointer(ids);
	attr.query.prog_cnt = OLD_MAX;
	return bpf(BPF_PROG_QUERY, &attr) < 0 ? 0 : attr.query.prog_cnt;
}

static void program_detach(int dfd, uint32_t id)
{
	union bpf_attr attr = {.prog_id = id};
	autoclose int fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr);

	if (fd < 0)
		return;
	attr = (union bpf_attr){
		.target_fd = (uint32_t)dfd,
		.attach_bpf_fd = (uint32_t)fd,
		.attach_type = BPF_CGROUP_DEVICE,
	};
	(void)bpf(BPF_PROG_DETACH, &attr);
}

static int program_attach(int dfd, int prog_fd)
{
	union bpf_attr attr = {
		.target_fd = (uint32_t)dfd,
		.attach_bpf_fd = (uint32_t)prog_fd,
		.attach_type = BPF_CGROUP_DEVICE,
		.attach_flags = BPF_F_ALLOW_MULTI,
	};

	return bpf(BPF_PROG_ATTACH, &attr);
}

/* Without rules in the config, a host that allows no eBPF is no reason to fail. */
static int attach_failed(const struct cgroup_plan *p, const char *what, char *warning, size_t size,
			 struct error *e)
{
	size_t len = strlen(warning);

	if (p->devices_asked)
		return err_sys(e, FIELD ": %s the eBPF program", what);
	snprintf(warning + len, size - len, "%s" FIELD ": no device rules: %s the eBPF program: %s",
		 len ? "; " : "", what, err_text(errno));
	return 0;
}

int cgroup_devices_attach(const struct cgroup_plan *p, int dfd, char *warning, size_t size,
			  struct error *e)
{
	struct arena a = {0};
	struct cgroup_program program = cgroup_devices_program(&p->devices, &a);
	autoclose int prog_fd = program_load(&program);
	uint32_t old[OLD_MAX] = {0};
	uint32_t n, i;

	arena_free(&a);
	if (prog_fd < 0)
		return attach_failed(p, "load", warning, size, e);
	n = programs_query(dfd, old);
	if (program_attach(dfd, prog_fd) < 0)
		return attach_failed(p, "attach", warning, size, e);
	cgroup_log("attach device rules to", dfd, NULL, 0);
	for (i = 0; i < n && i < OLD_MAX; i++)
		program_detach(dfd, old[i]);
	return 0;
}
