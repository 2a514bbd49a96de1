#!/bin/bash
# linux.cgroupsPath becomes directories, which are removed in the end. Escape: something is made outside of the hierarchy, or a cgroup
# of somebody else's is removed.
# Views: all
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# Removes cgroups that a runtime has made at our own path, below a hierarchy's root or below the cgroup that we are in, and sets LEFT to
# one of them. Their parents don't have our prefix, and the framework would not find them.
_sweep() {
	local own mount dir
	while IFS=: read -r _ _ own; do
		for mount in "${CGROUP_MOUNTS[@]}"; do
			dir=$mount${own%/}
			[ -d "$dir$T" ] || continue
			LEFT=$dir$T
			(cd "$dir" && { rmdir -p "${T#/}/canary/made" || rmdir -p "${T#/}/canary"; } 2>/dev/null) || :
		done
	done </proc/self/cgroup
}

# Cgroup paths climb no higher than the hierarchy's root, and delete nothing that is not theirs.
cgroup_paths_stay_below_their_root() {
	local dir path before LEFT=''
	dir=${CGROUP_MOUNTS[pids]:-${CGROUP_MOUNTS[unified]}}
	mkdir "$dir/$P" "$dir/$P/$P-canary"
	mkdir canary
	for path in "/$P/../../../../../../..$T/canary/made" "../../../..$T/canary/made" "/$P/$P-in/../../$P/$P-canary/.."; do
		# What is made and removed again shows in its time alone.
		before=$(stat -c %y canary)
		bundle 'sh("echo ran")' ".linux.cgroupsPath = \"$path\""
		attack
		run sbx delete -f "$ID"
		_sweep
		[ -d canary ] || escaped "the canary is gone ($path)"
		untouched canary "$path"
		[ "$(stat -c %y canary)" = "$before" ] || escaped "something was made in the canary for a while ($path)"
		[ -d "$dir/$P/$P-canary" ] || escaped "$path removed a cgroup"
	done
	rmdir "$dir/$P/$P-canary"
	[ -z "$LEFT" ] || fail "$LEFT is left"
}

run_tests
