#!/bin/bash
# noNewPrivileges, oomScoreAdj, scheduler, ioPriority.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"

no_new_privileges_is_set_or_not() {
	run_in_box 'grep NoNewPrivs /proc/1/status; true' '.process.noNewPrivileges = true'
	like "$out" '1$'
	run_in_box 'grep NoNewPrivs /proc/1/status; true' '.process.noNewPrivileges = false'
	like "$out" '0$'
	run_in_box 'grep NoNewPrivs /proc/1/status; true' 'del(.process.noNewPrivileges)'
	like "$out" '0$'
}

no_new_privileges_takes_the_power_of_setuid_files() {
	bundle 'args(["/busybox-setuid", "grep", "^Uid:", "/proc/self/status"])' '.process.user = {uid: 1000, gid: 1000}'
	cp "$B/rootfs/bin/busybox" "$B/rootfs/busybox-setuid"
	chmod 4755 "$B/rootfs/busybox-setuid"
	jq '.process.noNewPrivileges = false' "$B/config.json" >without
	run sbx run -b "$B" -f "$T/without" "$ID"
	isnt "$out" $'Uid:\t1000\t1000\t1000\t1000'
	jq '.process.noNewPrivileges = true' "$B/config.json" >with
	run sbx run -b "$B" -f "$T/with" "$ID"
	is "$out" $'Uid:\t1000\t1000\t1000\t1000'
}

oom_score_adj_is_set() {
	run_in_box 'cat /proc/1/oom_score_adj; true' '.process.oomScoreAdj = 500'
	rc_is 0
	is "$out" 500
	run_in_box 'cat /proc/1/oom_score_adj; true' '.process.oomScoreAdj = 0'
	is "$out" 0
}

a_lower_oom_score_adj_is_set_or_refused() {
	run_in_box 'cat /proc/1/oom_score_adj; true' '.process.oomScoreAdj = -500' '.process.user = {uid: 1000, gid: 1000}'
	if has_capability 24; then
		rc_is 0
		is "$out" -500
	else
		rc_is 1
		like "$err" 'oomScoreAdj: .*CAP_SYS_RESOURCE'
		unlike "$err" 'permission denied' # docker's status for these words is that of a program that can't be executed
	fi
	nothing_is_left
}

# What docker with userns-remap and pods with user namespaces ask for.
oom_score_adj_is_set_in_a_user_namespace() {
	local user='ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
	[ -z "${SBX_UID:-}" ] || user=.
	run_in_box 'cat /proc/1/oom_score_adj; true' '.process.oomScoreAdj = 500' "$user"
	rc_is 0
	is "$out" 500
	run_in_box 'cat /proc/1/oom_score_adj; true' '.process.oomScoreAdj = 0' "$user" '.process.user = {uid: 1000, gid: 1000}'
	is "$out" 0
	run_in_box 'cat /proc/1/oom_score_adj; true' '.process.oomScoreAdj = -998' "$user"
	if has_capability 24; then
		is "$out" -998
	else
		like "$err" 'oomScoreAdj: .*CAP_SYS_RESOURCE'
	fi
	nothing_is_left
}

oom_score_adj_is_set_by_exec_in_a_user_namespace() {
	local user='ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
	[ -z "${SBX_UID:-}" ] || user=.
	bundle 'args(["/bin/sleep", "1000"])' "$user" '.process.oomScoreAdj = 300'
	sbx run -d -b "$B" "$ID"
	run sbx exec "$ID" cat /proc/self/oom_score_adj
	is "$out" 300
}

oom_score_adj_is_left_alone_when_absent() {
	bundle 'sh("cat /proc/1/oom_score_adj; true")'
	run choom -n 77 -- "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	is "$out" 77
}

oom_score_adj_out_of_range_is_refused() {
	local value
	bundle
	for value in 1001 -1001 1.5 '"1"' 99999999999; do
		jq ".process.oomScoreAdj = $value" "$B/config.json" >new
		refused 'oomScoreAdj' sbx create -b "$B" -f "$T/new" "$ID"
	done
	state_is_empty
}

# Prints nice value, policy and realtime priority of the first process.
SCHED='read -r line </proc/1/stat; set -- ${line##*) }; echo ${17} ${39} ${38}'

the_scheduler_is_set() {
	run_in_box "$SCHED" '.process.scheduler = {policy: "SCHED_OTHER", nice: 5}'
	rc_is 0
	is "$out" '5 0 0'
	run_in_box "$SCHED" '.process.scheduler = {policy: "SCHED_BATCH", nice: 3}'
	rc_is 0
	is "$out" '3 3 0'
	run_in_box "$SCHED" '.process.scheduler = {policy: "SCHED_IDLE"}'
	rc_is 0
	is "$out" '0 5 0'
}

bad_schedulers_are_refused() {
	local value
	bundle
	for value in '{policy: "SCHED_NONSENSE"}' '{}' '{policy: "SCHED_OTHER", nice: 20}' '{policy: "SCHED_OTHER", priority: 1}' \
		'{policy: "SCHED_FIFO", priority: 100}' '{policy: "SCHED_OTHER", flags: ["NONSENSE"]}' '{policy: "SCHED_OTHER", runtime: 9}'; do
		jq ".process.scheduler = $value" "$B/config.json" >new
		refused 'scheduler' sbx create -b "$B" -f "$T/new" "$ID"
	done
	state_is_empty
}

the_io_priority_is_set() {
	bundle 'sh("sleep 100")' '.process.ioPriority = {class: "IOPRIO_CLASS_BE", priority: 6}'
	sbx run -d -b "$B" "$ID"
	is "$(ionice -p "$(pid_of "$ID")")" 'best-effort: prio 6'
	bundle 'sh("sleep 100")' '.process.ioPriority = {class: "IOPRIO_CLASS_IDLE", priority: 0}'
	sbx run -d -b "$B" "$ID"
	like "$(ionice -p "$(pid_of "$ID")")" '^idle'
}

bad_io_priorities_are_refused() {
	local value
	bundle
	for value in '{class: "NONSENSE"}' '{class: "IOPRIO_CLASS_BE", priority: 8}' '{class: "IOPRIO_CLASS_BE", priority: -1}' '{priority: 1}'; do
		jq ".process.ioPriority = $value" "$B/config.json" >new
		refused 'ioPriority' sbx create -b "$B" -f "$T/new" "$ID"
	done
	state_is_empty
}

run_tests
