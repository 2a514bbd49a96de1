#!/bin/bash
# Eight callers at work on one id: verbs at random, each bounded, none may crash or hang, and when they are through, one
# `delete --force` leaves nothing. SOAK_SECONDS says for how long (10; the long form takes 60).
TEST_LIMIT=${TEST_LIMIT:-$((${SOAK_SECONDS:-10} + 300))}
. "${0%/*}/../lib/test.sh"
. "${0%/*}/lib.sh"

# No verb waits longer than that: 10 s for a lock, 10 s for an end, 5 s for cgroups; the rest is for a busy machine.
VERB_LIMIT=100

# One call by caller $1; its status, and what it said, in the caller's own files.
_call() {
	local me=$1 rc=0 begin=$EPOCHSECONDS
	shift
	timeout -k 5 "$VERB_LIMIT" "$SBXRUN" --root "$T/state" "$@" >/dev/null 2>>"$T/said.$me" </dev/null || rc=$?
	[ $((EPOCHSECONDS - begin)) -lt "$VERB_LIMIT" ] || rc=hung
	echo "$1 $rc" >>"$T/calls.$me"
}

_work() {
	local me=$1 end=$2
	# Enough creates and starts that most verbs find something to work on.
	while [ "${EPOCHSECONDS}" -lt "$end" ]; do
		case $((RANDOM % 12)) in
		0 | 1 | 2) _call "$me" create -b "$B" "$ID" ;;
		3 | 4) _call "$me" start "$ID" ;;
		5) _call "$me" exec "$ID" /bin/true ;;
		6) _call "$me" kill "$ID" KILL ;;
		7) _call "$me" pause "$ID" ;;
		8) _call "$me" resume "$ID" ;;
		9) _call "$me" run -d -b "$B" "$ID" ;;
		10) _call "$me" delete "$ID" ;;
		11) _call "$me" delete -f "$ID" ;;
		esac
	done
}

_callers_are_through() {
	# Somebody may have execed into a container that was paused after that.
	sbx delete -f "$ID"
	[ -z "$(jobs -pr)" ]
}

_eight_callers() {
	local i verb rc end=$((EPOCHSECONDS + ${SOAK_SECONDS:-10}))
	for ((i = 0; i < 8; i++)); do
		_work "$i" "$end" &
	done
	sleep "${SOAK_SECONDS:-10}"
	wait_until 200 _callers_are_through
	run sbx delete -f "$ID"
	rc_is 0
	sort "$T"/calls.* | uniq -c
	sed "s/$ID/ID/g; s/[0-9]\{2,\}/N/g" "$T"/said.* | sort | uniq -c | sort -rn | head -n 40
	while read -r verb rc; do
		case $verb:$rc in
		# 137: the program was killed with its container.
		*:0 | *:1 | exec:255 | exec:137) ;;
		*) fail "$verb: $rc" ;;
		esac
	done < <(cat "$T"/calls.*)
	unlike "$(cat "$T"/said.*)" 'still there|Sanitizer|BUG'
	is "$(ls -A "$T/state")" ''
	figure "8 callers on one id$1: $(cat "$T"/calls.* | wc -l) verbs in ${SOAK_SECONDS:-10} s"
}

eight_callers_on_one_id() {
	bundle 'sh("while :; do sleep 1; done")'
	_eight_callers ''
}

eight_callers_on_one_id_without_a_pid_namespace() {
	bundle 'sh("while :; do sleep 1; done")' 'without_ns("pid")'
	_eight_callers ' without a pid namespace'
}

run_tests
