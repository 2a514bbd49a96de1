#!/bin/bash
# Each row of a policy (runtime/policy/rows.def) by itself, over a policy that gives everything else: a config or a caller asks for what the row
# holds back. Escape: it is there. What the rows are for is in sbxrun-policy(5); what the presets make of them, a0095 and tests/surface show.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
# shellcheck source=tests/lib/private-ids.sh
. "${0%/*}/../lib/private-ids.sh"

SBXRUN=$PLAIN_SBXRUN

# ROW: what follows is held to it.
_row() {
	echo "{\"version\": 1, \"policies\": {\"p\": {\"base\": \"${2:-oci}\", $1}}}" >policy.json
}

# CODE [FILTER…]: as attack, with the row.
_try() {
	local BOX_CODE=$1
	bundle 'sh($code)' "${@:2}"
	with_attacker
	run sbx --policy "$T/policy.json" run -b "$B" "$ID"
}

# WHAT: it did not run, and the row says so.
_refused() {
	[ "$rc" != 0 ] || escaped "$1: it ran and said '${out:0:200}'"
	like "$err" 'policy p refuses .*\[[a-z-]+\]; to allow it, an administrator gives '
}

no_new_privileges() {
	_row '"no-new-privileges": "always"'
	_try 'grep NoNewPrivs /proc/self/status' '.process.noNewPrivileges = false'
	hides "$out" '0$'
	rc_is 0
}

seccomp() {
	_row '"seccomp": "engine", "system-calls": {"deny": ["*"]}'
	_try '/attacker calls io_uring; /attacker calls userfaultfd; true' 'del(.linux.seccomp)'
	rc_is 0
	hides "$out" 'io_uring (OK|EFAULT|EINVAL)|userfaultfd OK'
	like "$out" io_uring
}

foreign_abi() {
	[ "$(uname -m)" = x86_64 ] || skip 'needs an x86-64 machine'
	_row '"seccomp": "engine", "foreign-abi": "kill"'
	_try '/attacker calls mkdir-i386; true' writable '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"]}'
	[ ! -e "$B/rootfs/made-by-i386" ] || escaped 'a call of i386 was carried out'
}

user_namespace() {
	_private_ids
	_row '"user-namespace": "always"'
	_try 'cat /proc/self/uid_map'
	rc_is 0
	hides "$out" '0 +0 '
}

cgroup_namespace() {
	_row '"cgroup-namespace": "always"'
	_try 'cat /proc/self/cgroup' 'without_ns("cgroup")'
	rc_is 0
	hides "$out" "$P"
}

cgroup_mounts() {
	_row '"cgroup-mounts": "none"'
	_try 'grep -o " - cgroup.*" /proc/self/mountinfo; true' 'mount({destination: "/tree", type: "cgroup", source: "cgroup", options: ["ro"]})'
	rc_is 0
	hides "$out" cgroup
}

proc() {
	_row '"proc": "masked"'
	_try 'head -c 20 /proc/kallsyms; head -n 1 /proc/interrupts; true' '.linux.maskedPaths = []'
	hides "$out" .
	_row '"proc": "pids"'
	_try 'ls /proc/sys /proc/kallsyms 2>/dev/null; true' '.linux.maskedPaths = []'
	rc_is 0
	hides "$out" .
}

sys() {
	_row '"sys": "none"'
	_try 'ls /sys'
	rc_is 0
	hides "$out" .
}

mount_flags() {
	_row '"mount-flags": "nosuid-nodev"'
	_try 'grep " /m " /proc/self/mountinfo' 'mount({destination: "/m", type: "tmpfs", source: "tmpfs", options: ["suid", "dev"]})'
	rc_is 0
	[[ $out == *nosuid* && $out == *nodev* ]] || escaped "$out"
}

root() {
	_row '"root": "read-only"'
	_try 'touch /made; true' writable
	[ ! -e "$B/rootfs/made" ] || escaped 'the root was written to'
}

propagation() {
	_row '"propagation": "slave"'
	_try 'echo ran' '.linux.rootfsPropagation = "shared"'
	_refused 'a shared root'
}

host_paths() {
	_row '"host-paths": "guarded", "host-path-exceptions": {"deny": ["*"]}'
	_try 'ls /mnt' 'mount({destination: "/mnt", type: "bind", source: "/", options: ["rbind", "ro"]})'
	_refused 'the host'
}

host_path_exceptions() {
	mkdir given
	_row "\"host-paths\": \"guarded\", \"host-path-exceptions\": {\"deny\": [\"*\"], \"allow\": [\"$T/given:rw\"]}"
	_try 'ls /mnt' 'mount({destination: "/mnt", type: "bind", source: "/", options: ["rbind", "ro"]})'
	_refused 'the host'
}

