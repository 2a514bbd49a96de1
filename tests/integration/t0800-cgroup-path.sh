#!/bin/bash
# linux.cgroupsPath: where the container is, in every hierarchy, and which targets are refused.
# Views: all
. "${0%/*}/../lib/test.sh"

# The kernel lists the unified tree also where nobody has mounted it; then it is nobody's business.
_not_mounted='^$'
[ "$VIEW" != v1 ] || _not_mounted='^0::'

# Sets PATHS to the container's paths in all hierarchies, one a line, each once.
_paths_of() {
	PATHS=$(grep -v "$_not_mounted" "/proc/$(pid_of "$1")/cgroup" | cut -d: -f3- | sort -u)
}

# Prints the mount point that stands for the tree in tests of one hierarchy.
_tree() {
	echo "${CGROUP_MOUNTS[${1:-pids}]:-${CGROUP_MOUNTS[unified]}}"
}

the_program_is_in_every_hierarchy_at_an_absolute_path() {
	local PATHS
	bundle 'sh("sleep 100 & sleep 100")' '.linux.cgroupsPath = "/" + $P + "/deep/er/" + $ID'
	sbx run -d -b "$B" "$ID"
	_paths_of "$ID"
	is "$PATHS" "/$P/deep/er/$ID"
	# The child is there, too.
	wait_until 5 eval '[ "$(wc -l <"$(_tree)/$P/deep/er/$ID/cgroup.procs")" = 2 ]'
}

a_created_container_is_there_before_it_starts() {
	local PATHS
	bundle 'sh("sleep 100")'
	sbx create -b "$B" "$ID"
	_paths_of "$ID"
	is "$PATHS" "/$P/$ID"
}

a_relative_path_is_below_a_place_of_ours_and_an_absent_one_has_our_name() {
	local PATHS
	bundle 'sh("sleep 100")' '.linux.cgroupsPath = "some/" + $ID'
	sbx run -d -b "$B" "$ID"
	_paths_of "$ID"
	like "$PATHS" "^/[^/]+.*/some/$ID$"
	bundle 'sh("sleep 100")' 'del(.linux.cgroupsPath)'
	sbx run -d -b "$B" "$ID"
	_paths_of "$ID"
	like "$PATHS" "^/(.*/)?sbxrun-$ID$"
}

the_longest_id_has_a_default_path_too() {
	local id
	bundle 'sh("sleep 100")' 'del(.linux.cgroupsPath)'
	printf -v id "$P-%0$((254 - ${#P}))d" 0
	sbx run -d -b "$B" "$id"
	is "$(status_of "$id")" running
	sbx delete -f "$id"
}

slashes_and_dots_are_cleaned() {
	local PATHS
	bundle 'sh("sleep 100")' '.linux.cgroupsPath = "//" + $P + "/./" + $ID + "//"'
	sbx run -d -b "$B" "$ID"
	_paths_of "$ID"
	is "$PATHS" "/$P/$ID"
}

paths_that_lead_elsewhere_are_refused() {
	local path
	for path in / // /. "/$P/../x" .. "$P/../../x" '/a\nb'; do
		run_in_box 'echo started' ".linux.cgroupsPath = \"$path\""
		rc_is 1
		is "$out" '' "$path"
		like "$err" 'linux\.cgroupsPath' "$path"
	done
}

a_target_with_processes_in_it_is_refused_and_left_alone() {
	local dir sleeper
	dir=$(_tree)/$P/full
	mkdir -p "$dir"
	sleep 100 &
	sleeper=$!
	echo "$sleeper" >"$dir/cgroup.procs"
	run_in_box 'echo started' '.linux.cgroupsPath = "/" + $P + "/full"'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.cgroupsPath|cgroup'
	kill -0 "$sleeper"
	is "$(<"$dir/cgroup.procs")" "$sleeper"
	kill -9 "$sleeper"
	wait "$sleeper" || :
	wait_until 5 rmdir "$dir" 2>/dev/null
}

a_frozen_target_is_refused_and_left_alone() {
	local dir file word
	dir=$(_tree freezer)/$P/cold
	mkdir -p "$dir"
	if [ -e "$dir/freezer.state" ]; then
		file=$dir/freezer.state word=FROZEN
	else
		file=$dir/cgroup.freeze word=1
	fi
	echo "$word" >"$file"
	run_in_box 'echo started' '.linux.cgroupsPath = "/" + $P + "/cold"'
	rc_is 1
	is "$out" ''
	like "$err" 'frozen'
	is "$(<"$file")" "$word"
	rmdir "$dir"
}

