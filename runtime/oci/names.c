/*
 * The name tables. Numbers are the kernel's, so they are written out by its own macros; the tables
 * are searched linearly, since a config asks for a few dozen names at most.
 */
#include "oci/names.h"

#include <ctype.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>

#include "base/str.h"

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

struct name {
	const char *name;
	int number;
};

/* clang-format off */
static const char *const cap_names[] = {
	[CAP_CHOWN] = "CAP_CHOWN",
	[CAP_DAC_OVERRIDE] = "CAP_DAC_OVERRIDE",
	[CAP_DAC_READ_SEARCH] = "CAP_DAC_READ_SEARCH",
	[CAP_FOWNER] = "CAP_FOWNER",
	[CAP_FSETID] = "CAP_FSETID",
	[CAP_KILL] = "CAP_KILL",
	[CAP_SETGID] = "CAP_SETGID",
	[CAP_SETUID] = "CAP_SETUID",
	[CAP_SETPCAP] = "CAP_SETPCAP",
	[CAP_LINUX_IMMUTABLE] = "CAP_LINUX_IMMUTABLE",
	[CAP_NET_BIND_SERVICE] = "CAP_NET_BIND_SERVICE",
	[CAP_NET_BROADCAST] = "CAP_NET_BROADCAST",
	[CAP_NET_ADMIN] = "CAP_NET_ADMIN",
	[CAP_NET_RAW] = "CAP_NET_RAW",
	[CAP_IPC_LOCK] = "CAP_IPC_LOCK",
	[CAP_IPC_OWNER] = "CAP_IPC_OWNER",
	[CAP_SYS_MODULE] = "CAP_SYS_MODULE",
	[CAP_SYS_RAWIO] = "CAP_SYS_RAWIO",
	[CAP_SYS_CHROOT] = "CAP_SYS_CHROOT",
	[CAP_SYS_PTRACE] = "CAP_SYS_PTRACE",
	[CAP_SYS_PACCT] = "CAP_SYS_PACCT",
	[CAP_SYS_ADMIN] = "CAP_SYS_ADMIN",
	[CAP_SYS_BOOT] = "CAP_SYS_BOOT",
	[CAP_SYS_NICE] = "CAP_SYS_NICE",
	[CAP_SYS_RESOURCE] = "CAP_SYS_RESOURCE",
	[CAP_SYS_TIME] = "CAP_SYS_TIME",
	[CAP_SYS_TTY_CONFIG] = "CAP_SYS_TTY_CONFIG",
	[CAP_MKNOD] = "CAP_MKNOD",
	[CAP_LEASE] = "CAP_LEASE",
	[CAP_AUDIT_WRITE] = "CAP_AUDIT_WRITE",
	[CAP_AUDIT_CONTROL] = "CAP_AUDIT_CONTROL",
	[CAP_SETFCAP] = "CAP_SETFCAP",
	[CAP_MAC_OVERRIDE] = "CAP_MAC_OVERRIDE",
	[CAP_MAC_ADMIN] = "CAP_MAC_ADMIN",
	[CAP_SYSLOG] = "CAP_SYSLOG",
	[CAP_WAKE_ALARM] = "CAP_WAKE_ALARM",
	[CAP_BLOCK_SUSPEND] = "CAP_BLOCK_SUSPEND",
	[CAP_AUDIT_READ] = "CAP_AUDIT_READ",
	[CAP_PERFMON] = "CAP_PERFMON",
	[CAP_BPF] = "CAP_BPF",
	[CAP_CHECKPOINT_RESTORE] = "CAP_CHECKPOINT_RESTORE",
};

static const struct name rlimit_names[] = {
	{"RLIMIT_CPU", RLIMIT_CPU},
	{"RLIMIT_FSIZE", RLIMIT_FSIZE},
	{"RLIMIT_DATA", RLIMIT_DATA},
	{"RLIMIT_STACK", RLIMIT_STACK},
	{"RLIMIT_CORE", RLIMIT_CORE},
	{"RLIMIT_RSS", RLIMIT_RSS},
	{"RLIMIT_NPROC", RLIMIT_NPROC},
	{"RLIMIT_NOFILE", RLIMIT_NOFILE},
	{"RLIMIT_MEMLOCK", RLIMIT_MEMLOCK},
	{"RLIMIT_AS", RLIMIT_AS},
	{"RLIMIT_LOCKS", RLIMIT_LOCKS},
	{"RLIMIT_SIGPENDING", RLIMIT_SIGPENDING},
	{"RLIMIT_MSGQUEUE", RLIMIT_MSGQUEUE},
	{"RLIMIT_NICE", RLIMIT_NICE},
	{"RLIMIT_RTPRIO", RLIMIT_RTPRIO},
	{"RLIMIT_RTTIME", RLIMIT_RTTIME},
};

