#!/bin/bash
# linux.sysctl: namespaced keys are set inside and only there, others are refused.
. "${0%/*}/../lib/test.sh"

keys_of_ipc_and_net_are_set_inside_and_not_outside() {
	local shmmax forward port
	slurp shmmax /proc/sys/kernel/shmmax
	slurp forward /proc/sys/net/ipv4/ip_forward
	slurp port /proc/sys/net/ipv4/ip_unprivileged_port_start
	run_in_box 'cd /proc/sys; cat kernel/shmmax kernel/shm_rmid_forced kernel/msgmax fs/mqueue/msg_max \
		net/ipv4/ip_unprivileged_port_start net/ipv4/ip_forward; cat kernel/sem' '.linux.sysctl = {
		"kernel.shmmax": "123456", "kernel.shm_rmid_forced": "1", "kernel.msgmax": "7777", "fs.mqueue.msg_max": "33",
		"net.ipv4.ip_unprivileged_port_start": "81", "net.ipv4.ip_forward": "1", "kernel.sem": "250 32001 32 129"}'
	rc_is 0
	is "${out//$'\t'/ }" $'123456\n1\n7777\n33\n81\n1\n250 32001 32 129'
	slurp out /proc/sys/kernel/shmmax
	is "$out" "$shmmax"
	slurp out /proc/sys/net/ipv4/ip_forward
	is "$out" "$forward"
	slurp out /proc/sys/net/ipv4/ip_unprivileged_port_start
	is "$out" "$port"
}

a_key_with_slashes_is_the_same_key() {
	run_in_box 'cat /proc/sys/net/ipv4/conf/lo/forwarding' '.linux.sysctl = {"net/ipv4/conf/lo/forwarding": "1"}'
	rc_is 0
	is "$out" 1
}

# KEY VALUE FILTER: refused by name, and the host's value is not touched.
_refused() {
	local key=$1 value=$2 file=/proc/sys/${1//.//} before='' after=''
	[ ! -f "$file" ] || slurp before "$file"
	run_in_box 'echo started' "${3:-.}" ".linux.sysctl = {\"$key\": \"$value\"}"
	rc_is 1
	is "$out" ''
	like "$err" 'linux\.sysctl'
	like "$err" "${key//./\\.}"
	[ ! -f "$file" ] || slurp after "$file"
	is "$after" "$before"
}

a_key_of_the_whole_machine_is_refused() {
	# Values are those that the machine has: should it be written all the same, nothing is different.
	_refused vm.swappiness "$(cat /proc/sys/vm/swappiness)"
	_refused kernel.pid_max "$(cat /proc/sys/kernel/pid_max)"
}

a_key_of_a_namespace_that_is_not_new_is_refused() {
	_refused net.ipv4.ip_default_ttl "$(cat /proc/sys/net/ipv4/ip_default_ttl)" 'without_ns("network")'
	_refused kernel.shmmni "$(cat /proc/sys/kernel/shmmni)" 'without_ns("ipc")'
}

a_key_that_leads_elsewhere_is_refused() {
	_refused 'net.ipv4/../../vm/swappiness' 60
	_refused 'net..ipv4' 1
	_refused 'net.no.such.key' 1
}

a_value_that_the_kernel_refuses_is_an_error() {
	_refused net.ipv4.ip_forward many
}

run_tests
