#!/bin/bash
# root.path and root.readonly.
# Views: v2 a_read_only_root_can_not_be_written_to_by_root mounts_below_the_root_on_the_host_come_along
# Views: v2 dot_dot_at_the_root_stays_there
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/mountinfo.sh"

a_read_only_root_can_not_be_written_to_by_root() {
	run_in_box 'cat /proc/self/mountinfo; touch /x || echo refused; touch /etc/passwd || echo refused' \
		'.root.readonly = true' 'caps(["CAP_DAC_OVERRIDE", "CAP_FOWNER"])'
	like "$out" $'\nrefused\nrefused$'
	read_mountinfo "$out"
	mount_has / ro
	[ ! -e "$B/rootfs/x" ] || fail 'the root was written to'
}

a_read_only_root_leaves_its_mounts_writable() {
	mkdir src
	run_in_box 'touch /m/file /dev/shm/file && echo written' '.root.readonly = true' \
		'mount({destination: "/m", source: ($T + "/src"), options: ["bind"]})'
	rc_is 0
	is "$out" written
	[ -e src/file ] || fail 'it is not in the source'
}

a_writable_root_is_the_bundles() {
	run_in_box 'cat /proc/self/mountinfo; echo text >/made' writable
	rc_is 0
	read_mountinfo "$out"
	mount_has / rw
	is "$(cat "$B/rootfs/made")" text
}

an_absent_readonly_means_writable() {
	run_in_box 'touch /made && echo made' 'del(.root.readonly)'
	rc_is 0
	is "$out" made
}

an_absolute_path_is_taken_as_it_is() {
	bundle 'sh("cat /etc/mark")' '.root.path = $T + "/elsewhere"'
	mv "$B/rootfs" elsewhere
	echo here >elsewhere/etc/mark
	run sbx run -b "$B" "$ID"
	rc_is 0
	is "$out" here
}

mounts_below_the_root_on_the_host_come_along() {
	bundle 'sh("ls /vol; touch /vol/x || echo refused")' '.root.readonly = false'
	mkdir "$B/rootfs/vol"
	mount -t tmpfs tmpfs "$B/rootfs/vol"
	touch "$B/rootfs/vol/file"
	run sbx run -b "$B" "$ID"
	umount "$B/rootfs/vol"
	rc_is 0
	is "$out" file
}

a_missing_root_is_an_error() {
	bundle '.root.path = "missing"'
	run sbx run -b "$B" "$ID"
	rc_is 1
	like "$err" 'root\.path'
}

a_root_that_is_a_file_is_an_error() {
	bundle '.root.path = "config.json"'
	run sbx run -b "$B" "$ID"
	rc_is 1
	like "$err" 'root\.path'
}

the_hosts_root_is_refused_as_root() {
	bundle 'sh("echo started")' '.root.path = "/"'
	run sbx run -b "$B" "$ID"
	rc_is 1
	is "$out" ''
	like "$err" 'root\.path'
}

dot_dot_at_the_root_stays_there() {
	run_in_box 'cd /../../.. && ls -d etc bin; cat ../../../../etc/passwd | head -n 1'
	rc_is 0
	is "$out" $'bin\netc\nroot:x:0:0:root:/root:/bin/sh'
}

run_tests
