#!/bin/bash
# A mount of type cgroup: what the container sees of the host's layout, with and without a namespace of its own.
# Views: all
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mountinfo.sh"

_rw='(.mounts[] | select(.type == "cgroup")).options = ["nosuid", "noexec", "nodev"]'

# Sets DIRS to the places of the cgroup file systems inside, as the host's layout demands them.
_cgroup_places() {
	local key
	DIRS=()
	if [ "$VIEW" = v2 ]; then
		DIRS=(/sys/fs/cgroup)
		return
	fi
	for key in cpu memory pids devices freezer; do
		[ -z "${CGROUP_MOUNTS[$key]:-}" ] || DIRS+=("/sys/fs/cgroup/${CGROUP_MOUNTS[$key]##*/}")
	done
}

every_hierarchy_is_there_and_shows_the_container_as_its_root() {
	local dir DIRS
	run_in_box 'cat /proc/self/mountinfo; echo --; for d in /sys/fs/cgroup /sys/fs/cgroup/*; do
		grep -sqx 1 $d/cgroup.procs && echo "in $d"; done; cat /proc/self/cgroup | grep -v ":/$"; :'
	rc_is 0
	_cgroup_places
	read_mountinfo "$out"
	for dir in "${DIRS[@]}"; do
		like "${MOUNT_TYPE[$dir]:-none}" '^cgroup2?$'
		is "${MOUNT_ROOT[$dir]}" /
		mount_has "$dir" ro nosuid nodev noexec
		[[ ${out#*--}$'\n' == *$'\n'"in $dir"$'\n'* ]] || fail "pid 1 is not in $dir"
	done
	if [ "$VIEW" = hybrid ]; then
		is "${MOUNT_TYPE["/sys/fs/cgroup/${CGROUP_MOUNTS[unified]##*/}"]}" cgroup2
	fi
	# Nothing of the host's path shows in /proc/self/cgroup: each line ended in ":/" and is filtered above.
	unlike "${out#*--}" '[0-9]:'
}

a_controller_can_be_found_by_its_name() {
	local key wanted=''
	[ "$VIEW" != v2 ] || wanted=' .'
	for key in cpu cpuacct cpuset memory devices freezer blkio pids net_cls; do
		[ -z "${CGROUP_MOUNTS[$key]:-}" ] || wanted+=" $key"
	done
	run_in_box "for c in$wanted; do ls /sys/fs/cgroup/\$c/cgroup.procs >/dev/null || echo \"no \$c\"; done"
	rc_is 0
	is "$out" ''
}

with_a_namespace_of_its_own_a_writable_tree_is_writable() {
	local dir DIRS
	_cgroup_places
	run_in_box "mkdir ${DIRS[0]}/made && ls -d ${DIRS[0]}/made && rmdir ${DIRS[0]}/made" "$_rw"
	rc_is 0
	is "$out" "${DIRS[0]}/made"
}

read_only_means_that_nothing_can_be_made_or_moved() {
	local DIRS
	_cgroup_places
	run_in_box "mkdir ${DIRS[0]}/made || echo refused; echo 1 >${DIRS[0]}/cgroup.procs || echo refused" \
		'caps(["CAP_DAC_OVERRIDE"])'
	is "$out" $'refused\nrefused'
}

without_a_namespace_of_its_own_the_tree_is_read_only_and_shows_the_container_alone() {
	local dir DIRS seen
	_cgroup_places
	run_in_box "cat /proc/self/mountinfo; echo --; mkdir ${DIRS[0]}/made && echo made; cat ${DIRS[0]}/cgroup.procs" \
		'without_ns("cgroup")' "$_rw" 'caps(["CAP_DAC_OVERRIDE"])'
	seen=${out#*--}
	read_mountinfo "${out%--*}"
	for dir in "${DIRS[@]}"; do
		mount_has "$dir" ro
		is "${MOUNT_ROOT[$dir]}" "/$P/$ID" "$dir shows more than the container"
	done
	unlike "$seen" made
	like "$seen" $'\n1$'
}

# Privileged containers of docker on v1, with an engine or systemd in them.
with_the_right_to_administer_the_host_the_tree_is_as_it_was_asked_for() {
	local dir DIRS
	_cgroup_places
	run_in_box "cat /proc/self/mountinfo; mkdir ${DIRS[0]}/made && echo 1 >${DIRS[0]}/made/cgroup.procs && echo moved; echo 1 >${DIRS[0]}/cgroup.procs
		rmdir ${DIRS[0]}/made; [ $VIEW = v2 ] || { mkdir /sys/fs/cgroup/top && echo topped; }" \
		'without_ns("cgroup")' "$_rw" 'caps(["CAP_SYS_ADMIN", "CAP_DAC_OVERRIDE"])'
	rc_is 0
	read_mountinfo "$out"
	for dir in "${DIRS[@]}"; do
		mount_has "$dir" rw nosuid
		is "${MOUNT_ROOT[$dir]}" "/$P/$ID" "$dir shows more than the container"
	done
	like "$out" $'\nmoved'
	[ "$VIEW" = v2 ] || like "$out" 'topped$'
	run_in_box 'cat /proc/self/mountinfo; for d in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir $d/made && echo made; done' \
		'without_ns("cgroup")' 'caps(["CAP_SYS_ADMIN", "CAP_DAC_OVERRIDE"])'
	read_mountinfo "$out"
	for dir in "${DIRS[@]}"; do
		mount_has "$dir" ro
	done
	unlike "$out" made
}

type_cgroup2_is_the_unified_tree() {
	run_in_box 'cat /proc/self/mountinfo; cat /m/cgroup.procs | head -n 1' \
		'mount({destination: "/m", type: "cgroup2", source: "cgroup2", options: ["ro", "nosuid"]})'
	if [ "$VIEW" = v1 ] && [ "$rc" != 0 ]; then
		# The container is in no unified tree.
		like "$err" 'mounts\[7\]'
		return
	fi
	rc_is 0
	read_mountinfo "$out"
	is "${MOUNT_TYPE[/m]}" cgroup2
	is "${MOUNT_ROOT[/m]}" /
	mount_has /m ro nosuid
	like "$out" $'\n1$'
}

run_tests
