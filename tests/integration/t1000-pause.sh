#!/bin/bash
# pause and resume: a frozen container stands still, says so, and can still be ended.
# Views: all
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# A program that counts in /count.
_box_that_counts() {
	bundle writable 'sh("i=0; while :; do i=$((i + 1)); echo $i >/count; usleep 10000; done")'
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -s "$B/rootfs/count"
}

# What the kernel says of the freezer: frozen or not.
_kernel_says() {
	local state
	if [ "$VIEW" = v2 ]; then
		file_has "$(cgroup_dir freezer)/cgroup.events" "^frozen $([ "$1" = frozen ] && echo 1 || echo 0)$"
	else
		slurp state "$(cgroup_dir freezer)/freezer.state"
		is "$state" "$([ "$1" = frozen ] && echo FROZEN || echo THAWED)"
	fi
}

_counts_on() {
	local before=$1 now
	slurp now "$B/rootfs/count"
	[ "${now:-$before}" != "$before" ]
}

a_paused_container_stands_still() {
	local before after i
	_box_that_counts
	run sbx pause "$ID"
	rc_is 0
	is "$out$err" ''
	_kernel_says frozen
	slurp before "$B/rootfs/count"
	for ((i = 0; i < 20; i++)); do nap; done
	slurp after "$B/rootfs/count"
	is "$after" "$before"
	run sbx resume "$ID"
	rc_is 0
	is "$out$err" ''
	_kernel_says thawed
	wait_until 10 _counts_on "$before"
}

state_and_list_say_paused_while_it_is() {
	_box_that_counts
	is "$(status_of "$ID")" running
	sbx pause "$ID"
	is "$(status_of "$ID")" paused
	is "$(sbx list -f json | jq -r '.[].status')" paused
	like "$(sbx list)" ' paused '
	isnt "$(pid_of "$ID")" 0
	sbx resume "$ID"
	is "$(status_of "$ID")" running
	is "$(sbx list -f json | jq -r '.[].status')" running
}

pausing_twice_and_resuming_twice_are_errors() {
	_box_that_counts
	refused 'container not paused' sbx resume "$ID"
	sbx pause "$ID"
	refused 'container not running' sbx pause "$ID"
	_kernel_says frozen
	sbx resume "$ID"
	refused 'container not paused' sbx resume "$ID"
}

a_stopped_container_is_not_running() {
	bundle
	sbx run --keep -b "$B" "$ID"
	refused 'container not running' sbx pause "$ID"
	refused 'container not paused' sbx resume "$ID"
	refused 'does not exist' sbx pause nobody
	refused 'does not exist' sbx resume nobody
	refused 'usage' sbx pause
	refused 'usage' sbx pause "$ID" more
}

a_created_container_can_be_paused_but_not_started() {
	bundle writable 'sh("echo >/mark")'
	sbx create -b "$B" "$ID"
	sbx pause "$ID"
	is "$(status_of "$ID")" paused
	refused 'paused' timeout 60 "$SBXRUN" --root "$T/state" start "$ID"
	sbx resume "$ID"
	is "$(status_of "$ID")" created
	sbx start "$ID"
	wait_until 10 test -e "$B/rootfs/mark"
}

sigkill_ends_a_paused_container() {
	local pid
	_box_that_counts
	pid=$(pid_of "$ID")
	sbx pause "$ID"
	sbx kill "$ID" KILL
	wait_until 10 dead "$pid"
	is "$(status_of "$ID")" stopped
	sbx delete "$ID"
	nothing_is_left
}

kill_all_ends_a_paused_container() {
	local pid
	_box_that_counts
	pid=$(pid_of "$ID")
	sbx pause "$ID"
	sbx kill --all "$ID" 9
	wait_until 10 dead "$pid"
	is "$(status_of "$ID")" stopped
}

other_signals_wait_for_the_thaw() {
	bundle writable 'sh("trap \"echo >/seen; exit\" USR1; echo >/ready; while :; do usleep 10000; done")'
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -e "$B/rootfs/ready"
	sbx pause "$ID"
	sbx kill "$ID" USR1
	is "$(status_of "$ID")" paused
	[ ! -e "$B/rootfs/seen" ] || fail 'it ran'
	sbx resume "$ID"
	wait_until 10 test -e "$B/rootfs/seen"
}

delete_needs_force_and_then_works() {
	local pid
	_box_that_counts
	pid=$(pid_of "$ID")
	sbx pause "$ID"
	refused 'not stopped' sbx delete "$ID"
	is "$(status_of "$ID")" paused
	sbx delete -f "$ID"
	dead "$pid" || fail 'it lives'
	nothing_is_left
}

all_its_processes_stand_still() {
	local before after i
	bundle writable 'sh("(while :; do echo >>/child; usleep 10000; done) & while :; do echo >>/parent; usleep 10000; done")'
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -s "$B/rootfs/child"
	sbx pause "$ID"
	before=$(stat -c %s "$B/rootfs/child" "$B/rootfs/parent")
	for ((i = 0; i < 20; i++)); do nap; done
	after=$(stat -c %s "$B/rootfs/child" "$B/rootfs/parent")
	is "$after" "$before"
}

what_somebody_else_froze_is_paused_too() {
	_box_that_counts
	if [ "$VIEW" = v2 ]; then
		echo 1 >"$(cgroup_dir freezer)/cgroup.freeze"
	else
		echo FROZEN >"$(cgroup_dir freezer)/freezer.state"
	fi
	wait_until 10 status_is "$ID" paused
	sbx resume "$ID"
	is "$(status_of "$ID")" running
}

run_tests
