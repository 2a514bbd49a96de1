/*
 * config.json, row by row: each line says which key lands in which field. The macros check at
 * compile time that the field has the type that its row names. Caps on counts stand here too: they
 * are far above what engines write and far below what would cost memory.
 *
 * Caveat: what is absent from this file is an unknown property, and skipped: process.commandLine
 * and process.user.username (Windows), linux.seccomp.…comment, vm, windows, solaris, zos.
 */
#include <stddef.h>

#include "base/str.h"
#include "json/rows.h"
#include "oci/oci.h"
#include "oci/words.h"

/*
 * The most that a list may have. No engine comes near; tests/unit/test_config_caps.c fills each of
 * them. What is done with a list may cost its length times a logarithm, and its square only where
 * that is small.
 */
enum {
	MAX_ID_MAPS = 340,  /* the kernel's own bound for a user namespace's map */
	MAX_GIDS = 65536,   /* the kernel's own bound (NGROUPS_MAX) */
	MAX_CAPS = 64,	    /* the kernel's sets have no more bits */
	MAX_RLIMITS = 16,   /* all there are, each once; likewise: */
	MAX_NAMESPACES = 8,
	MAX_CLOCKS = 2,
	MAX_FLAGS = 16,
	MAX_ARCHS = 64,
	MAX_ARGS = 65536,   /* the kernel bounds the bytes: 6 MB */
	MAX_ENV = 32768,
	MAX_MOUNTS = 4096,
	MAX_OPTIONS = 256,  /* of one mount; the layers of an overlay are one option */
	MAX_DEVICES = 4096, /* privileged containers get all of the host's */
	MAX_DEVICE_RULES = 1024,
	MAX_BLOCK_DEVICES = 1024,
	MAX_HUGE_PAGES = 64,
	MAX_INTERFACES = 1024,
	MAX_RDMA = 256,
	MAX_SETTINGS = 1024,
	MAX_SCHEMATA = 256,
	MAX_RULES = 4096,   /* of seccomp, for which the kernel takes 4096 instructions */
	MAX_CALLS = 4096,
	MAX_CONDITIONS = 64,
	MAX_PATHS = 16384,  /* docker masks one for each processor */
	MAX_ANNOTATIONS = 8192,
	MAX_HOOKS = 256,
	MAX_HOOK_WORDS = 65536, /* as records of older versions may have */
};

/* clang-format off */
static const struct json_row oci_root_rows[] = {
	F(oci_root, "path", STR, path, REQUIRED),
	F(oci_root, "readonly", BOOL, readonly, OMIT NOT_NULL),
};
TABLE(oci_root);

static const struct json_row oci_id_map_rows[] = {
	F(oci_id_map, "containerID", U32, container_id, REQUIRED),
	F(oci_id_map, "hostID", U32, host_id, REQUIRED),
	F(oci_id_map, "size", U32, size, REQUIRED),
};
TABLE(oci_id_map);

static const struct json_row oci_mount_rows[] = {
	F(oci_mount, "destination", STR, destination, REQUIRED),
	F(oci_mount, "type", STR, type),
	F(oci_mount, "source", STR, source),
	L(oci_mount, "options", STRINGS, options, MAX_OPTIONS, OMIT),
	N(oci_mount, "uidMappings", LIST, uid_mappings, oci_id_map, MAX_ID_MAPS, OMIT),
	N(oci_mount, "gidMappings", LIST, gid_mappings, oci_id_map, MAX_ID_MAPS, OMIT),
};
TABLE(oci_mount);

static const struct json_row oci_console_size_rows[] = {
	F(oci_console_size, "height", U32, height, REQUIRED),
	F(oci_console_size, "width", U32, width, REQUIRED),
};
TABLE(oci_console_size);

static const struct json_row oci_user_rows[] = {
	F(oci_user, "uid", U32, uid, NOT_NULL),
	F(oci_user, "gid", U32, gid, NOT_NULL),
	F(oci_user, "umask", OPT_U32, umask),
	L(oci_user, "additionalGids", IDS, additional_gids, MAX_GIDS, OMIT),
};
TABLE(oci_user);