hooks() {
	_row '"hooks": "none"'
	_try 'echo ran' 'hook("createRuntime"; "/usr/bin/touch"; ["touch", $T + "/hooked"])'
	[ ! -e hooked ] || escaped 'the hook ran'
	_refused 'a hook'
	cp /usr/bin/touch own
	chown 1000 own
	_row '"hooks": "trusted"'
	_try 'echo ran' 'hook("createRuntime"; $T + "/own"; ["own", $T + "/hooked"])'
	[ ! -e hooked ] || escaped "a user's hook ran"
	[ "$rc" != 0 ] || escaped "a user's hook"
}

rlimits() {
	local BOX_CODE='ulimit -Hc'
	_row '"rlimits": "no-core"'
	bundle 'sh($code)'
	run prlimit --core=4096:4096 "$SBXRUN" --root "$T/state" --policy "$T/policy.json" run -b "$B" "$ID"
	rc_is 0
	[ "$out" = 0 ] || escaped "core files of $out blocks"
}

limits() {
	_row '"limits": "required"'
	bundle 'sh("sleep 100")' 'del(.linux.resources)'
	sbx --policy "$T/policy.json" run -d -b "$B" "$ID"
	[ "$(cat "$(cgroup_dir pids)/pids.max")" != max ] || escaped 'as many processes as it likes'
}

oom_score() {
	(echo -1 >/proc/self/oom_score_adj) 2>/dev/null || skip 'root may not lower oom_score_adj here'
	_row '"oom-score": "unprotected"'
	_try 'cat /proc/self/oom_score_adj' '.process.oomScoreAdj = -500'
	rc_is 0
	hides "$out" -
}

keyring() {
	needs gcc
	gcc -O2 -static -o keyring "$TESTS_DIR/tools/keyring.c" || skip 'no static C library'
	gcc -O2 -x c -o in-session - <<-'END'
		#include <linux/keyctl.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			(void)argc;
			if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, argv[1]) < 0)
				return 77;
			return execv(argv[2], argv + 2);
		}
	END
	run ./in-session "canary-$P" ./keyring
	[ "$rc" != 77 ] || skip 'the kernel has no keyrings here'
	_row '"keyring": "own"'
	bundle 'args(["/keyring"])'
	cp keyring "$B/rootfs/keyring"
	run ./in-session "canary-$P" "$SBXRUN" --root "$T/state" --policy "$T/policy.json" run --no-new-keyring -b "$B" "$ID"
	rc_is 0
	hides "$out" canary "the caller's keyring"
}

descriptors() {
	_row '"descriptors": "none"'
	echo canary >file
	bundle 'sh("cat <&3")'
	run sbx --policy "$T/policy.json" run --preserve-fds 1 -b "$B" "$ID" 3<file
	hides "$out" canary
	_refused 'a descriptor'
}

write_execute() {
	needs gcc
	_row '"write-execute": "denied"'
	bundle 'args(["/map"])'
	gcc -O2 -static -x c -o "$B/rootfs/map" - <<-'END' || skip 'no static C library'
		#include <stdio.h>
		#include <sys/mman.h>
		int main(void)
		{
			puts(mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? "no" : "mapped");
		}
	END
	run sbx --policy "$T/policy.json" run -b "$B" "$ID"
	hides "$out" mapped
}

landlock() {
	_row '"landlock": "always"'
	_try 'mknod /node c 1 3; true' writable 'caps(["CAP_MKNOD"])' 'del(.linux.seccomp)'
	[[ $err != *'[landlock]'* ]] || skip 'this kernel has no Landlock'
	rc_is 0
	[ ! -e "$B/rootfs/node" ] || escaped 'a device was made'
}

net_devices() {
	ip link add nx9 type veth peer name nx9-far || skip 'this kernel has no veth'
	_row '"net-devices": "refused"'
	_try 'ip link' '.linux.netDevices = {nx9: {}}'
	ip link del nx9 2>/dev/null || :
	_refused 'an interface'
}

# Of somebody who is not around us, and of a service that divides its cgroup. What engines send goes on: a parent that holds cgroups alone, one
# that is not there yet, and one that the caller is in.
cgroup_path() {
	local dir sub path
	_row '"cgroup-path": "apart"'
	dir=$(cgroup_dir pids other)
	mkdir -p "$dir"
	sleep 1000 &
	echo $! >"$dir/cgroup.procs"
	_try 'echo ran' ".linux.cgroupsPath = \"/$P/other/x\""
	_refused 'a cgroup of somebody else'
	like "$err" "it lies in .*/$P/other, which has processes of others"
	[ ! -d "$dir/x" ] || fail 'the cgroup is left'
	_try 'echo ran' ".linux.cgroupsPath = \"/$P/other/new/x\""
	_refused 'a cgroup deep in that of somebody else'
	sub=$dir.service/main
	mkdir -p "$sub"
	echo $! >"$sub/cgroup.procs"
	rmdir "$dir"
	_try 'echo ran' ".linux.cgroupsPath = \"/$P/other.service/x\""
	_refused "a cgroup of a service's"
	for path in parent/x other-parent/pod/x; do
		_try 'echo ran' ".linux.cgroupsPath = \"/$P/$path\""
		is "$out" ran "$path: $err"
	done
	# The caller's own unit, as k3s and podman's split cgroups have it.
	bundle 'sh("echo ran")' ".linux.cgroupsPath = \"/$P/other.service/x\""
	run bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' _ "$sub" "$SBXRUN" --root "$T/state" --policy "$T/policy.json" run -b "$B" "$ID"
	is "$out" ran "$err"
	kill %1
	wait || :
	rmdir "$sub" "${sub%/*}" "${dir%/*}"
}

