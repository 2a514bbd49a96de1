/*
 * The typed config: what config.json says, field for field, names in snake_case. It is filled by
 * the rows of oci/rows.c and checked by oci/validate.c; nothing here has been interpreted. Strings
 * are never NULL where a row is REQUIRED and NULL where an optional one is absent; numbers whose
 * absence matters are `struct opt_*`. All of it lives in one arena.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/types.h"
#include "oci/enums.h"

struct oci_root {
	char *path;
	bool readonly;
};

struct oci_id_map {
	uint32_t container_id;
	uint32_t host_id;
	uint32_t size;
};
struct oci_id_maps { size_t n; struct oci_id_map *v; };

struct oci_mount {
	char *destination;
	char *type;
	char *source;
	struct strings options;
	struct oci_id_maps uid_mappings;
	struct oci_id_maps gid_mappings;
	bool ours; /* not of the document: the runtime added it */
	size_t at; /* in the list of the document: policies leave some out */
};

struct oci_console_size {
	bool set;
	uint32_t height;
	uint32_t width;
};

struct oci_user {
	bool set; /* it was given */
	uint32_t uid;
	uint32_t gid;
	struct opt_u32 umask;
	struct ids additional_gids;
};

struct oci_capabilities {
	bool set;
	struct strings bounding;
	struct strings effective;
	struct strings permitted;
	struct strings inheritable;
	struct strings ambient;
};

struct oci_rlimit {
	char *type;
	uint64_t hard;
	uint64_t soft;
};

