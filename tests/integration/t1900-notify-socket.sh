#!/bin/bash
# NOTIFY_SOCKET: a service that runs a container learns when the program inside is ready.
. "${0%/*}/../lib/test.sh"

# A bundle whose program sends the arguments; the manager's socket is $T/manager, what it hears goes to $T/heard.
_service() {
	bundle
	cc -static -o "$B/rootfs/bin/notify" "$TESTS_DIR/tools/notify.c"
	jq --args '.process.args = ["/bin/notify"] + $ARGS.positional' "$@" <"$B/config.json" >"$T/c"
	mv "$T/c" "$B/config.json"
	python3 - "$T/manager" "$T/heard" <<'END' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True:
    text = s.recv(4096).decode()
    with open(sys.argv[2], "a") as f:
        f.write(text + "\n--\n")
END
	wait_until 10 test -S "$T/manager"
	export NOTIFY_SOCKET=$T/manager
}

ready_is_passed_on_with_the_pid_and_nothing_else_is() {
	needs cc python3
	_service 'MAINPID=1;STATUS=hello' 'READY=1;FDSTORE=1;ERRNO=5'
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -s "$T/heard"
	is "$(<"$T/heard")" "READY=1
MAINPID=$(pid_of "$ID")
--"
}

start_returns_when_the_program_is_ready() {
	needs cc python3
	_service 'READY=1'
	sbx create -b "$B" "$ID"
	[ ! -e "$T/heard" ] || fail 'told before start'
	sbx start "$ID"
	wait_until 10 test -s "$T/heard"
	is "$(status_of "$ID")" running
}

a_program_that_ends_without_a_word_does_not_hold_up_start() {
	needs cc python3
	_service
	jq '.process.args = ["/bin/true"]' <"$B/config.json" >"$T/c"
	mv "$T/c" "$B/config.json"
	sbx create -b "$B" "$ID"
	sbx start "$ID"
	[ ! -e "$T/heard" ] || fail "told: $(<"$T/heard")"
}

in_the_foreground_it_is_passed_on_while_it_runs() {
	needs cc python3
	_service 'READY=1'
	sbx run -b "$B" "$ID" &
	wait_until 10 test -s "$T/heard"
	sbx kill "$ID" KILL
	wait $! || :
	[ ! -e "$T/state/$ID" ] || fail 'not deleted'
}

without_a_manager_there_is_no_socket_inside() {
	run_in_box 'echo "${NOTIFY_SOCKET:-none}"; ls /run 2>/dev/null'
	rc_is 0
	is "$out" none
}

run_tests
