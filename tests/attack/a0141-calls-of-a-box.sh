#!/bin/bash
# Idea: a program in a box that stays wants to outlive its call, to be there when the next one comes, or to speak for another: it goes for the reaper of its call, which
# has its own ids, and for the first process. Escape: something of a call is there in the next; fake: a result that is not what happened.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_new() {
	bundle
	BOX=$(sbx box create --rootfs "$B/rootfs" "$@")
}
# OPTION… CODE
_call() { run sbx box exec "${@:1:$#-1}" "$BOX" -- sh -c "${!#}"; }
_of() { jq -r "$1" <<<"$out"; }
# The next call finds nobody but its own: its shell, ps, two reapers.
_is_alone() {
	_call 'ps -o comm= 2>/dev/null || ps'
	[ "$(grep -cE 'reaper' <<<"$out")" = 2 ] && ! grep -qE 'sleep|bomb' <<<"$out" || escaped "of another call: $out"
}

what_kills_or_stops_its_reaper_does_not_stay() {
	_new
	for sig in KILL STOP; do
		_call --json --timeout 2 "trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep 1000' &); kill -$sig \$PPID; sleep 1000"
		[ "$(_of .success)" = false ] || faked 'a call that was killed has succeeded'
		_is_alone
	done
	_call --json --timeout 1 '(while :; do kill -STOP -1; done) & sleep 1000'
	is "$(_of .status)" timeout
	_is_alone
	_call --json --timeout 2 '(while :; do kill -KILL -1; done) & sleep 1000'
	_is_alone
}

the_first_process_can_not_be_looked_into_or_ended() {
	_new
	_call --json 'ls /proc/1/fd /proc/$PPID/fd && echo SEEN; cat /proc/1/mem /proc/$PPID/mem && echo SEEN
		for s in KILL STOP SEGV ILL HUP USR1; do kill -$s 1; done; echo alive; ls /proc/self/fd | tr "\n" " "; exit 4'
	hides "$(_of .stdout)" SEEN
	is "$(_of '(.stdout | split("\n")[-2:] | .[]), .exit_code')" $'alive\n0 1 2 3 \n4'
	# The signal that ends calls, sent by a call, ends that one.
	_call --json --timeout 20 'kill -TERM 1; sleep 1000'
	is "$(_of '.status, .signal')" $'signal\nSIGKILL'
	_call 'echo next'
	is "$out" next
}

# Processes that fork all the time, when their call ends by itself and when it is killed.
what_forks_all_the_time_ends_with_its_call() {
	_new --pids-limit 40
	_call --timeout 60 'bomb() { (setsid sh -c "while :; do (sleep 0.01 &) ; done" &); }; bomb; bomb; bomb; sleep 0.3; exit 3'
	rc_is 3
	_is_alone
	_call --timeout 0.5 'trap "" TERM; while :; do (sleep 0.01 &); done'
	rc_is 124
	_is_alone
}

# Calls that are killed while others wait for the box: nobody's end is another's.
a_call_is_not_hit_by_the_end_of_the_one_before() {
	local i
	_new
	for ((i = 0; i < STARTS; i++)); do
		"$SBXRUN" --root "$T/state" box exec "$BOX" -- sh -c "echo up; (setsid sleep 1000 &); sleep 1000" >"up$i" &
		wait_until 20 eval "grep -q up up$i || ! kill -0 $! 2>/dev/null"
		grep -q up "up$i" || faked "a call ended by another's end, or by its own begin"
		kill -KILL $!
		_call --json 'sleep 0.05; echo whole'
		[ "$(_of '.status, .stdout')" = $'ok\nwhole' ] || faked "a call ended by another's end: $out"
		wait || :
	done
}

ids_are_names_and_nothing_else() {
	_new --id "$P"
	mkdir -p elsewhere/box-x
	for id in ../elsewhere/box-x /etc . .. "$P/.." "$P"$'\nx' -- '' ; do
		run sbx box destroy -- "$id"
		rc_is 125
		run sbx box exec "$id" -- true
		rc_is 125
	done
	[ -d elsewhere/box-x ] || escaped 'a directory is gone'
	_call 'echo here'
	is "$out" here
}

run_tests
