#!/bin/bash
# What an ordinary user's container sees of the host's file systems and devices.
# shellcheck disable=SC2016,SC2119,SC2154
. "${0%/*}/../lib/rootless.sh"
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mountinfo.sh"

devices_are_the_hosts_own_bound() {
	run_in_box 'for d in null zero full random urandom tty; do stat -c "%n %F %t:%T %a" /dev/$d; done; echo x >/dev/null && head -c 3 /dev/zero | wc -c'
	rc_is 0
	is "$out" '/dev/null character special file 1:3 666
/dev/zero character special file 1:5 666
/dev/full character special file 1:7 666
/dev/random character special file 1:8 666
/dev/urandom character special file 1:9 666
/dev/tty character special file 5:0 666
3'
}

devices_of_the_config_are_found_by_number() {
	run_in_box 'stat -c "%t:%T" /dev/some/brimful; echo x >/dev/some/brimful' \
		'.linux.devices = [{path: "/dev/some/brimful", type: "c", major: 1, minor: 7}]'
	isnt "$rc" 0
	is "$out" 1:7
	like "$err" 'No space left'
}

a_device_that_the_host_lacks_is_an_error_that_names_it() {
	run_in_box true '.linux.devices = [{path: "/dev/nothing", type: "c", major: 250, minor: 251}]'
	rc_is 1
	like "$err" 'linux\.devices\[0\].*/dev/nothing'
}

a_mode_that_can_not_be_had_is_said_and_refused_by_strict() {
	bundle '.linux.devices = [{path: "/dev/brimful", type: "c", major: 1, minor: 7, fileMode: 384}]'
	run sbx --log-level warning run -b "$B" "$ID"
	rc_is 0
	like "$err" 'linux\.devices: mode and owner .*"/dev/brimful"'
	run sbx --strict run -b "$B" "$ID"
	rc_is 1
	like "$err" '^sbxrun: --strict: .*linux\.devices: .*/dev/brimful'
}

# spec --rootless binds /sys itself; here the config asks for a sysfs, in the host's network namespace.
sys_of_the_hosts_network_is_bound_and_read_only_all_the_way_down() {
	run_in_box 'ls /sys/class/net/lo/mtu; cat /proc/self/mountinfo' 'without_ns("network")' 'unmount("/sys")' \
		'mount({destination: "/sys", type: "sysfs", source: "sysfs", options: ["nosuid", "noexec", "nodev", "ro"]})'
	rc_is 0
	like "$out" '^/sys/class/net/lo/mtu'
	while read -r _ _ _ _ dir flags _; do
		[[ $dir != /sys && $dir != /sys/* ]] || like ",$flags," ,ro, "$dir"
	done <<<"$out"
}

proc_of_the_hosts_pid_namespace_is_bound() {
	run_in_box 'readlink /proc/self/ns/pid; [ -d /proc/$$ ] && stat -fc %T /proc; echo x >/proc/sys/kernel/hostname' \
		'without_ns("pid")'
	isnt "$rc" 0
	like "$out" "^$(readlink /proc/self/ns/pid | sed 's/[][]/\\&/g')"
	like "$err" 'Read-only'
}

a_new_network_namespace_may_have_its_own_sysfs() {
	run_in_box 'ls /sys/class/net' 'unmount("/sys")' \
		'mount({destination: "/sys", type: "sysfs", source: "sysfs", options: ["nosuid", "noexec", "nodev", "ro"]})'
	rc_is 0
	is "$out" lo
}

# A directory src that is a mount with the flags of an untrusted one.
_locked() {
	mkdir src
	mount -t tmpfs -o "$1" tmpfs src
}

flags_of_the_hosts_mounts_are_kept() {
	_locked ro,nosuid,nodev,noexec
	run_in_box 'cat /proc/self/mountinfo' 'mount({destination: "/m", type: "bind", source: ($T + "/src"), options: ["rbind"]})'
	umount src
	rc_is 0
	read_mountinfo "$out"
	mount_has /m ro nosuid nodev noexec
}

what_the_host_has_locked_can_not_be_lifted_and_that_is_said() {
	local word
	_locked ro,nosuid,nodev,noexec
	for word in rw suid dev exec; do
		run_in_box true "mount({destination: \"/m\", type: \"bind\", source: (\$T + \"/src\"), options: [\"rbind\", \"$word\"]})"
		rc_is 1
		like "$err" 'mounts\[6\]\.options: the host.s mount of .*/src is more restricted'
	done
	umount src
}

flags_can_be_added_to_the_hosts_mounts() {
	mkdir src
	run_in_box 'cat /proc/self/mountinfo; touch /m/x' \
		'mount({destination: "/m", type: "bind", source: ($T + "/src"), options: ["rbind", "ro", "nosuid", "nodev", "noexec"]})'
	like "$err" 'Read-only'
	read_mountinfo "$out"
	mount_has /m ro nosuid nodev noexec
}

owners_of_a_tmpfs_are_the_containers_ids() {
	local id=0
	[ "$SBX_VIEW" = rootless-single ] || id=7
	run_in_box 'stat -c %u:%g /m' "mount({destination: \"/m\", type: \"tmpfs\", source: \"tmpfs\", options: [\"uid=$id\", \"gid=$id\"]})"
	rc_is 0
	is "$out" "$id:$id"
	run_in_box true 'mount({destination: "/m", type: "tmpfs", source: "tmpfs", options: ["uid=99999"]})'
	rc_is 1
	like "$err" 'mounts\[6\]\.options: tmpfs refuses uid=99999'
}

masked_and_read_only_paths_hold() {
	run_in_box 'cat /proc/keys; ls /sys/firmware; echo end; echo 0 >/proc/sys/kernel/panic'
	isnt "$rc" 0
	is "$out" end
	like "$err" 'Read-only'
}

the_root_belongs_to_the_user() {
	run_in_box 'stat -c %u:%g / /bin/busybox; echo x >/made && stat -c %u:%g /made' writable
	rc_is 0
	is "$out" $'0:0\n0:0\n0:0'
	is "$(stat -c %u:%g "$B/rootfs/made")" "$SBX_UID:$SBX_UID"
}

run_tests
