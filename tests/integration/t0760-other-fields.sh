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
	_refused '.linux.memoryPolicy = {mode: "MPOL_INTERLEAVE", nodes: "0"}' 'linux\.memoryPolicy' && return
	run_in_box 'grep -c interleave /proc/self/numa_maps' '.linux.memoryPolicy = {mode: "MPOL_INTERLEAVE", nodes: "0"}'
	rc_is 0
	isnt "$out" 0
}

resource_director_technology_is_refused_where_it_is_not() {
	[ ! -d /sys/fs/resctrl/info ] || skip 'this machine has resctrl mounted'
	_refused '.linux.intelRdt = {closID: "sbxt", l3CacheSchema: "L3:0=f"}' 'linux\.intelRdt' || fail 'it was accepted'
}

a_mount_label_does_no_harm_where_no_selinux_is() {
	# Engines give it on every machine; without SELinux it has no meaning.
	[ ! -d /sys/fs/selinux/booleans ] || skip 'this machine has SELinux'
	run_in_box 'grep -c context= /proc/self/mountinfo' '.linux.mountLabel = "system_u:object_r:svirt_sandbox_file_t:s0:c715,c811"'
	is "$out" 0
	is "$err" ''
}

unknown_fields_are_passed_over() {
	run_in_box 'echo started' '.linux.nosuchfield = {a: [1, {b: null}]} | .nosuch = true | .process.nosuch = "x"'
	rc_is 0
	is "$out" started
}

run_tests