a_target_below_a_frozen_parent_is_refused() {
	local dir
	dir=$(_tree freezer)/$P
	mkdir -p "$dir"
	if [ -e "$dir/freezer.state" ]; then
		echo FROZEN >"$dir/freezer.state"
	else
		echo 1 >"$dir/cgroup.freeze"
	fi
	run_in_box 'echo started'
	rc_is 1
	is "$out" ''
	like "$err" 'frozen'
	[ ! -d "$dir/$ID" ] || fail 'the cgroup that was made is left'
}

an_empty_target_that_exists_is_taken() {
	local PATHS
	mkdir -p "$(_tree)/$P/there"
	bundle 'sh("sleep 100")' '.linux.cgroupsPath = "/" + $P + "/there"'
	sbx run -d -b "$B" "$ID"
	_paths_of "$ID"
	is "$PATHS" "/$P/there"
	sbx delete -f "$ID"
	rmdir "$(_tree)/$P/there" 2>/dev/null || :
}

the_cgroup_namespace_hides_the_path() {
	local code="grep -v '$_not_mounted' /proc/self/cgroup | cut -d: -f3- | sort -u"
	run_in_box "$code"
	rc_is 0
	is "$out" /
	run_in_box "$code" 'without_ns("cgroup")'
	rc_is 0
	is "$out" "/$P/$ID"
}

# The pids hierarchy (v2: the tree) is moved to a place of our own and, if there is a SECOND, another one stands in its place; then
# CMD.
_moved() {
	local from=${CGROUP_MOUNTS[pids]:-${CGROUP_MOUNTS[unified]}} second=$1
	shift
	mkdir -p "$T/elsewhere"
	# shellcheck disable=SC2016
	unshare -m --propagation private sh -ec 'mount --move "$1" "$2"; [ -z "$3" ] || mount --bind "$3" "$1"; shift 3; exec "$@"' \
		moved "$from" "$T/elsewhere" "$second" "$@"
}

a_hierarchy_is_found_wherever_it_is_mounted() {
	local second
	for second in '' "${CGROUP_MOUNTS[freezer]:-/proc}"; do
		bundle
		_moved "$second" "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
		file_has "$(cgroup_dir pids)/cgroup.procs" "^$(pid_of "$ID")$"
		like "$(jq -r '.cgroups[].mount' "$T/state/$ID/state.json")" "$T/elsewhere"
		_moved "$second" "$SBXRUN" --root "$T/state" delete -f "$ID"
		[ ! -e "$(cgroup_dir pids)" ] || fail 'its cgroup is still there'
	done
}

# What a host with thousands of mounts would have to wait for. From Linux 6.11 on the kernel is asked for single mounts.
the_table_of_all_mounts_is_not_read() {
	local kernel
	needs strace
	IFS=. read -ra kernel <<<"$(uname -r)"
	bundle
	strace -o "$T/trace" "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
	file_has "$T/trace" 'proc/self/cgroup'
	[ "$VIEW" = v2 ] || [ "${kernel[0]}" -gt 6 ] || [ "${kernel[1]}" -ge 11 ] || return 0
	! grep mountinfo "$T/trace" || fail 'it is read'
}

# Whoever has put the caller into a cgroup means its limits to hold for what he starts.
a_path_that_is_not_absolute_begins_at_the_callers_cgroup() {
	local mount=${CGROUP_MOUNTS[pids]:-} path
	[ -n "$mount" ] || skip 'a hierarchy of v1 is needed'
	mkdir -p "$mount/$P/caller"
	for path in 'del(.linux.cgroupsPath)' '.linux.cgroupsPath = "rel/one"'; do
		bundle 'sh("sleep 100")' "$path"
		bash -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' bash "$mount/$P/caller" "$SBXRUN" --root "$T/state" run -d -b "$B" "$ID"
		like "$(grep ':pids:\|[:,]pids[:,]' "/proc/$(pid_of "$ID")/cgroup")" ":/$P/caller/sbxrun[-/]"
		sbx delete --force "$ID"
		[ "$(find "$mount/$P/caller" -mindepth 1 -type d)" = '' ] || fail 'a cgroup is left'
	done
	rmdir "$mount/$P/caller"
}

run_tests
