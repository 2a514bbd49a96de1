#!/bin/bash
# --preserve-fds: those and no others.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

# Prints the descriptors that the container's first process has.
LIST='ls /proc/1/fd; true'

only_those_that_were_asked_for_pass() {
	bundle 'sh("cat <&3; cat <&4; ls /proc/1/fd; true")'
	echo three >three
	echo four >four
	run sbx run --preserve-fds 2 -b "$B" "$ID" 3<three 4<four 5<four 7<four
	rc_is 0
	is "$out" $'three\nfour\n0\n1\n2\n3\n4'
}

none_pass_by_default() {
	run_in_box "$LIST" 3</dev/zero 4</dev/zero 7</dev/zero
	is "$out" $'0\n1\n2'
	bundle "sh(\"$LIST\")"
	run sbx --log "$T/log" --debug run --preserve-fds=0 -b "$B" "$ID" 3</dev/zero 200</dev/zero
	is "$out" $'0\n1\n2'
}

they_are_those_of_create_and_not_of_start() {
	bundle writable 'sh("exec >/mark; cat <&3; ls /proc/1/fd; echo end")'
	echo create >three
	echo start >other
	sbx create --preserve-fds 1 -b "$B" "$ID" 3<three 4<other
	sbx start "$ID" 3<other 4<other 5<other
	wait_until 10 grep -q end "$B/rootfs/mark"
	is "$(<"$B/rootfs/mark")" $'create\n0\n1\n2\n3\nend'
}

one_that_is_not_open_is_refused() {
	bundle
	refused 'preserve-fds' sbx create --preserve-fds 2 -b "$B" "$ID" 3</dev/zero 4<&-
	refused 'preserve-fds' sbx run --preserve-fds 1 -b "$B" "$ID" 3<&- 4</dev/zero
	state_is_empty
}

hooks_do_not_get_them() {
	bundle 'hook("createRuntime"; "/bin/sh"; ["sh", "-c", "exec >" + $T + "/fds; ls /proc/$$/fd; true"])'
	sbx create --preserve-fds 1 -b "$B" "$ID" 3</dev/zero 8</dev/zero
	is "$(<fds)" $'0\n1\n2'
}

run_tests
