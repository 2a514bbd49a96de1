#include "filter/pure.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/str.h"

/* They stay, if the profile has them: the calls of recorded runs of python, a shell and C programs
 * that compute, and their twins of other names or arguments. */
static const char *const calls[] = {
	"access", "alarm", "arch_prctl", "brk", "clock_getres", "clock_gettime", "clock_nanosleep",
	"close", "close_range", "dup", "dup2", "dup3", "exit", "exit_group", "faccessat",
	"faccessat2", "fadvise64", "fchdir", "fcntl", "fgetxattr", "fstat", "fstatfs", "futex",
	"getcwd", "getdents", "getdents64", "getegid", "geteuid", "getgid", "getgroups",
	"getitimer", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getrandom",
	"getresgid", "getresuid", "getrlimit", "getrusage", "getsid", "gettid", "gettimeofday",
	"getuid", "getxattr", "ioctl", "lgetxattr", "listxattr", "llistxattr", "lseek", "lstat",
	"madvise", "membarrier", "mincore", "mmap", "mprotect", "mremap", "munmap", "nanosleep",
	"newfstatat", "pause", "poll", "ppoll", "prctl", "pread64", "preadv", "preadv2", "prlimit64",
	"pselect6", "read", "readlink", "readlinkat", "readv", "restart_syscall", "rseq",
	"rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn", "rt_sigsuspend",
	"rt_sigtimedwait", "sched_getaffinity", "sched_getparam", "sched_getscheduler",
	"sched_yield", "select", "set_robust_list", "set_tid_address", "setitimer", "sigaltstack",
	"stat", "statfs", "statx", "sysinfo", "tgkill", "time", "times", "umask", "uname",
	"wait4", "waitid", "write", "writev",
};

/* Given where nothing is to be written. */
static const struct {
	const char *name;
	uint32_t flags_at;
} opens[] = {{"open", 1}, {"openat", 2}};

static const uint64_t writes =
	O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);

static bool pure_has(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (str_eq(calls[i], name))
			return true;
	return false;
}

static bool pure_opens(enum oci_seccomp_action action)
{
	return action == OCI_ACT_ALLOW || action == OCI_ACT_LOG || action == OCI_ACT_TRACE ||
	       action == OCI_ACT_NOTIFY;
}

/* Of a rule that opens calls, those that stay. given[i]: an open is among them. */
static void pure_narrow_rule(struct oci_seccomp_rule *r, bool given[ARRAY_SIZE(opens)],
			     struct arena *a)
{
	struct strings left = {.v = arena_array(a, r->names.n + 1, char *)};
	size_t i, k;

	for (i = 0; i < r->names.n; i++) {
		if (pure_has(r->names.v[i]))
			left.v[left.n++] = r->names.v[i];
		for (k = 0; k < ARRAY_SIZE(opens); k++)
			given[k] = given[k] || str_eq(opens[k].name, r->names.v[i]);
	}
	r->names = left;
}

static struct oci_seccomp_rule pure_rule(const char *const *names, size_t n, struct arena *a)
{
	struct oci_seccomp_rule r = {.action = OCI_ACT_ALLOW};
	size_t i;

	r.names.v = arena_array(a, n + 1, char *);
	for (i = 0; i < n; i++)
		r.names.v[r.names.n++] = arena_strdup(a, names[i]);
	return r;
}

static struct oci_seccomp_rule pure_open(size_t i, struct arena *a)
{
	struct oci_seccomp_rule r = pure_rule(&opens[i].name, 1, a);

	r.args.n = 1;
	r.args.v = arena_array(a, 1, struct oci_seccomp_arg);
	r.args.v[0] = (struct oci_seccomp_arg){
		.index = opens[i].flags_at, .op = OCI_OP_MASKED_EQ, .value = writes};
	return r;
}

void pure_narrow(struct oci_seccomp *c, struct arena *a)
{
	const bool all = !c->set || pure_opens(c->default_action);
	struct oci_seccomp_rule *rules =
		arena_array(a, c->syscalls.n + ARRAY_SIZE(opens) + 1, struct oci_seccomp_rule);
	bool given[ARRAY_SIZE(opens)] = {all, all};
	size_t i, n = 0;

	for (i = 0; c->set && i < c->syscalls.n; i++) {
		rules[n] = c->syscalls.v[i];
		if (pure_opens(rules[n].action))
			pure_narrow_rule(&rules[n], given, a);
		n += rules[n].names.n ? 1 : 0;
	}
	if (all) {
		rules[n++] = pure_rule(calls, ARRAY_SIZE(calls), a);
		c->default_action = OCI_ACT_ERRNO;
		c->default_errno_ret = (struct opt_u32){.set = true, .v = EPERM};
	}
	for (i = 0; i < ARRAY_SIZE(opens); i++)
		if (given[i])
			rules[n++] = pure_open(i, a);
	c->set = true;
	c->syscalls.n = n;
	c->syscalls.v = rules;
}
