#!/bin/bash
# process.apparmorProfile on a kernel that runs AppArmor (tests/lsm/run boots one).
. "${0%/*}/../lib/test.sh"

# The mount namespace is the file's own; the profile is the throw-away kernel's.
mount -t securityfs securityfs /sys/kernel/security
apparmor_parser -rK <<-'END'
	profile sbxt-box flags=(attach_disconnected) {
		file,
		capability,
		signal,
		deny /denied/** rwklx,
	}
END

the_profile_is_the_programs_and_holds() {
	run_in_box 'cat /proc/self/attr/current; mkdir /denied; echo hello >/open; cat /open; echo hello >/denied/x' writable \
		'.process.apparmorProfile = "sbxt-box"'
	is "$out" $'sbxt-box (enforce)\nhello'
	like "$err" 'denied'
	rc_is 1
}

without_new_privileges_it_holds_too() {
	run_in_box 'cat /proc/self/attr/current' '.process.apparmorProfile = "sbxt-box" | .process.noNewPrivileges = true'
	is "$out" 'sbxt-box (enforce)'
}

without_one_the_program_is_unconfined() {
	run_in_box 'cat /proc/self/attr/current'
	is "$out" unconfined
}

a_profile_that_is_not_loaded_is_an_error_that_names_the_field() {
	run_in_box 'echo started' '.process.apparmorProfile = "sbxt-nosuch"'
	rc_is 1
	is "$out" ''
	like "$err" 'process\.apparmorProfile'
}

exec_has_the_containers_profile_or_another() {
	bundle 'sh("sleep 100")' '.process.apparmorProfile = "sbxt-box"'
	sbx run -d -b "$B" "$ID"
	run sbx exec "$ID" cat /proc/self/attr/current
	is "$out" 'sbxt-box (enforce)'
	bundle 'sh("sleep 100")'
	sbx run -d -b "$B" "$ID"
	run sbx exec --apparmor sbxt-box "$ID" cat /proc/self/attr/current
	is "$out" 'sbxt-box (enforce)'
	run sbx exec --apparmor sbxt-nosuch "$ID" true
	isnt "$rc" 0
}

a_label_of_another_module_is_left_out_with_a_warning() {
	run_in_box 'cat /proc/self/attr/current' '.process.selinuxLabel = "u:r:box_t:s0" | .linux.mountLabel = "u:object_r:box_file_t:s0"'
	rc_is 0
	is "$out" unconfined
	like "$err" 'process\.selinuxLabel: .*no SELinux.*linux\.mountLabel: .*no SELinux'
}

run_tests
