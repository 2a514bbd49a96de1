#!/bin/bash
# exec: the same confinement as the container's first process, in every kind of container.
# shellcheck disable=SC2016,SC2154
# Views: own its_user_namespace_is_that_of_init without_a_pid_namespace_it_works joined_namespaces_are_joined
# Views: own without_namespaces_of_net_ipc_and_uts_it_works the_clocks_are_those_of_init
# Views: own it_works_in_a_container_that_is_created_but_not_started
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/life.sh"
. "${0%/*}/../tools/exec.sh"

# A detached exec in $ID is in the same namespaces, root and cgroups as init; sets PID.
_is_with_init() {
	local init kind
	init=$(pid_of "$ID")
	sbx exec -d --pid-file pid "$ID" sleep 100
	PID=$(<pid)
	for kind in /proc/"$init"/ns/*; do
		is "$(readlink "/proc/$PID/ns/${kind##*/}")" "$(readlink "$kind")" "$kind"
	done
	is "$(<"/proc/$PID/cgroup")" "$(<"/proc/$init/cgroup")"
	is "$(stat -Lc %d:%i "/proc/$PID/root")" "$(stat -Lc %d:%i "/proc/$init/root")"
	is "$(<"/proc/$PID/uid_map")" "$(<"/proc/$init/uid_map")"
	is "$(<"/proc/$PID/mountinfo")" "$(<"/proc/$init/mountinfo")"
}

# The fields of /proc/PID/status that confine.
_confinement() {
	grep -E '^(Uid|Gid|Groups|Cap...|NoNewPrivs|Seccomp|Cpus_allowed_list|Mems_allowed_list|Sig(Blk|Ign|Cgt)|Speculation_Store_Bypass):' "/proc/$1/status"
}

namespaces_cgroups_and_root_are_those_of_init() {
	box 'ns("cgroup")'
	_is_with_init
	isnt "$(readlink "/proc/$PID/ns/mnt")" "$(readlink /proc/self/ns/mnt)"
	isnt "$(readlink "/proc/$PID/ns/pid")" "$(readlink /proc/self/ns/pid)"
	# It sees itself under the pid that the container gives.
	in_box "$ID" sh -c 'kill -0 1 && [ -d /proc/$$ ] && cat /proc/1/cmdline'
	rc_is 0
	like "$out" sleep
}

powers_are_those_of_init() {
	local init filter
	filter='.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO", errnoRet: 38}]}'
	for more in '.process.noNewPrivileges = true' '.process.noNewPrivileges = false' '.process.user = {uid: 1000, gid: 1000}'; do
		box writable 'caps(["CAP_KILL", "CAP_DAC_OVERRIDE"])' "$filter" "$more"
		init=$(pid_of "$ID")
		sbx exec -d --pid-file pid "$ID" sleep 100
		is "$(_confinement "$(<pid)")" "$(_confinement "$init")" "$more"
		like "$(_confinement "$(<pid)")" $'Seccomp:\t2'
		in_box "$ID" mkdir /made
		rc_is 1
		like "$err" 'Function not implemented'
		is "$(<"/proc/$(<pid)/limits")" "$(<"/proc/$init/limits")"
		sbx delete -f "$ID"
	done
}

the_filter_holds_for_a_process_file_too() {
	box writable '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO"}]}'
	echo '{"cwd": "/", "args": ["/bin/mkdir", "/made"], "user": {"uid": 0, "gid": 0}, "capabilities": {"bounding": ["CAP_SYS_ADMIN"],
		"effective": ["CAP_SYS_ADMIN"], "permitted": ["CAP_SYS_ADMIN"]}}' >process
	in_box -p process "$ID"
	rc_is 1
	[ ! -e "$B/rootfs/made" ] || fail 'it was made'
}