static const struct json_row oci_capabilities_rows[] = {
	L(oci_capabilities, "bounding", STRINGS, bounding, MAX_CAPS, OMIT),
	L(oci_capabilities, "effective", STRINGS, effective, MAX_CAPS, OMIT),
	L(oci_capabilities, "inheritable", STRINGS, inheritable, MAX_CAPS, OMIT),
	L(oci_capabilities, "permitted", STRINGS, permitted, MAX_CAPS, OMIT),
	L(oci_capabilities, "ambient", STRINGS, ambient, MAX_CAPS, OMIT),
};
TABLE(oci_capabilities);

static const struct json_row oci_rlimit_rows[] = {
	F(oci_rlimit, "type", STR, type, REQUIRED),
	F(oci_rlimit, "hard", U64, hard, REQUIRED),
	F(oci_rlimit, "soft", U64, soft, REQUIRED),
};
TABLE(oci_rlimit);

static const struct json_row oci_scheduler_rows[] = {
	F(oci_scheduler, "policy", STR, policy, REQUIRED),
	F(oci_scheduler, "nice", I32, nice, OMIT),
	F(oci_scheduler, "priority", I32, priority, OMIT),
	L(oci_scheduler, "flags", STRINGS, flags, MAX_FLAGS, OMIT),
	F(oci_scheduler, "runtime", U64, runtime, OMIT),
	F(oci_scheduler, "deadline", U64, deadline, OMIT),
	F(oci_scheduler, "period", U64, period, OMIT),
};
TABLE(oci_scheduler);

static const struct json_row oci_io_priority_rows[] = {
	F(oci_io_priority, "class", STR, class, REQUIRED),
	F(oci_io_priority, "priority", I32, priority),
};
TABLE(oci_io_priority);

static const struct json_row oci_cpu_affinity_rows[] = {
	F(oci_cpu_affinity, "initial", STR, initial),
	F(oci_cpu_affinity, "final", STR, final),
};
TABLE(oci_cpu_affinity);

static const struct json_row oci_process_rows[] = {
	F(oci_process, "terminal", BOOL, terminal, OMIT),
	O(oci_process, "consoleSize", console_size, oci_console_size, SETS),
	O(oci_process, "user", user, oci_user, SETS NOT_NULL),
	L(oci_process, "args", STRINGS, args, MAX_ARGS, OMIT),
	L(oci_process, "env", STRINGS, env, MAX_ENV, OMIT),
	F(oci_process, "cwd", STR, cwd, REQUIRED),
	O(oci_process, "capabilities", capabilities, oci_capabilities, SETS),
	N(oci_process, "rlimits", LIST, rlimits, oci_rlimit, MAX_RLIMITS, OMIT),
	F(oci_process, "noNewPrivileges", BOOL, no_new_privileges, OMIT NOT_NULL),
	F(oci_process, "oomScoreAdj", OPT_I32, oom_score_adj),
	F(oci_process, "apparmorProfile", STR, apparmor_profile),
	F(oci_process, "selinuxLabel", STR, selinux_label),
	O(oci_process, "scheduler", scheduler, oci_scheduler, SETS),
	O(oci_process, "ioPriority", io_priority, oci_io_priority, SETS),
	O(oci_process, "execCPUAffinity", exec_cpu_affinity, oci_cpu_affinity, OMIT),
};
const struct json_table oci_process_table = ROWS(oci_process);

static const struct json_row oci_hook_rows[] = {
	F(oci_hook, "path", STR, path, REQUIRED),
	L(oci_hook, "args", STRINGS, args, MAX_HOOK_WORDS, OMIT),
	L(oci_hook, "env", STRINGS, env, MAX_HOOK_WORDS, OMIT),
	F(oci_hook, "timeout", OPT_I64, timeout),
};
TABLE(oci_hook);

static const struct json_row oci_hooks_rows[] = {
	N(oci_hooks, "prestart", LIST, prestart, oci_hook, MAX_HOOKS, OMIT),
	N(oci_hooks, "createRuntime", LIST, create_runtime, oci_hook, MAX_HOOKS, OMIT),
	N(oci_hooks, "createContainer", LIST, create_container, oci_hook, MAX_HOOKS, OMIT),
	N(oci_hooks, "startContainer", LIST, start_container, oci_hook, MAX_HOOKS, OMIT),
	N(oci_hooks, "poststart", LIST, poststart, oci_hook, MAX_HOOKS, OMIT),
	N(oci_hooks, "poststop", LIST, poststop, oci_hook, MAX_HOOKS, OMIT),
};
const struct json_table oci_hooks_table = ROWS(oci_hooks);