/* Of two names for one number, the one that is printed comes first. */
static const struct name signal_names[] = {
	{"SIGHUP", SIGHUP}, {"SIGINT", SIGINT}, {"SIGQUIT", SIGQUIT}, {"SIGILL", SIGILL},
	{"SIGTRAP", SIGTRAP}, {"SIGABRT", SIGABRT}, {"SIGIOT", SIGIOT}, {"SIGBUS", SIGBUS},
	{"SIGFPE", SIGFPE}, {"SIGKILL", SIGKILL}, {"SIGUSR1", SIGUSR1}, {"SIGSEGV", SIGSEGV},
	{"SIGUSR2", SIGUSR2}, {"SIGPIPE", SIGPIPE}, {"SIGALRM", SIGALRM}, {"SIGTERM", SIGTERM},
#ifdef SIGSTKFLT
	{"SIGSTKFLT", SIGSTKFLT},
#endif
	{"SIGCHLD", SIGCHLD}, {"SIGCLD", SIGCHLD}, {"SIGCONT", SIGCONT}, {"SIGSTOP", SIGSTOP},
	{"SIGTSTP", SIGTSTP}, {"SIGTTIN", SIGTTIN}, {"SIGTTOU", SIGTTOU}, {"SIGURG", SIGURG},
	{"SIGXCPU", SIGXCPU}, {"SIGXFSZ", SIGXFSZ}, {"SIGVTALRM", SIGVTALRM},
	{"SIGPROF", SIGPROF}, {"SIGWINCH", SIGWINCH}, {"SIGIO", SIGIO}, {"SIGPOLL", SIGIO},
	{"SIGPWR", SIGPWR}, {"SIGSYS", SIGSYS}, {"SIGUNUSED", SIGSYS},
};

const struct oci_ns_name oci_ns_names[OCI_NS_COUNT] = {
	[OCI_NS_PID] = {OCI_NS_PID, "pid", CLONE_NEWPID, "pid"},
	[OCI_NS_NETWORK] = {OCI_NS_NETWORK, "network", CLONE_NEWNET, "net"},
	[OCI_NS_MOUNT] = {OCI_NS_MOUNT, "mount", CLONE_NEWNS, "mnt"},
	[OCI_NS_IPC] = {OCI_NS_IPC, "ipc", CLONE_NEWIPC, "ipc"},
	[OCI_NS_UTS] = {OCI_NS_UTS, "uts", CLONE_NEWUTS, "uts"},
	[OCI_NS_USER] = {OCI_NS_USER, "user", CLONE_NEWUSER, "user"},
	[OCI_NS_CGROUP] = {OCI_NS_CGROUP, "cgroup", CLONE_NEWCGROUP, "cgroup"},
	[OCI_NS_TIME] = {OCI_NS_TIME, "time", CLONE_NEWTIME, "time"},
};
/* clang-format on */

static int name_number(const struct name *names, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (str_eq(names[i].name, name))
			return names[i].number;
	return -1;
}

#define CAP_PREFIX "CAP_"

int oci_cap_number(const char *name)
{
	const char *rest = str_after(name, CAP_PREFIX);
	size_t i;

	for (i = 0; rest && i < ARRAY_SIZE(cap_names); i++)
		if (str_eq(cap_names[i] + sizeof(CAP_PREFIX) - 1, rest))
			return (int)i;
	return -1;
}

const char *oci_cap_name(int number)
{
	return number >= 0 && (size_t)number < ARRAY_SIZE(cap_names) ? cap_names[number] : NULL;
}

int oci_rlimit_number(const char *name)
{
	return name_number(rlimit_names, ARRAY_SIZE(rlimit_names), name);
}

/* "SIGRTMIN+3", "SIGRTMAX-2" and their bare forms; -1 for anything else. */
static int signal_realtime(const char *name)
{
	const char *rest = str_after(name, "SIGRTMIN"), *top = str_after(name, "SIGRTMAX");
	int base = rest ? SIGRTMIN : SIGRTMAX;
	uint64_t n = 0;

	if (!rest)
		rest = top;
	if (!rest)
		return -1;
	if (!*rest)
		return base;
	if (*rest != (top ? '-' : '+') ||
	    !str_to_u64(rest + 1, (uint64_t)(SIGRTMAX - SIGRTMIN), &n))
		return -1;
	return top ? base - (int)n : base + (int)n;
}

int oci_signal_number(const char *text)
{
	char name[24] = "SIG";
	uint64_t number;
	size_t i, at;
	int found;

	if (isdigit((unsigned char)*text))
		return str_to_u64(text, (uint64_t)SIGRTMAX, &number) ? (int)number : -1;
	at = strncasecmp(text, "SIG", 3) == 0 ? 0 : 3;
	if (strlen(text) >= sizeof(name) - at)
		return -1;
	for (i = 0; text[i]; i++)
		name[at + i] = (char)toupper((unsigned char)text[i]);
	name[at + i] = '\0';
	found = name_number(signal_names, ARRAY_SIZE(signal_names), name);
	return found > 0 ? found : signal_realtime(name);
}

const char *oci_signal_name(int number)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signal_names); i++)
		if (signal_names[i].number == number)
			return signal_names[i].name;
	return NULL;
}
