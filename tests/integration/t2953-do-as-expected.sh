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

limits_that_were_hit_are_told() {
	do_has_limits
	do_shell --pids-limit 6 'for i in 1 2 3 4 5 6 7 8; do sleep 1 & done; wait'
	like "$(do_denials)" 'limit pids null EAGAIN [1-9]'
	like "$(do_of '.denials[] | select(.name == "pids") | .hint')" '6 processes .*--pids-limit'
	do_shell --memory 16m '(exec awk "BEGIN { s = \"x\"; while (length(s) < 64000000) s = s s }"); exit 0'
	is "$(do_of '.status, .oom_killed')" $'ok\ntrue'
	is "$(do_denials)" 'limit memory null SIGKILL 1'
	do_shell 'echo all is well'
	is "$(do_of .denials)" '[]'
}

places_that_are_full_are_told() {
	do_shell --disk 64k --tmpfs 64k 'head -c 100000 /dev/zero >x; head -c 100000 /dev/zero >/tmp/x; exit 0'
	is "$(do_denials)" $'limit disk /workspace ENOSPC 1\nlimit tmpfs /tmp ENOSPC 1'
	do_shell --disk 4k 'i=0; while : >f$i; do i=$((i + 1)); done 2>/dev/null; exit 0'
	like "$(do_of '.denials[].hint')" 'no files is left .*--disk'
	# Without anything that looks into the workspace.
	run _sh --disk 64k 'head -c 100000 /dev/zero >x'
	like "$err" 'sbxrun: refused: disk /workspace \(ENOSPC\): .*--disk'
	run _sh --denials none --json --disk 64k 'head -c 100000 /dev/zero >x'
	is "$(do_of .denials)" null
}

caches_are_no_results() {
	mkdir taken
	do_shell --copy-out taken 'mkdir -p .cache/x d/.cache; echo 1 >.cache/x/y; echo 2 >d/.cache/z; echo 3 >result'
	is "$(do_of '.files.added | join(" ")')" 'd/.cache/z result'
	is "$(ls -A taken | tr '\n' ' ')" 'd result '
}

what_runtimes_try_at_their_start_is_no_denial() {
	do_python 'import ctypes, os
mbind, ptrace = {"x86_64": (237, 101), "aarch64": (235, 117)}[os.uname().machine]
call = ctypes.CDLL(None, use_errno=True).syscall
print(call(mbind, 0, 0, 0, 0, 0, 0), call(ptrace, 0, 0, 0, 0))
try: os.mkdir("/var/cache/fontconfig")
except OSError: pass'
	rc_is 0
	is "$(do_of .stdout)" '-1 -1'
	like "$(do_denials)" '^syscall ptrace [^\n]* EPERM 1$'
}

options_behind_the_language_are_no_code() {
	local word
	for word in --timeout --timeout=5 -c -m --json; do
		run sbx "do" --rootfs host bash "$word" 5 x.sh
		rc_is 125
		like "$err" "^sbxrun: $word stands where code is expected"
	done
	run sbx "do" --rootfs host bash 'echo $1' --timeout
	is "$out" --timeout
	run sbx "do" --rootfs host bash '-c() { echo mine; }; -c'
	is "$out" mine
}

# Whoever passes on what others wrote says that it is code.
what_is_said_to_be_code_is_no_file() {
	local word
	echo 'echo from the file' | tee ./echo >./-
	run sbx "do" --rootfs host bash echo
	is "$out" 'from the file'
	run sbx "do" --rootfs host -c bash echo
	rc_is 0
	is "$out" ''
	run sbx "do" --rootfs host --code bash "$T/echo"
	rc_is 127
	unlike "$out" 'from the file'
	# What would be an option or input is code, too, and the input stays the program's.
	run eval 'echo input | sbx do --rootfs host --json -c bash -'
	rc_is 127
	like "$(do_of .stderr)" '-: command not found'
	run eval 'echo input | sbx do --rootfs host -c bash cat'
	is "$out" input
	run sbx "do" --rootfs host --json -c bash --timeout
	like "$(do_of .stderr)" 'timeout: command not found'
	run sbx "do" --rootfs host --json -c bash ./nosuch.sh
	like "$(do_of .stderr)" 'nosuch.sh: No such file'
	run sbx "do" --rootfs host -c bash 'echo $1' -c
	is "$out" -c
	for word in -c --code --file; do
		run sbx "do" --rootfs host "$word" -- true
		rc_is 125
		like "$err" 'is about code'
	done
	run sbx "do" --rootfs host --code --file bash echo
	rc_is 125
	like "$err" 'contradict'
}

what_is_said_to_be_a_file_is_no_code() {
	echo 'echo from the file $1' >'two words'
	run sbx "do" --rootfs host --file bash 'two words' one
	is "$out" 'from the file one'
	run sbx "do" --rootfs host --file bash 'echo x'
	rc_is 125
	like "$err" 'open echo x: no such file'
	mkfifo pipe
	echo 'echo of a pipe' >pipe &
	run sbx "do" --rootfs host --file bash pipe
	is "$out" 'of a pipe'
	run eval 'echo echo input | sbx do --rootfs host --file bash -'
	is "$out" input
	run sbx "do" --rootfs host --file bash /etc
	rc_is 125
}

