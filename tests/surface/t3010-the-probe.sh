#!/bin/bash
# The probe itself: it sees what there is, tells answers apart, and changes nothing.
# Views: own
. "${0%/*}/../lib/test.sh"
# shellcheck source=tests/surface/lib.sh
. "${0%/*}/lib.sh"

# Everything that a config can give to a container that has namespaces of its own.
PRIVILEGED='caps([range(0; 41)] | map(["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_SETGID",
	"CAP_SETUID", "CAP_SETPCAP", "CAP_LINUX_IMMUTABLE", "CAP_NET_BIND_SERVICE", "CAP_NET_BROADCAST", "CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_IPC_LOCK",
	"CAP_IPC_OWNER", "CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_CHROOT", "CAP_SYS_PTRACE", "CAP_SYS_PACCT", "CAP_SYS_ADMIN", "CAP_SYS_BOOT",
	"CAP_SYS_NICE", "CAP_SYS_RESOURCE", "CAP_SYS_TIME", "CAP_SYS_TTY_CONFIG", "CAP_MKNOD", "CAP_LEASE", "CAP_AUDIT_WRITE", "CAP_AUDIT_CONTROL",
	"CAP_SETFCAP", "CAP_MAC_OVERRIDE", "CAP_MAC_ADMIN", "CAP_SYSLOG", "CAP_WAKE_ALARM", "CAP_BLOCK_SUSPEND", "CAP_AUDIT_READ", "CAP_PERFMON",
	"CAP_BPF", "CAP_CHECKPOINT_RESTORE"][.])) | writable | del(.linux.seccomp, .linux.maskedPaths, .linux.readonlyPaths) | .process.noNewPrivileges = false
	| .mounts |= map(.options = ((.options // []) | map(select(. != "ro"))))'

_build() {
	[ "$(uname -m)" = x86_64 ] || skip 'the probe knows the system calls of x86_64 alone'
	surface_build "$SBXT_WORK/probe"
}

# _probe PARTS [FILTER…]
_probe() {
	_build
	bundle "args([\"/bin/probe\", \"--list\"] + (\"$1\" | split(\" \")))" "${@:2}"
	cp "$SBXT_WORK/probe" "$B/rootfs/bin/probe"
	run sbx run -b "$B" "$ID"
	rc_is 0
	cp "$T/out" "$T/said"
	is "$(surface_figure "$T/said" end)" 1 'the probe came to its end'
}

# _more_than KEY N
_more_than() {
	local figure
	figure=$(surface_figure "$T/said" "$1")
	echo "$1 is $figure"
	[ "$figure" -gt "$2" ] || fail "$1 is $figure, want more than $2"
}

_seen_without_a_sandbox() {
	_more_than calls_reached 330
	_more_than features_allowed 45
	_more_than proc_writable 100
	_more_than leaks_readable 40
	_more_than mounts_without_nosuid 1
}

a_privileged_container_shows_far_more() {
	_probe 'calls foreign features files mounts leaks' "$PRIVILEGED"
	_seen_without_a_sandbox
	grep -qx 'feature mount_tmpfs allowed 0' "$T/said" || fail 'no mount'
	grep -qx 'feature setuid_exec allowed 0' "$T/said" || fail 'no program gains rights'
	grep -qx 'call reboot reached EINVAL' "$T/said" || fail 'reboot was not reached'
}

# Nothing is taken away but one thing, and one thing is what the probe misses.
answers_of_a_filter_are_told_apart() {
	_probe calls "$PRIVILEGED" '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86_64"], syscalls: [
		{names: ["getcpu"], action: "SCMP_ACT_ERRNO", errnoRet: 1}, {names: ["sync"], action: "SCMP_ACT_ERRNO", errnoRet: 1},
		{names: ["getpgid", "vfork"], action: "SCMP_ACT_ERRNO", errnoRet: 38},
		{names: ["umask", "rt_sigreturn", "pause"], action: "SCMP_ACT_KILL_PROCESS"}]}'
	is "$(awk '$1 == "call" && $2 ~ /^(getcpu|sync|getpgid|vfork|umask|rt_sigreturn|pause|fork|getpgrp)$/ { print $2, $3 }' "$T/said" | sort | paste -sd ' ')" \
		'fork reached getcpu EPERM getpgid ENOSYS getpgrp reached pause killed rt_sigreturn killed sync EPERM umask killed vfork ENOSYS'
	is "$(surface_figure "$T/said" calls_killed)" 3
}

calls_of_the_i386_interface_are_seen() {
	_probe foreign "$PRIVILEGED"
	[ "$(surface_figure "$T/said" i386_reached)" != 0 ] || skip 'this kernel has no calls of i386'
	_more_than i386_reached 20
}

# Even where everything is permitted.
nothing_is_changed_by_it() {
	_build
	# shellcheck disable=SC2016
	bundle "$PRIVILEGED" 'sh("look() { cat /proc/self/mountinfo /proc/sys/kernel/hostname /proc/sysvipc/*; ls -R /bin /etc /tmp /run /dev/shm;
		find /sys/fs/cgroup -type d | wc -l; umask; ulimit -a; set -- /proc/[0-9]*; echo $#; ip addr; }
		look >/root/before; /bin/probe >/root/said; look >/root/after; tail -n 1 /root/said; diff /root/before /root/after || cat /root/after")'
	cp "$SBXT_WORK/probe" "$B/rootfs/bin/probe"
	run sbx run -b "$B" "$ID"
	is "$out" 'end 1'
	rc_is 0
}

a_part_that_is_none_is_an_error() {
	_build
	run "$SBXT_WORK/probe" no-such-part
	rc_is 2
	like "$err" 'no part is called no-such-part'
}

run_tests
