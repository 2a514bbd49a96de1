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

# _of_thousands VERB…: within five seconds of processor time, where 0.2 are enough; the clock says nothing on a busy machine.
_of_thousands() {
	run bash -c 'ulimit -t 5; exec "$@"' cheap "$SBXRUN" --root "$T/state" "$@"
	rc_is 0
}

# What is looked at once for each process must not be looked at for each pair of them.
thousands_of_processes_are_listed_and_ended() {
	local options many=${SOAK_PROCESSES:-2500}
	needs gcc
	gcc -O1 -static -x c -o "$T/many" - <<-'END' || skip 'no static C library'
		#include <fcntl.h>
		#include <stdlib.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			int i, n = argc > 1 ? atoi(argv[1]) : 0;
			pid_t pid = 1;

			for (i = 0; i < n && pid > 0; i++)
				pid = fork();
			if (pid > 0)
				close(open("/ready", O_CREAT | O_WRONLY, 0600));
			for (;;)
				pause();
		}
	END
	for options in '' '--cgroup-manager disabled'; do
		bundle writable 'without_ns("pid")' '.linux.resources = {}' "args([\"/many\", \"$((many - 1))\"])" 'del(.process.rlimits)'
		cp "$T/many" "$B/rootfs/many"
		# shellcheck disable=SC2086
		sbx $options run -d -b "$B" "$ID" 2>/dev/null
		wait_until 60 test -e "$B/rootfs/ready"
		_of_thousands ps --format json "$ID"
		is "$(jq length "$T/out")" "$many"
		if ps -ef >/dev/null 2>&1; then
			_of_thousands ps "$ID"
			is "$(wc -l <"$T/out")" $((many + 1))
		fi
		_of_thousands kill "$ID" KILL
		_of_thousands delete -f "$ID"
		nothing_is_left
	done
	figure "processes in one container: $many"
}

run_tests
