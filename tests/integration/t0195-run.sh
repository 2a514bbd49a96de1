#!/bin/bash
# run: in the foreground it stands for the program: its status, its signals; afterwards nothing is left.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

it_returns_the_programs_status() {
	local code
	for code in 0 7 255; do
		run_in_box "exit $code"
		rc_is "$code"
		is "$out$err" ''
		nothing_is_left
	done
}

a_death_by_signal_is_128_and_its_number() {
	bundle 'sh("sleep 100")'
	background run -b "$B" "$ID"
	wait_until 10 status_is "$ID" running
	sbx kill "$ID" KILL
	wait_for_background
	rc_is 137
	nothing_is_left
	# Without a pid namespace, init has no protection from signals that it does not handle.
	run_in_box 'kill -TERM $$' 'without_ns("pid")'
	rc_is 143
	run_in_box 'kill -SEGV $$' 'without_ns("pid")'
	rc_is 139
	nothing_is_left
}

signals_are_forwarded() {
	local name n=1
	bundle writable 'sh("for s in HUP INT QUIT USR1 USR2 ALRM WINCH CONT; do trap \"echo $s >>/seen\" $s; done; trap \"exit 7\" TERM
		echo ready >/seen; while :; do sleep 100 & wait; done")'
	background run -b "$B" "$ID"
	wait_until 10 test -s "$B/rootfs/seen"
	for name in HUP INT QUIT USR1 USR2 ALRM; do
		kill "-$name" "$BG"
		wait_until 10 grep -qx "$name" "$B/rootfs/seen"
		n=$((n + 1))
	done
	is "$(wc -l <"$B/rootfs/seen")" "$n" 'each came once'
	kill -TERM "$BG"
	wait_for_background
	rc_is 7
	nothing_is_left
}

a_forwarded_signal_may_end_the_program() {
	bundle writable 'without_ns("pid")' 'sh("echo >/mark; exec sleep 100")'
	background run -b "$B" "$ID"
	wait_until 10 test -e "$B/rootfs/mark"
	kill -HUP "$BG"
	wait_for_background
	rc_is 129
	nothing_is_left
}

a_signal_during_create_is_not_lost() {
	bundle 'without_ns("pid")' 'args(["/bin/sleep", "100"])' \
		'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "echo >\($T)/in-hook; until [ -e \($T)/go ]; do sleep 0.05; done"])'
	background run -b "$B" "$ID"
	wait_until 10 test -e in-hook
	kill -USR1 "$BG"
	touch go
	wait_for_background
	rc_is 138
	nothing_is_left
}

nothing_is_left_of_a_program_that_did_not_start() {
	bundle 'args(["/not/there"])'
	refused 'no such file' sbx run -b "$B" "$ID"
	nothing_is_left
	bundle 'args(["/not/there"])'
	refused 'no such file' sbx run --keep -b "$B" "$ID"
	nothing_is_left
	bundle 'args(["/not/there"])'
	refused 'no such file' sbx run -d -b "$B" "$ID"
	nothing_is_left
}

keep_leaves_a_stopped_container() {
	bundle 'sh("exit 7")'
	run sbx run --keep -b "$B" "$ID"
	rc_is 7
	is "$(status_of "$ID")" stopped
	sbx delete "$ID"
	nothing_is_left
}

detach_returns_while_the_program_runs() {
	local pid
	bundle writable 'sh("until [ -e /go ]; do sleep 0.05; done; echo >/mark")'
	run sbx run --detach -b "$B" "$ID"
	rc_is 0
	is "$(status_of "$ID")" running
	pid=$(pid_of "$ID")
	touch "$B/rootfs/go"
	wait_until 10 test -e "$B/rootfs/mark"
	wait_until 10 dead "$pid"
	is "$(status_of "$ID")" stopped 'nobody deletes it'
	sbx delete "$ID"
}

others_see_it_while_it_runs_in_the_foreground() {
	bundle 'sh("sleep 100")'
	background run -b "$B" "$ID"
	wait_until 10 status_is "$ID" running
	is "$(sbx list -q)" "$ID"
	sbx delete -f "$ID"
	nothing_is_left
	wait_for_background
	rc_is 137
}

a_foreground_run_that_is_killed_leaves_a_container_that_can_be_deleted() {
	local pid
	bundle 'sh("sleep 100")'
	background run -b "$B" "$ID"
	wait_until 10 status_is "$ID" running
	pid=$(pid_of "$ID")
	kill -KILL "$BG"
	wait_for_background
	rc_is 137
	sbx delete -f "$ID"
	dead "$pid" || fail 'it is alive'
	nothing_is_left
}

children_of_the_program_end_with_it() {
	bundle 'sh("sleep 100 & setsid sleep 100 & exit 7")'
	run sbx run -b "$B" "$ID"
	rc_is 7
	nothing_is_left
	bundle 'without_ns("pid")' 'sh("sleep 100 & setsid sleep 100 & exit 7")'
	run sbx run -b "$B" "$ID"
	rc_is 7
	nothing_is_left
}

a_caller_that_ignores_sigchld_gets_the_status() {
	bundle 'sh("exit 7")'
	run env --ignore-signal=CHLD "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 7
	nothing_is_left
}

run_tests
