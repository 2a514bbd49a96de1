#!/bin/bash
# sbxrun do with command lines, code and streams as nobody meant them.
# Views: own
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

_do() {
	[ -n "${B:-}" ] || bundle
	SBXRUN_ROOTFS_DIR=$T/library sbx "do" --rootfs "$B/rootfs" "$@"
}
_of() { jq -r "$1" <<<"$out"; }
# _refused PATTERN WORD…: status 125, and a message
_refused() {
	run _do "${@:2}"
	rc_is 125
	is "$out" ''
	like "$err" "$1"
}

a_language_that_is_not_there_names_what_helps() {
	mkdir -p empty/bin
	run _do --json --rootfs ./empty r 'print(1)'
	rc_is 127
	like "$(_of .error.message)" 'Rscript.*sbxrun-rootfs build r '
}

numbers_have_bounds() {
	_refused '--timeout: "0" is no duration above 0' --timeout 0 -- true
	_refused '--timeout: "-1"' --timeout=-1 -- true
	_refused '--timeout: "nan"' --timeout nan -- true
	_refused '--timeout: .* up to a year' --timeout 9000000000 -- true
	_refused '--cpus: "nan"' --cpus nan -- true
	_refused '--cpus: "0x1"' --cpus 0x1 -- true
	_refused '--cpus: "1e1"' --cpus 1e1 -- true
	_refused '--memory: "-1"' --memory=-1 -- true
	_refused '--pids-limit: "0"' --pids-limit 0 -- true
	_refused '--disk: "0"' --disk 0 -- true
	_refused '--output-limit: more than 64m' --output-limit 65m -- true
	_refused 'no such limit' --ulimit foo=1 -- true
	_refused 'SOFT is above HARD' --ulimit nofile=50:30 -- true
	_refused 'needs 16 open files' --ulimit nofile=4 -- true
	run _do --ulimit nofile=16 -- true
	rc_is 0
	run _do --output-limit 0 -- echo hi
	like "$out" 'TRUNCATED: 3 bytes, showing first 0'
}

messages_speak_of_options() {
	_refused '^sbxrun: --workdir: "nodir"' -w nodir -- true
	_refused '^sbxrun: --env' -e =x -- true
	[ -n "${SBX_UID:-}" ] || _refused '^sbxrun: --user' -u 4294967295 -- true
	_refused '--network: "host" .*loopback alone.*--allow' --network host -- true
	_refused '--code is about code: .*not with a command' -c -- echo ran
	_refused '--file is about code' --file -- echo ran
	_refused '--code and --file contradict' -c --file bash 'echo ran'
	_refused '^sbxrun: open echo ran: no such file' --file bash 'echo ran'
	_refused 'code is missing' -c bash
	_refused '--copy-out: make /nosuch/x' --copy-out /nosuch/x -- echo ran
	_refused '--copy-out: /workspace is a volume' --copy-out x -v "$T:/workspace" -- echo ran
}

# Programs that read one object get one.
a_wrong_command_line_is_an_object_too() {
	local words
	for words in '' '--bogus' '--timeout 0 -- true' 'cobol x' '--network host -- true' '--stdin /nosuch -- true' '-c -- true' '--file bash /nosuch'; do
		# shellcheck disable=SC2086
		run _do --json $words
		rc_is 125
		is "$(jq -s 'length' <<<"$out")" 1
		is "$(_of '.v, .status, .success, .exit_code, (.error.message | length > 10)')" $'1\nsandbox_error\nfalse\n-1\ntrue'
	done
	run _do --bogus --json
	is "$(_of .error.type)" UsageError
	run _do --bogus --stream
	is "$(_of '.event, .result.status')" $'end\nsandbox_error'
	# Another's words are not ours.
	run _do --bogus -- true --json
	is "$out" ''
}

