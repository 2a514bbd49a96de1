#!/bin/bash
# linux.devices, the devices that every container has, and the links in /dev.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mountinfo.sh"

_stat_defaults='cd /dev && for d in null zero full random urandom tty; do stat -c "%n %F %t:%T %a %u:%g" $d; done'
DEFAULTS='null character special file 1:3 666 0:0
zero character special file 1:5 666 0:0
full character special file 1:7 666 0:0
random character special file 1:8 666 0:0
urandom character special file 1:9 666 0:0
tty character special file 5:0 666 0:0'

the_default_devices_are_there_with_the_right_numbers() {
	run_in_box "$_stat_defaults"
	rc_is 0
	is "$out" "$DEFAULTS"
}

the_default_devices_are_there_without_a_mount_on_dev_too() {
	run_in_box "$_stat_defaults" '.mounts |= map(select(.destination | startswith("/dev") | not))'
	rc_is 0
	is "$out" "$DEFAULTS"
}

the_default_devices_work() {
	run_in_box 'echo x >/dev/null && head -c 3 /dev/zero | od -An -tx1 && head -c 4 /dev/urandom | wc -c
		echo x >/dev/full || echo full'
	is "$out" $' 00 00 00\n4\nfull'
}

the_links_of_dev_are_there() {
	run_in_box 'cd /dev; for l in fd stdin stdout stderr ptmx; do readlink $l; done; echo through >>/dev/stdout; cat /dev/stdin'
	rc_is 0
	is "$out" $'/proc/self/fd\n/proc/self/fd/0\n/proc/self/fd/1\n/proc/self/fd/2\npts/ptmx\nthrough'
}

devices_of_the_config_have_type_numbers_mode_and_owner() {
	run_in_box 'cd /dev && for d in a dir/b c d e; do stat -c "%n %F %t:%T %a %u:%g" $d; done' '.linux.devices = [
		{path: "/dev/a", type: "c", major: 10, minor: 229, fileMode: 416, uid: 7, gid: 8},
		{path: "/dev/dir/b", type: "b", major: 7, minor: 200, fileMode: 384},
		{path: "/dev/c", type: "p", fileMode: 420, uid: 9},
		{path: "/dev/d", type: "u", major: 1, minor: 3},
		{path: "/dev/e", type: "c", major: 511, minor: 70000}]'
	rc_is 0
	like "$out" $'^a character special file a:e5 640 7:8\n'
	like "$out" $'\ndir/b block special file 7:c8 600 0:0\n'
	like "$out" $'\nc fifo 0:0 644 9:0\n'
	like "$out" $'\nd character special file 1:3 666 0:0\n'
	like "$out" $'\ne character special file 1ff:11170 666 0:0$'
}

a_device_outside_dev_is_made_where_it_is_asked_for() {
	run_in_box 'stat -c "%F %t:%T" /some/where/null' '.linux.devices = [{path: "/some/where/null", type: "c", major: 1, minor: 3}]'
	rc_is 0
	is "$out" 'character special file 1:3'
}

a_default_device_in_the_list_is_no_conflict() {
	run_in_box 'stat -c "%t:%T %a" /dev/null' \
		'.linux.devices = [{path: "/dev/null", type: "c", major: 1, minor: 3, fileMode: 438, uid: 0, gid: 0}]'
	rc_is 0
	is "$out" '1:3 666'
}

an_existing_file_that_is_another_device_is_an_error() {
	bundle 'sh("echo started")' '.linux.devices = [{path: "/etc/dev", type: "c", major: 1, minor: 3}]'
	mknod "$B/rootfs/etc/dev" c 1 5
	run sbx run -b "$B" "$ID"
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.devices\[0\]'
	is "$(stat -c %t:%T "$B/rootfs/etc/dev")" 1:5
	bundle 'sh("echo started")' '.linux.devices = [{path: "/etc/passwd", type: "c", major: 1, minor: 3}]'
	run sbx run -b "$B" "$ID"
	rc_is 1
	is "$out" ''
	[ -f "$B/rootfs/etc/passwd" ] || fail 'the file of the image was replaced'
}

an_existing_file_that_is_the_device_is_taken() {
	bundle 'sh("stat -c %t:%T /etc/dev")' '.linux.devices = [{path: "/etc/dev", type: "c", major: 1, minor: 3}]'
	mknod "$B/rootfs/etc/dev" c 1 3
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" 1:3
}

bad_devices_are_errors_that_name_the_field() {
	local bad
	for bad in '{path: "/dev/x", type: "z", major: 1, minor: 3}' '{path: "dev/x", type: "c", major: 1, minor: 3}' \
		'{path: "/dev/x", type: "c"}' '{type: "c", major: 1, minor: 3}' '{path: "/dev/x", type: "c", major: -1, minor: 3}'; do
		run_in_box 'echo started' ".linux.devices = [$bad]"
		rc_is 1
		is "$out" '' "$bad"
		like "$err" 'linux\.devices\[0\]' "$bad"
		[ "$VIEW" != v2 ] || break
	done
}

in_a_user_namespace_devices_are_the_hosts_own_bound() {
	bundle 'sh("cat /proc/self/mountinfo; echo --; head -c 2 /dev/zero | wc -c; echo x >/dev/null && stat -c %t:%T /dev/null")' \
		'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] |
			.linux.gidMappings = [{containerID: 0, hostID: 100000, size: 65536}]'
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "${out#*--}" $'\n2\n1:3'
	read_mountinfo "$out"
	isnt "${MOUNT_TYPE[/dev/null]:-}" ''
	isnt "${MOUNT_TYPE[/dev/zero]:-}" ''
}

a_read_only_dev_has_its_nodes_all_the_same() {
	run_in_box 'stat -c %t:%T /dev/null; echo x >/dev/null && echo written; echo x >/dev/new' \
		'.mounts |= map(if .destination == "/dev" then .options += ["ro"] else . end)'
	is "$out" $'1:3\nwritten'
	like "$err" 'Read-only file system'
	rc_is 1
}

the_console_is_there_only_with_a_terminal() {
	run_in_box 'ls /dev/console || :; ls /dev/pts'
	rc_is 0
	is "$out" ptmx
}

run_tests
