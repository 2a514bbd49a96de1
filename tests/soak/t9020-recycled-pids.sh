#!/bin/bash
# A pid that has become a stranger's: no verb may touch him. In a pid namespace of our own, where the next pid can be chosen.
# SOAK_PIDS says how often (5; the long form 200).
TEST_LIMIT=${TEST_LIMIT:-$((120 + ${SOAK_PIDS:-5} * 20))}
. "${0%/*}/../lib/test.sh"
. "${0%/*}/lib.sh"

# Runs in the pid namespace. $1: how often.
_inside() {
	local n pid stranger tries
	for ((n = 0; n < $1; n++)); do
		"$SBXRUN" --root "$T/state" run -d -b "$B" "$ID"
		pid=$("$SBXRUN" --root "$T/state" state "$ID" | jq .pid)
		kill -KILL "$pid"
		while [ "$("$SBXRUN" --root "$T/state" state "$ID" | jq -r .status)" != stopped ]; do :; done
		# The init of this namespace (us) has got it as an orphan; until it is reaped its number is taken.
		for ((tries = 0; tries < 1000; tries++)); do
			[ -e "/proc/$pid" ] || break
			sleep 0.01
		done
		stranger=0
		for ((tries = 0; tries < 50 && stranger != pid; tries++)); do
			[ "$stranger" = 0 ] || { kill -KILL "$stranger"; wait "$stranger"; } 2>/dev/null || :
			echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid
			sleep 1000 &
			stranger=$!
		done
		[ "$stranger" = "$pid" ] || { echo "no stranger got pid $pid"; return 1; }
		[ "$("$SBXRUN" --root "$T/state" state "$ID" | jq -r '"\(.status) \(.pid)"')" = 'stopped 0' ] || return 1
		! "$SBXRUN" --root "$T/state" kill "$ID" KILL 2>/dev/null || { echo 'kill said that it had killed'; return 1; }
		"$SBXRUN" --root "$T/state" kill --all "$ID" KILL || :
		! "$SBXRUN" --root "$T/state" exec "$ID" /bin/true 2>/dev/null || return 1
		! "$SBXRUN" --root "$T/state" pause "$ID" 2>/dev/null || return 1
		"$SBXRUN" --root "$T/state" delete -f "$ID" || return 1
		kill -0 "$stranger" || { echo 'the stranger is gone'; return 1; }
		[[ $(<"/proc/$stranger/stat") != *') '[Tt]' '* ]] || { echo 'the stranger was stopped'; return 1; }
		kill -KILL "$stranger"
		wait "$stranger" 2>/dev/null || :
	done
	echo "$n strangers live"
}

strangers_with_a_containers_pid_are_left_alone() {
	[ -e /proc/sys/kernel/ns_last_pid ] || skip 'this kernel lets nobody choose a pid'
	bundle 'sh("while :; do sleep 5; done")'
	export -f _inside
	export SBXRUN ID B
	run unshare --pid --fork --mount-proc --kill-child bash -euc '_inside "$1"' - "${SOAK_PIDS:-5}"
	rc_is 0
	is "$out" "${SOAK_PIDS:-5} strangers live"
	figure "recycled pids: ${SOAK_PIDS:-5} strangers left alone"
}

run_tests
