/*
 * Words about the fields of config.json, for spec/config.md. An entry speaks for its field and for
 * all that is in it, unless a longer one does. Tests are "FILE TEST", with ";" between them.
 */
#pragma once

struct config_field {
	const char *field;
	const char *honoured; /* "yes", or what it depends on */
	const char *refused;  /* when, besides values of another type; "": never */
	const char *tests;
};

static const char config_table_head[] =
	"<!-- Made by build/unit/test_config_table from runtime/oci/rows.c and tests/unit/config_fields.h: see there. -->\n"
	"# Every field of config.json\n"
	"\n"
	"What sbxrun does with each field of the runtime specification 1.3 for Linux. A value of another type than the one\n"
	"given, a number out of the type's range and a required field that is missing are always refused, before anything\n"
	"is made, by an error that names the field. Fields that are not here are ignored, as the specification demands.\n"
	"`[]` stands for the elements of a list, `[*]` for the keys of a map, ″ for what stands above it. A test is a file of\n"
	"`tests/` and a name in it.\n"
	"\n"
	"Not tested for want of a machine: Intel RDT (rules and files, but no container in a class), RDMA devices, the v1\n"
	"controller `net_prio`, real-time groups. AppArmor and SELinux are those of User-mode Linux, SELinux with\n"
	"a policy that forbids nothing.\n";

