#!/bin/bash
# Namespaces: new, joined by path, inherited, and what is refused.
# Views: v2 all_kinds_are_new_when_they_are_asked_for_without_a_path
# Views: v2 a_new_mount_namespace_is_not_the_hosts_and_a_missing_one_leaves_nothing namespaces_are_joined_by_path
# Views: v2 into_a_joined_pid_namespace_the_program_is_born_whoever_is_faster
# Views: v2 a_mount_namespace_is_joined_by_path_and_its_table_stays_as_it_was
# Views: v2 a_pid_namespace_that_has_ended_is_an_error_that_says_so
. "${0%/*}/../lib/test.sh"

# The spec's names and the kernel's.
declare -A KERNEL_NAME=([pid]=pid [network]=net [mount]=mnt [ipc]=ipc [uts]=uts [user]=user [cgroup]=cgroup [time]=time)
KINDS=(pid network mount ipc uts cgroup)
[ ! -e /proc/self/ns/time ] || KINDS+=(time)

_read_all='cd /proc/self/ns && for n in pid net mnt ipc uts user cgroup time; do echo "$n $(readlink $n)"; done'

# Sets INSIDE (kernel's name → namespace) from $out.
_parse_inside() {
	local name ns
	declare -gA INSIDE=()
	while read -r name ns; do
		INSIDE[$name]=$ns
	done <<<"$out"
}

# Starts a process in new namespaces of its own (options of unshare); sets HELPER to its pid.
_start_helper() {
	unshare --fork --kill-child "$@" sleep 100 &
	wait_until 5 _find_helper "$!"
}

_find_helper() {
	HELPER=$(pgrep -P "$1" -x sleep)
}

all_kinds_are_new_when_they_are_asked_for_without_a_path() {
	local kind name
	run_in_box "$_read_all" 'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 0, size: 65536}] |
		.linux.gidMappings = [{containerID: 0, hostID: 0, size: 65536}]' \
		". $([ ! -e /proc/self/ns/time ] || echo '| ns("time")')"
	rc_is 0
	_parse_inside
	for kind in "${KINDS[@]}" user; do
		name=${KERNEL_NAME[$kind]}
		like "${INSIDE[$name]}" "^$name:\[[0-9]+\]$"
		isnt "${INSIDE[$name]}" "$(readlink "/proc/self/ns/$name")" "$kind"
	done
}

two_containers_share_none() {
	local kind first
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	first=$(pid_of "$ID")
	run_in_box "$_read_all"
	_parse_inside
	for kind in pid network mount ipc uts cgroup; do
		isnt "${INSIDE[${KERNEL_NAME[$kind]}]}" "$(readlink "/proc/$first/ns/${KERNEL_NAME[$kind]}")" "$kind"
	done
}

kinds_that_are_absent_are_inherited() {
	local kind name
	run_in_box "$_read_all" '.linux.namespaces = [{type: "mount"}] | del(.hostname)' \
		'unmount("/sys") | unmount("/sys/fs/cgroup") | unmount("/dev/mqueue")'
	rc_is 0
	_parse_inside
	for kind in "${KINDS[@]}" user; do
		name=${KERNEL_NAME[$kind]}
		if [ "$kind" = mount ]; then
			isnt "${INSIDE[$name]}" "$(readlink "/proc/self/ns/$name")"
		else
			is "${INSIDE[$name]}" "$(readlink "/proc/self/ns/$name")" "$kind"
		fi
	done
}

pid_one_is_the_program_in_a_new_pid_namespace_and_not_in_the_hosts() {
	run_in_box 'echo $$; ls /proc | grep -c "^[0-9]"'
	rc_is 0
	like "$out" $'^1\n[1-4]$'
	run_in_box 'echo $$; readlink /proc/self/ns/pid' 'without_ns("pid")'
	rc_is 0
	unlike "$out" $'^1\n'
	is "${out#*$'\n'}" "$(readlink /proc/self/ns/pid)"
}

