#!/bin/bash
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

nothing_is_an_empty_list() {
	run sbx list -f json
	rc_is 0
	is "$(jq length <<<"$out")" 0
	run sbx list -q
	rc_is 0
	is "$out" ''
	run "$SBXRUN" --root "$T/no-such-root" list
	rc_is 0
	[ ! -e "$T/no-such-root" ] || fail 'it made the directory'
	refused 'format' sbx list --format xml
}

every_container_is_listed_with_its_status() {
	local first second
	bundle 'sh("sleep 100")' '.annotations = {a: "b"}'
	first=$ID
	sbx run -d -b "$B" "$ID"
	bundle
	second=$ID
	sbx create -b "$B" "$ID"
	bundle
	sbx run --keep -b "$B" "$ID"
	run sbx list --format json
	rc_is 0
	is "$err" ''
	is "$(jq -r 'sort_by(.id)[] | .id + " " + .status' "$T/out")" "$first running"$'\n'"$second created"$'\n'"$ID stopped"
	# Each entry says what `state` says.
	is "$(jq -cS --arg id "$first" '.[] | select(.id == $id)' "$T/out")" "$(sbx state "$first" | jq -cS .)"
	run sbx list -q
	is "$(sort <<<"$out")" "$first"$'\n'"$second"$'\n'"$ID"
}

the_table_has_a_title_and_a_line_each() {
	local lines
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	run sbx list
	rc_is 0
	mapfile -t lines <<<"$out"
	is "${#lines[@]}" 2
	like "${lines[0]}" '^ID +PID +STATUS +BUNDLE +CREATED +OWNER$'
	like "${lines[1]}" "^$ID +$(pid_of "$ID") +running +$B +[^ ]+ +root$"
}

what_is_not_a_container_is_passed_over() {
	bundle
	sbx create -b "$B" "$ID"
	mkdir "$T/state/half" "$T/state/with space"
	touch "$T/state/file"
	run sbx list -f json
	rc_is 0
	is "$err" ''
	is "$(jq -r '.[].id' "$T/out")" "$ID"
	rm -r "$T/state/half" "$T/state/with space" "$T/state/file"
}

a_damaged_record_does_not_hide_the_others() {
	bundle
	sbx create -b "$B" "$ID"
	mkdir "$T/state/broken"
	echo '{' >"$T/state/broken/state.json"
	run sbx list -f json
	rc_is 0
	is "$err" ''
	is "$(jq -r '.[].id' "$T/out" | sort | tr '\n' ' ')" "broken $ID "
	sbx delete --force broken
	[ ! -e "$T/state/broken" ] || fail 'still there'
}

run_tests
