#!/bin/bash
# Idea: a mask or a read-only path is written in a way that the kernel takes for a directory ("/etc/secret/", "/etc/secret/."), and a file
# is then "not there". Escape: what the config hides can be read, or what it protects can be written.
# Views: own
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

_SPELLINGS=(/etc/secret/ /etc/secret/. /etc/secret// /etc/secret/./ /etc/secret/.. /etc//secret/ /./etc/secret //etc/secret
	/etc/secret/../secret /etc/passwd/../secret /missing/../etc/secret /etc/../etc/secret/)

masks_hide_files_however_they_are_spelt() {
	local path
	for path in "${_SPELLINGS[@]}"; do
		[ "$path" != /etc/secret/.. ] || continue # that is /etc
		bundle 'sh("cat /etc/secret; true")' ".linux.maskedPaths = [\"$path\"]"
		echo secret >"$B/rootfs/etc/secret"
		attack
		hides "$out" secret "$path"
	done
}

files_are_read_only_however_they_are_spelt() {
	local path
	for path in "${_SPELLINGS[@]}"; do
		bundle 'sh("echo attack >/etc/secret; true")' writable ".linux.maskedPaths = [] | .linux.readonlyPaths = [\"$path\"]"
		echo secret >"$B/rootfs/etc/secret"
		attack
		holds "$B/rootfs/etc/secret" secret "$path"
	done
}

# Below /proc, where they are looked up on the mount.
masks_hide_files_of_proc_however_they_are_spelt() {
	local path
	for path in /proc/version/ /proc/version/. //proc/version /proc/./version/ /proc/meminfo/../version /sys/../proc/version/; do
		bundle 'sh("cat /proc/version; true")' ".linux.maskedPaths = [\"$path\"]"
		attack
		hides "$out" Linux "$path"
	done
}

run_tests
