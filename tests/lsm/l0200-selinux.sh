#!/bin/bash
# process.selinuxLabel and linux.mountLabel on a kernel that runs SELinux (tests/lsm/run boots one). The policy forbids nothing: what is
# seen is which label a process and a file have.
. "${0%/*}/../lib/test.sh"

mount -t selinuxfs selinuxfs /sys/fs/selinux
secilc -M true -o "$SBXT_WORK/policy" -f /dev/null "${0%/*}/policy.cil"
cat "$SBXT_WORK/policy" >/sys/fs/selinux/load

_own='tr -d "\0" </proc/self/attr/current; echo'

the_label_is_the_programs() {
	run_in_box "$_own" '.process.selinuxLabel = "u:r:box_t:s0"'
	rc_is 0
	is "$out" u:r:box_t:s0
}

without_new_privileges_it_is_too() {
	run_in_box "$_own" '.process.selinuxLabel = "u:r:box_t:s0" | .process.noNewPrivileges = true'
	is "$out" u:r:box_t:s0
}

without_one_it_is_the_callers() {
	run_in_box "$_own"
	is "$out" u:r:kernel_t:s0
}

a_label_that_the_policy_lacks_is_an_error_that_names_the_field() {
	run_in_box 'echo started' '.process.selinuxLabel = "u:r:nosuch_t:s0"'
	rc_is 1
	is "$out" ''
	like "$err" 'process\.selinuxLabel'
	run_in_box 'echo started' '.linux.mountLabel = "u:object_r:nosuch_t:s0"'
	rc_is 1
	is "$out" ''
	like "$err" 'context'
}

new_file_systems_have_the_mount_label() {
	bundle 'sh("sleep 100")' '.linux.mountLabel = "u:object_r:box_file_t:s0"'
	sbx run -d -b "$B" "$ID"
	run awk '/context=/ { print $5 }' "/proc/$(pid_of "$ID")/mountinfo"
	is "$out" $'/dev\n/dev/pts\n/dev/shm'
	touch "/proc/$(pid_of "$ID")/root/dev/shm/x"
	run stat -c %C "/proc/$(pid_of "$ID")/root/dev/shm/x"
	is "$out" u:object_r:box_file_t:s0
}

exec_has_the_containers_label_or_another() {
	bundle 'sh("sleep 100")' '.process.selinuxLabel = "u:r:box_t:s0"'
	sbx run -d -b "$B" "$ID"
	run sbx exec "$ID" sh -c "$_own"
	is "$out" u:r:box_t:s0
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	run sbx exec --process-label u:r:box_t:s0 "$ID" sh -c "$_own"
	is "$out" u:r:box_t:s0
}

run_tests