a_new_network_namespace_has_a_loopback_device_alone() {
	run_in_box 'ls /sys/class/net; ip -o link | wc -l'
	rc_is 0
	is "$out" $'lo\n1'
}

a_new_mount_namespace_is_not_the_hosts_and_a_missing_one_leaves_nothing() {
	local before after
	slurp before /proc/self/mountinfo
	run_in_box 'readlink /proc/self/ns/mnt; ls /; cat /m/file 2>/dev/null' 'without_ns("mount")' \
		'mount({destination: "/m", type: "tmpfs", source: "tmpfs"})'
	if [ "$rc" = 0 ]; then
		like "$out" "^$(readlink /proc/self/ns/mnt | sed 's/[][]/\\&/g')"
		like "$out" $'\netc'
		unlike "$out" $'\nhome' # the framework's root has none, a Debian has
	else
		# Kernels before 6.15 can't mount into a tree that hangs nowhere; then it has to be said.
		like "$err" 'mount'
	fi
	slurp after /proc/self/mountinfo
	is "$after" "$before"
}

namespaces_are_joined_by_path() {
	local options=(--pid --net --ipc --uts --cgroup) kinds=(pid network ipc uts cgroup) kind HELPER=''
	[ ! -e /proc/self/ns/time ] || { options+=(--time) && kinds+=(time); }
	_start_helper "${options[@]}"
	nsenter -t "$HELPER" --uts hostname joined-name
	run_in_box "$_read_all; hostname >&2" 'del(.hostname)' "$(
		for kind in "${kinds[@]}"; do
			printf 'ns("%s"; "/proc/%s/ns/%s") | ' "$kind" "$HELPER" "${KERNEL_NAME[$kind]}"
		done
	) ."
	rc_is 0
	_parse_inside
	for kind in "${kinds[@]}"; do
		is "${INSIDE[${KERNEL_NAME[$kind]}]}" "$(readlink "/proc/$HELPER/ns/${KERNEL_NAME[$kind]}")" "$kind"
	done
	is "$err" joined-name
	is "$(nsenter -t "$HELPER" --uts hostname)" joined-name
}

# As engines ask for the host's: docker with --network host, containers of a pod that has the host's network.
a_path_to_the_callers_own_counts_as_if_the_kind_were_absent() {
	local kind name filter
	for kind in "${KINDS[@]}" user; do
		name=${KERNEL_NAME[$kind]}
		filter='.'
		[ "$kind" != uts ] || filter='del(.hostname)'
		[ "$kind" != mount ] || filter='.mounts = [] | .linux.maskedPaths = [] | .linux.readonlyPaths = [] |
			mount({destination: "/proc", type: "proc", source: "proc"})'
		bundle "sh(\"readlink /proc/self/ns/$name; sleep 100\")" "$filter" "ns(\"$kind\"; \"/proc/self/ns/$name\")"
		run sbx create -b "$B" "$ID"
		if [ "$kind" = mount ] && [ "$rc" != 0 ]; then
			like "$err" mount # before Linux 6.15
			continue
		fi
		rc_is 0
		sbx start "$ID"
		is "$(readlink "/proc/$(pid_of "$ID")/ns/$name")" "$(readlink "/proc/self/ns/$name")" "$kind"
		run sbx exec "$ID" readlink "/proc/self/ns/$name"
		rc_is 0
		is "$out" "$(readlink "/proc/self/ns/$name")" "$kind, exec"
		sbx delete -f "$ID"
	done
}

masks_need_a_mount_namespace_that_is_not_the_callers() {
	bundle 'ns("mount"; "/proc/self/ns/mnt")' '.linux.maskedPaths = ["/proc/keys"]'
	run sbx create -b "$B" "$ID"
	rc_is 1
	like "$err" 'linux.maskedPaths: "/proc/self/ns/mnt" is the mount namespace of the host'
}

