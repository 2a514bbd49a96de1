#!/bin/bash
# What was broken once, found by hand: cgroups that a container or another one changes, documents that are none.
# Views: all
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# ---- cgroups ----

# A container that may write its cgroup tree, and freezes process $1 (sh) in a cgroup of its own two levels down. Sets SUB.
# The names are such that what is left is found.
_box_that_freezes() {
	bundle '(.mounts[] | select(.destination == "/sys/fs/cgroup")).options |= map(if . == "ro" then "rw" else . end)' \
		'ns("cgroup")' "sh(\"sleep 1000 & child=\$!
			cd /sys/fs/cgroup/freezer 2>/dev/null || cd /sys/fs/cgroup
			mkdir -p sub-$P/deep-$P && cd sub-$P/deep-$P && echo $1 >cgroup.procs &&
				if [ -e freezer.state ]; then echo FROZEN >freezer.state; else echo 1 >cgroup.freeze; fi
			wait\")"
	sbx run -d -b "$B" "$ID"
	SUB=$(cgroup_dir freezer)/sub-$P/deep-$P
	wait_until 10 _is_frozen
}

_is_frozen() {
	{ grep -q FROZEN "$SUB/freezer.state" || grep -q 'frozen 1' "$SUB/cgroup.events"; } 2>/dev/null
}

_is_deleted_though_frozen() {
	local pid
	pid=$(pid_of "$ID")
	run timeout 60 "$SBXRUN" --root "$T/state" delete --force "$ID"
	rc_is 0
	dead "$pid" || fail 'it is alive'
	nothing_is_left
}

a_container_that_freezes_a_child_in_a_cgroup_of_its_own_can_be_deleted() {
	_box_that_freezes '$child'
	_is_deleted_though_frozen
}

a_container_that_freezes_itself_in_a_cgroup_of_its_own_can_be_deleted() {
	_box_that_freezes '$$'
	_is_deleted_though_frozen
}

a_stopped_containers_deletion_leaves_another_one_in_its_cgroup_alone() {
	local first pid
	bundle
	first=$ID
	sbx run -d -b "$B" "$first"
	wait_until 10 status_is "$first" stopped
	bundle 'args(["/bin/sleep", "1000"])' ".linux.cgroupsPath = \"/$P/$first\""
	run sbx run -d -b "$B" "$ID"
	# A refusal is as good.
	if [ "$rc" != 0 ]; then
		like "$err" cgroup
		sbx delete "$first"
		return
	fi
	pid=$(pid_of "$ID")
	run sbx delete "$first"
	lives "$pid" || fail 'the other one was killed'
	is "$(status_of "$ID")" running
	file_has "$(cgroup_dir pids "$first")/cgroup.procs" "^$pid$"
}

# ---- exec ----

# As an init system inside does; on v2 the container's own cgroup takes no process after that.
a_container_that_hands_its_controllers_down_can_be_entered() {
	bundle '(.mounts[] | select(.destination == "/sys/fs/cgroup")).options |= map(if . == "ro" then "rw" else . end)' \
		'ns("cgroup")' writable "sh(\"cd /sys/fs/cgroup; mkdir sub-$P; echo 0 >sub-$P/cgroup.procs; echo +pids >cgroup.subtree_control
			echo >/ready; exec sleep 1000\")"
	sbx run -d -b "$B" "$ID" 2>/dev/null
	wait_until 60 test -e "$B/rootfs/ready"
	in_box "$ID" /bin/cat /proc/self/cgroup
	rc_is 0
	[ "$VIEW" != v2 ] || is "$out" "0::/sub-$P"
	run timeout 60 "$SBXRUN" --root "$T/state" delete --force "$ID"
	rc_is 0
	nothing_is_left
}

a_process_file_that_is_silent_about_new_privileges_gives_none() {
	box '.process.noNewPrivileges = true'
	echo '{"cwd": "/", "args": ["/bin/grep", "NoNewPrivs", "/proc/self/status"], "user": {"uid": 0, "gid": 0}}' >process
	in_box -p process "$ID"
	rc_is 0
	is "$out" $'NoNewPrivs:\t1'
}

# ---- documents ----

a_config_that_is_a_fifo_is_no_hang() {
	bundle
	rm "$B/config.json"
	mkfifo "$B/config.json"
	run timeout 60 "$SBXRUN" --root "$T/state" create -b "$B" "$ID"
	rc_is 1
	like "$err" config.json
	nothing_is_left
}

run_tests
