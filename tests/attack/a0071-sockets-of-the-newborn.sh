#!/bin/bash
# A process with CAP_SYS_PTRACE takes the sockets of what exec brings in, or of what create brings into its pid namespace, by
# pidfd_getfd() (tools/thief.c). Escape: the runtime takes another process for the newborn, or never ends.
# Views: own
# shellcheck disable=SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/hunter.sh"

RIGHTS='caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_KILL"])'

# _lurk WORD: starts a thief; $B and $ID are its own.
_lurk() {
	needs gcc
	bundle writable "args([\"/thief\", \"$1\"])" "$RIGHTS"
	[ -e "$SBXT_WORK/thief.$$" ] || gcc -O2 -static -o "$SBXT_WORK/thief.$$" "$TESTS_DIR/tools/thief.c" || skip 'no static C library'
	cp "$SBXT_WORK/thief.$$" "$B/rootfs/thief"
	chmod 777 "$B/rootfs"
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -e "$B/rootfs/report"
}

# Who waits for the end of a socket must not wait for who has a copy of it.
an_exec_ends_with_its_program() {
	local i
	_lurk keep
	for ((i = 0; i < STARTS; i++)); do
		timeout -k 1 60 "$SBXRUN" --root "$T/state" exec "$ID" /thief idle </dev/null >/dev/null 2>errors || {
			[ $? != 124 ] || hangs 'exec did not end'
			fail "$(<errors)"
		}
	done
	call_it_off
}

# _neighbours WORD VERB…: containers in the thief's pid namespace.
_neighbours() {
	local word=$1 thief first i
	shift
	_lurk "$word"
	thief=$B first=$(pid_of "$ID")
	bundle 'args(["/thief", "idle"])' "ns(\"pid\"; \"/proc/$first/ns/pid\")"
	ln "$thief/rootfs/thief" "$B/rootfs/thief"
	for ((i = 0; i < STARTS; i++)); do
		"$@" || :
		sbx delete -f "$ID"
	done
	B=$thief
	call_it_off
}

_create() {
	run sbx create -b "$B" "$ID"
}

_start() {
	sbx create -b "$B" "$ID"
	timeout -k 1 60 "$SBXRUN" --root "$T/state" start "$ID" 2>errors || [ $? != 124 ] || hangs 'start did not end'
}

a_start_ends_when_the_program_runs() {
	_neighbours keep _start
}

# Had the parent believed it, delete would have killed the process that it was told of.
nobody_else_is_taken_for_init() {
	_neighbours lie _create
	hides "$REPORT" 'GOT [^
]*'
}

nobody_else_is_taken_for_what_exec_brings_in() {
	local i
	_lurk lie
	for ((i = 0; i < STARTS; i++)); do
		timeout -k 1 60 "$SBXRUN" --root "$T/state" exec "$ID" /thief idle </dev/null >/dev/null 2>errors || :
	done
	call_it_off
	hides "$REPORT" 'GOT [^
]*'
}

run_tests
