#!/bin/bash
# What an ordinary user's container does to the cgroups that it may write, it does with ids that are not his.
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/rootless.sh"
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# _can_be_deleted CODE: a container that does this in its cgroup tree. Where there are no cgroups, it can't.
_can_be_deleted() {
	bundle 'mount({destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["rw", "nosuid", "noexec", "nodev"]})' \
		'ns("cgroup")' writable 'caps(["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER"])' \
		"sh(\"cd /sys/fs/cgroup && mkdir -p sub-$P/inner-$P; $1; echo >/ready; exec sleep 1000\")"
	sbx run -d -b "$B" "$ID" 2>/dev/null
	wait_until 60 test -e "$B/rootfs/ready"
	run timeout 60 "$SBXRUN" --root "$T/state" delete --force "$ID"
	rc_is 0
	nothing_is_left
}

cgroups_that_the_container_has_closed_are_removed() {
	_can_be_deleted "chmod 0 sub-$P/inner-$P sub-$P/cgroup.procs sub-$P"
}

cgroups_that_the_container_has_given_away_are_removed() {
	_can_be_deleted "chown 5:5 sub-$P/inner-$P sub-$P/cgroup.procs sub-$P; chmod 700 sub-$P"
}

a_cgroup_that_is_closed_itself_is_removed() {
	_can_be_deleted 'chmod 0 .'
}

# _box CODE [FILTER…]: a container that does CODE in its cgroup tree, with a child, and stays.
_box() {
	[ -n "${SBX_CGROUP_BASE:-}" ] || skip 'he has no cgroups here'
	bundle 'mount({destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["rw", "nosuid", "noexec", "nodev"]})' \
		'ns("cgroup")' writable "sh(\"sleep 1000 & cd /sys/fs/cgroup && { $1; }; echo >/ready; exec sleep 1000\")" "${@:2}"
	sbx run -d -b "$B" "$ID" 2>/dev/null
	wait_until 60 test -e "$B/rootfs/ready"
}

# What keeps others out: of a cgroup in its own that it is in, and of all that it has.
_close=("mkdir -p sub-$P/inner-$P; echo 0 >sub-$P/inner-$P/cgroup.procs; chmod 0 sub-$P/inner-$P/cgroup.procs sub-$P/inner-$P sub-$P" 'chmod 0 cgroup.* .')

kill_all_reaches_what_is_closed() {
	local code pid
	for code in "${_close[@]}"; do
		_box "$code"
		pid=$(pid_of "$ID")
		run sbx kill --all "$ID" KILL
		rc_is 0
		wait_until 10 dead "$pid"
		sbx delete "$ID"
		nothing_is_left
	done
}

other_signals_to_all_reach_what_is_closed() {
	local code pid
	for code in "${_close[@]}"; do
		_box "$code" 'without_ns("pid")' 'unmount("/proc")'
		pid=$(pid_of "$ID")
		run sbx kill --all "$ID" TERM
		rc_is 0
		wait_until 10 dead "$pid"
		sbx delete --force "$ID"
	done
}

kill_reaches_what_is_closed_without_a_pid_namespace() {
	local code pid
	for code in "${_close[@]}"; do
		_box "$code" 'without_ns("pid")' 'unmount("/proc")'
		pid=$(pid_of "$ID")
		run sbx kill "$ID" KILL
		rc_is 0
		wait_until 10 dead "$pid"
		sbx delete "$ID"
	done
}

ps_lists_what_is_closed() {
	local code
	for code in "${_close[@]}"; do
		_box "$code"
		run sbx ps --format json "$ID"
		rc_is 0
		is "$(jq --argjson pid "$(pid_of "$ID")" 'index($pid) != null' "$T/out")" true
		is "$(jq length "$T/out")" 2
		sbx delete --force "$ID"
	done
}

a_closed_cgroup_can_be_paused_updated_and_counted() {
	local code
	for code in "${_close[@]}"; do
		_box "$code"
		sbx pause "$ID"
		is "$(status_of "$ID")" paused
		sbx resume "$ID"
		sbx update --pids-limit 77 "$ID"
		file_has "$(cgroup_dir pids)/pids.max" '^77$'
		run sbx events --stats "$ID"
		rc_is 0
		is "$(jq .data.pids.limit "$T/out")" 77
		sbx delete --force "$ID"
	done
}

# Escape: a container raises its own limits. It has the caller's id, and so all files of its cgroup.
a_container_is_held_to_its_limits_whatever_it_writes() {
	local count
	_box 'echo max >pids.max; echo max >memory.max
		for dir in . .. ../..; do echo max >$dir/pids.max; echo max >$dir/memory.max; done
		mkdir sub; echo 0 >sub/cgroup.procs; echo max >pids.max
		(i=0; while [ $i -lt 60 ]; do sleep 1000 & i=$((i + 1)); done); true' \
		'.linux.resources.pids.limit = 30' '.linux.resources.memory = {limit: 134217728}'
	file_has "$(cgroup_dir pids)/pids.max" '^30$'
	file_has "$(cgroup_dir pids)/memory.max" '^134217728$'
	run sbx ps --format json "$ID"
	count=$(jq length "$T/out")
	[ "$count" -le 30 ] || fail "it has $count processes"
}

# By a mount of its own.
a_container_that_may_mount_is_held_to_its_limits() {
	_box 'mkdir /cg; mount -t cgroup2 none /cg && echo max >/cg/pids.max; [ -e /cg/pids.max ]' \
		'.linux.resources.pids.limit = 30' 'caps(["CAP_SYS_ADMIN", "CAP_DAC_OVERRIDE", "CAP_FOWNER"])' 'del(.linux.seccomp)'
	is "$(<"$B/rootfs/ready")" ''
	file_has "$(cgroup_dir pids)/pids.max" '^30$'
}

a_container_sees_its_limits_and_can_hand_them_down() {
	_box 'cat pids.max memory.max /proc/self/cgroup >/seen; mkdir sub; echo 0 >sub/cgroup.procs; echo $! >sub/cgroup.procs; echo +pids >cgroup.subtree_control; cat sub/pids.max >>/seen' \
		'.linux.resources.pids.limit = 30' '.linux.resources.memory = {limit: 134217728}'
	is "$(<"$B/rootfs/seen")" $'30\n134217728\n0::/\nmax'
	sbx update --pids-limit 40 "$ID"
	file_has "$(cgroup_dir pids)/pids.max" '^40$'
	in_box "$ID" /bin/cat /sys/fs/cgroup/pids.max
	is "$out" 40
	in_box "$ID" /bin/cat /proc/self/cgroup
	is "$out" 0::/sub
	in_box --cgroup sub "$ID" /bin/cat /proc/self/cgroup
	is "$out" 0::/sub
	sbx delete --force "$ID"
	nothing_is_left
}

run_tests