# It is a child of the process that set it up; which of the two goes on first is the kernel's choice. Here it is always the child.
into_a_joined_pid_namespace_the_program_is_born_whoever_is_faster() {
	local HELPER=''
	needs strace
	_start_helper --pid
	bundle 'args(["readlink", "/proc/self/ns/pid"])' "ns(\"pid\"; \"/proc/$HELPER/ns/pid\")"
	run strace -f -o trace -e trace=clone -e inject=clone:delay_exit=200000 "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
	rc_is 0
	is "$out" "$(readlink "/proc/$HELPER/ns/pid")"
	file_has trace 'CLONE_PARENT.*DELAYED'
}

a_mount_namespace_is_joined_by_path_and_its_table_stays_as_it_was() {
	local HELPER='' before
	_start_helper --mount
	before=$(<"/proc/$HELPER/mountinfo")
	run_in_box 'readlink /proc/self/ns/mnt; ls /' "ns(\"mount\"; \"/proc/$HELPER/ns/mnt\")" '.mounts = [] | .linux.maskedPaths = [] | .linux.readonlyPaths = []' \
		'mount({destination: "/proc", type: "proc", source: "proc"})'
	if [ "$rc" = 0 ]; then
		like "$out" "^$(readlink "/proc/$HELPER/ns/mnt" | sed 's/[][]/\\&/g')"
		unlike "$out" $'\nhome'
	else
		like "$err" 'mount'
	fi
	diff <(echo "$before") "/proc/$HELPER/mountinfo" || fail 'its mount table has changed'
}

a_user_namespace_is_joined_by_path() {
	local HELPER=''
	_start_helper --user
	echo '0 200000 1000' >"/proc/$HELPER/uid_map"
	echo '0 200000 1000' >"/proc/$HELPER/gid_map"
	bundle 'sh("readlink /proc/self/ns/user; id -u; cat /proc/self/uid_map")' "ns(\"user\"; \"/proc/$HELPER/ns/user\")"
	run sbx run -b "$B" "$ID"
	rc_is 0
	like "$out" "^$(readlink "/proc/$HELPER/ns/user" | sed 's/[][]/\\&/g')"$'\n0\n'
	like "$out" '0 +200000 +1000$'
}

a_bound_namespace_file_outlives_its_process() {
	touch netns
	unshare --net="$T/netns" true
	nsenter --net="$T/netns" ip link add dummy-sbxt type dummy 2>/dev/null || :
	run_in_box 'readlink /proc/self/ns/net' 'ns("network"; $T + "/netns")'
	rc_is 0
	is "$out" "net:[$(stat -Lc %i netns)]"
	umount netns
}

a_pid_namespace_that_has_ended_is_an_error_that_says_so() {
	local HELPER=''
	_start_helper --pid
	touch pidns
	mount --bind "/proc/$HELPER/ns/pid" pidns
	kill -KILL "$HELPER"
	wait_until 5 sh -c "! [ -e /proc/$HELPER ]"
	# Without /proc, since kernels before 6.17 fail at that one already.
	run_in_box 'echo started' 'ns("pid"; $T + "/pidns")' '.mounts |= map(select(.type != "proc"))'
	umount pidns
	rc_is 1
	is "$out" ''
	like "$err" 'the first process of the namespace has ended'
}

a_path_of_another_kind_is_refused() {
	run_in_box 'echo started' 'ns("uts"; "/proc/self/ns/net")' 'del(.hostname)'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.namespaces'
	run_in_box 'echo started' 'ns("network"; "/etc/passwd")'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.namespaces'
	run_in_box 'echo started' 'ns("network"; "/nowhere/at/all")'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.namespaces'
	run_in_box 'echo started' 'ns("network"; "proc/self/ns/net")'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.namespaces'
}

a_kind_that_stands_twice_or_is_unknown_is_refused() {
	run_in_box 'echo started' '.linux.namespaces += [{type: "uts"}]'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.namespaces'
	run_in_box 'echo started' '.linux.namespaces += [{type: "nosuch"}]'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.namespaces'
}

run_tests
