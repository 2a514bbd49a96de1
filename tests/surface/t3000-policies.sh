#!/bin/bash
# What a program in a container reaches of the kernel, under each policy, as the probe counts it: the goals that the policies have.
# Views: own
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/lib/private-ids.sh
. "${0%/*}/../lib/private-ids.sh"
# shellcheck source=tests/surface/lib.sh
. "${0%/*}/lib.sh"

# _probe POLICY PARTS [FILTER…]: what the probe says is in $out, and in the file $T/said.
_probe() {
	local policy=$1 parts=$2
	[ "$(uname -m)" = x86_64 ] || skip 'the probe knows the system calls of x86_64 alone'
	surface_build "$SBXT_WORK/probe"
	touch "$T"/{resolv.conf,hostname,hosts}
	bundle "args([\"/bin/probe\", \"--list\"] + (\"$parts\" | split(\" \")))" "${@:3}"
	cp "$SBXT_WORK/probe" "$B/rootfs/bin/probe"
	run sbx --policy "$policy" run -b "$B" "$ID"
	rc_is 0
	rm -f "$T/state/explain:last" # what was refused, for `sbxrun explain`: it is kept on purpose
	cp "$T/out" "$T/said"
	is "$(surface_figure "$T/said" end)" 1 'the probe came to its end'
}

_code() {
	_probe code "$1"
}

# With the config that docker makes.
_engine() {
	_probe engine "$1" "$(surface_docker)"
}

_at_most() { surface_at_most "$@"; }
_mounts_have_flags() { surface_mounts_have_flags; }

code_reaches_190_system_calls_at_most() {
	_code calls
	surface_goal_calls
}

code_reaches_no_calls_of_other_interfaces() {
	_code foreign
	surface_goal_foreign
}

code_allows_7_features_at_most() {
	_code features
	surface_goal_features
}

code_has_four_families_of_sockets_and_one_protocol_of_netlink() {
	_code sockets
	surface_goal_sockets
}

code_shows_processes_in_proc_and_nothing_in_sys() {
	_code files
	surface_goal_files
}

code_tells_little_of_the_machine() {
	_code leaks
	surface_goal_leaks
}

code_mounts_have_flags() {
	_code mounts
	surface_mounts_have_flags
}

code_is_no_wider_in_a_user_namespace() {
	_probe code 'calls features mounts' 'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 1000000, size: 65536}]
		| .linux.gidMappings = .linux.uidMappings'
	_at_most features_allowed 7 '^feature .* allowed'
	_mounts_have_flags
	awk '$1 == "call" && $3 == "reached" { print $2 }' "$T/said" | sort >"$T/inside"
	_code calls
	is "$(awk '$1 == "call" && $3 == "reached" { print $2 }' "$T/said" | sort | comm -13 - "$T/inside" | paste -sd ' ')" ''
}

engine_reaches_250_system_calls_of_docker_s_at_most() {
	_engine calls
	_at_most calls_reached 250 '^call .* reached'
}

# The list alone holds, with all capabilities that engine gives: some calls need one.
engine_reaches_250_system_calls_without_a_profile_at_most() {
	_probe engine calls 'del(.linux.seccomp)' '.process.capabilities |= map_values(["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID",
		"CAP_KILL", "CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP", "CAP_SETFCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_AUDIT_WRITE",
		"CAP_IPC_LOCK", "CAP_SYS_NICE"])'
	_at_most calls_reached 250 '^call .* reached'
}

engine_reaches_no_calls_of_other_interfaces() {
	_engine foreign
	_at_most i386_reached 0
	_at_most x32_reached 0
}

engine_allows_10_features_at_most() {
	_engine features
	is "$(surface_figure "$T/said" features_tried)" 77
	_at_most features_allowed 10 '^feature .* allowed'
}

engine_has_four_families_of_sockets_and_one_protocol_of_netlink() {
	_engine sockets
	_at_most family_creatable 4 '^family '
	_at_most netlink_creatable 1 '^netlink '
}

# Root with CAP_DAC_OVERRIDE opens what has nothing to write to.
engine_has_no_settings_to_write() {
	_engine files
	unlike "$out" 'unfinished|writable /proc/(sys/|sysrq-trigger|irq/|bus/|fs/)'
	_at_most sys_writable 0 '^writable /sys/'
}

engine_tells_less_of_the_machine() {
	_engine leaks
	is "$(surface_figure "$T/said" leaks_tried)" 79
	_at_most leaks_readable 25 '^leak .* readable'
}

engine_mounts_have_flags() {
	_engine mounts
	_mounts_have_flags
}

# _reaches POLICY FILTER…: the calls, one a line.
_reaches() {
	_probe "$1" calls "${@:2}"
	awk '$1 == "call" && $3 == "reached" { print $2 }' "$T/said" | sort >"$T/reaches-$1"
}

# _never_opens FILTER…: what a config closes stays closed.
_never_opens() {
	local policy
	_reaches oci "$@"
	for policy in engine code; do
		_reaches "$policy" "$@"
		is "$(comm -13 "$T/reaches-oci" "$T/reaches-$policy" | paste -sd ' ')" '' "reached under $policy, and not under oci"
	done
}

policies_open_nothing_that_a_profile_does_not_open() {
	_never_opens '.linux.seccomp = {defaultAction: "SCMP_ACT_ERRNO", syscalls: [{names: ["read", "write", "open", "openat", "close", "mmap", "munmap",
		"mprotect", "brk", "execve", "exit_group", "fork", "clone", "wait4", "setitimer", "rt_sigaction", "rt_sigreturn", "getpid", "kill", "fstat", "newfstatat",
		"arch_prctl", "prctl", "prlimit64", "readlink", "set_tid_address", "set_robust_list", "rseq", "getrandom", "futex", "capset", "setuid",
		"setgid", "setgroups", "chdir", "fcntl", "statfs", "getdents64", "lseek", "ioctl", "rt_sigprocmask", "dup2", "dup3", "close_range", "writev"],
		action: "SCMP_ACT_ALLOW"}]}'
}

policies_open_nothing_that_a_profile_closes() {
	_never_opens '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mlock", "getcpu", "statx"], action: "SCMP_ACT_ERRNO"},
		{names: ["umask"], action: "SCMP_ACT_KILL_PROCESS"}, {names: ["times"], action: "SCMP_ACT_ERRNO", errnoRet: 38}]}'
}

run_tests
