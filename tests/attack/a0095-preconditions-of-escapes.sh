#!/bin/bash
# What collections of published escapes (deepce, CDK, the container escape benchmarks) look for before they do anything: a privileged container,
# an engine's socket or its directory, mounts of the host, capabilities that equal root, the host's processes, release_agent, eBPF, packet
# sockets, the runtime's own program, descriptors that were left open. A default container, with docker's config, has none of them, and no
# config gets them. Escape: one of them is there.
# Views: own
# shellcheck disable=SC2016
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/caps.sh"
# shellcheck source=tests/surface/lib.sh
. "${0%/*}/../surface/lib.sh"

# The name chooses the default policy.
SBXRUN=$PLAIN_SBXRUN
# This file has a mount namespace of its own: here, and only here, this is /run.
mount -t tmpfs tmpfs /run

# CODE [FILTER…]: a container with docker's config.
_default() {
	local BOX_CODE=$1
	touch resolv.conf hostname hosts
	bundle 'sh($code)' "$(surface_docker)" "${@:2}"
	with_attacker
	attack
}

# ROW WHAT: what was asked for is refused by that row.
_refused() {
	[ "$rc" != 0 ] || escaped "$2: it ran and said '${out:0:200}'"
	like "$err" "\\[$1\\]" "$2"
}

# SOURCE [OPTION]: a bind of it.
_bind() {
	_default 'echo ran' "mount({destination: \"/mnt\", type: \"bind\", source: \"$1\", options: [\"rbind\", \"${2:-rw}\"]})"
}

a_privileged_container_is_refused() {
	_default 'echo ran' "$(all_caps)" 'del(.linux.seccomp, .linux.maskedPaths, .linux.readonlyPaths)' '.linux.resources.devices = [{allow: true, access: "rwm"}]'
	_refused capabilities privileged
	_default 'echo ran' '.linux.resources.devices = [{allow: true, access: "rwm"}]'
	_refused devices 'every device'
	_default 'ls /dev | grep -E "^(sd|vd|xvd|nvme|loop|mem|kmsg|kvm|fuse|mapper|net)" ; true'
	rc_is 0
	hides "$out" '[a-z]' 'devices of the host'
}

# The sockets are canaries.
engines_sockets_are_out_of_reach() {
	local name way
	needs python3
	mkdir -p /run/{containerd,podman,crio,user}
	ln -s /run/docker.sock "$T/link"
	python3 -c 'import socket, time
all = [socket.socket(socket.AF_UNIX) for _ in range(5)]
for s, at in zip(all, ["/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock", "/run/crio/crio.sock", "own.sock"]): s.bind(at)
open("ready", "w"); time.sleep(300)' &
	wait_until 20 test -e ready
	for name in /run/docker.sock /run/containerd/containerd.sock /run/podman/podman.sock /run/crio/crio.sock /run/containerd /run/podman /run/crio /run /var/run \
		"$T/own.sock" "$T/link"; do
		for way in rw ro; do
			_bind "$name" "$way"
			_refused host-paths "$name $way"
		done
	done
	_default 'find / -xdev -type s; ls /run; true'
	rc_is 0
	hides "$out" 'sock|containerd|podman' 'in the container'
}

directories_of_the_host_are_out_of_reach() {
	local dir
	for dir in / /proc /sys /dev /boot /etc /usr /run /var/lib /root/.ssh; do
		[ -d "$dir" ] || continue
		_bind "$dir"
		_refused host-paths "$dir"
	done
	for dir in / /proc /dev /etc/shadow; do
		_bind "$dir" ro
		_refused host-paths "$dir, read-only"
	done
	echo canary >"canary-$P"
	_default "find / -name 'canary-$P' 2>/dev/null; true"
	hides "$out" canary
}

