#!/bin/bash
# A container of an ordinary user hunts what exec brings in: root inside may trace every process of the container that does not hide.
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/rootless.sh"
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../lib/hunter.sh"

MANY=40
[ "$VIEW" != v2 ] || MANY=8

# FILTER…: starts a hunter under a filter that asks about mkdir, and who answers.
_lie_in_wait_and_listen() {
	needs python3
	python3 "$TESTS_DIR/tools/notify.py" "$T/sock" "$CONNECTIONS" 13 >told 2>listener.err &
	LISTENER=$!
	wait_until 20 test -S sock
	chmod 777 sock
	lie_in_wait 'caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_KILL"])' ".linux.seccomp = {defaultAction: \"SCMP_ACT_ALLOW\",
		listenerPath: (\$T + \"/sock\"), syscalls: [{names: [\"mkdir\", $1], action: \"SCMP_ACT_NOTIFY\"}]}"
}

_exec_many_times() {
	local i
	for ((i = 0; i < MANY; i++)); do
		timeout 60 "$SBXRUN" --root "$T/state" exec "$ID" /hunter idle </dev/null >/dev/null 2>errors || :
	done
	call_it_off
	unlike "$REPORT" GOT
	sbx delete -f "$ID"
	wait "$LISTENER" || fail "the listener: $(<listener.err)"
}

the_listener_is_not_taken_on_its_way() {
	CONNECTIONS=$((MANY + 1))
	_lie_in_wait_and_listen '"mkdirat"'
	_exec_many_times
	is "$(jq -s 'map(.got) | add' told)" "$CONNECTIONS"
}

a_listener_that_would_be_in_sight_is_refused() {
	CONNECTIONS=1
	_lie_in_wait_and_listen '"setsid"'
	_exec_many_times
	like "$(<errors)" 'linux\.seccomp.*setsid'
}

run_tests
