#!/bin/bash
# A new user namespace with maps.
# Views: v2 what_is_made_inside_belongs_to_the_mapped_ids flags_that_the_hosts_mount_has_can_not_be_cleared_inside
# Views: v2 a_source_below_a_closed_directory_can_be_bound_in_a_joined_user_namespace
# Views: v2 a_sysfs_can_be_had_where_the_outer_one_is_read_only
# Views: v2 where_parts_of_the_outer_sysfs_are_covered_that_one_is_shown_read_only
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mountinfo.sh"

_maps='ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] |
	.linux.gidMappings = [{containerID: 0, hostID: 200000, size: 65536}]'

the_maps_are_written_as_they_stand() {
	run_in_box 'cat /proc/self/uid_map; echo --; cat /proc/self/gid_map; cat /proc/self/setgroups' 'ns("user")' \
		'.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 10}, {containerID: 10, hostID: 300000, size: 20},
			{containerID: 1000, hostID: 5000, size: 1}]' \
		'.linux.gidMappings = [{containerID: 0, hostID: 200000, size: 65536}]'
	rc_is 0
	while [[ $out == *'  '* ]]; do
		out=${out//  / }
	done
	is "$out" $' 0 100000 10\n 10 300000 20\n 1000 5000 1\n--\n 0 200000 65536\nallow'
}

what_is_made_inside_belongs_to_the_mapped_ids() {
	bundle "$_maps" 'sh("id -u; id -g; touch /m/file; mkdir /m/dir; stat -c %u:%g /m/file")' \
		'.process.user = {uid: 7, gid: 8, additionalGids: [9]}' \
		'mount({destination: "/m", source: ($T + "/src"), options: ["bind"]})'
	mkdir src "$B/rootfs/m"
	chown 100007:200008 src
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'7\n8\n7:8'
	is "$(stat -c %u:%g src/file)" 100007:200008
	is "$(stat -c %u:%g src/dir)" 100007:200008
}

the_program_runs_as_the_mapped_ids() {
	local pid
	bundle "$_maps" 'sh("sleep 100")' '.process.user = {uid: 3, gid: 4, additionalGids: [5, 6]}'
	sbx run -d -b "$B" "$ID"
	pid=$(pid_of "$ID")
	file_has "/proc/$pid/status" $'^Uid:\t100003\t100003\t100003\t100003'
	file_has "/proc/$pid/status" $'^Gid:\t200004\t200004\t200004\t200004'
	file_has "/proc/$pid/status" $'^Groups:\t200005 200006'
}

root_inside_can_not_touch_what_the_hosts_root_owns() {
	mkdir src
	echo secret >src/file
	chmod 600 src/file
	bundle "$_maps" 'sh("cat /m/file; touch /m/x; chown 0 /m/file; stat -c %u /m/file")' \
		'caps(["CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER"])' \
		'mount({destination: "/m", source: ($T + "/src"), options: ["bind"]})'
	mkdir "$B/rootfs/m"
	run sbx run -b "$B" "$ID"
	is "$out" 65534
	[ ! -e src/x ] || fail 'it was written to'
}

the_other_namespaces_belong_to_it() {
	bundle "$_maps" 'sh("hostname other && hostname; mount -t tmpfs tmpfs /tmp && stat -f -c %T /tmp")' 'caps(["CAP_SYS_ADMIN"])'
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'other\ntmpfs'
}

flags_that_the_hosts_mount_has_can_not_be_cleared_inside() {
	mkdir src
	mount -t tmpfs -o mode=777 tmpfs src
	mount -o remount,bind,ro,nosuid,nodev src
	bundle "$_maps" 'sh("mount -o remount,bind,rw,suid,dev /m; touch /m/x && echo written; cat /proc/self/mountinfo")' \
		'caps(["CAP_SYS_ADMIN"])' 'mount({destination: "/m", source: ($T + "/src"), options: ["rbind"]})'
	mkdir "$B/rootfs/m"
	run sbx run -b "$B" "$ID"
	[ ! -e src/x ] || fail 'the read-only mount was written to'
	umount src
	rc_is 0
	unlike "$out" written
	read_mountinfo "$out"
	mount_has /m ro nosuid nodev
}

a_bundle_below_a_closed_directory_works() {
	bundle "$_maps" 'sh("echo started")'
	mkdir -m 700 closed
	mv "$B" closed/b
	run sbx run -b closed/b "$ID"
	rc_is 0
	is "$out" started
}

# The host's root passes a directory of another user's by its rights, which it hasn't in the namespace.
_closed_sources() {
	mkdir -p "$T"/{his,none}/dir/sub
	echo text >his/dir/file
	echo text >none/dir/file
	chown -R 1234 his
	chmod 700 his
	chmod 0 none
}

