#!/bin/bash
# linux.timeOffsets and linux.personality.
. "${0%/*}/../lib/test.sh"

# Where the kernel has no time namespaces, asking for one is an error, and that is all there is to see.
_time_or_refusal() {
	[ ! -e /proc/self/ns/time ] || return 0
	run_in_box 'echo started' 'ns("time")' '.linux.timeOffsets = {boottime: {secs: 1}}'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.namespaces'
	return 1
}

the_clocks_inside_are_shifted() {
	local up inside
	_time_or_refusal || return 0
	run_in_box 'cat /proc/self/timens_offsets; cat /proc/uptime' 'ns("time")' \
		'.linux.timeOffsets = {monotonic: {secs: 1000, nanosecs: 5}, boottime: {secs: 864000}}'
	rc_is 0
	like "$out" $'^monotonic +1000 +5\nboottime +864000 +0\n'
	read -r up _ </proc/uptime
	inside=${out##*$'\n'}
	inside=$((${inside%%.*} - ${up%%.*}))
	((inside >= 863990 && inside <= 864000)) || fail "the boot clock is shifted by $inside"
}

a_negative_offset_works() {
	_time_or_refusal || return 0
	run_in_box 'cat /proc/self/timens_offsets' 'ns("time")' '.linux.timeOffsets = {boottime: {secs: -5, nanosecs: 10}}'
	rc_is 0
	like "$out" 'boottime +-5 +10'
}

a_new_time_namespace_without_offsets_shows_the_hosts_clocks() {
	_time_or_refusal || return 0
	run_in_box 'cat /proc/self/timens_offsets' 'ns("time")'
	rc_is 0
	like "$out" $'^monotonic +0 +0\nboottime +0 +0$'
}

offsets_without_a_new_time_namespace_are_an_error() {
	run_in_box 'echo started' '.linux.timeOffsets = {boottime: {secs: 1}}'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.timeOffsets'
}

an_unknown_clock_and_a_bad_nanosecond_are_errors() {
	_time_or_refusal || return 0
	run_in_box 'echo started' 'ns("time")' '.linux.timeOffsets = {realtime: {secs: 1}}'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.timeOffsets'
	run_in_box 'echo started' 'ns("time")' '.linux.timeOffsets = {boottime: {secs: 1, nanosecs: 1000000000}}'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.timeOffsets'
}

personality_changes_what_uname_says() {
	[ "$(uname -m)" = x86_64 ] || skip 'needs x86_64'
	run_in_box 'uname -m' '.linux.personality = {domain: "LINUX32"}'
	rc_is 0
	is "$out" "$(setarch linux32 uname -m)"
	run_in_box 'uname -m' '.linux.personality = {domain: "LINUX"}'
	rc_is 0
	is "$out" x86_64
}

personality_holds_for_children_and_not_for_the_caller() {
	local pid
	bundle 'sh("sleep 100")' '.linux.personality = {domain: "LINUX32"}'
	sbx run -d -b "$B" "$ID"
	pid=$(pid_of "$ID")
	file_has "/proc/$pid/personality" '^00000008$'
	file_has /proc/self/personality '^00000000$'
}

an_unknown_personality_and_flags_are_errors() {
	run_in_box 'echo started' '.linux.personality = {domain: "BSD"}'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.personality'
	run_in_box 'echo started' '.linux.personality = {domain: "LINUX", flags: ["X"]}'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.personality'
}

run_tests
