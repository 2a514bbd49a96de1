#!/bin/bash
# A process with the right to kill, in a pid namespace that a container is created into, stops everything it can see, over and over. What
# it stops is a container in the making, and a runtime that waits for it under the lock. Escape: the create hangs, or delete is kept out.
# Views: own
# shellcheck disable=SC2016
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/life.sh"

# Whether a child of $BG is stopped; nobody will ever continue it.
_has_stopped_child() {
	local pid state
	for pid in $(cat "/proc/$BG/task/$BG/children" 2>/dev/null); do
		{ read -r _ _ state _ <"/proc/$pid/stat"; } 2>/dev/null || continue
		[ "$state" != T ] || return 0
	done
	return 1
}

_is_stopped_or_done() {
	dead "$BG" || _has_stopped_child
}

# A create that hangs, as $BG.
_stopped_in_the_making() {
	local first tries
	bundle 'sh("while :; do kill -STOP -1 2>/dev/null; done")' 'caps(["CAP_KILL"])'
	sbx run -d -b "$B" "$ID"
	first=$(pid_of "$ID")
	bundle "ns(\"pid\"; \"/proc/$first/ns/pid\")" 'sh("sleep 100")'
	for ((tries = 0; tries < 20; tries++)); do
		background create -b "$B" "$ID" 2>"$T/said"
		wait_until 20 _is_stopped_or_done
		sleep 0.3 # no event: it may be stopped when all is done
		! lives "$BG" || return 0
		wait_for_background
		sbx delete -f "$ID"
	done
	skip 'the neighbour is too slow'
}

a_create_that_is_stopped_does_not_keep_delete_out() {
	_stopped_in_the_making
	run timeout -k 1 60 "$SBXRUN" --root "$T/state" delete --force "$ID"
	[ "$rc" = 0 ] || { kill -KILL "$BG" || :; escaped "delete --force is kept out: status $rc, $err"; }
	wait_for_background
	rc_is 1
	! grep -q 'no answer within' "$T/said" || escaped "delete --force waited until create gave up by itself: $(<"$T/said")"
	nothing_is_left
}

a_create_that_is_stopped_ends() {
	local end
	_stopped_in_the_making
	end=$((${EPOCHREALTIME/./} + 60000000))
	until dead "$BG"; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || { kill -KILL "$BG"; hangs 'it hangs'; }
		nap
	done
	wait_for_background
	rc_is 1
	like "$(<"$T/said")" 'pid namespace'
	nothing_is_left
}

run_tests
