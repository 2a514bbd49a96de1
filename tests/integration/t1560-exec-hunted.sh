#!/bin/bash
# exec into a container whose first process lies in wait for whoever joins (CVE-2016-9962, CVE-2019-5736).
# shellcheck disable=SC2119
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# _hunt FILTER…: a container with a hunter, and execs into it. Sets REPORT.
_hunt() {
	local i many=100
	[ "$VIEW" != v2 ] || many=20
	needs gcc
	bundle writable 'args(["/hunter"])' "$@"
	gcc -O2 -static -o "$B/rootfs/hunter" "$TOOLS/hunter.c" || skip 'no static C library'
	chmod 777 "$B/rootfs"
	sbx run -d -b "$B" "$ID"
	wait_until 10 test -e "$B/rootfs/report"
	for ((i = 0; i < many; i++)); do
		# A hunter that attaches may disturb the program's end, but not the host.
		timeout 20 "$SBXRUN" --root "$T/state" exec "$ID" /hunter idle </dev/null >/dev/null 2>>errors || :
	done
	: >"$B/rootfs/end"
	wait_until 20 grep -q ^end "$B/rootfs/report"
	slurp REPORT "$B/rootfs/report"
	echo "$REPORT"
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

run_tests
