#include "box/hints.h"

#include <inttypes.h>

#include "base/str.h"

/* clang-format off */
static const struct {
	const char *call, *hint;
} hints[] = {
	{"ptrace", "debuggers and tracers do not work in a box; print what you need to know"},
	{"process_vm_readv", "other processes can't be looked into in a box"},
	{"process_vm_writev", "other processes can't be written to in a box"},
	{"mount", "nothing can be mounted in a box; -v SOURCE:TARGET shows a directory of the host"},
	{"umount2", "nothing can be unmounted in a box"},
	{"pivot_root", "the root of a box can't be changed"},
	{"chroot", "the root of a box can't be changed; --rootfs chooses another"},
	{"unshare", "a box makes no namespaces: sandboxes inside it do not work"},
	{"setns", "a box joins no namespaces"},
	{"clone", "a box makes no namespaces: sandboxes inside it do not work"},
	{"socket", "only unix, inet, inet6 and netlink-route sockets can be had, and no network"},
	{"bpf", "programs can't be loaded into the kernel"},
	{"perf_event_open", "the kernel's counters can't be read; use a profiler of the language"},
	{"io_uring_setup", "io_uring is not available; use read, write and epoll"},
	{"userfaultfd", "page faults can't be handled by a program in a box"},
	{"keyctl", "the kernel's keys are not available in a box"},
	{"add_key", "the kernel's keys are not available in a box"},
	{"request_key", "the kernel's keys are not available in a box"},
	{"setuid", "a box has one user; --user chooses which"},
	{"setgid", "a box has one user; --user chooses which"},
	{"setgroups", "a box has one user; --user chooses which"},
	{"personality", "the process's personality can't be changed"},
	{"reboot", "the machine is not a box's to stop"},
	{"init_module", "modules can't be loaded into the kernel"},
	{"finit_module", "modules can't be loaded into the kernel"},
	{"open_by_handle_at", "files are opened by their names alone"},
};

/* Which of the arguments are plain numbers, and what they mean. */
static const struct {
	const char *call, *what;
	unsigned int at;
} numbers[] = {
	{"socket", "family", 0}, {"ptrace", "request", 0}, {"ioctl", "request", 1}, {"prctl", "option", 0},
	{"personality", "persona", 0}, {"unshare", "flags", 0}, {"setns", "type", 1}, {"clone", "flags", 0},
	{"keyctl", "operation", 0}, {"bpf", "command", 0}, {"kill", "signal", 1}, {"setuid", "uid", 0},
	{"setgid", "gid", 0},
};
/* clang-format on */

const char *hint_of_call(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hints); i++)
		if (str_eq(hints[i].call, name))
			return hints[i].hint;
	return "the policy code does not give this call: an administrator adds it by "
	       "\"system-calls\": {\"allow\": [NAME]} to a policy of his own";
}

const char *hint_of_network(void)
{
	return "a box has no network; give it what it needs as a file (-v, --stdin)";
}

const char *hint_of_file(void)
{
	return "only /workspace, /tmp and volumes (-v) can be written";
}

const char *hint_arguments(const char *name, const uint64_t args[3], struct arena *a)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (str_eq(numbers[i].call, name))
			return arena_printf(a, "%s %#" PRIx64, numbers[i].what,
					    args[numbers[i].at]);
	return NULL;
}
