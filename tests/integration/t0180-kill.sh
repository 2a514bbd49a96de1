#!/bin/bash
# kill: every spelling of a signal arrives as that signal, at init and at nobody else.
# Views: all
# Views: own a_created_container_ends_by_the_signals_that_end_programs
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# A program that writes one line into /seen for every signal that it is asked for in $1, e.g. "10 15".
_box_that_notes() {
	bundle writable 'env("SIGNALS='"$1"'")' \
		'sh("for s in $SIGNALS; do trap \"echo $s >>/seen\" $s; done; echo ready >/seen; while :; do sleep 100 & wait; done")'
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -s "$B/rootfs/seen"
}

# Whether the last line of what was seen is $2, in line $1.
_seen() {
	local lines
	mapfile -t lines <"$B/rootfs/seen"
	[ "${#lines[@]}" = "$1" ] && [ "${lines[-1]}" = "$2" ]
}

signals_are_spelled_in_many_ways() {
	local word n=1
	_box_that_notes 10
	for word in 10 USR1 SIGUSR1 sigusr1 usr1 SigUsr1; do
		sbx kill "$ID" "$word"
		n=$((n + 1))
		wait_until 10 _seen "$n" 10
	done
}

realtime_signals_have_names() {
	_box_that_notes '34 35 62 64'
	sbx kill "$ID" RTMIN+1
	wait_until 10 _seen 2 35
	sbx kill "$ID" SIGRTMIN
	wait_until 10 _seen 3 34
	sbx kill "$ID" RTMAX-2
	wait_until 10 _seen 4 62
	sbx kill "$ID" 64
	wait_until 10 _seen 5 64
}

every_common_name_has_its_number() {
	local row n=1
	_box_that_notes '1 2 3 12 13 14 15 18 28 30'
	for row in HUP:1 INT:2 QUIT:3 USR2:12 PIPE:13 ALRM:14 TERM:15 CONT:18 WINCH:28 PWR:30; do
		sbx kill "$ID" "${row%:*}"
		n=$((n + 1))
		wait_until 10 _seen "$n" "${row#*:}"
	done
}

the_default_is_term() {
	_box_that_notes '2 15'
	sbx kill "$ID"
	wait_until 10 _seen 2 15
}

kill_ends_a_container() {
	local word pid
	for word in KILL 9; do
		bundle 'sh("trap : TERM; sleep 100; sleep 100")'
		sbx run -d -b "$B" "$ID"
		pid=$(pid_of "$ID")
		sbx kill "$ID" "$word"
		wait_until 10 dead "$pid"
		is "$(status_of "$ID")" stopped
	done
}

# What waits for start is the first process of a pid namespace, which has no default for signals.
a_created_container_ends_by_the_signals_that_end_programs() {
	local word pid filter
	for filter in . 'without_ns("pid")' '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'; do
		for word in TERM INT HUP QUIT; do
			bundle writable 'sh("echo >/mark")' "$filter"
			sbx create -b "$B" "$ID"
			pid=$(pid_of "$ID")
			sbx kill "$ID" "$word"
			wait_until 10 dead "$pid"
			is "$(status_of "$ID")" stopped
			[ ! -e "$B/rootfs/mark" ] || fail 'the program has run'
			sbx delete "$ID"
		done
	done
}

# The handlers of the wait are no business of the program's.
the_program_has_no_handlers_and_ignores_nothing() {
	bundle 'args(["/bin/grep", "Sig", "/proc/1/status"])'
	run sbx run -b "$B" "$ID"
	like "$out" $'SigIgn:\t0000000000000000\nSigCgt:\t0000000000000000'
}

a_created_container_can_be_killed() {
	local pid
	bundle writable 'sh("echo >/mark")'
	sbx create -b "$B" "$ID"
	pid=$(pid_of "$ID")
	sbx kill "$ID" SIGKILL
	wait_until 10 dead "$pid"
	is "$(status_of "$ID")" stopped
	[ ! -e "$B/rootfs/mark" ] || fail 'the program has run'
}

unknown_signals_are_refused_and_not_sent() {
	local word
	_box_that_notes '1 2 10 15'
	for word in NONSENSE SIG '' 65 999 -1 1x x1 RTMIN+31 RTMAX-99 RTMIN-1 99999999999999999999; do
		refused . sbx kill -- "$ID" "$word"
	done
	is "$(status_of "$ID")" running
	is "$(<"$B/rootfs/seen")" ready
}

a_stopped_container_is_not_running() {
	bundle
	sbx run --keep -b "$B" "$ID"
	refused 'container not running' sbx kill "$ID" KILL
	refused 'container not running' sbx kill "$ID"
	is "$(status_of "$ID")" stopped
}

with_all_a_stopped_container_is_no_error() {
	bundle
	sbx run --keep -b "$B" "$ID"
	sbx kill --all "$ID" KILL
	sbx kill -a "$ID" 15
}

an_unknown_id_does_not_exist() {
	refused 'does not exist' sbx kill nobody KILL
	refused 'does not exist' sbx kill --all nobody KILL
}

a_signal_goes_to_init_alone() {
	bundle writable 'sh("(trap \"echo child >>/seen\" USR1; echo ready >/child; while :; do sleep 100 & wait; done) &
		trap \"echo init >>/seen\" USR1; until [ -s /child ]; do sleep 0.05; done; echo ready >/seen; while :; do wait; sleep 0.05; done")'
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -s "$B/rootfs/seen"
	sbx kill "$ID" USR1
	wait_until 10 _seen 2 init
	sbx kill "$ID" USR1
	wait_until 10 _seen 3 init
	unlike "$(<"$B/rootfs/seen")" child
}

