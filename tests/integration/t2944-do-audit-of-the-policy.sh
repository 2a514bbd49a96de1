#!/bin/bash
# sbxrun do under a file of policies that names an audit file: runs are recorded whatever their caller says.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"

# _under JSON WORD…: sbxrun do WORD… with that as /etc/sbxrun/policy.json, which only it sees.
_under() {
	[ -n "${B:-}" ] || bundle
	printf '%s\n' "$1" >policy.json
	run unshare -m --propagation private bash -c '
		mkdir layers && mount -t tmpfs tmpfs layers && mkdir layers/u layers/w &&
		mount -t overlay -o "lowerdir=/etc,upperdir=$PWD/layers/u,workdir=$PWD/layers/w" overlay /etc &&
		mkdir -p /etc/sbxrun && install -m 644 policy.json /etc/sbxrun/policy.json && umount -l layers && rmdir layers || exit 99
		"$0" --root "$1" "${@:3}"' "$SBXRUN" "$T/state" x "do" --rootfs "$B/rootfs" "${@:2}"
}

every_run_is_recorded() {
	_under "{\"version\": 1, \"audit\": \"$T/audit\"}" -- sh -c 'exit 3'
	rc_is 3
	is "$(jq -r '.verb, .exit_code' "$T/audit" | tr '\n' ' ')" 'do 3 '
	_under "{\"version\": 1, \"audit\": \"$T/audit\"}" --audit "$T/own" -- sh -c 'exit 4'
	rc_is 4
	is "$(jq -r .exit_code "$T/audit" | tr '\n' ' ')" '3 4 '
	is "$(jq -r .exit_code "$T/own")" 4
	# The same file twice is one line.
	_under "{\"version\": 1, \"audit\": \"$T/audit\"}" --audit "$T/audit" -- sh -c 'exit 5'
	is "$(jq -r .exit_code "$T/audit" | tr '\n' ' ')" '3 4 5 '
	run sbx audit verify "$T/audit"
	rc_is 0
}

what_can_not_be_recorded_is_not_run() {
	_under '{"version": 1, "audit": "/nosuch/audit"}' -- echo ran
	rc_is 125
	is "$out" ''
	like "$err" "the policy's audit file: .*/nosuch"
	_under '{"version": 1, "audit": "/nosuch/audit"}' --json --audit "$T/own" -- echo ran
	rc_is 125
	is "$(jq -r '.status, .stdout' <<<"$out")" $'sandbox_error\nnull'
}

a_file_that_is_chosen_counts_beside_it() {
	bundle
	echo "{\"version\": 1, \"audit\": \"$T/chosen\", \"policies\": {\"mine\": {\"base\": \"code\"}}}" >mine.json
	chmod 644 mine.json
	run sbx --policy ./mine.json "do" --rootfs "$B/rootfs" -- sh -c 'exit 6'
	rc_is 6
	is "$(jq -r .exit_code "$T/chosen")" 6
}

explaining_records_nothing() {
	_under "{\"version\": 1, \"audit\": \"$T/audit\"}" --explain -- true
	rc_is 0
	[ ! -s "$T/audit" ] || fail "a line without a run"
}

run_tests
