#!/bin/bash
# Imitates CVE-2016-9962 and CVE-2016-8649: the first process of a container, with CAP_SYS_PTRACE, attaches to whoever joins by exec,
# and opens its descriptors, its root and its program. Also where there is no pid namespace: then a launcher that has entered the user
# namespace is in its sight. Escape: it gets any of the host's.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/hunter.sh"

# FILTER…: execs into a container with a hunter.
_hunt() {
	local i
	lie_in_wait "$@"
	mkdir outside
	for ((i = 0; i < STARTS; i++)); do
		# A hunter that attaches may disturb the program's end, but not the host.
		timeout -k 1 60 "$SBXRUN" --root "$T/state" exec "$ID" /hunter idle </dev/null >/dev/null 2>>errors 9<outside || :
	done
	call_it_off
	hides "$REPORT" 'GOT [^
]*'
}

a_hunter_that_may_trace() {
	_hunt 'caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_KILL"])'
}

a_hunter_that_may_trace_with_a_filter_to_load() {
	_hunt 'caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_KILL"])' '.process.noNewPrivileges = false' \
		'.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO"}]}'
}

a_hunter_in_a_user_namespace() {
	_hunt 'caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_KILL", "CAP_SYS_ADMIN"])' \
		'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
}

# _hunt_launchers CMD…: CMD makes a launcher that enters the hunter's user namespace, and is held up there.
_hunt_launchers() {
	local i
	needs strace
	mkdir -p outside
	for ((i = 0; i < 3; i++)); do
		timeout -k 1 60 strace -f -qq -o setns -e trace=setns -e inject=setns:delay_exit=200000 "$SBXRUN" --root "$T/state" "$@" \
			</dev/null >/dev/null 2>>errors 9<outside || :
		file_has setns setns
	done
}

# Sets USERS_HUNTER, a bundle. It has the host's processes in its /proc, and may look into those of its user namespace.
_lie_in_wait_for_launchers() {
	lie_in_wait 'caps(["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_KILL"])' 'without_ns("pid")' \
		'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings' \
		'del(.linux.maskedPaths, .linux.readonlyPaths)' \
		'.mounts |= map(if .destination == "/proc" then {destination: "/proc", type: "bind", source: "/proc", options: ["rbind"]} else . end)'
	USERS_HUNTER=$B
}

_nothing_was_got() {
	B=$USERS_HUNTER
	call_it_off
	# What processes of the machine say of themselves is none of our concern here.
	hides "$REPORT" 'GOT (program|descriptor|listener|root|trace|words in)[^
]*'
	unlike "$REPORT" 'looked 0'
}

a_launcher_of_exec_is_not_seen_in_the_user_namespace() {
	_lie_in_wait_for_launchers
	_hunt_launchers exec "$ID" /hunter idle
	_nothing_was_got
}

a_launcher_of_create_is_not_seen_in_the_user_namespace() {
	local first
	_lie_in_wait_for_launchers
	first=$(pid_of "$ID")
	bundle 'args(["/hunter", "idle"])' "ns(\"user\"; \"/proc/$first/ns/user\")"
	ln "$USERS_HUNTER/rootfs/hunter" "$B/rootfs/hunter"
	: >"$B/rootfs/prey"
	_hunt_launchers run -b "$B" "$ID"
	_nothing_was_got
}

run_tests
