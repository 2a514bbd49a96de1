#!/bin/bash
# Many lives, and many containers at once. SOAK_ROUNDS says how many lives (20; the long form 1000), SOAK_AT_ONCE how many
# containers (20; 200).
TEST_LIMIT=${TEST_LIMIT:-$((120 + ${SOAK_ROUNDS:-20} * 6 + ${SOAK_AT_ONCE:-20} * 10))}
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/lib.sh"

# What must be the same before and after: mounts of our namespace, and the descriptors and children of this shell.
_inventory() {
	wc -l </proc/self/mountinfo
	ls "/proc/$BASHPID/fd" | wc -l
	ls -A "$T" "$T/state"
}

a_container_lives_and_dies_many_times() {
	local i before
	bundle 'sh("while :; do sleep 1; done")'
	touch out err
	before=$(_inventory)
	for ((i = 0; i < ${SOAK_ROUNDS:-20}; i++)); do
		sbx create -b "$B" "$ID"
		sbx start "$ID"
		sbx exec "$ID" /bin/true
		sbx kill "$ID" KILL
		wait_until 20 status_is "$ID" stopped
		sbx delete "$ID"
		nothing_is_left
	done
	is "$(_inventory)" "$before"
	figure "create, start, exec, kill, delete: ${SOAK_ROUNDS:-20} lives"
}

_delete_every() {
	local i
	for ((i = $1; i < ${SOAK_AT_ONCE:-20}; i += 4)); do
		sbx delete -f "$ID.$i"
	done
}

many_containers_live_at_once() {
	local i ids pids=()
	bundle 'sh("while :; do sleep 5; done")'
	for ((i = 0; i < ${SOAK_AT_ONCE:-20}; i++)); do
		jq --arg path "/$P/$ID.$i" '.linux.cgroupsPath = $path' "$B/config.json" >"$B/config.$i"
		sbx run -d -b "$B" -f "$B/config.$i" "$ID.$i"
	done
	is "$(sbx list --format json | jq '[.[] | select(.status == "running")] | length')" "${SOAK_AT_ONCE:-20}"
	# Each one is a process of its own, and in its own cgroup.
	ids=$(sbx list --format json | jq -r '.[].pid' | sort -u | wc -l)
	is "$ids" "${SOAK_AT_ONCE:-20}"
	for ((i = 0; i < 4; i++)); do
		_delete_every "$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	state_is_empty
	figure "containers at once: ${SOAK_AT_ONCE:-20}"
}

run_tests
