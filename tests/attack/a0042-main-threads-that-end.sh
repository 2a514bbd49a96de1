#!/bin/bash
# A process whose main thread has ended goes on in its others, but /proc says "zombie" of it, and shows no namespaces. Escape: the container
# counts as stopped, loses its record, and its program goes on.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/life.sh"

# Whether any thread of the process lives.
_goes_on() {
	local file state
	for file in "/proc/$1"/task/*/stat; do
		{ read -r _ _ state _ <"$file"; } 2>/dev/null || continue
		[ "$state" = Z ] || [ "$state" = X ] || return 0
	done
	return 1
}

_is_headless() {
	local state=''
	read -r _ _ state _ <"/proc/$1/stat"
	[ "$state" = Z ] && _goes_on "$1"
}

# Starts $B with or without cgroups ($1) and a pid namespace ($2) and sets PID to the pid of its program.
_start() {
	local globals=() filters=()
	[ "$1" = cgroups ] || globals=(--cgroup-manager disabled)
	[ "$2" = own ] || filters=('without_ns("pid")')
	bundle "$3" '.linux.resources = {}' "${filters[@]}"
	with_attacker
	sbx "${globals[@]}" run -d -b "$B" "$ID" 2>/dev/null
	PID=$(jq .pid "$T/state/$ID/state.json") # `state` says 0 of one that it takes for stopped
}

# Each of the four, and then CMD…
_each_way() {
	local cgroups pids
	for cgroups in cgroups none; do
		for pids in own shared; do
			_start "$cgroups" "$pids" 'args(["/attacker", "headless"])'
			wait_until 10 _is_headless "$PID"
			"$@" "$cgroups, $pids"
		done
	done
}

_kill() {
	run sbx delete "$ID"
	[ "$rc" != 0 ] || escaped "$1: delete took it for stopped"
	is "$(status_of "$ID")" running "$1"
	run sbx kill "$ID" KILL
	wait_until 10 eval '! _goes_on '"$PID"
	is "$(status_of "$ID")" stopped "$1"
	sbx delete "$ID"
}

_delete() {
	run sbx delete --force "$ID"
	! _goes_on "$PID" || escaped "$1: delete --force has left it"
	rc_is 0
	nothing_is_left
}

a_program_without_its_main_thread_is_running() {
	_each_way _kill
}

delete_by_force_ends_a_program_without_its_main_thread() {
	_each_way _delete
}

a_child_without_its_main_thread_goes_with_the_container() {
	local cgroups child
	for cgroups in cgroups none; do
		_start "$cgroups" shared 'sh("/attacker headless & echo $! >/child; exec sleep 1000") | writable'
		wait_until 10 test -s "$B/rootfs/child"
		child=$(<"$B/rootfs/child")
		wait_until 10 _is_headless "$child"
		run sbx ps --format json "$ID"
		sbx delete --force "$ID"
		! _goes_on "$child" || escaped "$cgroups: it has outlived the container"
		like "$out" "[[,]${child}[],]" "$cgroups"
	done
}

run_tests