code_with_a_slash_is_no_file() {
	local word
	for word in 1/0 x/y a//b x.js; do
		do_python "$word"
		rc_is 1
		like "$(do_of .stderr)" 'Error: '
	done
	for word in nosuch.py ./nosuch ../nosuch /nosuch/x d/nosuch.py; do
		do_python "$word"
		rc_is 125
		like "$(do_of .error.message)" "there is no file $word .*--code"
	done
	do_python '/nosuch*2'
	like "$(do_of .stderr)" SyntaxError
}

events_cut_no_character() {
	_sh --stream 'printf "\303"; sleep 0.2; printf "\251x\342"; sleep 0.2; printf "\202"; sleep 0.2; printf "\254"; sleep 0.2; printf "\360\237"' >events
	is "$(jq -rj 'select(.event == "stdout" and .encoding == "utf-8") | .data' events)" 'éx€'
	is "$(jq -r 'select(.event == "stdout" and .encoding == "base64") | .data' events)" '8J8='
}

names_that_are_no_text_are_told_apart() {
	do_shell ': >ok; : >"$(printf "\377\376")"; : >"$(printf "\377")"; : >ä'
	is "$(do_of '.files | .added[], (.added_base64 | sort | .[])')" $'ok\nä\n//4=\n/w=='
	do_shell ': >ok'
	is "$(do_of '.files | has("added_base64")')" false
}

much_that_is_no_text_is_told() {
	do_shell --output-limit 3m 'head -c 3000000 /dev/zero | tr "\0" "\1"'
	is "$(do_of '.status, .encoding, (.stdout | length)')" $'ok\nbase64\n4000000'
	do_shell --output-limit 3m 'yes | head -c 3000000'
	is "$(do_of '.encoding')" utf-8
	do_shell 'printf "\1\2\3"'
	is "$(do_of '.encoding')" utf-8
}

cpp_is_compiled() {
	needs c++
	run sbx "do" --rootfs host --json c++ '#include <iostream>
int main() { int a, b; std::cin >> a >> b; std::cout << a + b << std::endl; }' <<<'40 2'
	is "$(do_of '.status, .language, .stdout, .compile.status')" $'ok\nc++\n42\n\nok'
	do_bundle
	run sbx "do" --rootfs "$B/rootfs" cpp 'int main() { }'
	rc_is 127
	like "$err" "can't compile c\\+\\+; sbxrun-rootfs build c"
}

a_range_that_has_a_denied_name_is_noted() {
	do_bundle
	run sbx "do" --rootfs "$B/rootfs" --allow 192.0.2.0/24 --deny example.org -- true
	rc_is 0
	like "$err" '--deny example.org is about the name alone.*--allow 192.0.2.0/24'
	run sbx "do" --rootfs "$B/rootfs" --allow example.com --deny example.org -- true
	is "$err" ''
}

what_shows_as_other_text_is_not_shown() {
	do_bundle
	sbx box create --rootfs "$B/rootfs" --id "$P"
	sbx box exec "$P" -- sh -c ': >"$(printf "a\342\200\256b")"; : >"$(printf "c\302\233d")"; : >"$(printf "\033[1m")"; : >"x<y>ö"'
	run sbx box ls "$P"
	is "$(awk '{ print $4 }' <<<"$out")" $'?[1m\na?b\nc?d\nx<y>ö'
}

a_box_that_is_paused_in_a_call_is_not_busy() {
	do_has_limits
	sbx box create --rootfs "$B/rootfs" --id "$P"
	sbx box exec "$P" -- sh -c 'echo up; sleep 1000' >up 2>/dev/null &
	wait_until 20 grep -q up up
	sbx box pause "$P"
	run sbx box exec --timeout 100 "$P" -- true
	rc_is 125
	like "$err" "\"$P\" is paused, with a call in it: box resume $P"
	sbx box destroy "$P"
	wait
}

# As `runc spec` writes them: ambient without inheritable.
exec_does_not_repeat_what_create_has_said() {
	bundle 'sh("sleep 1000")' '.process.capabilities = {bounding: ["CAP_KILL"], effective: ["CAP_KILL"], permitted: ["CAP_KILL"], ambient: ["CAP_KILL"]}'
	run sbx run -d -b "$B" "$ID"
	like "$err" 'ambient: ignoring .*CAP_KILL'
	run sbx exec "$ID" true
	rc_is 0
	is "$err" ''
	run sbx exec --cap CAP_KILL "$ID" true
	is "$err" ''
}

# A container whose state root somebody has removed. The machine's own list stays as it is.
ranges_of_nobody_are_swept() {
	local file lost=/run/sbxrun-ranges/4294836224
	[ -z "${SBX_UID:-}" ] || skip 'only root gives ranges'
	mkdir -m 700 ranges
	mkdir -m 700 /run/sbxrun-ranges 2>/dev/null || [ -d /run/sbxrun-ranges ]
	mount --bind ranges /run/sbxrun-ranges
	do_bundle
	sbx box create --rootfs "$B/rootfs" --id "$P"
	file=$(grep -ls "^$T/state/" /run/sbxrun-ranges/* || :)
	[ -n "$file" ] || skip 'this host maps no ids'
	echo "$T/other/box-lost" >"$lost"
	sbx box gc
	[ ! -e "$lost" ] || fail "$lost is still there"
	[ -e "$file" ] || fail 'it was held'
	sbx box destroy "$P"
	[ ! -e "$file" ] || fail 'it is held'
	umount /run/sbxrun-ranges
}

run_tests
