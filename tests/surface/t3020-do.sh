#!/bin/bash
# What a program in a box of `sbxrun do` reaches of the kernel, as the probe counts it: the goals are those of the policy code.
# Views: own
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/surface/lib.sh
. "${0%/*}/lib.sh"

# _probe PARTS: what the probe says is in the file $T/said. Denials are not watched unless there is a second word: a watched call is answered by us, and the filter is another.
_probe() {
	[ "$(uname -m)" = x86_64 ] || skip 'the probe knows the system calls of x86_64 alone'
	surface_build "$SBXT_WORK/probe"
	bundle
	cp "$SBXT_WORK/probe" "$B/rootfs/bin/probe"
	run sbx "do" --rootfs "$B/rootfs" --timeout 100 --output-limit 64m --denials "$2" -- /bin/probe --list "$1"
	rc_is 0
	cp "$T/out" "$T/said"
	is "$(surface_figure "$T/said" end)" 1 'the probe came to its end'
}

# _holds PART GOAL: with every way of watching.
_holds() {
	local how
	for how in full none; do
		_probe "$1" "$how"
		"$2"
	done
}

a_box_reaches_190_system_calls_at_most() { _holds calls surface_goal_calls; }
a_box_reaches_no_calls_of_other_interfaces() { _holds foreign surface_goal_foreign; }
a_box_allows_7_features_at_most() { _holds features surface_goal_features; }
a_box_has_four_families_of_sockets_and_one_protocol_of_netlink() { _holds sockets surface_goal_sockets; }
a_box_shows_processes_in_proc_and_nothing_in_sys() { _holds files surface_goal_files; }
a_box_tells_little_of_the_machine() { _holds leaks surface_goal_leaks; }
a_box_has_flags_on_its_mounts() { _holds mounts surface_mounts_have_flags; }

run_tests
