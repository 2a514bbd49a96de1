#!/bin/bash
# What was broken once, found by hand: verbs that meet, verbs that are killed, the foreground.
# shellcheck disable=SC2016,SC2119,SC2154
# Views: own a_foreground_run_deletes_only_the_container_it_made
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# ---- exec and a container that ends meanwhile ----

# Runs a container in the foreground (its pid: BG) and an exec (its pid: EXEC) which has begun, and reads its process from a
# fifo that is open as descriptor 7. Its program could be seen from here, if it ran here.
_exec_that_waits_for_its_process() {
	bundle 'args(["/bin/sleep", "1000"])'
	background run --keep -b "$B" "$ID"
	wait_until 10 test -e "$T/state/$ID"
	wait_until 10 status_is "$ID" running
	mkfifo process
	"$SBXRUN" --root "$T/state" exec -p process "$ID" >out.exec 2>err.exec &
	EXEC=$!
	exec 7>process
}

_exec_goes_on_and_fails() {
	jq -n --arg code "echo ran >$T/canary; echo ran; readlink /proc/self/ns/mnt /proc/self/ns/pid" \
		'{cwd: "/", args: ["/bin/sh", "-c", $code], env: ["PATH=/bin:/usr/bin"], user: {uid: 0, gid: 0}}' >&7
	exec 7>&-
	rc=0
	wait "$EXEC" || rc=$?
	slurp out out.exec
	slurp err err.exec
	[ ! -e canary ] || fail "the program ran on the host: $out"
	is "$out" ''
	rc_is 255
	like "$err" 'container not running'
}

exec_never_runs_on_the_host_when_init_is_gone_meanwhile() {
	_exec_that_waits_for_its_process
	sbx kill "$ID" KILL
	wait_for_background
	is "$rc" 137
	_exec_goes_on_and_fails
}

exec_never_runs_on_the_host_when_init_is_a_zombie_meanwhile() {
	local pid
	_exec_that_waits_for_its_process
	pid=$(pid_of "$ID")
	kill -STOP "$BG"
	sbx kill "$ID" KILL
	wait_until 10 dead "$pid"
	[ -d "/proc/$pid" ] || fail 'somebody else has reaped it'
	_exec_goes_on_and_fails
	kill -CONT "$BG"
	wait_for_background
	is "$rc" 137
}

# ---- verbs that meet ----

a_foreground_run_deletes_only_the_container_it_made() {
	local pid
	bundle writable 'sh("echo x >>/mark; exec sleep 1000")'
	background run -b "$B" "$ID"
	wait_until 10 test -s "$B/rootfs/mark"
	wait_until 10 status_is "$ID" running
	kill -STOP "$BG"
	sbx delete --force "$ID"
	sbx create -b "$B" "$ID"
	pid=$(pid_of "$ID")
	kill -CONT "$BG"
	wait_for_background
	rc_is 137
	is "$(status_of "$ID")" created
	is "$(pid_of "$ID")" "$pid"
	lives "$pid" || fail 'the new one was killed'
	file_has "$(cgroup_dir pids)/cgroup.procs" "^$pid$"
	rm "$B/rootfs/mark"
	sbx start "$ID"
	wait_until 10 test -s "$B/rootfs/mark"
}

# Whether process $1 holds a lock on a directory of ours.
_has_lock() {
	grep -Eq "FLOCK +[A-Z]+ +WRITE $1 " /proc/locks
}

delete_by_force_gets_through_while_start_waits_for_a_stopped_init() {
	local pid
	bundle writable 'sh("echo >/mark")'
	sbx create -b "$B" "$ID"
	pid=$(pid_of "$ID")
	kill -STOP "$pid"
	background start "$ID"
	wait_until 10 _has_lock "$BG"
	run timeout 60 "$SBXRUN" --root "$T/state" delete --force "$ID"
	rc_is 0
	wait_for_background
	isnt "$rc" 0 'a start of what was deleted'
	dead "$pid" || fail 'it is alive'
	[ ! -e "$B/rootfs/mark" ] || fail 'the program has run'
	nothing_is_left
}

a_lock_that_is_never_given_back_is_an_error_and_no_hang() {
	box
	exec 8<"$T/state/$ID"
	flock -x 8
	run timeout 60 "$SBXRUN" --root "$T/state" delete --force "$ID"
	rc_is 1
	like "$err" 'locked'
	[ -e "$T/state/$ID" ] || fail 'it went past the lock'
	exec 8<&-
	sbx delete --force "$ID"
	nothing_is_left
}

# ---- the foreground ----

# Whether the container's cgroup has no more than its program and what that runs at the moment; zombies count.
_orphans_are_gone() {
	local n
	read -r n <"$(cgroup_dir pids)/pids.current"
	[ "$n" -le 3 ]
}

orphans_without_a_pid_namespace_are_reaped_by_run() {
	local round
	bundle writable 'without_ns("pid")' '.linux.resources.pids.limit = 20' \
		'sh("for round in 1 2 3; do
			for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do (sleep 0.2 &) || exit 8; done
			echo >/made$round
			until [ -e /go$round ]; do usleep 20000; done
		done
		exit 5")'
	background run -b "$B" "$ID"
	for round in 1 2 3; do
		wait_until 20 test -e "$B/rootfs/made$round"
		wait_until 10 _orphans_are_gone
		touch "$B/rootfs/go$round"
	done
	wait_for_background
	rc_is 5
	nothing_is_left
}

# ---- killed in the middle ----

# The kernel kills it when it wants to end its helper for the first time.
a_create_that_is_killed_while_it_makes_an_id_map_leaves_no_process_and_no_lock() {
	needs strace
	mkdir src
	bundle 'mount({destination: "/m", source: ($T + "/src"), options: ["bind", "idmap"],
		uidMappings: [{containerID: 0, hostID: 1000, size: 100}], gidMappings: [{containerID: 0, hostID: 2000, size: 100}]})'
	run strace -o trace -e trace=kill,pidfd_send_signal -e inject=kill,pidfd_send_signal:error=EPERM:signal=SIGKILL:when=1 \
		"$SBXRUN" --root "$T/state" create -b "$B" "$ID"
	rc_is 137
	file_has trace 'SIGKILL'
	run timeout 60 "$SBXRUN" --root "$T/state" delete --force "$ID"
	rc_is 0
	nothing_is_left
	# Those that were forked have its command line.
	is "$(grep -lsa -e "$T/stat[e]" /proc/[0-9]*/cmdline || :)" '' 'a process is left'
}

run_tests
