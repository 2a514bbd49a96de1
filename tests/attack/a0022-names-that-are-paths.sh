#!/bin/bash
# Container ids, cgroup paths and the like become names of files. Escape: something is made, removed or read outside of the place
# where such names belong.
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

# Cgroup paths climb no higher than the hierarchy's root, and delete nothing that is not theirs.
cgroup_paths_stay_below_their_root() {
	local dir path
	dir=${CGROUP_MOUNTS[pids]:-${CGROUP_MOUNTS[unified]}}
	mkdir "$dir/$P" "$dir/$P/$P-canary"
	mkdir canary
	for path in "/$P/../../../../../../..$T/canary/made" "../../../..$T/canary/made" "/$P/$P-in/../../$P/$P-canary/.."; do
		bundle 'sh("echo ran")' ".linux.cgroupsPath = \"$path\""
		attack
		untouched canary "$path"
		run sbx delete -f "$ID"
		[ -d "$dir/$P/$P-canary" ] || escaped "$path removed a cgroup"
	done
	rmdir "$dir/$P/$P-canary"
	# What a runtime made of the paths has the test's prefix in it, and is the framework's to find.
}

the_pid_file_and_the_log_are_the_callers_and_nothing_else() {
	mkdir canary
	bundle 'sh("echo ran")' '.hostname = "../../canary/made"'
	attack
	untouched canary
}

run_tests
