#!/bin/bash
# Idea: with --no-pivot the host's tree stays below the container's root. Its /proc counts as visible, so that a user namespace made inside
# may mount one without masks; and who may unmount the root, sees the host's files. Escape: either of them.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"
. "${0%/*}/../lib/caps.sh"

_USERNS='ns("user") | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}] | .linux.gidMappings = .linux.uidMappings'

# As on a host whose root is the initial ramfs: the kernel refuses pivot_root.
_on_a_ramfs() {
	needs strace
	run strace -f -o "$T/trace" -e trace=pivot_root -e inject=pivot_root:error=EINVAL "$SBXRUN" --root "$T/state" run --no-pivot -b "$B" "$ID"
	file_has "$T/trace" 'pivot_root.*INJECTED'
}

_plain() {
	run sbx run --no-pivot -b "$B" "$ID"
}

# shellcheck disable=SC2016
_MOUNT='unshare -U -r -m -p -f -n sh -c "mount -t proc proc /proc && echo A PROC; mount -t sysfs sysfs /sys && echo A SYSFS" 2>/dev/null
	echo ran'

_no_file_system_is_to_be_had() {
	local how=$1
	shift
	BOX_CODE=$_MOUNT bundle 'sh($code)' 'caps(["CAP_SETFCAP", "CAP_SETUID", "CAP_SETGID"])' "$@"
	chmod 755 "$B/rootfs"
	"$how"
	hides "$out" 'A PROC|A SYSFS' "$how"
	is "$out" ran
}

an_unmasked_proc_is_not_to_be_had() {
	_no_file_system_is_to_be_had _plain
}

an_unmasked_proc_is_not_to_be_had_on_a_ramfs() {
	_no_file_system_is_to_be_had _on_a_ramfs
}

an_unmasked_proc_is_not_to_be_had_in_a_user_namespace() {
	_no_file_system_is_to_be_had _plain "$_USERNS"
}

an_unmasked_proc_is_not_to_be_had_in_a_user_namespace_on_a_ramfs() {
	_no_file_system_is_to_be_had _on_a_ramfs "$_USERNS"
}

_nothing_is_uncovered() {
	local how=$1
	shift
	echo canary >canary
	chmod 755 .
	bundle "args([\"/attacker\", \"uncover\", \"$T/canary\"])" "$(all_caps)" "$@"
	with_attacker
	"$how"
	hides "$out" canary "$how"
}

the_root_can_not_be_taken_away() {
	_nothing_is_uncovered _plain "$_USERNS"
	is "$out" EINVAL
}

the_root_can_not_be_taken_away_on_a_ramfs() {
	_nothing_is_uncovered _on_a_ramfs "$_USERNS"
	rc_is 1
	like "$err" 'no-pivot.*CAP_SYS_ADMIN'
}

# With rights over the host itself: what is mounted there is gone at least.
mounts_of_the_host_are_gone_on_a_ramfs() {
	mkdir host
	mount -t tmpfs tmpfs host
	echo canary >host/canary
	bundle "args([\"/attacker\", \"uncover\", \"$T/host/canary\"])" "$(all_caps)"
	with_attacker
	_on_a_ramfs
	umount host
	hides "$out" canary
}

run_tests