masks_and_read_only_paths_hold() {
	box
	in_box "$ID" sh -c 'echo 1 >/proc/sys/kernel/ns_last_pid; cat /proc/kcore; cat /proc/timer_list | head -c 1; touch /file'
	is "$out" ''
	like "$err" '/file: Read-only file system'
	[ ! -e "$B/rootfs/file" ] || fail 'it was made'
}

nothing_of_the_caller_comes_along() {
	box
	run env --ignore-signal=HUP,USR2 --block-signal=USR1 nice -n 5 "$SBXRUN" --root "$T/state" exec "$ID" sh -c '
		grep -E "Sig(Blk|Ign)" /proc/self/status; cut -d " " -f 19 </proc/self/stat; umask; echo "$SBXT_TEST"; tty
		cat /proc/self/oom_score_adj; ps -o pid,sid | grep -c " 0 *$"' 5</
	like "$out" $'^SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0\n0022\n\nnot a tty\n'
}

the_session_is_its_own() {
	box
	in_box "$ID" sh -c 'read -r pid _ _ ppid pgrp session rest </proc/self/stat; echo $pid $$ $ppid $pgrp $session'
	like "$out" '^([0-9]+) \1 0 \1 \1$'
}

its_user_namespace_is_that_of_init() {
	box 'ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
	_is_with_init
	is "$(status_field "$PID" Uid | cut -f 1)" 100000
	is "$(_confinement "$PID")" "$(_confinement "$(pid_of "$ID")")"
}

without_a_pid_namespace_it_works() {
	box 'without_ns("pid")'
	_is_with_init
	in_box "$ID" sh -c 'exit 7'
	rc_is 7
	sbx delete -f "$ID"
	wait_until 10 dead "$PID"
}

without_a_mount_namespace_it_is_in_the_root_too() {
	box 'without_ns("mount")' '.linux.maskedPaths = [] | .linux.readonlyPaths = []' 'writable'
	_is_with_init
	in_box "$ID" sh -c 'echo >/mark; ls -d /work /boot 2>/dev/null; cd /..; ls mark; pwd'
	is "$out" $'mark\n/'
	[ -e "$B/rootfs/mark" ] || fail 'it is elsewhere'
}

joined_namespaces_are_joined() {
	local first
	box
	first=$(pid_of "$ID")
	box "ns(\"network\"; \"/proc/$first/ns/net\")" "ns(\"ipc\"; \"/proc/$first/ns/ipc\")" "ns(\"pid\"; \"/proc/$first/ns/pid\")"
	_is_with_init
	is "$(readlink "/proc/$PID/ns/net")" "$(readlink "/proc/$first/ns/net")"
	is "$(readlink "/proc/$PID/ns/pid")" "$(readlink "/proc/$first/ns/pid")"
}

without_namespaces_of_net_ipc_and_uts_it_works() {
	box 'without_ns("network")' 'without_ns("ipc")' 'without_ns("uts")' 'del(.hostname)' 'without_ns("cgroup")'
	_is_with_init
	is "$(readlink "/proc/$PID/ns/net")" "$(readlink /proc/self/ns/net)"
}

the_clocks_are_those_of_init() {
	if [ ! -e /proc/self/ns/time ]; then
		# Then asking for one is an error, and that is all there is to see.
		bundle 'ns("time")'
		refused 'linux\.namespaces' sbx run -b "$B" "$ID"
		return
	fi
	box 'ns("time")' '.linux.timeOffsets = {boottime: {secs: 864000}}'
	_is_with_init
	in_box "$ID" cat /proc/uptime
	[ "${out%%.*}" -ge 864000 ] || fail "uptime $out"
}

it_works_in_a_container_that_is_created_but_not_started() {
	bundle 'args(["/bin/sleep", "1000"])'
	sbx create -b "$B" "$ID"
	in_box "$ID" hostname
	rc_is 0
	_is_with_init
	is "$(status_of "$ID")" created
	sbx start "$ID"
	is "$(status_of "$ID")" running
}

run_tests
