/* The three presets, row by row. */
#include "base/str.h"
#include "policy/policy.h"

const char *const policy_preset_names[PRESET_COUNT] = {
	[PRESET_OCI] = "oci", [PRESET_ENGINE] = "engine", [PRESET_CODE] = "code"};

/* Lists of words; the counts are taken from the arrays. */
#define WORDS(...)                                                                                 \
	{                                                                                          \
		.n = ARRAY_SIZE(((const char *const[]){__VA_ARGS__})),                             \
		.v = (const char *const[]){__VA_ARGS__},                                           \
	}
#define NOTHING {0}
#define EVERYTHING WORDS(POLICY_ALL)
/* CRI-O and podman send these with every container. They order its unit, and say how it is stopped
 * when the machine is. */
#define OF_ENGINES                                                                                 \
	WORDS("After", "CollectMode", "DefaultDependencies", "KillSignal", "TimeoutStopUSec")

/* clang-format off */
static const struct policy presets[PRESET_COUNT] = {
	/* The config as written: for conformance, nested engines and node agents. */
	[PRESET_OCI] = {
		.name = "oci",
		.level = {[0 ... LEVEL_COUNT - 1] = AS_ASKED},
		.list = {[0 ... LIST_COUNT - 1] = EVERYTHING},
	},
	/* Ordinary images keep working. */
	[PRESET_ENGINE] = {
		.name = "engine",
		.level = {
			[LEVEL_NO_NEW_PRIVS] = NNP_UNLESS_USER_NS,
			[LEVEL_SECCOMP] = SECCOMP_ENGINE,
			[LEVEL_FOREIGN_ABI] = ABI_ENOSYS,
			[LEVEL_USER_NS] = AS_ASKED,
			[LEVEL_CGROUP_NS] = CGROUP_NS_ALWAYS,
			[LEVEL_CGROUP_MOUNTS] = CGROUP_MOUNTS_READ_ONLY,
			[LEVEL_PROC] = PROC_MASKED,
			[LEVEL_SYS] = SYS_MASKED,
			[LEVEL_MOUNT_FLAGS] = MOUNTS_NOSUID_NODEV,
			[LEVEL_ROOT] = AS_ASKED,
			[LEVEL_PROPAGATION] = PROPAGATION_SLAVE,
			[LEVEL_HOST_PATHS] = PATHS_GUARDED,
			[LEVEL_HOOKS] = HOOKS_TRUSTED,
			[LEVEL_RLIMITS] = RLIMITS_NO_CORE,
			[LEVEL_LIMITS] = AS_ASKED,
			[LEVEL_OOM_SCORE] = OOM_ABOVE_ENGINE,
			[LEVEL_KEYRING] = KEYRING_OWN,
			[LEVEL_DESCRIPTORS] = AS_ASKED,
			[LEVEL_WRITE_EXECUTE] = AS_ASKED,
			[LEVEL_LANDLOCK] = AS_ASKED,
			[LEVEL_NET_DEVICES] = NET_DEVICES_REFUSED,
			[LEVEL_CGROUP_PATH] = CGROUP_PATH_APART,
		},
		.list = {
			[LIST_CAPS] = WORDS("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP",
					    "CAP_SETFCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_AUDIT_WRITE", "CAP_IPC_LOCK", "CAP_SYS_NICE"),
			[LIST_CAPS_DROPPED] = WORDS("CAP_NET_RAW", "CAP_MKNOD"),
			[LIST_CALLS] = NOTHING,
			[LIST_SOCKETS] = WORDS("unix", "inet", "inet6", "netlink-route"),
			[LIST_HOST_NS] = NOTHING,
			[LIST_DEVICES] = NOTHING,
			[LIST_FILESYSTEMS] = WORDS("bind", "tmpfs", "proc", "sysfs", "devpts", "mqueue", "cgroup", "cgroup2"),
			[LIST_HOST_PATHS] = NOTHING,
			[LIST_CGROUP_KEYS] = WORDS("memory.*", "cpu.*", "io.*", "pids.*", "cpuset.*", "hugetlb.*", "rdma.*", "misc.*"),
			[LIST_UNIT_PROPERTIES] = OF_ENGINES,
		},
	},
	/* The strictest: code that nobody has read. */
	[PRESET_CODE] = {
		.name = "code",
		.level = {
			[LEVEL_NO_NEW_PRIVS] = NNP_ALWAYS,
			[LEVEL_SECCOMP] = SECCOMP_CODE,
			[LEVEL_FOREIGN_ABI] = ABI_KILL,
			[LEVEL_USER_NS] = USER_NS_ALWAYS,
			[LEVEL_CGROUP_NS] = CGROUP_NS_ALWAYS,
			[LEVEL_CGROUP_MOUNTS] = CGROUP_MOUNTS_NONE,
			[LEVEL_PROC] = PROC_PIDS,
			[LEVEL_SYS] = SYS_NONE,
			[LEVEL_MOUNT_FLAGS] = MOUNTS_NOEXEC,
			[LEVEL_ROOT] = ROOT_READ_ONLY,
			[LEVEL_PROPAGATION] = PROPAGATION_SLAVE,
			[LEVEL_HOST_PATHS] = PATHS_GUARDED,
			[LEVEL_HOOKS] = HOOKS_NONE,
			[LEVEL_RLIMITS] = RLIMITS_SMALL,
			[LEVEL_LIMITS] = LIMITS_REQUIRED,
			[LEVEL_OOM_SCORE] = OOM_UNPROTECTED,
			[LEVEL_KEYRING] = KEYRING_OWN,
			[LEVEL_DESCRIPTORS] = DESCRIPTORS_NONE,
			[LEVEL_WRITE_EXECUTE] = AS_ASKED,
			[LEVEL_LANDLOCK] = LANDLOCK_AUTO,
			[LEVEL_NET_DEVICES] = NET_DEVICES_REFUSED,
			[LEVEL_CGROUP_PATH] = CGROUP_PATH_APART,
		},
		.list = {
			[LIST_CAPS] = NOTHING,
			[LIST_CAPS_DROPPED] = EVERYTHING,
			[LIST_CALLS] = NOTHING,
			[LIST_SOCKETS] = WORDS("unix", "inet", "inet6", "netlink-route"),
			[LIST_HOST_NS] = NOTHING,
			[LIST_DEVICES] = NOTHING,
			[LIST_FILESYSTEMS] = WORDS("bind", "tmpfs", "proc", "devpts", "mqueue"),
			[LIST_HOST_PATHS] = NOTHING,
			[LIST_CGROUP_KEYS] = NOTHING,
			[LIST_UNIT_PROPERTIES] = OF_ENGINES,
		},
	},
};
/* clang-format on */

const struct policy *policy_preset_find(const char *name)
{
	size_t i;

	for (i = 0; i < PRESET_COUNT; i++)
		if (str_eq(presets[i].name, name))
			return &presets[i];
	return NULL;
}