/* clang-format off */
static const struct config_field config_fields[] = {
	/* ---- the top level ---- */
	{"ociVersion", "yes", "not 1.0.0 to 1.3.x", "test_oci_validate versions; t0160 bad_configs_are_refused_and_leave_nothing"},
	{"root.path", "yes", "empty, missing, not a directory, or `/` of the host", "t0570 an_absolute_path_is_taken_as_it_is; t0570 a_missing_root_is_an_error"},
	{"root.readonly", "yes", "", "t0570 a_read_only_root_can_not_be_written_to_by_root"},
	{"hostname", "yes", "without a uts namespace; longer than 64 bytes", "t0630 both_names_are_set_inside_and_not_outside; t0630 a_name_without_a_uts_namespace_is_an_error"},
	{"domainname", "yes", "without a uts namespace; longer than 64 bytes", "t0630 both_names_are_set_inside_and_not_outside; t0630 a_name_that_is_too_long_is_an_error"},
	{"annotations", "kept for `state` and hooks; `org.systemd.property.NAME`: properties of the unit (`--systemd-cgroup`)", "an empty key; a property that the policy or nobody gives", "t0750 annotations_stand_in_the_state_as_they_were_given"},

	/* ---- process ---- */
	{"process.terminal", "yes", "without a devpts; without a console socket when detached", "t1600 the_master_is_sent_and_is_the_programs_terminal; t1610 what_is_typed_comes_in_and_what_is_said_comes_out"},
	{"process.consoleSize", "with a terminal", "above 65535", "t1600 its_size_is_the_configs; t0200 the_console_size_is_ignored_without_a_terminal"},
	{"process.user.uid", "yes", "4294967295; not mapped in the user namespace", "t0230 all_four_ids_are_those_of_the_config; t0710 a_user_that_is_not_mapped_is_an_error"},
	{"process.user.gid", "yes", "4294967295; not mapped in the user namespace", "t0230 all_four_ids_are_those_of_the_config"},
	{"process.user.umask", "yes", "above 0777", "t0230 the_umask_is_that_of_the_config"},
	{"process.user.additionalGids", "yes", "4294967295; some, where the map has one id only", "t0230 the_groups_are_those_of_the_config; test_security_process groups_that_can_not_be_set_are_refused"},
	{"process.args", "yes; without `process`, `create` works and `start` fails", "empty; the program is not there or can't be executed", "t0200 the_words_arrive_as_they_are; t0200 no_words_are_refused"},
	{"process.env", "yes; HOME is added if it is missing", "an entry is not NAME=VALUE", "t0210 the_environment_is_the_configs_and_nothing_else; t0210 an_entry_that_is_not_name_and_value_is_refused"},
	{"process.cwd", "yes; made if the image lacks it", "not absolute; leads out of the root", "t0220 the_program_starts_there; t0220 a_descriptor_is_no_way_out"},
	{"process.capabilities", "yes; absent means none; unknown ones and those that the caller lacks are left out with a warning", "effective beyond permitted, inheritable beyond bounding", "t0250 the_sets_of_root; t0250 one_that_nobody_knows_is_left_out; test_security_plan sets_that_the_kernel_refuses_are_errors"},
	{"process.rlimits", "yes", "an unknown type, one that is there twice, soft above hard; above the caller's without the right to", "t0240 every_limit_is_set_exactly; t0240 bad_limits_are_refused"},
	{"process.noNewPrivileges", "yes", "", "t0260 no_new_privileges_is_set_or_not"},
	{"process.oomScoreAdj", "yes; untouched if absent", "not -1000 to 1000; lowered without the right to", "t0260 oom_score_adj_is_set; t0260 oom_score_adj_out_of_range_is_refused"},
	{"process.apparmorProfile", "where AppArmor runs; elsewhere left out with a warning", "not loaded", "l0100 the_profile_is_the_programs_and_holds; l0100 exec_has_the_containers_profile_or_another; test_security_plan labels_without_their_lsm_are_noted_and_left_out"},
	{"process.selinuxLabel", "where SELinux runs; elsewhere left out with a warning", "unknown to the policy", "l0200 the_label_is_the_programs; l0200 exec_has_the_containers_label_or_another; test_security_plan labels_without_their_lsm_are_noted_and_left_out"},
	{"process.scheduler", "yes", "an unknown policy or flag; nice, priority or the times don't fit the policy; the kernel refuses", "t0260 the_scheduler_is_set; t0260 bad_schedulers_are_refused; test_oci_validate scheduling"},
	{"process.ioPriority", "yes", "an unknown class; priority not 0 to 7", "t0260 the_io_priority_is_set; t0260 bad_io_priorities_are_refused"},
	{"process.execCPUAffinity", "for `exec` alone, as the specification says", "not a list of CPUs", "t1520 the_affinity_is_the_one_asked_for; t1520 the_affinity_of_the_config_is_for_exec_only"},

	/* ---- mounts ---- */
	{"mounts[].destination", "yes, in the order of the list; relative ones from `/`", "empty; `/`; below /proc but for a short list", "t0530 mounts_are_made_in_the_order_of_the_list; t0530 below_proc_only_the_short_list_may_be_mounted"},
	{"mounts[].type", "yes; without meaning for binds", "missing without a bind; unknown to the kernel; another one than proc on /proc or sysfs on /sys", "t0500 a_bind_is_a_bind_whatever_its_type_says; t0500 an_unknown_file_system_is_an_error_that_names_it"},
	{"mounts[].source", "yes; of binds relative to the bundle", "missing for a bind; not there", "t0530 a_relative_source_of_a_bind_is_below_the_bundle; t0530 a_missing_source_is_an_error_that_names_it"},
	{"mounts[].options", "all of the specification, tmpcopyup too; others go to the file system", "unknown for a bind; refused by the file system; idmap without mappings", "t0500 options_of_a_new_file_system_are_applied_the_last_one_wins; t0510 recursive_attributes_reach_the_whole_tree_and_plain_ones_its_top; t0540 the_words_show_in_the_mount_table"},
	{"mounts[].uidMappings", "for binds, where the file system can map ids", "without gidMappings; overlaps; not a bind", "t0550 owners_are_mapped_in_both_directions; t0550 one_kind_of_mapping_alone_is_an_error"},
	{"mounts[].gidMappings", "for binds, where the file system can map ids", "without uidMappings; overlaps; not a bind", "t0550 owners_are_mapped_in_both_directions; t0550 one_kind_of_mapping_alone_is_an_error"},

	/* ---- hooks ---- */
	{"hooks.prestart", "yes; a failure fails `create`", "path not absolute; timeout not above 0", "t0300 all_six_run_in_order; t0310 a_failed_prestart_ends_create; t0310 bad_hooks_are_refused"},
	{"hooks.createRuntime", "yes; a failure fails `create`", "path not absolute; timeout not above 0", "t0300 each_runs_in_its_namespaces; t0310 a_failed_create_runtime_ends_create"},
	{"hooks.createContainer", "yes; a failure fails `create`", "path not absolute; timeout not above 0", "t0300 a_container_hook_sees_the_mounts_below_the_bundle; t0310 a_failed_create_container_ends_create"},
	{"hooks.startContainer", "yes; a failure ends the container; `env` is the program's if absent; with `seccomp` and without `noNewPrivileges` it has no CAP_SYS_PTRACE and no_new_privs", "path not absolute; timeout not above 0", "t0300 the_environment_of_a_start_hook_is_the_programs_by_default; t0310 a_failed_start_hook_ends_the_container"},
	{"hooks.poststart", "yes, after the program was executed; a failure destroys the container", "path not absolute; timeout not above 0", "t0300 poststart_runs_after_the_program_was_executed; t0310 a_failed_poststart_destroys_the_container"},
	{"hooks.poststop", "yes; a failure is a warning", "path not absolute; timeout not above 0", "t0300 poststop_runs_when_everything_is_gone; t0310 a_failed_poststop_is_only_logged"},

	/* ---- linux ---- */
	{"linux.uidMappings", "yes; an ordinary user's by newuidmap", "without a user namespace; a new one without any; overlaps", "t0710 the_maps_are_written_as_they_stand; t0710 maps_without_the_namespace_and_the_namespace_without_maps_are_errors"},
	{"linux.gidMappings", "yes; an ordinary user's by newgidmap", "without a user namespace; a new one without any; overlaps", "t0710 the_maps_are_written_as_they_stand; t0710 maps_without_the_namespace_and_the_namespace_without_maps_are_errors"},
	{"linux.sysctl", "keys of the container's own namespaces", "a key of no namespace, of one that isn't there, or of one that is the host's", "t0620 keys_of_ipc_and_net_are_set_inside_and_not_outside; t0620 a_key_of_the_whole_machine_is_refused"},
	{"linux.cgroupsPath", "absolute from the mount point, relative below /sbxrun; with `--systemd-cgroup` the scope `prefix-name.scope` of `slice:prefix:name`", "`..`, a cgroup that has processes, is frozen, is another container's, in one or around one; the systemd form without `--systemd-cgroup`, and any other with it; names that systemd does not take", "t0800 the_program_is_in_every_hierarchy_at_an_absolute_path; t0800 a_target_with_processes_in_it_is_refused_and_left_alone"},
	{"linux.namespaces[].type", "all eight", "unknown; there twice; time on a kernel without", "t0700 all_kinds_are_new_when_they_are_asked_for_without_a_path; t0700 a_kind_that_stands_twice_or_is_unknown_is_refused"},
	{"linux.namespaces[].path", "yes; a mount namespace from Linux 6.15 on", "not absolute; not a namespace of that type", "t0700 namespaces_are_joined_by_path; t0700 a_path_of_another_kind_is_refused"},
	{"linux.devices", "yes; bound from the host in a user namespace", "an unknown type, numbers that no device has, another file at the path", "t0610 devices_of_the_config_have_type_numbers_mode_and_owner; t0610 an_existing_file_that_is_another_device_is_an_error"},
	{"linux.netDevices", "yes: moved with permanent global addresses, renamed, set up; brought back if `create` fails", "not the name of an interface, or there twice; no network namespace, or the runtime's own; a name that is taken inside; the loopback; an ordinary user", "t0770 an_interface_goes_in_with_its_permanent_global_addresses; t0770 when_create_fails_later_everything_is_back; test_oci_validate net_devices"},
	{"linux.rootfsPropagation", "yes", "an unknown word", "t0540 rootfs_propagation_shows_in_the_mount_table; t0540 an_unknown_rootfs_propagation_is_an_error"},
	{"linux.maskedPaths", "yes; missing paths are passed over", "not absolute; without a mount namespace", "t0600 a_masked_file_reads_as_empty; t0600 masks_follow_mounts"},
	{"linux.readonlyPaths", "yes; missing paths are passed over", "not absolute; without a mount namespace", "t0600 a_read_only_path_can_be_read_but_not_written"},
	{"linux.mountLabel", "where SELinux runs: the context of new file systems but proc, sysfs, mqueue and cgroups; elsewhere left out with a warning", "unknown to the policy", "l0200 new_file_systems_have_the_mount_label; test_plan a_mount_label_goes_to_filesystems_that_policy_does_not_label; t0760 a_mount_label_does_no_harm_where_no_selinux_is"},
	{"linux.intelRdt", "where resctrl is mounted", "no resctrl", "test_rdt the_class_is_the_containers_own_or_shared; test_rdt a_shared_class_that_agrees_is_joined; t0760 resource_director_technology_is_refused_where_it_is_not"},
	{"linux.intelRdt.closID", "where resctrl is mounted; absent: a class of the container's id, removed with it; `/`: everybody's", "no name of a class; missing without schemata", "test_rdt the_class_is_the_containers_own_or_shared; test_rdt a_shared_class_without_schemata_must_be_there"},
	{"linux.intelRdt.schemata", "where resctrl is mounted; written last", "the class exists with other ones", "test_rdt schemata_are_put_together_as_the_specification_says; test_rdt a_shared_class_that_is_another_is_refused_and_left_alone"},
	{"linux.intelRdt.memBwSchema", "where resctrl is mounted", "not one line that begins with `MB:`; the class exists with another one", "test_rdt schemata_are_put_together_as_the_specification_says; test_oci_validate small_fields_of_linux"},
	{"linux.memoryPolicy", "yes", "an unknown mode or flag; nodes that the mode needs or doesn't take; the kernel refuses", "t0760 a_memory_policy_is_applied_or_refused; test_security_plan memory_policies_have_modes_flags_and_nodes"},
	{"linux.personality", "LINUX and LINUX32", "an unknown domain; any flag", "t0720 personality_changes_what_uname_says; t0720 an_unknown_personality_and_flags_are_errors"},
	{"linux.timeOffsets", "yes", "without a new time namespace; an unknown clock; nanosecs not below 10^9", "t0720 the_clocks_inside_are_shifted; t0720 offsets_without_a_new_time_namespace_are_an_error"},

	/* ---- linux.resources ---- */
	{"linux.resources.devices", "yes; on v2 by a BPF program; the default devices are always allowed; `update` leaves them", "an unknown type or access; a number that no device has", "t0820 what_is_not_allowed_is_denied; t0820 the_last_rule_wins; t0820 bad_rules_are_errors_that_name_the_field"},
	{"linux.resources.memory.limit", "yes; 0: not given, -1: none", "below -1; on request (`checkBeforeUpdate`) below what is in use", "t0810 memory_limits_are_written; t0810 the_memory_limit_holds"},
	{"linux.resources.memory.reservation", "yes: soft limit on v1, memory.low on v2", "below -1", "t0810 memory_limits_are_written"},
	{"linux.resources.memory.swap", "yes: memory and swap together", "below limit; on v2 without a limit", "t0810 memory_limits_are_written; t1200 swap_alone_goes_with_the_limit_in_force"},
	{"linux.resources.memory.kernel", "v1, where the kernel still takes it; a warning otherwise", "on v2", "test_cgroup_plan memory_of_v1_only; t1200 kernel_memory_is_accepted_without_effect"},
	{"linux.resources.memory.kernelTCP", "v1", "on v2", "t0810 a_limit_of_tcp_memory_is_for_cgroup_v1"},
	{"linux.resources.memory.swappiness", "v1", "above 100; on v2", "t0810 swappiness_and_the_oom_killer_are_for_cgroup_v1"},
	{"linux.resources.memory.disableOOMKiller", "v1", "true on v2", "t0810 swappiness_and_the_oom_killer_are_for_cgroup_v1"},
	{"linux.resources.memory.useHierarchy", "true is how every supported kernel counts", "false", "t0810 memory_is_counted_through_the_hierarchy"},
	{"linux.resources.memory.checkBeforeUpdate", "by `update`", "the new limit is below what is in use", "t1200 a_limit_below_what_is_used_is_refused_on_request"},
	{"linux.resources.cpu.shares", "yes; weight on v2; 0: not given", "not 2 to 262144", "t0810 shares_quota_period_and_burst_are_written; test_cgroup_plan shares_become_weights"},
	{"linux.resources.cpu.quota", "yes; 0: not given, -1: none", "below 1000", "t0810 shares_quota_period_and_burst_are_written; t0810 the_cpu_quota_holds"},
	{"linux.resources.cpu.burst", "yes, where the kernel has it", "above quota; a kernel without", "t0810 shares_quota_period_and_burst_are_written"},
	{"linux.resources.cpu.period", "yes; 0: not given", "not 1000 to 1000000", "t0810 a_period_or_a_quota_alone_is_written_too"},
	{"linux.resources.cpu.realtimeRuntime", "v1 with real-time groups", "above realtimePeriod; on v2; a kernel without", "t0810 real_time_is_for_cgroup_v1; test_cgroup_plan cpu_real_time"},
	{"linux.resources.cpu.realtimePeriod", "v1 with real-time groups", "on v2; a kernel without", "t0810 real_time_is_for_cgroup_v1; test_cgroup_plan cpu_real_time"},
	{"linux.resources.cpu.cpus", "yes", "not a list of CPUs; some that are not there", "t0810 cpus_and_mems_are_written_and_hold"},
	{"linux.resources.cpu.mems", "yes", "not a list of nodes; some that are not there", "t0810 cpus_and_mems_are_written_and_hold"},
	{"linux.resources.cpu.idle", "yes, where the kernel has it", "not 0 or 1; a kernel without", "t0810 idle_is_written"},
	{"linux.resources.pids.limit", "yes; 0 is a limit, -1: none", "below -1", "t0810 the_pids_limit_is_written_and_zero_and_minus_one_have_their_meaning; t0810 the_pids_limit_holds"},
	{"linux.resources.blockIO.weight", "where the kernel has an I/O scheduler with weights", "not 10 to 1000; a kernel without", "t0810 the_weight_of_block_io_is_written_or_refused"},
	{"linux.resources.blockIO.leafWeight", "v1, where the kernel still has it", "not 10 to 1000; on v2; a kernel without", "test_cgroup_plan block_io"},
	{"linux.resources.blockIO.weightDevice", "where the kernel has an I/O scheduler with weights; leafWeight on v1", "neither weight is given; not 10 to 1000; no such device", "test_cgroup_plan block_io; test_oci_validate other_resources"},
	{"linux.resources.blockIO.throttleReadBpsDevice", "yes", "no such device", "t0810 throttles_are_written"},
	{"linux.resources.blockIO.throttleWriteBpsDevice", "yes", "no such device", "t0810 throttles_are_written"},
	{"linux.resources.blockIO.throttleReadIOPSDevice", "yes", "no such device", "t0810 throttles_are_written"},
	{"linux.resources.blockIO.throttleWriteIOPSDevice", "yes", "no such device", "t0810 throttles_are_written"},
	{"linux.resources.hugepageLimits", "yes: of reservations where the kernel counts them, and of use", "not a page size, or there twice; a size that the kernel lacks", "t0810 huge_pages_are_limited_or_refused; test_cgroup_plan hugepages_also_where_only_the_unified_tree_has_them"},
	{"linux.resources.network", "v1 with net_cls and net_prio", "on v2; a host without; not the name of an interface", "t0810 network_classes_and_priorities_are_for_cgroup_v1; test_cgroup_plan network_is_of_v1"},
	{"linux.resources.rdma", "where the kernel has the controller", "neither of the two is given; a host without", "test_cgroup_plan rdma; t0810 what_the_host_lacks_is_an_error_that_names_the_field"},
	{"linux.resources.unified", "on v2, line by line; controllers are switched on", "not a name of a file; a file by which processes are moved, frozen or killed; a controller that is not there", "t0810 unified_files_are_written_verbatim; test_cgroup_plan unified_refuses_what_is_no_limit"},

	/* ---- linux.seccomp ---- */
	{"linux.seccomp.defaultAction", "yes", "unknown; SCMP_ACT_NOTIFY", "t0740 a_default_action_meets_every_call_that_no_rule_names"},
	{"linux.seccomp.defaultErrnoRet", "for SCMP_ACT_ERRNO and SCMP_ACT_TRACE", "with another action; above 4095 (65535 for TRACE)", "test_oci_validate seccomp"},
	{"linux.seccomp.architectures", "yes", "unknown", "t0740 several_architectures_and_flags_are_taken; t0740 bad_values_are_errors_that_name_the_field"},
	{"linux.seccomp.flags", "yes", "unknown", "t0740 several_architectures_and_flags_are_taken; t0740 bad_values_are_errors_that_name_the_field"},
	{"linux.seccomp.listenerPath", "yes", "not absolute; nobody listens; missing with SCMP_ACT_NOTIFY", "t1700 the_listener_gets_state_and_descriptor_and_answers; t1700 a_listener_that_is_not_there_is_an_error"},
	{"linux.seccomp.listenerMetadata", "yes", "without listenerPath", "t0740 a_listener_gets_the_state_and_answers_for_the_call; test_oci_validate seccomp"},
	{"linux.seccomp.syscalls[].names", "yes; unknown ones are passed over", "empty", "t0740 a_call_that_nobody_knows_is_passed_over; test_oci_validate seccomp"},
	{"linux.seccomp.syscalls[].action", "all nine", "unknown; SCMP_ACT_NOTIFY without listenerPath", "t0740 kill_and_kill_thread_and_trap_end_the_program; t0740 log_and_allow_let_the_call_through"},
	{"linux.seccomp.syscalls[].errnoRet", "for SCMP_ACT_ERRNO and SCMP_ACT_TRACE", "with another action; above 4095 (65535 for TRACE)", "t0740 a_call_is_refused_with_eperm_unless_told_otherwise; test_oci_validate seccomp"},
	{"linux.seccomp.syscalls[].args", "all seven operators; all of a rule's must match", "index above 5; an unknown operator", "t0740 arguments_are_compared_by_eq_gt_and_lt; t0740 arguments_are_compared_by_ge_le_and_masked_eq; t0740 several_arguments_must_all_match"},
};
/* clang-format on */