static const struct json_row oci_namespace_rows[] = {
	W(oci_namespace, "type", type, oci_ns, oci_ns_words, REQUIRED),
	F(oci_namespace, "path", STR, path),
};
TABLE(oci_namespace);

static const struct json_row oci_device_rows[] = {
	F(oci_device, "path", STR, path, REQUIRED),
	F(oci_device, "type", STR, type, REQUIRED),
	F(oci_device, "major", I64, major, OMIT),
	F(oci_device, "minor", I64, minor, OMIT),
	F(oci_device, "fileMode", OPT_U32, file_mode),
	F(oci_device, "uid", OPT_U32, uid),
	F(oci_device, "gid", OPT_U32, gid),
};
TABLE(oci_device);

static const struct json_row oci_device_rule_rows[] = {
	F(oci_device_rule, "allow", BOOL, allow, REQUIRED),
	F(oci_device_rule, "type", STR, type),
	F(oci_device_rule, "major", OPT_I64, major),
	F(oci_device_rule, "minor", OPT_I64, minor),
	F(oci_device_rule, "access", STR, access),
};
TABLE(oci_device_rule);

static const struct json_row oci_memory_rows[] = {
	F(oci_memory, "limit", OPT_I64, limit),
	F(oci_memory, "reservation", OPT_I64, reservation),
	F(oci_memory, "swap", OPT_I64, swap),
	F(oci_memory, "kernel", OPT_I64, kernel),
	F(oci_memory, "kernelTCP", OPT_I64, kernel_tcp),
	F(oci_memory, "swappiness", OPT_U64, swappiness),
	F(oci_memory, "disableOOMKiller", BOOL, disable_oom_killer, OMIT),
	F(oci_memory, "useHierarchy", OPT_BOOL, use_hierarchy),
	F(oci_memory, "checkBeforeUpdate", BOOL, check_before_update, OMIT),
};
TABLE(oci_memory);

static const struct json_row oci_cpu_rows[] = {
	F(oci_cpu, "shares", OPT_U64, shares),
	F(oci_cpu, "quota", OPT_I64, quota),
	F(oci_cpu, "burst", OPT_U64, burst),
	F(oci_cpu, "period", OPT_U64, period),
	F(oci_cpu, "realtimeRuntime", OPT_I64, realtime_runtime),
	F(oci_cpu, "realtimePeriod", OPT_U64, realtime_period),
	F(oci_cpu, "cpus", STR, cpus),
	F(oci_cpu, "mems", STR, mems),
	F(oci_cpu, "idle", OPT_I64, idle),
};
TABLE(oci_cpu);

static const struct json_row oci_weight_device_rows[] = {
	F(oci_weight_device, "major", I64, major, REQUIRED),
	F(oci_weight_device, "minor", I64, minor, REQUIRED),
	F(oci_weight_device, "weight", OPT_U32, weight),
	F(oci_weight_device, "leafWeight", OPT_U32, leaf_weight),
};
TABLE(oci_weight_device);

static const struct json_row oci_throttle_device_rows[] = {
	F(oci_throttle_device, "major", I64, major, REQUIRED),
	F(oci_throttle_device, "minor", I64, minor, REQUIRED),
	F(oci_throttle_device, "rate", U64, rate, REQUIRED),
};
TABLE(oci_throttle_device);

#define THROTTLE(k, f) \
	N(oci_block_io, k, LIST, f, oci_throttle_device, MAX_BLOCK_DEVICES, OMIT)

static const struct json_row oci_block_io_rows[] = {
	F(oci_block_io, "weight", OPT_U32, weight),
	F(oci_block_io, "leafWeight", OPT_U32, leaf_weight),
	N(oci_block_io, "weightDevice", LIST, weight_device, oci_weight_device, MAX_BLOCK_DEVICES, OMIT),
	THROTTLE("throttleReadBpsDevice", throttle_read_bps),
	THROTTLE("throttleWriteBpsDevice", throttle_write_bps),
	THROTTLE("throttleReadIOPSDevice", throttle_read_iops),
	THROTTLE("throttleWriteIOPSDevice", throttle_write_iops),
};
TABLE(oci_block_io);

