#!/bin/bash
# Imitates CVE-2026-47766 and CVE-2026-41579: the image's /dev is a symbolic link to a directory of the host, so that device
# nodes, links and pts are made there. Escape: anything appears in the canary directory.
. "${0%/*}/../lib/test.sh"
. "${0%/*}/../lib/attack.sh"

# FILTER LINK: runs an image whose /dev is LINK; whatever it says, the canary stays empty.
_run_with_dev() {
	bundle 'sh("echo x >/dev/null; ls /dev")' "$1" '.linux.devices = [{path: "/dev/extra", type: "c", major: 1, minor: 3}]'
	mkdir -p canary
	rmdir "$B/rootfs/dev"
	ln -s "$2" "$B/rootfs/dev"
	attack
	untouched canary "$2"
}

nothing_is_made_on_the_host_without_a_mount_on_dev() {
	_run_with_dev "$NO_DEV" "$T/canary"
	_run_with_dev "$NO_DEV" ../../canary
	_run_with_dev "$NO_DEV" "../../../../../../../../../../..$T/canary"
}

nothing_is_made_on_the_host_with_a_tmpfs_on_dev() {
	_run_with_dev . "$T/canary"
	_run_with_dev . ../../canary
}

nothing_is_made_on_the_host_with_mounts_below_dev_alone() {
	_run_with_dev '.mounts |= map(select(.destination != "/dev"))' "$T/canary"
}

a_link_below_dev_leads_nowhere_either() {
	bundle 'sh("ls /dev")' "$NO_DEV" '.linux.devices = [{path: "/dev/dir/extra", type: "c", major: 1, minor: 3}]'
	mkdir canary
	ln -s "$T/canary" "$B/rootfs/dev/dir"
	ln -s "$T/canary/made" "$B/rootfs/dev/tty"
	ln -s "$T/canary/made2" "$B/rootfs/dev/fd"
	ln -s "$T/canary" "$B/rootfs/dev/pts"
	attack
	untouched canary
}

run_tests
