#!/bin/bash
# exec: many, at once, with a container that ends, with a caller that dies. Nothing is left of any of them.
# shellcheck disable=SC2016,SC2119
# Views: own hundreds_leave_nothing many_at_once_all_work
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# Prints what could pile up: processes in the container's cgroups, descriptors and threads of its init, state files, cgroups.
_inventory() {
	local pid dir
	pid=$(pid_of "$ID")
	for dir in /sys/fs/cgroup/"$P/$ID" /sys/fs/cgroup/*/"$P/$ID"; do
		[ ! -d "$dir" ] || echo "$dir $(wc -l <"$dir/cgroup.procs") $(find "$dir" -type d | wc -l)"
	done
	ls "/proc/$pid/fd" "/proc/$pid/task/$pid/children"
	cat "/proc/$pid/task/$pid/children"
	find "$T/state" | sort
	wc -l <"/proc/$pid/mountinfo"
}

_is_as_before() {
	[ "$(_inventory)" = "$before" ]
}

hundreds_leave_nothing() {
	local i many=200 before
	[ "$VIEW" != v2 ] || many=60
	box
	before=$(_inventory)
	for ((i = 0; i < many; i++)); do
		sbx exec "$ID" true
	done
	for ((i = 0; i < 10; i++)); do
		sbx exec -d "$ID" true
		! sbx exec "$ID" not-there 2>/dev/null || fail 'it ran'
	done
	wait_until 10 _is_as_before
	sbx delete -f "$ID"
	nothing_is_left
}

many_at_once_all_work() {
	local i many=20 pids=() before
	[ "$VIEW" != v2 ] || many=6
	box
	before=$(_inventory)
	for ((i = 0; i < many; i++)); do
		"$SBXRUN" --root "$T/state" exec "$ID" sh -c "echo $i; exit $i" >"out$i" 2>&1 &
		pids+=($!)
	done
	for ((i = 0; i < many; i++)); do
		rc=0
		wait "${pids[i]}" || rc=$?
		rc_is "$i"
		is "$(<"out$i")" "$i"
	done
	wait_until 10 _is_as_before
}

the_end_of_the_container_ends_it() {
	local pid
	box
	pid=$(pid_of "$ID")
	background exec "$ID" sleep 100
	wait_until 10 _has_programs 2
	sbx kill "$ID" KILL
	wait_for_background
	rc_is 137
	wait_until 10 dead "$pid"
	sbx delete "$ID"
	nothing_is_left
}

# Whether so many programs run in the container: what exec itself has there before does not count.
_has_programs() {
	local n=0 pid name
	while read -r pid; do
		read -r name <"/proc/$pid/comm" || continue
		[[ $name == sbxrun* ]] || n=$((n + 1))
	done <"$(cgroup_dir pids)/cgroup.procs"
	[ "$n" = "$1" ]
}

delete_by_force_ends_it_without_a_pid_namespace_too() {
	box 'without_ns("pid")'
	background exec "$ID" sleep 100
	wait_until 10 _has_programs 2
	sbx delete -f "$ID"
	wait_for_background
	rc_is 137
	nothing_is_left
}

it_meets_the_end_of_the_container() {
	local round
	# Whatever comes first: the program's status, its death, or a refusal; never a hang, never a leftover.
	for round in 1 2 3 4 5; do
		box
		background exec "$ID" true 2>"err$round"
		sbx delete -f "$ID"
		wait_for_background
		[[ $rc == 0 || $rc == 137 || $rc == 255 ]] || fail "status $rc: $(<"err$round")"
		nothing_is_left
	done
}

a_caller_that_is_killed_leaves_the_program_running() {
	box writable
	background exec --pid-file pid "$ID" sh -c 'until [ -e /go ]; do sleep 0.05; done; echo >/mark'
	wait_until 10 test -s pid
	kill -KILL "$BG"
	wait_for_background
	rc_is 137
	lives "$(<pid)" || fail 'the program died with it'
	touch "$B/rootfs/go"
	wait_until 10 test -e "$B/rootfs/mark"
	wait_until 10 dead "$(<pid)"
}

a_caller_that_is_killed_early_leaves_nothing_half_done() {
	local i before
	box
	before=$(_inventory)
	for ((i = 0; i < 10; i++)); do
		background exec "$ID" true 2>/dev/null
		read -rt "0.00$i" -u "$NAP_FD" || :
		kill -KILL "$BG" 2>/dev/null || :
		wait_for_background
	done
	wait_until 10 _is_as_before
	in_box "$ID" echo works
	is "$out" works
}

a_caller_with_a_parent_death_signal_ends_alone() {
	needs setpriv
	box writable
	# As engines call it: the signal is for the runtime, and must not reach the program.
	run setpriv --pdeathsig KILL "$SBXRUN" --root "$T/state" exec -d --pid-file pid "$ID" sleep 100
	rc_is 0
	lives "$(<pid)" || fail 'it is dead'
}

a_detached_program_is_a_child_of_whoever_reaps() {
	needs python3
	box
	# An engine is a subreaper and waits for what exec leaves.
	run "$PYTHON" -c '
import ctypes, os, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
subprocess.run(sys.argv[1:], check=True)
with open("pid") as file:
    pid = int(file.read())
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
try:
    os.waitpid(-1, 0)
    print("more")
except ChildProcessError:
    pass' "$SBXRUN" --root "$T/state" exec -d --pid-file pid "$ID" sh -c 'exit 9'
	is "$out" 9
}

the_lock_is_not_held_while_the_program_runs() {
	box
	background exec "$ID" sleep 100
	wait_until 10 _has_programs 2
	is "$(timeout 60 "$SBXRUN" --root "$T/state" state "$ID" | jq -r .status)" running
	run timeout 60 "$SBXRUN" --root "$T/state" exec "$ID" echo second
	is "$out" second
	timeout 60 "$SBXRUN" --root "$T/state" delete -f "$ID"
	wait_for_background
	rc_is 137
}

run_tests
