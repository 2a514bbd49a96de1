#!/bin/bash
# sbxrun box create --writable-root, and --disk beyond memory: what is written stays in the box, has a size, and changes nobody else's root.
# Views: v2 a_root_that_can_be_written_is_the_boxs_own
# shellcheck disable=SC2015,SC2016,SC2154
. "${0%/*}/../lib/test.sh"

# Words that begin with @ are ids of this test's own: cgroups have them, too, and others test beside it.
_box() { SBXRUN_ROOTFS_DIR=$T/library SBXRUN_DISK_DIR=$T/disks sbx box "${@/#@/$P.}"; }
# Whose files are those of the root: an ordinary user's box has one id.
[ -n "${SBX_UID:-}" ] && OWNER=() || OWNER=(-u 0)
# Skips where the kernel or the caller can't have one: then the refusal has named why.
_new() {
	[ -n "${B:-}" ] || bundle
	run _box create --id @a --rootfs "$B/rootfs" "$@"
	[ "$rc" != 0 ] || return 0
	like "$err" 'a writable root: .*(Linux|overlay)|only root mounts'
	skip "this host has no such root: $err"
}
_sh() { _box exec "$1" -- sh -c "$2"; }

a_root_that_can_be_written_is_the_boxs_own() {
	_new --writable-root 4m "${OWNER[@]}"
	mkdir -p "$B/rootfs/etc"
	run _sh @a 'mkdir -p /opt/d; echo new >/opt/d/f; rm -r /etc; mkdir /etc; echo x >/etc/passwd; rm /bin/true; ls /etc; cat /opt/d/f'
	is "$out" $'passwd\nnew'
	is "$err" ''
	run _sh @a 'cat /opt/d/f; ls /bin/true; ls /etc'
	like "$out" $'^new\npasswd$'
	[ -e "$B/rootfs/bin/true" ] && [ ! -e "$B/rootfs/opt/d" ] || fail 'the root itself was changed'
	_box create --id @b --rootfs "$B/rootfs" "${OWNER[@]}"
	run _sh @b 'ls /bin/true; (: >/x) 2>&1'
	like "$out" $'^/bin/true\n.*Read-only'
	like "$(_box list --json | jq -c 'map(.writable_root)')" '^\[4194304,0\]$'
}

it_has_a_size_and_no_rights() {
	_new --writable-root 1m "${OWNER[@]}"
	run _sh @a 'dd if=/dev/zero of=/big bs=64k count=64 2>&1; rm /big; i=0; while (: >/f$i) 2>/dev/null && [ $i -lt 2000 ]; do i=$((i + 1)); done; [ $i -lt 2000 ] && echo full; (mknod /d c 1 3) 2>&1; grep -c " / .*nosuid,nodev" /proc/self/mounts; grep CapPrm /proc/self/status'
	like "$out" 'No space left'
	like "$out" $'\nfull\n'
	like "$out" 'mknod: .*(not permitted|denied)'
	like "$out" $'\n1\nCapPrm:\t0{16}$'
	run _box exec --json @a -- sh -c 'cat /nosuch; : >/etc2'
	is "$(jq -c .denials <<<"$out")" '[]'
}

what_memory_does_not_hold_is_on_disk() {
	[ -z "${SBX_UID:-}" ] || skip 'only root mounts a disk'
	[ -x /sbin/mke2fs ] || [ -x /usr/sbin/mke2fs ] || skip 'this host has no mke2fs'
	[ -e /dev/loop-control ] || skip 'this host has no loop devices'
	_new --memory 32m --disk 64m --writable-root 48m -u 0
	is "$(_box list --json | jq -r '.[0].disk_backing')" disk
	run _sh @a 'dd if=/dev/zero of=big bs=1M count=40 2>/dev/null; dd if=/dev/zero of=/big bs=1M count=30 2>/dev/null; stat -c %s big /big; rm -r /etc; mkdir /etc; ls /etc'
	is "$out" $'41943040\n31457280'
	run _box exec --json @a -- true
	is "$(jq -r .disk_backing <<<"$out")" disk
	_box destroy @a
	wait_until 20 eval "! losetup -a 2>/dev/null | grep '$T/disks' >/dev/null"
	is "$(ls -A disks)" ''
}

who_can_not_have_a_disk_is_told_what_he_can_have() {
	[ -n "${SBX_UID:-}" ] || skip 'root can have one'
	bundle
	run _box create --rootfs "$B/rootfs" --memory 32m --disk 64m
	rc_is 125
	like "$err" 'only root mounts a filesystem of that size; half of --memory can lie in memory, and -v DIR:/workspace'
}

what_is_no_size_is_refused() {
	bundle
	for size in 0 -1 x 1k 2t; do
		run _box create --rootfs "$B/rootfs" --writable-root "$size"
		rc_is 125
		like "$err" '--writable-root: (".*" is no size|more than 1t)'
	done
	is "$(_box list --json)" '[]'
}

run_tests
