#!/bin/bash
# --log: one object a failure and nothing else, because engines read the whole file as one; stderr of what they parse is clean. Warnings
# go to the log, and without one to stderr.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

RFC3339='^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$'

# The log is one JSON object of level error, with $1 in its message.
_log_is_one_error() {
	local fields
	file_has "$T/log.json" .
	fields=$(jq -rs 'if length == 1 then .[0] | .level, .time, .msg else "objects", length, "" end' "$T/log.json")
	mapfile -t fields <<<"$fields"
	is "${fields[0]}" error
	like "${fields[1]}" "$RFC3339"
	like "${fields[2]}" "$1"
	iconv -f UTF-8 -t UTF-8 "$T/log.json" >/dev/null || fail 'not UTF-8'
}

a_failure_is_one_json_object() {
	refused 'does not exist' sbx --log "$T/log.json" --log-format json state nobody
	_log_is_one_error 'does not exist'
}

the_time_is_now() {
	local before=$EPOCHSECONDS when
	refused . sbx --log="$T/log.json" --log-format=json state nobody
	when=$(date -d "$(jq -r .time "$T/log.json")" +%s)
	((when >= before && when <= EPOCHSECONDS)) || fail "$when is not about $before"
}

a_failed_create_is_one_json_object() {
	bundle '.process.cwd = "relative"'
	refused cwd sbx --log "$T/log.json" --log-format json create -b "$B" "$ID"
	_log_is_one_error cwd
}

a_failure_inside_the_container_is_one_json_object() {
	bundle 'args(["/not/there"])'
	refused 'no such file' sbx --log "$T/log.json" --log-format json run -b "$B" "$ID"
	_log_is_one_error 'no such file or directory'
}

a_failed_start_is_one_json_object() {
	# What only execve finds out.
	bundle 'args(["/prog"])'
	printf '#!/bin/sh\n' >"$B/rootfs/prog"
	chmod +x "$B/rootfs/prog"
	sbx --log "$T/log.json" --log-format json create -b "$B" "$ID"
	[ ! -s "$T/log.json" ] || fail 'create has logged something'
	echo '#!/no/interpreter' >"$B/rootfs/prog"
	refused 'no such file or directory' sbx --log "$T/log.json" --log-format json start "$ID"
	_log_is_one_error 'no such file or directory'
}

success_without_warnings_logs_nothing() {
	local words
	bundle 'sh("sleep 100")'
	for words in "create -b $B $ID" "start $ID" "state $ID" "kill $ID" list "delete -f $ID" "delete -f $ID" "run -d -b $B $ID"; do
		# shellcheck disable=SC2086
		run sbx --log "$T/log.json" --log-format json $words
		rc_is 0
		[ ! -s "$T/log.json" ] || fail "$words logged $(cat "$T/log.json")"
		is "$err" '' "$words"
	done
}

# Protection that the config asks for and that can't be had.
_asks_for_too_much='.process.apparmorProfile = "nobodys-profile" | .process.selinuxLabel = "a:b:c:s0" | .linux.mountLabel = "a:b:d:s0" |
	.process.capabilities.bounding += ["CAP_NONSENSE"]'
_too_much='apparmorProfile selinuxLabel mountLabel CAP_NONSENSE'

# Labels would be honoured on a machine that has the LSMs.
_bundle_that_asks_for_too_much() {
	[ ! -d /sys/kernel/security/apparmor ] && [ ! -d /sys/fs/selinux/class ] || skip 'this machine has an LSM'
	bundle "$_asks_for_too_much" "$@"
}

_log_has_a_warning_of_each() {
	local word
	for word in $_too_much; do
		jq -es --arg word "$word" 'any(.level == "warning" and (.msg | contains($word)))' "$1" >/dev/null || fail "no $word: $(cat "$1")"
	done
	jq -es 'all(.level == "warning")' "$1" >/dev/null || fail "$(cat "$1")"
}

what_can_not_be_had_is_said_in_the_log() {
	_bundle_that_asks_for_too_much 'sh("sleep 100")'
	run sbx --log "$T/log.json" --log-format json create -b "$B" "$ID"
	rc_is 0
	is "$err" ''
	_log_has_a_warning_of_each "$T/log.json"
	sbx start "$ID"
	run sbx --log "$T/exec.json" --log-format json exec "$ID" true
	rc_is 0
	is "$err" ''
	file_has "$T/exec.json" 'apparmorProfile'
	sbx delete -f "$ID"
	sbx --log "$T/log.text" run -d -b "$B" "$ID"
	is "$(grep -c level=warning "$T/log.text")" 4
}

without_a_log_it_is_said_on_stderr() {
	local word
	_bundle_that_asks_for_too_much
	run sbx run -b "$B" "$ID"
	rc_is 0
	for word in $_too_much; do
		like "$err" "(^|"$'\n'")sbxrun: warning: [^"$'\n'"]*$word"
	done
	is "$(wc -l <"$T/err")" 4
}

with_a_program_that_runs_on_it_is_said_at_once() {
	_bundle_that_asks_for_too_much 'sh("sleep 100")'
	sbx --log "$T/log.json" --log-format json run -b "$B" "$ID" &
	wait_until 5 _has_lines "$T/log.json" 4
	_log_has_a_warning_of_each "$T/log.json"
	sbx delete -f "$ID"
}

