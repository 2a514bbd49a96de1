#!/bin/bash
# Container ids and the like become names of files. Escape: something is made, removed or read outside of the place
# where such names belong.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_long=$(printf 'a%.0s' {1..4096})
IDS=(. .. ./x ../x ../../x a/b a/../../b "$_long" $'a\nb' $'a\x01b' 'a b/..' '..%2f' '' '*' '~' $'\xff')

# The state directory lies deep enough that what climbs out of it is still the test's.
_deep() {
	"$SBXRUN" --root "$T/1/2/3/state" "$@"
}

ids_stay_in_the_state_directory() {
	local id verb dir want
	mkdir -p 1/2/3/state/inner 1/2/3/canary
	chmod 700 1/2/3/state
	for dir in 1 1/2 1/2/3 1/2/3/canary; do
		echo '{}' >"$dir/state.json"
	done
	want=$(find 1 | sort)
	for id in "${IDS[@]}" ../canary "$T/1/2/3/canary" "$T/1/2/3/x"; do
		bundle 'sh("echo ran")'
		run _deep run -b "$B" "$id"
		[[ $id != */* && $id != . && $id != .. ]] || [ "$rc" != 0 ] || escaped "id '${id:0:20}' was accepted"
		for verb in state kill 'delete -f' start pause ps; do
			# shellcheck disable=SC2086
			run _deep $verb "$id"
			[ "$(find 1 | sort)" = "$want" ] || escaped "id '${id:0:20}' ($verb): $(diff <(echo "$want") <(find 1 | sort) | grep '^[<>]' | head -n 3 | tr '\n' ' ')"
		done
	done
}

a_hostname_is_no_path() {
	mkdir canary
	bundle 'sh("echo ran")' '.hostname = "../../canary/made"'
	attack
	untouched canary
}

run_tests