code_may_be_anything() {
	bundle
	printf '#!/bin/sh\nexec sh "$@"\n' >"$B/rootfs/bin/bash"
	chmod 755 "$B/rootfs/bin/bash"
	run _do bash ''
	rc_is 0
	is "$out" ''
	run _do -c bash ''
	rc_is 0
	run _do --json -c bash -- --json
	rc_is 127
	run _do bash - <<<"echo ok #$(head -c 3000000 /dev/zero | tr '\0' x)"
	is "$out" ok
	run _do --json bash - < <(head -c 17000000 /dev/zero)
	rc_is 125
	like "$(_of .error.message)" 'more than 16 MB'
	run _do bash - < <(printf 'printf "%%s" one\n\0')
	like "$out" '^one'
}

streams_may_be_closed() {
	bundle
	run eval '_do -- sh -c "cat; echo end" <&-'
	is "$out" end
	run eval '_do -- sh -c "echo x; exit 4" >&-'
	rc_is 4
	run eval '_do -- sh -c "echo x; echo y >&2; exit 4" 2>&-'
	rc_is 4
	is "$out" x
	run eval '_do --json -- true >/dev/full'
	rc_is 125
}

a_directory_that_is_gone_is_no_matter() {
	bundle
	mkdir gone
	run eval 'cd gone && rmdir ../gone && _do -- echo here'
	is "$out" here
}

who_ignores_the_end_of_his_time_has_a_moment() {
	local note
	note=$(_do --json -- true | jq -r '.notes | join(" ")')
	[[ $note != *cgroup* ]] || skip "no limits for this caller here"
	run _do --json --cpu-time 0.2 --timeout 60 -- sh -c 'trap "" XCPU; while :; do :; done'
	rc_is 124
	is "$(_of '.status, .error.type, (.usage.cpu_s < 1.5)')" $'timeout\nCPUTimeError\ntrue'
}

# sudo, cron and services have no XDG_RUNTIME_DIR.
no_session_is_needed() {
	[ -n "${SBX_UID:-}" ] || skip "for ordinary users"
	bundle
	run env -u XDG_RUNTIME_DIR "$SBXRUN" "do" --rootfs "$B/rootfs" -- echo here
	is "$out" here
	[ ! -d "/tmp/sbxrun-$SBX_UID" ] || rm -r "/tmp/sbxrun-$SBX_UID"
}

# The page names every member of a result and of its parts.
the_page_lists_every_member() {
	local source=$TESTS_DIR/../runtime page=$TESTS_DIR/../runtime/man/sbxrun-do.8.md key
	needs cc
	export SBXRUN_ROOTFS_DIR=$T/library
	run sbx "do" --rootfs host --json --redact --cpu-time 9 --file-size 1m c '#include <stdio.h>
int main(void) { puts("a@example.org"); fopen("/etc/x", "w"); fopen("out", "w"); return 0; }'
	rc_is 0
	for key in $(jq -r '[paths | map(select(type == "string")) | .[]] | unique[]' <<<"$out"); do
		grep -q "\*\*$key\*\*" <(sed -n '/^# RESULT/,/^# EXIT/p' "$page") || fail "the page has no $key"
	done
	# Also those that are rarely there.
	for key in $(grep -oE 'result_[a-z]+\(b, "[a-z_0-9]+"' "$source/box/result.c" | cut -d '"' -f 2) $(grep -oE '[{,]\\"[a-z]+\\":' "$source/box/redact.c" | tr -dc 'a-z\n'); do
		grep -q "\*\*$key\*\*" <(sed -n '/^# RESULT/,/^# EXIT/p' "$page") "${page/-do./-box.}" || fail "no page has $key"
	done
	# Rates and counts that the page names are those of the source.
	like "$(cat "$page")" "past $(($(sed -n 's/.*DENIALS_A_WINDOW = \([0-9]*\),.*/\1/p' "$source/box/denials.h") * 1000 / $(sed -n 's/.*DENIALS_WINDOW_MS = \([0-9]*\),.*/\1/p' "$source/box/denials.h"))) answers a second"
	# And none that there isn't, but for those that are left out here.
	for key in $(sed -n '/^# RESULT/,/^# EXIT/p' "$page" | grep -o '^\*\*.*' | grep -o '\*\*[a-z0-9_]*\*\*' | tr -d '*'); do
		jq -e --arg key "$key" 'has($key)' <<<"$out" >/dev/null || fail "a result has no $key"
	done
}

run_tests