static const struct json_row oci_hugepage_limit_rows[] = {
	F(oci_hugepage_limit, "pageSize", STR, page_size, REQUIRED),
	F(oci_hugepage_limit, "limit", U64, limit, REQUIRED),
};
TABLE(oci_hugepage_limit);

static const struct json_row oci_net_priority_rows[] = {
	F(oci_net_priority, "name", STR, name, REQUIRED),
	F(oci_net_priority, "priority", U32, priority, REQUIRED),
};
TABLE(oci_net_priority);

static const struct json_row oci_net_resources_rows[] = {
	F(oci_net_resources, "classID", OPT_U32, class_id),
	N(oci_net_resources, "priorities", LIST, priorities, oci_net_priority, MAX_INTERFACES, OMIT),
};
TABLE(oci_net_resources);

static const struct json_row oci_rdma_rows[] = {
	F(oci_rdma, "hcaHandles", OPT_U32, hca_handles),
	F(oci_rdma, "hcaObjects", OPT_U32, hca_objects),
};
KEYED_TABLE(oci_rdma, device);

/* resources.pids.limit stands one level deeper in JSON than in the struct. */
static const struct json_row oci_pids_rows[] = {
	F(oci_resources, "limit", OPT_I64, pids_limit),
};
static const struct json_table oci_pids_table = {
	.name = "oci_pids", .size = sizeof(struct oci_resources),
	.rows = oci_pids_rows, .count = ARRAY_SIZE(oci_pids_rows),
};

static const struct json_row oci_resources_rows[] = {
	N(oci_resources, "devices", LIST, devices, oci_device_rule, MAX_DEVICE_RULES, OMIT),
	O(oci_resources, "memory", memory, oci_memory, OMIT),
	O(oci_resources, "cpu", cpu, oci_cpu, OMIT),
	{.key = "pids", .type = JSON_OBJECT, .flags = JSON_FLAT | JSON_OMIT, .table = &oci_pids_table},
	O(oci_resources, "blockIO", block_io, oci_block_io, OMIT),
	N(oci_resources, "hugepageLimits", LIST, hugepage_limits, oci_hugepage_limit, MAX_HUGE_PAGES, OMIT),
	O(oci_resources, "network", network, oci_net_resources, OMIT),
	N(oci_resources, "rdma", MAP, rdma, oci_rdma, MAX_RDMA, OMIT),
	L(oci_resources, "unified", PAIRS, unified, MAX_SETTINGS, OMIT),
};
const struct json_table oci_resources_table = ROWS(oci_resources);

static const struct json_row oci_seccomp_arg_rows[] = {
	F(oci_seccomp_arg, "index", U32, index, REQUIRED),
	F(oci_seccomp_arg, "value", U64, value, REQUIRED),
	F(oci_seccomp_arg, "valueTwo", U64, value_two, OMIT),
	W(oci_seccomp_arg, "op", op, oci_seccomp_op, oci_seccomp_op_words, REQUIRED),
};
TABLE(oci_seccomp_arg);

static const struct json_row oci_seccomp_rule_rows[] = {
	L(oci_seccomp_rule, "names", STRINGS, names, MAX_CALLS, REQUIRED),
	W(oci_seccomp_rule, "action", action, oci_seccomp_action, oci_seccomp_action_words, REQUIRED),
	F(oci_seccomp_rule, "errnoRet", OPT_U32, errno_ret),
	N(oci_seccomp_rule, "args", LIST, args, oci_seccomp_arg, MAX_CONDITIONS, OMIT),
};
TABLE(oci_seccomp_rule);

static const struct json_row oci_seccomp_rows[] = {
	W(oci_seccomp, "defaultAction", default_action, oci_seccomp_action, oci_seccomp_action_words, REQUIRED),
	F(oci_seccomp, "defaultErrnoRet", OPT_U32, default_errno_ret),
	L(oci_seccomp, "architectures", STRINGS, architectures, MAX_ARCHS, OMIT),
	L(oci_seccomp, "flags", STRINGS, flags, MAX_FLAGS, OMIT),
	F(oci_seccomp, "listenerPath", STR, listener_path),
	F(oci_seccomp, "listenerMetadata", STR, listener_metadata),
	N(oci_seccomp, "syscalls", LIST, syscalls, oci_seccomp_rule, MAX_RULES, OMIT),
};
TABLE(oci_seccomp);