# By number: DAC_READ_SEARCH, NET_ADMIN, NET_RAW, SYS_MODULE, SYS_RAWIO, SYS_PTRACE, SYS_ADMIN, SYS_BOOT, MKNOD, SYSLOG, PERFMON, BPF, CHECKPOINT_RESTORE.
capabilities_that_equal_root_are_absent() {
	local number set
	_default 'cat /proc/self/status'
	rc_is 0
	for set in CapInh CapPrm CapEff CapBnd CapAmb; do
		for number in 2 12 13 16 17 19 21 22 27 34 38 39 40; do
			[ $((16#$(sed -n "s/^$set:[[:space:]]*//p" <<<"$out") >> number & 1)) = 0 ] || escaped "$set has capability $number"
		done
	done
}

capabilities_that_equal_root_are_refused() {
	local name own
	own=$(all_caps)
	for name in SYS_ADMIN SYS_MODULE SYS_RAWIO SYS_PTRACE DAC_READ_SEARCH NET_ADMIN SYS_BOOT SYSLOG PERFMON BPF CHECKPOINT_RESTORE; do
		[[ $own == *"\"CAP_$name\""* ]] || continue
		_default 'echo ran' "caps([\"CAP_$name\"])"
		_refused capabilities "$name"
	done
}

calls_that_need_them_do_not_work() {
	local call
	_default 'for c in mount mntns userns fsopen bpf perf handle module kexec packet io_uring userfaultfd add_key vsock; do
		/attacker calls $c || echo "$c ended"; done'
	for call in mount mntns userns fsopen bpf perf handle module kexec packet io_uring userfaultfd add_key vsock; do
		grep -qE "^$call (EPERM|ENOSYS|EAFNOSUPPORT|ended)" <<<"$out" || escaped "$call: $(grep "^$call " <<<"$out")"
	done
}

# Without the engine's filter, ours remains.
ebpf_and_packet_sockets_do_not_work_unconfined_either() {
	_default 'for c in bpf packet mount fsopen io_uring; do /attacker calls $c; done' 'del(.linux.seccomp)' 'caps(["CAP_NET_RAW", "CAP_CHOWN"])'
	hides "$out" '(bpf|packet|mount|fsopen|io_uring) (OK|EFAULT|EINVAL)'
	like "$out" 'packet (EPERM|EAFNOSUPPORT)'
}

processes_of_the_host_are_out_of_sight() {
	_default 'echo ran' 'without_ns("pid")'
	_refused host-namespaces 'without a pid namespace'
	_default 'echo ran' "ns(\"pid\"; \"/proc/$$/ns/pid\")"
	_refused host-namespaces "the runtime's pid namespace"
	_default 'readlink /proc/1/ns/pid; cat /proc/1/cmdline | tr "\0" " "'
	rc_is 0
	hides "$out" "$(readlink "/proc/$$/ns/pid")"
	like "$out" '/bin/sh -c' 'its first process is its own'
}

# They are opened, not written to.
release_agent_cannot_be_written() {
	_default 'find /sys/fs/cgroup -name release_agent -o -name notify_on_release -o -name core_pattern | while read -r f; do (: >>"$f") 2>/dev/null && echo "opened $f"; done
		mkdir /tmp/cg; mount -t cgroup -o memory cgroup /tmp/cg && echo mounted; mount -t cgroup2 none /tmp/cg && echo mounted
		(: >>/proc/sys/kernel/core_pattern) 2>/dev/null && echo "opened core_pattern"; true' writable
	rc_is 0
	hides "$out" 'opened|mounted'
}

the_runtimes_program_cannot_be_written() {
	local before
	cp "$SBXRUN" sbxrun
	SBXRUN=$T/sbxrun
	before=$(md5sum <sbxrun)
	_default 'for f in /proc/self/exe /proc/1/exe; do (: >>$f) 2>/dev/null && readlink $f; done; true' '.process.args[0] = "/proc/self/exe"'
	_default 'true' 'args(["/proc/self/exe", "--version"])'
	[ "$(md5sum <sbxrun)" = "$before" ] || escaped "the runtime's file was changed"
}

descriptors_are_not_left_open() {
	mkdir host
	echo canary >host/canary
	exec 7<host 8<host/canary 9<>host/canary
	_default 'ls -l /proc/self/fd /proc/1/fd; for n in 3 4 5 6 7 8 9; do cat /proc/self/fd/$n/canary /proc/1/fd/$n; done 2>/dev/null; true'
	exec 7<&- 8<&- 9<&-
	rc_is 0
	hides "$out" canary
}

run_tests
