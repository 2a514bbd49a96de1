#!/bin/bash
# Standard streams are the caller's own, as they are.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

four_megabytes_pass_both_ways() {
	bundle 'args(["/bin/cat"])'
	head -c 4194304 /dev/urandom >data
	# shellcheck disable=SC2002
	cat data | sbx run -b "$B" "$ID" | cmp - data
	nothing_is_left
}

output_and_errors_are_apart() {
	run_in_box 'echo out; echo err >&2; echo out; exit 7'
	rc_is 7
	is "$out" $'out\nout'
	is "$err" err
}

the_end_of_input_arrives() {
	bundle 'sh("wc -c")'
	run sbx run -b "$B" "$ID" </dev/null
	is "$out" 0
	printf abc >three
	run sbx run -b "$B" "$ID" <three
	is "$out" 3
}

input_is_left_to_the_program() {
	bundle 'sh("true")'
	printf 'a\nb\n' | {
		sbx run -b "$B" "$ID"
		cat
	} >rest
	is "$(<rest)" $'a\nb'
}

a_reader_that_leaves_ends_the_program() {
	bundle 'args(["/bin/yes"])'
	sbx run -b "$B" "$ID" 2>/dev/null | head -n 1 >first || :
	is "$(<first)" y
	nothing_is_left
}

closed_streams_are_dev_null() {
	bundle writable 'sh("(for n in 0 1 2; do readlink /proc/1/fd/$n; done) >/seen; cat; echo x; echo y >&2; (ls /proc/1/fd) >>/seen; true")'
	sbx run -b "$B" "$ID" <&- >&- 2>&-
	is "$(<"$B/rootfs/seen")" $'/dev/null\n/dev/null\n/dev/null\n0\n1\n2'
	nothing_is_left
}

each_closed_stream_is_dev_null_alone() {
	bundle writable 'sh("(for n in 0 1 2; do readlink /proc/1/fd/$n; done) >/seen; true")'
	sbx run -b "$B" "$ID" <"$B/config.json" >&- 2>"$T/err-file"
	is "$(<"$B/rootfs/seen")" "$B/config.json"$'\n/dev/null\n'"$T/err-file"
}

closed_streams_do_not_mix_with_our_files() {
	bundle 'args(["/not/there"])'
	rc=0
	sbx --log "$T/log.json" --log-format json run -b "$B" "$ID" <&- >&- 2>&- || rc=$?
	rc_is 1
	is "$(jq -s length log.json)" 1
	rc=0
	"$SBXRUN" --root "$T/state" state nobody <&- >&- 2>&- || rc=$?
	rc_is 1
	nothing_is_left
}

a_detached_program_keeps_the_streams() {
	bundle writable 'sh("until [ -e /go ]; do sleep 0.05; done; cat; echo out; echo err >&2")'
	echo in >in-file
	sbx run -d -b "$B" "$ID" <in-file >out-file 2>err-file
	touch "$B/rootfs/go"
	wait_until 10 test -s err-file
	is "$(<out-file)" $'in\nout'
	is "$(<err-file)" err
}

streams_are_those_of_create() {
	bundle 'sh("cat; echo out; echo err >&2")'
	echo in >in-file
	sbx create -b "$B" "$ID" <in-file >out-file 2>err-file
	run sbx start "$ID"
	wait_until 10 test -s err-file
	is "$out$err" ''
	is "$(<out-file)" $'in\nout'
}

a_stdout_that_cannot_be_written_is_an_error_of_state() {
	bundle
	sbx create -b "$B" "$ID"
	rc=0
	sbx state "$ID" >/dev/full 2>err-file || rc=$?
	rc_is 1
	file_has err-file 'no space|[Ww]rite'
}

run_tests
