#!/bin/bash
# What becomes of cgroups: made together, killed together, removed without leftovers.
# Views: all
. "${0%/*}/../lib/test.sh"

# Prints the test's cgroups of the whole machine.
_all() {
	find /sys/fs/cgroup -type d -path "*$P*" 2>/dev/null | sort
}

_rw='(.mounts[] | select(.type == "cgroup")).options = ["nosuid", "noexec", "nodev"]'

nothing_is_left_after_kill_and_delete() {
	bundle 'sh("sleep 100")' '.linux.cgroupsPath = "/" + $ID'
	sbx run -d -b "$B" "$ID"
	isnt "$(_all)" ''
	sbx kill "$ID" KILL
	wait_until 5 eval '[ "$(status_of "$ID")" = stopped ]'
	sbx delete "$ID"
	is "$(_all)" ''
}

nothing_is_left_after_a_foreground_run() {
	run_in_box 'sleep 100 & echo done' '.linux.cgroupsPath = "/" + $ID'
	rc_is 0
	is "$(_all)" ''
}

parents_that_were_made_go_with_the_container() {
	run_in_box ':' '.linux.cgroupsPath = "/" + $P + "-x/y/z"'
	rc_is 0
	is "$(_all)" ''
}

cgroups_that_the_container_made_are_removed() {
	local tree=/sys/fs/cgroup
	[ "$VIEW" = v2 ] || tree=/sys/fs/cgroup/pids
	bundle "sh(\"mkdir -p $tree/a/b/c $tree/d && sleep 100 & wait; sleep 100\")" "$_rw" '.linux.cgroupsPath = "/" + $ID'
	jq --arg code "mkdir -p $tree/a/b/c $tree/d && echo 0 >$tree/a/b/cgroup.procs; sleep 100" '.process.args[2] = $code' "$B/config.json" >new
	mv new "$B/config.json"
	sbx run -d -b "$B" "$ID"
	wait_until 5 grep -q '/a/b$' "/proc/$(pid_of "$ID")/cgroup"
	sbx delete -f "$ID"
	is "$(_all)" ''
}

every_process_in_the_cgroup_dies_with_the_container() {
	local dir pids pid
	bundle 'sh("(sleep 100 & sleep 100 & sleep 100 &) ; setsid sleep 100 & sleep 100")' 'without_ns("pid")' '.linux.cgroupsPath = "/" + $ID'
	sbx run -d -b "$B" "$ID"
	dir=${CGROUP_MOUNTS[pids]:-${CGROUP_MOUNTS[unified]}}/$ID
	wait_until 5 eval '[ "$(wc -l <"$dir/cgroup.procs")" -ge 5 ]'
	mapfile -t pids <"$dir/cgroup.procs"
	sbx delete -f "$ID"
	for pid in "${pids[@]}"; do
		! grep -qs '^State:.[RSD]' "/proc/$pid/status" || fail "process $pid lives"
	done
	is "$(_all)" ''
}

a_fork_bomb_ends_with_delete() {
	bundle 'sh("f() { f | f & }; f; sleep 100")' 'without_ns("pid")' '.linux.cgroupsPath = "/" + $ID' '.linux.resources.pids.limit = 30'
	sbx run -d -b "$B" "$ID"
	sleep 0.2 # no event: it grows, and is never all there
	sbx delete -f "$ID"
	is "$(_all)" ''
}

two_containers_under_one_parent_do_not_disturb_each_other() {
	local first second
	bundle 'sh("sleep 100")' '.linux.resources.pids.limit = 11'
	first=$ID
	sbx run -d -b "$B" "$ID"
	bundle 'sh("sleep 100")' '.linux.resources.pids.limit = 12'
	second=$ID
	sbx run -d -b "$B" "$ID"
	file_has "$(cgroup_dir pids "$first")/pids.max" '^11$'
	file_has "$(cgroup_dir pids "$second")/pids.max" '^12$'
	sbx delete -f "$first"
	is "$(status_of "$second")" running
	file_has "$(cgroup_dir pids "$second")/cgroup.procs" "^$(pid_of "$second")$"
	[ ! -d "$(cgroup_dir pids "$first")" ] || fail 'the first is left'
	sbx delete -f "$second"
	[ ! -d "$(cgroup_dir pids "$second")" ] || fail 'the second is left'
}

a_parent_that_was_there_before_stays() {
	local dir=${CGROUP_MOUNTS[pids]:-${CGROUP_MOUNTS[unified]}}/$P
	mkdir -p "$dir"
	run_in_box ':'
	rc_is 0
	[ -d "$dir" ] || fail 'the parent was removed'
}

a_failed_create_leaves_no_cgroup() {
	# The kernel refuses the value after the cgroups were made.
	run_in_box 'echo started' '.linux.cgroupsPath = "/" + $P + "-x/" + $ID' '.linux.resources.pids.limit = 50' \
		'.linux.resources.cpu = {quota: 1, period: 100000}'
	rc_is 1
	is "$out" ''
	is "$(_all)" ''
	# A program that is not there fails later still.
	bundle 'args(["/no/such/program"])' '.linux.cgroupsPath = "/" + $P + "-x/" + $ID'
	run sbx create -b "$B" "$ID"
	[ "$rc" != 0 ] || run sbx start "$ID"
	isnt "$rc" 0
	sbx delete -f "$ID"
	is "$(_all)" ''
	# So does a mount.
	run_in_box 'echo started' '.linux.cgroupsPath = "/" + $P + "-x/" + $ID' 'mount({destination: "/m", source: "/no/such", options: ["bind"]})'
	rc_is 1
	is "$(_all)" ''
}

the_container_owns_its_cgroup_only_as_the_spec_says() {
	local dir want=0
	bundle "$_rw" 'sh("sleep 100")' 'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] |
		.linux.gidMappings = [{containerID: 0, hostID: 100000, size: 65536}]' '.process.user = {uid: 5, gid: 5}'
	sbx run -d -b "$B" "$ID"
	dir=$(cgroup_dir pids)
	[ "$VIEW" != v2 ] || want=100005
	is "$(stat -c %u "$dir")" "$want"
	is "$(stat -c %u "$dir/cgroup.procs")" "$want"
	is "$(stat -c %u "$dir/pids.max")" 0
}

run_tests
