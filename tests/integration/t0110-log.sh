#!/bin/bash
# --log: one object a failure and nothing else, because engines read the whole file as one; stderr of `state` is clean.
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
	echo '#!/no/interpreter' >"$B/rootfs/prog"
	chmod +x "$B/rootfs/prog"
	sbx --log "$T/log.json" --log-format json create -b "$B" "$ID"
	[ ! -s "$T/log.json" ] || fail 'create has logged something'
	refused 'no such file or directory' sbx --log "$T/log.json" --log-format json start "$ID"
	_log_is_one_error 'no such file or directory'
}

success_logs_nothing() {
	local words
	# A capability that nobody knows is worth a warning, but not at the default level.
	bundle 'sh("sleep 100")' '.process.capabilities.bounding += ["CAP_NONSENSE"]'
	for words in "create -b $B $ID" "start $ID" "state $ID" "kill $ID" list "delete -f $ID" "delete -f $ID" "run -d -b $B $ID"; do
		# shellcheck disable=SC2086
		run sbx --log "$T/log.json" --log-format json $words
		rc_is 0
		[ ! -s "$T/log.json" ] || fail "$words logged $(cat "$T/log.json")"
	done
}

warnings_are_kept_off_stderr() {
	bundle '.process.capabilities.bounding += ["CAP_NONSENSE"]'
	run sbx create -b "$B" "$ID"
	rc_is 0
	is "$err" ''
	run sbx state "$ID"
	is "$err" ''
	jq -e . <<<"$out" >/dev/null
}

warnings_are_logged_when_asked_for() {
	bundle '.process.capabilities.bounding += ["CAP_NONSENSE"]'
	sbx --log "$T/log.json" --log-format json --log-level warning run -b "$B" "$ID"
	jq -es 'any(.level == "warning" and (.msg | test("CAP_NONSENSE")))' "$T/log.json" >/dev/null || fail "$(cat "$T/log.json")"
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
