#!/bin/bash
# sbxrun do where nobody has cgroups for it: what rlimits hold, and that the rest is said.
# Views: all
# Views: own processor_time_is_held_for_a_process what_is_asked_for_by_name_counts
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

_do() {
	[ -n "${B:-}" ] || bundle
	SBXRUN_ROOTFS_DIR=$T/library sbx --cgroup-manager disabled "do" --rootfs "$B/rootfs" "$@"
}
_sh() { _do "${@:1:$#-1}" -- sh -c "${!#}"; }
_of() { jq -r "$1" <<<"$out"; }

it_is_said_before_the_program_runs() {
	run _sh 'echo now >&2'
	rc_is 0
	like "$err" $'(^|\n)sbxrun: --memory, [^\n]*--pids-limit: there are no cgroups to hold this: [^\n]*RLIMIT_DATA[^\n]*\n(sbxrun: [^\n]*\n)*now'
	is "$(grep -c 'no cgroups' <<<"$err")" 1
	run _sh --json true
	like "$(_of '.notes | join(" ")')" '--memory, .*no cgroups.*RLIMIT_NPROC'
	run _sh --stream true
	is "$(jq -rs '.[0].event' <<<"$out")" note
}

memory_is_held_for_a_process() {
	run _sh --json --memory 16m 'exec awk "BEGIN { s = \"x\"; while (length(s) < 64000000) s = s s; print length(s) }"'
	[ "$rc" != 0 ] || fail "64 MB within 16"
	like "$(_of .stderr)" '[Oo]ut of memory'
	run _sh --memory 64m 'ulimit -d'
	is "$out" 65536
}

processes_are_counted_for_the_box() {
	run _sh --pids-limit 8 'i=0; while [ $i -lt 40 ]; do sleep 100 & i=$((i + 1)); done; echo done'
	like "$err" 'fork'
	# Another box of the same user has its own number, where it has ids of its own.
	[[ $err != *'no user namespace'* ]] || return 0
	bundle
	SBXRUN_ROOTFS_DIR=$T/library "$SBXRUN" --root "$T/state" --cgroup-manager disabled "do" --rootfs "$B/rootfs" --pids-limit 8 -- sh -c 'for i in 1 2 3 4 5; do sleep 1000 & done; echo up; sleep 1000' >up 2>said &
	wait_until 20 grep -q up up
	run _sh --pids-limit 8 'sleep 0 & sleep 0 & sleep 0 & wait; echo fine'
	is "$out" fine
	kill $!
	wait $! || :
}

what_is_asked_for_by_name_counts() {
	run _sh --memory 64m --ulimit data=33554432 'ulimit -d'
	is "$out" 32768
}

processor_time_is_held_for_a_process() {
	run _sh --json --cpu-time 1 --timeout 60 'while :; do :; done'
	rc_is 124
	is "$(_of '.status, .error.type')" $'timeout\nCPUTimeError'
}

strict_limits_refuse() {
	run _sh --strict-limits 'echo ran'
	rc_is 125
	is "$out" ''
	like "$err" '--strict-limits: .*--memory, .*no cgroups'
}

run_tests
