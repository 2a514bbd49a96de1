#!/bin/bash
# Container ids and the like become names of files. Escape: something is made, removed or read outside of the place
# where such names belong.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_long=$(printf 'a%.0s' {1..4096})
IDS=(. .. ./x ../x ../../x a/b a/../../b /x "$_long" $'a\nb' $'a\x01b' 'a b/..' '..%2f' '' '*' '~' $'\xff')

ids_stay_in_the_state_directory() {
	local id verb
	mkdir -p state/inner canary
	echo '{}' >canary/state.json
	for id in "${IDS[@]}" ../canary; do
		bundle 'sh("echo ran")'
		run sbx run -b "$B" "$id"
		[[ $id != */* && $id != . && $id != .. ]] || [ "$rc" != 0 ] || escaped "id '${id:0:20}' was accepted"
		for verb in state kill 'delete -f' start pause ps; do
			# shellcheck disable=SC2086
			run sbx $verb "$id"
		done
		[ -d state/inner ] || [ -z "$id" ] || escaped "id '${id:0:20}' removed a directory"
		holds canary/state.json '{}' "$id"
		[ "$(ls -A canary)" = state.json ] || escaped "id '${id:0:20}' made something outside"
		[ ! -e x ] && [ ! -e ../x ] && [ ! -e b ] || escaped "id '${id:0:20}' made something outside"
	done
	rmdir state/inner 2>/dev/null || :
}

a_hostname_is_no_path() {
	mkdir canary
	bundle 'sh("echo ran")' '.hostname = "../../canary/made"'
	attack
	untouched canary
}

run_tests