_see_them='mount({destination: "/m", source: ($T + "/his/dir"), options: ["bind", "ro"]}) |
	mount({destination: "/f", source: ($T + "/none/dir/file"), options: ["bind"]})'

a_source_below_a_closed_directory_can_be_bound() {
	_closed_sources
	bundle "$_maps" 'sh("cat /m/file /f; ls /m; cat /proc/self/mountinfo")' "$_see_them"
	mkdir "$B/rootfs/m"
	touch "$B/rootfs/f"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "${out%%$'\n'[0-9]*}" $'text\ntext\nfile\nsub'
	read_mountinfo "$out"
	mount_has /m ro
	mount_has /f rw
}

a_source_below_a_closed_directory_can_be_bound_in_a_joined_user_namespace() {
	_closed_sources
	bundle "$_maps" 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	bundle "ns(\"user\"; \"/proc/$(pid_of "$ID")/ns/user\")" 'sh("cat /m/file /f; ls /m")' "$_see_them"
	mkdir "$B/rootfs/m"
	touch "$B/rootfs/f"
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" $'text\ntext\nfile\nsub'
}

a_missing_source_below_a_closed_directory_is_an_error() {
	_closed_sources
	bundle "$_maps" 'sh("echo started")' 'mount({destination: "/m", source: ($T + "/his/missing"), options: ["bind"]})'
	run sbx run -b "$B" "$ID"
	rc_is 1
	is "$out" ''
	like "$err" 'mounts\[7\].source: open .*/his/missing: no such file'
	[ ! -e "$B/rootfs/m" ] || fail 'the image was touched'
}

a_root_below_a_closed_directory_of_another_user_works() {
	bundle "$_maps" 'sh("cat /etc/passwd | head -n 1; ls /m; ls -a / | grep -c dev")' 'mount({destination: "/m", type: "tmpfs", source: "tmpfs"})'
	mkdir "$B/rootfs/m" closed
	mv "$B" closed/b
	chmod 700 closed
	chown 1234 closed
	run sbx run -b closed/b "$ID"
	rc_is 0
	is "$out" $'root:x:0:0:root:/root:/bin/sh\n1'
}

# Tests have a mount namespace of their own; COVER is done to its /sys for the run.
_with_outer_sys() {
	local cover=$1
	shift
	bundle "$_maps" "sh(\"ls /sys/class/net; ls /sys/firmware | wc -l; mkdir /sys/fs/cgroup/x; cat /proc/self/mountinfo\")" "$@"
	# shellcheck disable=SC2016
	run unshare -m sh -c "$cover"'; exec "$@"' sh "$SBXRUN" --root "$T/state" run -b "$B" "$ID"
}

a_sysfs_can_be_had_where_the_outer_one_is_read_only() {
	_with_outer_sys 'mount -o remount,bind,ro /sys'
	rc_is 0
	read_mountinfo "$out"
	mount_has /sys ro nosuid nodev noexec
	like "$out" '^lo
'
	_with_outer_sys 'mount -o remount,bind,ro /sys' '(.mounts[] | select(.type == "sysfs")).options = ["nosuid"]'
	rc_is 1
	like "$err" 'mounts\[5\]: mount /sys'
}

where_parts_of_the_outer_sysfs_are_covered_that_one_is_shown_read_only() {
	_with_outer_sys 'mount -o remount,bind,ro /sys; mount -t tmpfs tmpfs /sys/firmware'
	rc_is 0
	like "$out" $'\n0\n'
	read_mountinfo "$out"
	mount_has /sys ro nosuid nodev noexec
	mount_has /sys/firmware ro
	like "$err" 'Read-only file system'
	_with_outer_sys 'mount -t tmpfs tmpfs /sys/firmware' '(.mounts[] | select(.type == "sysfs")).options = ["nosuid"]'
	rc_is 1
	# He could take the flag off.
	_with_outer_sys 'mount -t tmpfs tmpfs /sys/firmware' 'caps(["CAP_SYS_ADMIN"])'
	rc_is 1
}

maps_without_the_namespace_and_the_namespace_without_maps_are_errors() {
	run_in_box 'echo started' '.linux.uidMappings = [{containerID: 0, hostID: 1000, size: 1}]'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.uidMappings'
	run_in_box 'echo started' 'ns("user")'
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.(uid|gid)Mappings|linux\.namespaces'
}

a_user_that_is_not_mapped_is_an_error() {
	run_in_box 'echo started' 'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 10}] |
		.linux.gidMappings = [{containerID: 0, hostID: 100000, size: 10}]' '.process.user.uid = 10'
	rc_is 1
	is "$out" ''
	like "$err" 'process\.user'
}

run_tests