struct oci_scheduler {
	bool set;
	char *policy;
	int32_t nice;
	int32_t priority;
	struct strings flags;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

struct oci_io_priority {
	bool set;
	char *class;
	int32_t priority;
};

struct oci_cpu_affinity {
	char *initial;
	char *final;
};

struct oci_process {
	bool set; /* false: config.json has no process */
	bool terminal;
	struct oci_console_size console_size;
	struct oci_user user;
	struct strings args;
	struct strings env;
	char *cwd;
	struct oci_capabilities capabilities;
	LIST(struct oci_rlimit) rlimits;
	bool no_new_privileges;
	struct opt_i32 oom_score_adj;
	char *apparmor_profile;
	char *selinux_label;
	struct oci_scheduler scheduler;
	struct oci_io_priority io_priority;
	struct oci_cpu_affinity exec_cpu_affinity;
};

struct oci_hook {
	char *path;
	struct strings args;
	struct strings env;
	struct opt_i64 timeout; /* seconds */
};
struct oci_hook_list { size_t n; struct oci_hook *v; };

struct oci_hooks {
	struct oci_hook_list prestart;
	struct oci_hook_list create_runtime;
	struct oci_hook_list create_container;
	struct oci_hook_list start_container;
	struct oci_hook_list poststart;
	struct oci_hook_list poststop;
};

struct oci_namespace {
	enum oci_ns type;
	char *path;
};

struct oci_device {
	char *path;
	char *type;
	int64_t major;
	int64_t minor;
	struct opt_u32 file_mode;
	struct opt_u32 uid;
	struct opt_u32 gid;
};

struct oci_device_rule {
	bool allow;
	char *type;
	struct opt_i64 major;
	struct opt_i64 minor;
	char *access;
};

struct oci_memory {
	struct opt_i64 limit;
	struct opt_i64 reservation;
	struct opt_i64 swap;
	struct opt_i64 kernel;
	struct opt_i64 kernel_tcp;
	struct opt_u64 swappiness;
	bool disable_oom_killer;
	struct opt_bool use_hierarchy;
	bool check_before_update;
};

struct oci_cpu {
	struct opt_u64 shares;
	struct opt_i64 quota;
	struct opt_u64 burst;
	struct opt_u64 period;
	struct opt_i64 realtime_runtime;
	struct opt_u64 realtime_period;
	char *cpus;
	char *mems;
	struct opt_i64 idle;
};

struct oci_weight_device {
	int64_t major;
	int64_t minor;
	struct opt_u32 weight;
	struct opt_u32 leaf_weight;
};
struct oci_throttle_device {
	int64_t major;
	int64_t minor;
	uint64_t rate;
};
struct oci_throttle_list { size_t n; struct oci_throttle_device *v; };

struct oci_block_io {
	struct opt_u32 weight;
	struct opt_u32 leaf_weight;
	LIST(struct oci_weight_device) weight_device;
	struct oci_throttle_list throttle_read_bps;
	struct oci_throttle_list throttle_write_bps;
	struct oci_throttle_list throttle_read_iops;
	struct oci_throttle_list throttle_write_iops;
};

struct oci_hugepage_limit {
	char *page_size;
	uint64_t limit;
};

struct oci_net_priority {
	char *name;
	uint32_t priority;
};

struct oci_net_resources {
	struct opt_u32 class_id;
	LIST(struct oci_net_priority) priorities;
};

struct oci_rdma {
	char *device; /* the key in the map */
	struct opt_u32 hca_handles;
	struct opt_u32 hca_objects;
};

struct oci_resources {
	LIST(struct oci_device_rule) devices;
	struct oci_memory memory;
	struct oci_cpu cpu;
	struct opt_i64 pids_limit;
	struct oci_block_io block_io;
	LIST(struct oci_hugepage_limit) hugepage_limits;
	struct oci_net_resources network;
	LIST(struct oci_rdma) rdma;
	struct pairs unified;
};

struct oci_seccomp_arg {
	uint32_t index;
	uint64_t value;
	uint64_t value_two;
	enum oci_seccomp_op op;
};

struct oci_seccomp_rule {
	struct strings names;
	enum oci_seccomp_action action;
	struct opt_u32 errno_ret;
	LIST(struct oci_seccomp_arg) args;
	bool joint; /* a policy's own: conditions on one argument must all hold, too */
	bool firm;  /* the same: it holds though it does as the default does */
};

struct oci_seccomp {
	bool set;
	enum oci_seccomp_action default_action;
	struct opt_u32 default_errno_ret;
	struct strings architectures;
	struct strings flags;
	char *listener_path;
	char *listener_metadata;
	bool observed; /* ours: somebody takes the listener, and there is no listenerPath */
	const struct oci_seccomp *profile; /* ours: without what is asked about besides, where
					      somebody judges; NULL: nobody does */
	bool foreign_enosys; /* a policy's own: calls of other architectures fail, and don't kill */
	LIST(struct oci_seccomp_rule) syscalls;
};

struct oci_time_offset {
	char *clock; /* "monotonic" or "boottime": the key in the map */
	int64_t secs;
	uint32_t nanosecs;
};

struct oci_net_device {
	char *host_name; /* the key in the map */
	char *name;
};

struct oci_intel_rdt {
	bool set;
	char *clos_id;
	struct strings schemata;
	char *l3_cache_schema;
	char *mem_bw_schema;
	bool enable_monitoring;
};

struct oci_memory_policy {
	bool set;
	char *mode;
	char *nodes;
	struct strings flags;
};

struct oci_personality {
	bool set;
	char *domain;
	struct strings flags;
};

struct oci_linux {
	LIST(struct oci_namespace) namespaces;
	struct oci_id_maps uid_mappings;
	struct oci_id_maps gid_mappings;
	LIST(struct oci_time_offset) time_offsets;
	LIST(struct oci_device) devices;
	LIST(struct oci_net_device) net_devices;
	char *cgroups_path;
	struct oci_resources resources;
	struct oci_intel_rdt intel_rdt;
	struct oci_memory_policy memory_policy;
	struct pairs sysctl;
	struct oci_seccomp seccomp;
	char *rootfs_propagation;
	struct strings masked_paths;
	struct strings readonly_paths;
	char *mount_label;
	struct oci_personality personality;
};

struct oci_config {
	char *oci_version;
	struct oci_root root;
	LIST(struct oci_mount) mounts;
	struct oci_process process;
	char *hostname;
	char *domainname;
	struct oci_hooks hooks;
	struct pairs annotations;
	struct oci_linux linux_;
};