with_all_a_signal_goes_to_every_process() {
	bundle writable 'sh("(trap \"echo child >>/seen\" USR1; echo ready >/child; while :; do sleep 100 & wait; done) &
		trap \"echo init >>/seen\" USR1; until [ -s /child ]; do sleep 0.05; done; echo ready >/seen; while :; do wait; sleep 0.05; done")'
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -s "$B/rootfs/seen"
	sbx kill --all "$ID" USR1
	wait_until 10 grep -q init "$B/rootfs/seen"
	wait_until 10 grep -q child "$B/rootfs/seen"
}

_cgroup_is_empty() {
	local pid
	while read -r pid; do
		! lives "$pid" || return 1
	done <"$(cgroup_dir pids)/cgroup.procs"
}

without_a_pid_namespace_kill_ends_every_process() {
	bundle writable 'without_ns("pid")' 'sh("sleep 100 & setsid sleep 100 & echo >/mark; wait")'
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -s "$B/rootfs/mark"
	[ "$(wc -l <"$(cgroup_dir pids)/cgroup.procs")" -ge 3 ] || fail 'fewer than three processes'
	sbx kill "$ID" KILL
	wait_until 10 _cgroup_is_empty
	is "$(status_of "$ID")" stopped
}

kill_all_ends_what_outlived_init() {
	bundle writable 'without_ns("pid")' 'sh("setsid sleep 100 & echo >/mark")'
	sbx run -d -b "$B" "$ID"
	wait_until 10 status_is "$ID" stopped
	! _cgroup_is_empty || fail 'nothing outlived init'
	sbx kill --all "$ID" KILL
	wait_until 10 _cgroup_is_empty
}

# Without a pid namespace, KILL is for all that is left.
_each_manager() {
	local manager
	for manager in cgroupfs disabled; do
		"$1" --cgroup-manager "$manager"
	done
}

_nothing_is_left_to_kill() {
	bundle 'without_ns("pid")' '.linux.resources = {}'
	sbx "$@" run --keep -b "$B" "$ID"
	refused 'container not running' sbx kill "$ID" KILL
	refused 'container not running' sbx kill "$ID" TERM
	sbx kill --all "$ID" KILL
	sbx kill --all "$ID" TERM
}

a_stopped_container_without_a_pid_namespace_is_not_running() {
	_each_manager _nothing_is_left_to_kill
}

# Sets CHILD to a process that has outlived its init. False where nothing tells whose that is: a kernel without numbers of namespaces.
_box_outlived() {
	bundle writable 'without_ns("pid")' '.linux.resources = {}' 'sh("sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >/child")'
	sbx "$@" run -d -b "$B" "$ID"
	wait_until 10 status_is "$ID" stopped
	CHILD=$(<"$B/rootfs/child")
	lives "$CHILD" || fail 'nothing outlived init'
	jq -e '.cgroups or .mountNsId' "$T/state/$ID/state.json" >/dev/null || { kill -KILL "$CHILD" && return 1; }
}

_what_outlived_init_is_killed() {
	local CHILD
	_box_outlived "$@" || return 0
	sbx kill "$ID" KILL
	wait_until 10 dead "$CHILD"
	refused 'container not running' sbx kill "$ID" KILL
}

kill_ends_what_outlived_init_and_says_if_nothing_did() {
	_each_manager _what_outlived_init_is_killed
}

# Namespaces and cgroups are numbered anew after a boot.
_of_another_boot() {
	local CHILD
	_box_outlived "$@" || return 0
	cp "$T/state/$ID/state.json" kept
	jq -c '.bootId = "00000000-0000-4000-8000-000000000000"' kept >"$T/state/$ID/state.json"
	refused 'container not running' sbx kill "$ID" KILL
	sbx kill --all "$ID" KILL
	run sbx ps --format json "$ID"
	is "$out" '[]'
	lives "$CHILD" || fail "$*: it was killed by its number"
	cp kept "$T/state/$ID/state.json"
	sbx delete "$ID"
	wait_until 10 dead "$CHILD"
}

who_has_the_numbers_of_a_container_of_another_boot_is_left_alone() {
	_each_manager _of_another_boot
}

# One that left for namespaces of its own is found by init's. strace keeps the runtime for a moment when it has opened those.
what_left_is_killed_though_init_ends_meanwhile() {
	local left pid
	needs strace
	[ "$(printf '%s\n' 6.18 "$(uname -r)" | sort -V | head -n 1)" = 6.18 ] || skip 'numbers of user namespaces need Linux 6.18'
	bundle 'without_ns("pid")' writable 'sh("unshare -U -m sh -c \"echo \\$\\$ >/left; exec sleep 1000\" & exec sleep 1000")' \
		'ns("user")' 'del(.linux.seccomp, .linux.resources)' \
		'.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}]' \
		'.linux.gidMappings = [{containerID: 0, hostID: 100000, size: 65536}]'
	chown 100000:100000 "$B/rootfs" # the programs are links
	sbx --cgroup-manager disabled run -d -b "$B" "$ID"
	wait_until 20 test -s "$B/rootfs/left"
	left=$(<"$B/rootfs/left") pid=$(pid_of "$ID")
	strace -o trace -e trace=openat,ppoll,pidfd_send_signal -e inject=ppoll,pidfd_send_signal:delay_enter=1000000:when=1 \
		"$SBXRUN" --root "$T/state" kill "$ID" KILL &
	wait_until 20 grep -qs "/$pid/ns/user" trace
	kill -KILL "$pid"
	wait $!
	wait_until 20 dead "$left"
}

run_tests
