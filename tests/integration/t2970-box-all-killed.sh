#!/bin/bash
# SIGKILL of all who have to do with boxes, at once: callers, keepers of sessions and of a server for models, carriers, first processes. What a `box gc` then leaves is nothing.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mcp.sh"

_box() { SBXRUN_ROOTFS_DIR=$T/library sbx box "$@"; }
# _new ID OPTION…
_new() { _box create --id "$P.$1" --rootfs host "${@:2}" >/dev/null; }
# _beside VERB WORD…: a caller that waits for what it has called.
_beside() { SBXRUN_ROOTFS_DIR=$T/library "$SBXRUN" --root "$T/state" box "$@" >>said 2>&1 & }
_is_running() { sbx ps --format json "box-$P.$1" | jq -e "length >= $2" >/dev/null; }

# Sets PIDS to all of them. Those that stay beside a box have wiped their environment; but nobody else is in this mount namespace.
_all_of_ours() {
	local pid
	find_mounts
	find_processes
	for pid in $(pgrep '^(sbxrun|reaper)' || :); do
		[ "$(readlink "/proc/$pid/ns/mnt")" != "$(readlink /proc/self/ns/mnt)" ] || PIDS[$pid]=1
	done 2>/dev/null
}
_names() {
	local pid
	for pid in "${!PIDS[@]}"; do
		cat "/proc/$pid/comm" || :
	done 2>/dev/null | sort | uniq -c
}
_are_gone_but() {
	_all_of_ours
	unset "PIDS[$BASHPID]" "PIDS[$$]"
	[ "${#PIDS[@]}" -le "$1" ]
}

_is_stopped() { [[ $(cat "/proc/$1/stat" 2>/dev/null || :) =~ ^[0-9]+' ('.*') '[TZ] || ! -e /proc/$1 ]]; }

# A snapshot that is half made: it is stopped while its file has no name yet.
_stop_a_snapshot() {
	local tries
	_box exec "$P.kept" -- head -c 60000000 /dev/zero >zeros
	_box write "$P.kept" big zeros
	for ((tries = 0; tries < 100; tries++)); do
		_beside snapshot "$P.kept" "half$tries"
		while [ ! -e "$T/state/boxes:snapshots/:half$tries" ] && kill -0 $! 2>/dev/null; do :; done
		kill -STOP $! 2>/dev/null || continue
		wait_until 20 _is_stopped $!
		[ ! -e "$T/state/boxes:snapshots/:half$tries" ] || return 0
		kill -CONT $!
		wait $! || :
	done
	fail 'no snapshot was seen half made'
}

_killed() {
	local before=$1 ids
	_all_of_ours
	unset "PIDS[$BASHPID]" "PIDS[$$]"
	ids=("${!PIDS[@]}")
	_names >names
	# At once: who hears that another one has ended does something.
	kill -STOP "${ids[@]}"
	kill -KILL "${ids[@]}"
	wait
	# What is frozen dies of it on cgroup v2 alone.
	wait_until 60 _are_gone_but "$(sbx ps --format json "box-$P.frozen" | jq length)"
	run _box gc
	rc_is 0
	like "$out" '^[1-9][0-9]* removed'
	is "$(_box list --json)" '[]'
	wait_until 60 _are_gone_but 0
	shopt -s nullglob # which the framework's own have, and tests have not
	find_cgroups
	shopt -u nullglob
	is "${CGROUPS[*]}" ''
	find_mounts
	is "${MOUNTS[*]}" ''
	is "$(wc -l </proc/self/mountinfo)" "$before"
	is "$(grep -lsF "$T/" /run/sbxrun-ranges/* | xargs)" ''
	is "$(ls -A disks)" ''
	# What was refused, who has expired, questions to people, and snapshots that are whole are kept on purpose.
	is "$(find state -mindepth 1 ! -name explain:last ! -name boxes:expired ! -path 'state/approvals:queue*' ! -name boxes:snapshots ! -path 'state/boxes:snapshots/half*')" ''
}

everybody_is_killed_and_nothing_is_left() {
	local before
	needs losetup
	bundle
	mkdir disks
	export SBXRUN_DISK_DIR=$T/disks
	before=$(wc -l </proc/self/mountinfo)
	_new idle
	_new call
	_new session
	_new disk --memory 64m --disk 40m
	_new kept --memory 256m --disk 140m
	_new frozen
	_new reaches --allow good.example
	_box run --session "$P.session" bash 'x=1'
	_box run --session "$P.reaches" bash 'x=1'
	_beside exec --timeout 1000 "$P.call" -- sleep 1000
	_beside exec --timeout 1000 "$P.disk" -- sleep 1000
	_beside exec --timeout 1000 "$P.frozen" -- sleep 1000
	_beside run --timeout 1000 --session "$P.session" bash 'sleep 1000'
	wait_until 60 _is_running call 3
	wait_until 60 _is_running disk 3
	wait_until 60 _is_running frozen 3
	wait_until 60 _is_running session 3
	_box pause "$P.frozen"
	is "$(losetup -l -n -O BACK-FILE | grep -cF "$T/disks")" 2
	mcp <<-'END' &
		s = Server()
		s.initialize()
		s.call("box_create", language="python")
		open("served", "w").close()
		s.line(1000)
	END
	wait_until 60 test -e served
	_stop_a_snapshot
	_killed "$before"
	like "$(cat names)" 'reaper.*sbxrun-keeper.*sbxrun-net.*sbxrun-session'
	wait_until 60 eval '! losetup -l -n -O BACK-FILE | grep -qF "$T/disks"'
}

run_tests