capabilities() {
	_row '"capabilities": {"deny": ["*"]}, "dropped-capabilities": {"deny": ["*"]}'
	_try 'echo ran' 'caps(["CAP_SYS_ADMIN"])'
	_refused CAP_SYS_ADMIN
}

dropped_capabilities() {
	_row '"capabilities": {"deny": ["*"], "allow": ["CAP_CHOWN"]}, "dropped-capabilities": {"allow": ["*"]}'
	_try 'grep CapBnd /proc/self/status' 'caps(["CAP_CHOWN", "CAP_MKNOD"])'
	rc_is 0
	[[ $out =~ 0{15}1$ ]] || escaped "$out"
}

system_calls() {
	_row '"seccomp": "engine", "system-calls": {"deny": ["*"], "allow": ["userfaultfd"]}'
	_try '/attacker calls io_uring; true' 'del(.linux.seccomp)'
	hides "$out" 'io_uring (OK|EFAULT|EINVAL)'
}

sockets() {
	_row '"seccomp": "engine", "system-calls": {"deny": ["*"]}, "sockets": {"deny": ["*"], "allow": ["inet"]}'
	_try '/attacker calls unix; true' 'del(.linux.seccomp)'
	hides "$out" 'unix OK'
}

host_namespaces() {
	_row '"host-namespaces": {"deny": ["*"]}'
	_try 'echo ran' 'without_ns("uts") | del(.hostname)'
	_refused "the host's uts namespace"
}

# /dev/net/tun, which does nothing for who only has it.
devices() {
	_row '"devices": {"deny": ["*"]}'
	_try 'ls /dev/tun' '.linux.devices = [{path: "/dev/tun", type: "c", major: 10, minor: 200}]'
	_refused 'a device'
}

filesystems() {
	_row '"filesystems": {"deny": ["*"], "allow": ["bind", "tmpfs", "proc", "sysfs", "devpts", "mqueue", "cgroup"]}'
	_try 'grep " /m " /proc/self/mountinfo' 'mount({destination: "/m", type: "ramfs", source: "ramfs"})'
	_refused ramfs
}

cgroup_keys() {
	[ "$VIEW" = v2 ] || skip 'only cgroup v2 has such keys'
	_row '"cgroup-keys": {"deny": ["*"]}'
	_try 'echo ran' '.linux.resources = {unified: {"pids.max": "50"}}'
	_refused pids.max
}

# What is planned would be told to systemd.
unit_properties() {
	_row '"unit-properties": {"deny": ["*"], "allow": ["KillSignal"]}'
	bundle '.annotations += {"org.systemd.property.KillSignal": "9"}' '.linux.cgroupsPath = ":p:n"'
	run as_if_systemd --policy "$T/policy.json" plan -b "$B" "$ID"
	rc_is 0
	like "$out" 'KillSignal'
	bundle '.annotations += {"org.systemd.property.RuntimeMaxSec": "1000000"}' '.linux.cgroupsPath = ":p:n"'
	run as_if_systemd --policy "$T/policy.json" plan -b "$B" "$ID"
	hides "$out" 'RuntimeMax'
	_refused RuntimeMaxUSec
}

every_row_has_an_attack_and_a_mutant() {
	local id names mutants
	names=" $(sed -n 's/^\([a-z_]*\)() {$/\1/p' "$TESTS_DIR/attack/${0##*/}" | tr _ - | tr '\n' ' ') "
	mutants=" $(sed -n 's/^row_\([a-z_]*\)() {$/\1/p' "$TESTS_DIR/attack/mutants" | tr _ - | tr '\n' ' ') "
	while read -r id; do
		[[ $names == *" $id "* ]] || fail "the row $id has no test in ${0##*/}, whose name is the row's with _ for -"
		[[ $mutants == *" $id "* ]] || fail "the row $id has no mutant row_${id//-/_} in tests/attack/mutants"
	done < <(sed -nE 's/^(LEVEL|LIST_ROW)\([A-Z_]*, "([a-z-]*)".*/\2/p' "$TESTS_DIR/../runtime/policy/rows.def")
}

run_tests
