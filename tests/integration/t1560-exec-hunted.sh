#!/bin/bash
# exec into a container whose first process lies in wait for whoever joins (CVE-2016-9962, CVE-2019-5736).
# shellcheck disable=SC2119
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/hunter.sh"

# How often somebody joins.
_MANY=100
[ "$VIEW" != v2 ] || _MANY=12 # there is one processor there, and the hunter takes it

# Ends the hunt and sets REPORT.
_call_it_off() {
	call_it_off
	# With one processor the hunter may never get a look.
	[ "$(nproc)" = 1 ] || unlike "$REPORT" 'looked 0'
}

# _hunt FILTER…: execs into a container with a hunter.
_hunt() {
	local i
	lie_in_wait "$@"
	for ((i = 0; i < _MANY; i++)); do
		# A hunter that attaches may disturb the program's end, but not the host.
		timeout 60 "$SBXRUN" --root "$T/state" exec "$ID" /hunter idle </dev/null >/dev/null 2>>errors || :
	done
	_call_it_off
}

a_hunter_with_docker_like_rights_gets_nothing() {
	_hunt 'caps(["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP",
		"CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_MKNOD", "CAP_SETFCAP"])'
	unlike "$REPORT" GOT
}

# Nobody can keep it from attaching; what it attaches to must be worth no more than the container itself.
a_hunter_that_may_trace_gets_nothing_that_it_has_not() {
	_hunt 'caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_KILL"])'
	unlike "$REPORT" GOT
}

a_hunter_in_a_user_namespace_gets_nothing() {
	_hunt 'caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_KILL", "CAP_SYS_ADMIN"])' \
		'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
	unlike "$REPORT" GOT
}

# Without no_new_privs a filter can be loaded only with CAP_SYS_ADMIN; that must not be had by whoever can be seen.
a_filter_is_no_way_to_more() {
	_hunt 'caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_KILL"])' '.process.noNewPrivileges = false' \
		'.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'
	unlike "$REPORT" GOT
}

# A neighbour that may trace could attach to a container in the making, as with every runtime; one that may not gets nothing.
a_container_that_joins_the_pid_namespace_is_no_prey() {
	local i hunter first
	lie_in_wait 'caps(["CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_KILL"])'
	hunter=$B first=$(pid_of "$ID")
	bundle 'args(["/hunter", "idle"])' "ns(\"pid\"; \"/proc/$first/ns/pid\")" \
		'caps(["CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_KILL"])'
	ln "$hunter/rootfs/hunter" "$B/rootfs/hunter"
	for ((i = 0; i < _MANY / 4; i++)); do
		timeout 60 "$SBXRUN" --root "$T/state" run -b "$B" "$ID" </dev/null >/dev/null 2>>errors || :
		sbx delete -f "$ID"
	done
	B=$hunter
	_call_it_off
	unlike "$REPORT" GOT
}

run_tests
