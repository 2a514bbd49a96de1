#!/bin/bash
# hostname and domainname.
. "${0%/*}/../lib/test.sh"

both_names_are_set_inside_and_not_outside() {
	local host domain now
	slurp host /proc/sys/kernel/hostname
	slurp domain /proc/sys/kernel/domainname
	run_in_box 'hostname; uname -n; cat /proc/sys/kernel/domainname' '.hostname = "box.example" | .domainname = "domain.example"'
	rc_is 0
	is "$out" $'box.example\nbox.example\ndomain.example'
	slurp now /proc/sys/kernel/hostname
	is "$now" "$host"
	slurp now /proc/sys/kernel/domainname
	is "$now" "$domain"
}

# As with runc: the sysctl comes later.
of_a_domain_named_twice_the_sysctl_stays() {
	run_in_box 'cat /proc/sys/kernel/domainname' '.domainname = "field" | .linux.sysctl["kernel.domainname"] = "sysctl"'
	rc_is 0
	is "$out" sysctl
}

without_a_name_the_hosts_is_inherited() {
	local host
	slurp host /proc/sys/kernel/hostname
	run_in_box 'hostname' 'del(.hostname)'
	rc_is 0
	is "$out" "$host"
}

a_name_without_a_uts_namespace_is_an_error() {
	local host now
	slurp host /proc/sys/kernel/hostname
	run_in_box 'echo started' 'without_ns("uts")' '.hostname = "box"'
	rc_is 1
	is "$out" ''
	like "$err" hostname
	run_in_box 'echo started' 'without_ns("uts")' 'del(.hostname) | .domainname = "box"'
	rc_is 1
	is "$out" ''
	like "$err" domainname
	slurp now /proc/sys/kernel/hostname
	is "$now" "$host"
}

a_name_that_is_too_long_is_an_error() {
	run_in_box 'echo started' '.hostname = ("x" * 65)'
	rc_is 1
	is "$out" ''
	like "$err" hostname
}

run_tests