static const struct json_row oci_time_offset_rows[] = {
	F(oci_time_offset, "secs", I64, secs, OMIT),
	F(oci_time_offset, "nanosecs", U32, nanosecs, OMIT),
};
KEYED_TABLE(oci_time_offset, clock);

static const struct json_row oci_net_device_rows[] = {
	F(oci_net_device, "name", STR, name),
};
KEYED_TABLE(oci_net_device, host_name);

static const struct json_row oci_intel_rdt_rows[] = {
	F(oci_intel_rdt, "closID", STR, clos_id),
	L(oci_intel_rdt, "schemata", STRINGS, schemata, MAX_SCHEMATA, OMIT),
	F(oci_intel_rdt, "l3CacheSchema", STR, l3_cache_schema),
	F(oci_intel_rdt, "memBwSchema", STR, mem_bw_schema),
	F(oci_intel_rdt, "enableMonitoring", BOOL, enable_monitoring, OMIT),
};
TABLE(oci_intel_rdt);

static const struct json_row oci_memory_policy_rows[] = {
	F(oci_memory_policy, "mode", STR, mode, REQUIRED),
	F(oci_memory_policy, "nodes", STR, nodes),
	L(oci_memory_policy, "flags", STRINGS, flags, MAX_FLAGS, OMIT),
};
TABLE(oci_memory_policy);

static const struct json_row oci_personality_rows[] = {
	F(oci_personality, "domain", STR, domain, REQUIRED),
	L(oci_personality, "flags", STRINGS, flags, MAX_FLAGS, OMIT),
};
TABLE(oci_personality);

static const struct json_row oci_linux_rows[] = {
	N(oci_linux, "uidMappings", LIST, uid_mappings, oci_id_map, MAX_ID_MAPS, OMIT NOT_NULL),
	N(oci_linux, "gidMappings", LIST, gid_mappings, oci_id_map, MAX_ID_MAPS, OMIT NOT_NULL),
	L(oci_linux, "sysctl", PAIRS, sysctl, MAX_SETTINGS, OMIT),
	O(oci_linux, "resources", resources, oci_resources, OMIT),
	F(oci_linux, "cgroupsPath", STR, cgroups_path),
	N(oci_linux, "namespaces", LIST, namespaces, oci_namespace, MAX_NAMESPACES, OMIT NOT_NULL),
	N(oci_linux, "devices", LIST, devices, oci_device, MAX_DEVICES, OMIT),
	N(oci_linux, "netDevices", MAP, net_devices, oci_net_device, MAX_INTERFACES, OMIT),
	O(oci_linux, "seccomp", seccomp, oci_seccomp, SETS NOT_NULL),
	F(oci_linux, "rootfsPropagation", STR, rootfs_propagation),
	L(oci_linux, "maskedPaths", STRINGS, masked_paths, MAX_PATHS, OMIT NOT_NULL),
	L(oci_linux, "readonlyPaths", STRINGS, readonly_paths, MAX_PATHS, OMIT NOT_NULL),
	F(oci_linux, "mountLabel", STR, mount_label),
	O(oci_linux, "intelRdt", intel_rdt, oci_intel_rdt, SETS),
	O(oci_linux, "memoryPolicy", memory_policy, oci_memory_policy, SETS),
	O(oci_linux, "personality", personality, oci_personality, SETS),
	N(oci_linux, "timeOffsets", MAP, time_offsets, oci_time_offset, MAX_CLOCKS, OMIT),
};
TABLE(oci_linux);

static const struct json_row oci_config_rows[] = {
	F(oci_config, "ociVersion", STR, oci_version, REQUIRED),
	O(oci_config, "process", process, oci_process, SETS),
	O(oci_config, "root", root, oci_root, REQUIRED),
	F(oci_config, "hostname", STR, hostname),
	F(oci_config, "domainname", STR, domainname),
	N(oci_config, "mounts", LIST, mounts, oci_mount, MAX_MOUNTS, OMIT),
	O(oci_config, "hooks", hooks, oci_hooks, OMIT),
	L(oci_config, "annotations", PAIRS, annotations, MAX_ANNOTATIONS, OMIT),
	O(oci_config, "linux", linux_, oci_linux, OMIT NOT_NULL),
};
const struct json_table oci_config_table = ROWS(oci_config);
/* clang-format on */
