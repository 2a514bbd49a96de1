#!/bin/bash
# Imitates CVE-2016-9962 and CVE-2016-8649: the first process of a container, with CAP_SYS_PTRACE, attaches to whoever joins by exec,
# and opens its descriptors, its root and its program. Escape: it gets any of the host's.
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

run_tests
