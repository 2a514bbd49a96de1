#!/bin/bash
# What once hung, spun or left something: output that nobody reads, limits on descriptors, an answer that never comes.
# Views: own
# shellcheck disable=SC2016
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# With a terminal the output passes through the runtime; the pipe is full, and its reader sleeps.
_run_unread() {
	mkfifo pipe
	bundle '.process.terminal = true' writable "$1"
	# shellcheck disable=SC2217
	sleep 300 <pipe & # it holds the other end
	"$SBXRUN" --root "$T/state" run -b "$B" "$ID" >pipe 2>"$T/said" </dev/null &
	BG=$!
	wait_until 20 test -e "$B/rootfs/mark"
	sleep 0.3 # no event: the pipe is full by then, or the test shows less
}

a_signal_ends_a_run_whose_output_nobody_reads() {
	_run_unread 'args(["/bin/sh", "-c", "trap \"exit 7\" TERM; echo >/mark; (while :; do echo x; done) & while :; do wait; done"])'
	kill "$BG"
	wait_until 20 dead "$BG"
	wait_for_background
	rc_is 7
	nothing_is_left
}

a_signal_ends_a_run_whose_program_has_ended_and_whose_output_nobody_reads() {
	_run_unread 'args(["/bin/sh", "-c", "echo >/mark; sleep 0.2; i=0; while [ $i -lt 20000 ]; do echo xxxxxxxxxx; i=$((i + 1)); done & sleep 1"])'
	kill "$BG" # for the program, which is pid 1 and has no handler for it
	wait_until 20 status_is "$ID" stopped
	kill "$BG"
	wait_until 20 dead "$BG"
	wait_for_background
	nothing_is_left
}

what_somebody_reads_slowly_is_not_lost() {
	mkfifo pipe
	bundle '.process.terminal = true' 'args(["/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do echo xxxxxxxxxx; i=$((i + 1)); done"])'
	{ sleep 1; cat; } <pipe >taken &
	sbx run -b "$B" "$ID" >pipe </dev/null
	wait $!
	is "$(wc -l <taken)" 20000
}

# Prints the clock ticks that process $1 has used.
_ticks() {
	local line
	read -r line <"/proc/$1/stat"
	set -- ${line##*) }
	echo $((${12} + ${13}))
}

_has_ended() {
	! status_is "$ID" running
}

# poll() refuses more descriptors than a process may have.
a_limit_that_is_lowered_later_is_no_reason_to_spin_or_to_hang() {
	local before
	bundle 'args(["/bin/sh", "-c", "trap \"exit 7\" TERM; echo >/mark; while :; do sleep 0.1; done"])' writable
	background run -b "$B" "$ID"
	wait_until 20 test -e "$B/rootfs/mark"
	prlimit --pid "$BG" --nofile=1:
	# It wakes up, and finds that it can't go back to sleep as before.
	kill -WINCH "$BG"
	before=$(_ticks "$BG")
	sleep 1 # no event: it has the time to spin
	[ $(($(_ticks "$BG") - before)) -lt 10 ] || fail 'it spins'
	prlimit --pid "$BG" --nofile=1024:
	prlimit --pid "$BG" --nofile=5:
	kill "$BG"
	wait_until 20 _has_ended
	prlimit --pid "$BG" --nofile=1024: 2>/dev/null || :
	wait_for_background
	isnt "$rc" 0
}

# Between the directory and the record.
a_create_that_fails_right_after_its_mkdir_leaves_nothing() {
	local when
	needs strace
	bundle
	refused 'lock container' strace -qq -o trace -e trace=flock -e inject=flock:error=ENOLCK:when=1 "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
	file_has trace INJECTED
	nothing_is_left
	state_is_empty
	strace -qq -o trace -e trace=openat "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
	when=$(grep -n -m 1 "\"$ID\", O_RDONLY" trace)
	sbx delete -f "$ID"
	refused "open .*$ID" strace -qq -o trace -e trace=openat -e "inject=openat:error=ENFILE:when=${when%%:*}" "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
	nothing_is_left
	state_is_empty
}

# Whatever is missing when: what was made goes again.
a_create_without_descriptors_leaves_nothing() {
	local n failed=0
	bundle 'sh("sleep 100")' 'del(.process.rlimits)'
	for ((n = 3; n < 60; n++)); do
		run prlimit --nofile="$n" "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
		[ "$rc" != 0 ] || break
		failed=$((failed + 1))
		[ -n "$err" ] || fail "no reason given with $n descriptors"
		nothing_is_left
		state_is_empty
	done
	[ "$failed" -gt 3 ] && [ "$rc" = 0 ] || fail "$failed failures, then $rc"
}

run_tests
