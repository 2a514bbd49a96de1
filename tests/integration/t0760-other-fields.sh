#!/bin/bash
# Fields of linux.* that a machine or this version may not be able to honour: they have their effect, or are an error that names
# them. Silence is the one wrong answer.
. "${0%/*}/../lib/test.sh"

# FILTER FIELD: refused by name. Returns 1 when it was accepted.
_refused() {
	run_in_box 'echo started' "$1"
	[ "$rc" != 0 ] || return 1
	rc_is 1
	is "$out" ''
	like "$err" "$2"
}

a_memory_policy_is_applied_or_refused() {
	local mode nodes word
	if [ ! -e /proc/self/numa_maps ]; then
		_refused '.linux.memoryPolicy = {mode: "MPOL_INTERLEAVE", nodes: "0"}' 'linux\.memoryPolicy' || fail 'it was accepted'
		return
	fi
	while read -r mode nodes word; do
		run_in_box 'head -n 1 /proc/self/numa_maps' ".linux.memoryPolicy = {mode: \"$mode\", nodes: \"$nodes\"}"
		# The newer ones are not in every kernel.
		if [ "$rc" != 0 ] && [[ $mode == *WEIGHTED* ]]; then
			like "$err" 'linux\.memoryPolicy'
			continue
		fi
		rc_is 0
		like "$out" "^[0-9a-f]+ $word" "$mode"
	done <<-'END'
		MPOL_INTERLEAVE 0 interleave:0
		MPOL_BIND 0 bind:0
		MPOL_PREFERRED 0 prefer:0
		MPOL_PREFERRED_MANY 0 prefer.\(many\):0
		MPOL_WEIGHTED_INTERLEAVE 0 weighted.interleave:0
	END
	for mode in MPOL_LOCAL MPOL_DEFAULT; do
		run_in_box 'head -n 1 /proc/self/numa_maps' ".linux.memoryPolicy = {mode: \"$mode\"}"
		rc_is 0
		like "$out" "^[0-9a-f]+ (local|default) " "$mode"
	done
	run_in_box 'head -n 1 /proc/self/numa_maps' '.linux.memoryPolicy = {mode: "MPOL_BIND", nodes: "0", flags: ["MPOL_F_STATIC_NODES"]}'
	like "$out" 'bind=static:0'
}

resource_director_technology_is_refused_where_it_is_not() {
	[ ! -d /sys/fs/resctrl/info ] || skip 'this machine has resctrl mounted'
	_refused '.linux.intelRdt = {closID: "sbxt", l3CacheSchema: "L3:0=f"}' 'linux\.intelRdt' || fail 'it was accepted'
}

a_mount_label_does_no_harm_where_no_selinux_is() {
	[ ! -d /sys/fs/selinux/booleans ] || skip 'this machine has SELinux'
	run_in_box 'grep -c context= /proc/self/mountinfo' '.linux.mountLabel = "system_u:object_r:svirt_sandbox_file_t:s0:c715,c811"'
	is "$out" 0
	like "$err" '^sbxrun: warning: linux.mountLabel: ignoring .*: this host has no SELinux$'
}

unknown_fields_are_passed_over() {
	run_in_box 'echo started' '.linux.nosuchfield = {a: [1, {b: null}]} | .nosuch = true | .process.nosuch = "x"'
	rc_is 0
	is "$out" started
}

run_tests
