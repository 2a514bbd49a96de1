#!/bin/bash
# sbxrun do beside what people expect of a program that is started without a box: who reads what, what is refused and in which words, what is told of a limit.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/lib/do.sh
. "${0%/*}/../lib/do.sh"

# _sh OPTION… CODE: its output, as it is.
_sh() {
	do_bundle
	sbx "do" --rootfs "$B/rootfs" "${@:1:$#-1}" -- sh -c "${!#}"
}

what_it_does_not_read_stays_the_callers() {
	do_bundle
	printf '%s\n' one two three four >lines
	run eval 'while read -r line; do echo "$line"; _sh ":"; done <lines'
	is "$out" $'one\ntwo\nthree\nfour'
	run eval 'while read -r line; do echo "$line"; _sh "read -r x; echo box \$x"; done <lines'
	is "$out" $'one\nbox two\nthree\nbox four'
	run eval 'while read -r line; do echo "$line"; _sh ":"; done < <(cat lines)'
	is "$out" $'one\ntwo\nthree\nfour'
	run eval 'while read -r line; do echo "$line"; _sh "read -r x; echo box \$x"; done < <(cat lines)'
	is "$out" $'one\nbox two\nthree\nbox four'
	run eval '_sh cat <lines'
	is "$out" "$(cat lines)"
	run eval 'while read -r line; do echo "$line"; _sh --no-stdin cat; done < <(cat lines)'
	is "$out" $'one\ntwo\nthree\nfour'
	run _sh --no-stdin --stdin lines cat
	rc_is 125
	like "$err" 'contradict'
}

much_input_comes_whole() {
	seq 200000 >numbers
	run eval '_sh "md5sum" <numbers'
	is "$out" "$(md5sum <numbers)"
	run eval '_sh "md5sum" < <(cat numbers)'
	is "$out" "$(md5sum <numbers)"
	run eval '{ _sh "head -c 100000 >/dev/null"; wc -c; } < <(cat numbers)'
	[ "$out" -gt 0 ] || fail "nothing was left"
	# What comes late, and a writer who goes on when nobody reads any more.
	mkdir -m 777 shared
	run eval '{ echo one; wait_until 20 test -e shared/read; echo two; } | _sh -v "$T/shared:/t" "read -r a; : >/t/read; read -r b; echo \$a \$b"'
	is "$out" 'one two'
	run eval 'yes | _sh "read -r a; exec <&-; echo \$a"'
	is "$out" y
}

# A program that can open its own pipe for writing, as an ordinary user's can, gets the caller's input no further back than it was.
a_pipe_that_is_tampered_with_gives_nothing_back_twice() {
	printf '%s\n' one two three >lines
	run eval 'while read -r line; do echo "$line"; _sh --timeout 0.3 "read -r x; echo junkjunkjunk >/proc/self/fd/0" 2>/dev/null || :; done <lines'
	[ "$(wc -l <<<"$out")" -le 3 ] || fail "read again: $out"
	run eval 'while read -r line; do echo "$line"; _sh --timeout 0.3 "echo junkjunkjunk >/proc/self/fd/0" 2>/dev/null || :; done < <(cat lines)'
	[ "$(wc -l <<<"$out")" -le 3 ] || fail "read again: $out"
}

volumes_are_refused_by_name_and_all_at_once() {
	mkdir ok
	run _sh -v /etc/shadow:/a:ro -v "$T/ok:/ok" -v /etc:/b true
	rc_is 125
	like "$err" 'policy code refuses -v /etc/shadow: it is or lies in /etc/shadow \[host-paths\]; and -v /etc: it holds .*--explain says of each'
	unlike "$err" 'config|mounts\['
	run _sh -v /etc/shadow:/a:ro true
	like "$err" 'refuses -v /etc/shadow: it is .*"host-path-exceptions"'
	run _sh --explain --json -v /etc/shadow:/a:ro -v "$T/ok:/ok" -v /etc:/b true
	rc_is 0
	is "$(jq -r '.refused[] | "\(.row) \(.text)"' <<<"$out" | grep -c '^host-paths policy code refuses -v /etc')" 2
	run _sh -v /nosuch:/a -v "$T/ok:/ok" -v /nor/this:/b true
	rc_is 125
	like "$err" '/nosuch: no such file.*; .*/nor/this: no such file'
	run sbx box create --rootfs "$B/rootfs" -v /etc/shadow:/a:ro -v /etc:/b
	rc_is 125
	like "$err" 'refuses -v /etc/shadow: .*; and -v /etc: '
}

run_tests