_has_lines() {
	[ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]
}

a_failure_carries_its_warnings_in_its_one_object() {
	local word
	_bundle_that_asks_for_too_much 'args(["/not/there"])'
	refused 'no such file' sbx --log "$T/log.json" --log-format json run -b "$B" "$ID"
	_log_is_one_error 'no such file or directory.*[(]warnings: '
	for word in $_too_much; do
		file_has "$T/log.json" "$word"
	done
	is "$(wc -l <"$T/err")" 1
	unlike "$err" warning
}

what_engines_parse_has_no_warnings() {
	local words
	_bundle_that_asks_for_too_much 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID" 2>/dev/null
	mkdir state/unreadable
	echo '{' >state/unreadable/state.json
	for words in "state $ID" list "ps $ID -o pid" features; do
		# shellcheck disable=SC2086
		run sbx $words
		rc_is 0
		is "$err" '' "$words"
		# shellcheck disable=SC2086
		run sbx --log "$T/log.json" $words
		[ ! -s "$T/log.json" ] || fail "$words: $(cat "$T/log.json")"
	done
	rm -r state/unreadable
}

a_failed_poststop_hook_is_said() {
	bundle 'hook("poststop"; "/bin/sh"; ["sh", "-c", "exit 3"])'
	sbx create -b "$B" "$ID"
	run sbx delete -f "$ID"
	rc_is 0
	like "$err" '^sbxrun: warning: .*poststop'
	sbx create -b "$B" "$ID"
	run sbx --log "$T/log.json" --log-format json delete -f "$ID"
	rc_is 0
	is "$err" ''
	is "$(jq -r .level "$T/log.json")" warning
	like "$(jq -r .msg "$T/log.json")" poststop
}

the_level_error_keeps_warnings_out() {
	bundle '.process.capabilities.bounding += ["CAP_NONSENSE"]'
	run sbx --log-level error run -b "$B" "$ID"
	rc_is 0
	is "$err" ''
	sbx --log "$T/log.json" --log-level error run -b "$B" "$ID"
	[ ! -s "$T/log.json" ] || fail "$(cat "$T/log.json")"
}

strict_makes_one_error_of_them() {
	local word
	_bundle_that_asks_for_too_much '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["nobodys_call"], action: "SCMP_ACT_ERRNO"}]}'
	run sbx run -b "$B" "$ID"
	rc_is 0
	like "$err" 'warning: linux.seccomp.syscalls: unknown here, and so not restricted: "nobodys_call"'
	refused strict sbx --strict run -b "$B" "$ID"
	for word in $_too_much nobodys_call; do
		like "$err" "$word"
	done
}

# More than is kept for the end.
very_many_warnings_end_with_their_number() {
	bundle '.hooks.poststop = [range(40) | {path: ("/not/there/" + ("x" * 250))}]'
	sbx create -b "$B" "$ID"
	run sbx --log "$T/log.json" --log-format json delete -f "$ID"
	rc_is 0
	jq -es 'length > 20 and all(.level == "warning") and (last.msg | test("^[0-9]+ more warnings$"))' "$T/log.json" >/dev/null ||
		fail "$(tail -n 2 "$T/log.json")"
}

text_is_the_default_form() {
	refused . sbx --log "$T/log" state nobody
	is "$(wc -l <"$T/log")" 1
	file_has "$T/log" 'level=error.*does not exist'
	sbx --log "$T/log.2" --log-format text delete -f nobody
	[ ! -s "$T/log.2" ] || fail 'success was logged'
}

the_log_is_appended_to() {
	echo '{"level":"info","msg":"first"}' >"$T/log.json"
	refused . sbx --log "$T/log.json" --log-format json state nobody
	is "$(jq -rs 'map(.level) | join(" ")' "$T/log.json")" 'info error'
}

hostile_text_stays_one_json_object() {
	refused . sbx --log "$T/log.json" --log-format json state $'a"b\\c\nd\te\xff\xc3'
	_log_is_one_error .
	rm "$T/log.json"
	refused . sbx --log "$T/log.json" --log-format json create -b $'/no"b\\c\nd\te\xff\xc3' x
	_log_is_one_error .
}

a_long_message_stays_one_json_object() {
	local long
	printf -v long '%05000d' 0
	refused . sbx --log "$T/log.json" --log-format json state "${long//0/\"\\}"
	_log_is_one_error .
	rm "$T/log.json"
	refused . sbx --log "$T/log.json" --log-format json create -b "/${long//0/\"}" x
	_log_is_one_error .
}

a_log_that_cannot_be_opened_is_refused() {
	bundle
	refused 'log' sbx --log "$T/not/there/log" create -b "$B" "$ID"
	refused 'log-format' sbx --log-format xml create -b "$B" "$ID"
	refused 'log-level' sbx --log-level loud create -b "$B" "$ID"
	state_is_empty
}

a_relative_log_is_below_the_current_directory() {
	bundle
	mkdir here
	cd here
	refused . sbx --log log.json --log-format json create -b "$T/nothing" "$ID"
	mv log.json "$T"
	_log_is_one_error .
}

a_full_disk_does_not_change_the_outcome() {
	bundle 'sh("exit 7")'
	run sbx --debug --log /dev/full run -b "$B" "$ID"
	rc_is 7
	nothing_is_left
}

run_tests
