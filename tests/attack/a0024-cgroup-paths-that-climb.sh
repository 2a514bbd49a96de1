#!/bin/bash
# linux.cgroupsPath becomes directories, which are removed in the end. Escape: something is made outside of the hierarchy, or a cgroup
# of somebody else's is removed.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# Cgroup paths climb no higher than the hierarchy's root, and delete nothing that is not theirs.
cgroup_paths_stay_below_their_root() {
	local dir path left=''
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
	for dir in "${CGROUP_MOUNTS[@]}"; do
		# Its parents don't have our prefix, and the framework would not find them.
		[ ! -d "$dir$T" ] || left=$dir$T
		(cd "$dir" && rmdir -p "${T#/}/canary" 2>/dev/null) || :
	done
	[ -z "$left" ] || fail "$left is left"
}

run_tests
